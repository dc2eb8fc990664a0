// What package.json, its texts and the code say of each other.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const read = (file: string): string => readFileSync(path.join(__dirname, '../..', file), 'utf8');
const manifest = read('package.json');
const texts = JSON.parse(read('package.nls.json')) as Record<string, string>;
const sources = readdirSync(path.join(__dirname, '../../src'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => read(`src/${name}`));

test('every text of package.json can be translated, and none is left over', () => {
  const used = [...manifest.matchAll(/"%([^%"]+)%"/g)].map(([, key]) => key!);
  expect([...new Set(used)].sort()).toEqual(Object.keys(texts).sort());
});

test('the bundle holds what the code says', () => {
  const said = sources.flatMap((source) => [...source.matchAll(/l10n\.t\(\s*'((?:[^'\\]|\\.)*)'/g)].map(([, text]) => text!));
  const bundle = JSON.parse(read('l10n/bundle.l10n.json')) as Record<string, string>;
  expect(Object.keys(bundle).sort()).toEqual([...new Set(said)].sort());
});

test('no text of the code is one that cannot be translated', () => {
  const shown = /(?:show(?:Information|Warning|Error)Message|setStatusBarMessage|new Hindrance|title:|prompt:|placeHolder:|tooltip =)\(?\s*'[A-Z][a-z]+ [a-z]/;
  for (const source of sources) {
    expect(source).not.toMatch(shown);
  }
});

test('every command has an entry, and every entry a command', () => {
  const { contributes } = JSON.parse(manifest) as { contributes: { commands: { command: string }[] } };
  const table = /const commands: .* = \{([^]*?)\n {2}\};/.exec(read('src/commands.ts'))?.[1] ?? '';
  const registered = [...table.matchAll(/^ {4}(\w+):/gm)].map(([, name]) => `graphtrap.${name!}`);
  expect(contributes.commands.map(({ command }) => command).sort()).toEqual(registered.sort());
});

test('nothing is written to the disk', () => {
  for (const source of sources) {
    expect(source).not.toMatch(/\b(?:writeFile|appendFile|createWriteStream|mkdir|rename|unlink|copyFile|rm)(?:Sync)?\(|workspace\.fs\b/);
  }
});

test('there is no network code and no telemetry', () => {
  for (const source of sources) {
    expect(source).not.toMatch(/node:(?:https?|net|tls|dgram|dns)\b|\bfetch\(|TelemetryLogger|WebSocket/);
  }
});
