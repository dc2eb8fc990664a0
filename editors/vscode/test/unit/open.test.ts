import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { editorLine } from '../../src/open';

test('counts line ends as the editor does', async () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'graphtrap-unit-'));
  const file = path.join(dir, 'train.log');
  const text = 'one\ntwo\r\n 10%\r 20%\r 30%\r\nfive?';
  writeFileSync(file, text);
  const lines: [string, number][] = [
    ['one', 1],
    ['two', 2],
    [' 10%', 3],
    [' 20%', 4],
    [' 30%', 5],
    ['five?', 6],
  ];
  for (const [part, line] of lines) {
    expect(await editorLine(file, text.indexOf(part))).toBe(line);
  }
  rmSync(dir, { recursive: true });
});
