import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { locate, probe } from '../../src/program';

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'graphtrap-unit-'));
});

afterEach(() => rmSync(dir, { recursive: true }));

function program(name: string, script: string): string {
  const file = path.join(dir, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return file;
}

test('the setting comes first, then the extension, then the PATH', () => {
  const bundled = program('extension/server/graphtrap', '');
  const found = program('bin/graphtrap', '');
  const extension = path.join(dir, 'extension');
  const searchPath = ['', 'relative', path.join(dir, 'bin')].join(path.delimiter);
  expect(locate('/elsewhere/graphtrap', extension, searchPath)).toEqual({ path: '/elsewhere/graphtrap', from: 'setting' });
  expect(locate('', extension, searchPath)).toEqual({ path: bundled, from: 'extension' });
  expect(locate('', path.join(dir, 'empty'), searchPath)).toEqual({ path: found, from: 'PATH' });
});

test('a relative setting and no program at all are told', () => {
  expect(() => locate('bin/graphtrap', dir, '')).toThrow(/absolute path/);
  expect(() => locate('', dir, '')).toThrow(/no graphtrap in the extension/);
});

test.each([
  ['says its version', 'echo graphtrap 1.2.3', 'graphtrap 1.2.3'],
])('%s', async (_, script, version) => {
  expect(await probe({ path: program('graphtrap', script), from: 'PATH' })).toBe(version);
});

test.each([
  ['fails with a reason', 'echo "wrong CPU" >&2; exit 3', /wrong CPU.*graphtrap\.server\.path/],
  ['fails without one', 'exit 3', /exit status 3/],
])('a program that %s', async (_, script, message) => {
  await expect(probe({ path: program('graphtrap', script), from: 'setting' })).rejects.toThrow(message);
});

test('a program that is not there', async () => {
  await expect(probe({ path: path.join(dir, 'gone'), from: 'setting' })).rejects.toThrow(/does not exist \(the setting/);
});
