// Bundles the extension and its test suites into one file each, and puts the samples beside the extension.
import { cpSync } from 'node:fs';
import { build } from 'esbuild';

const samples = {
  'sixty-four-ranks.log': 'sixty-four-ranks/train.log',
  'plain-oom.log': 'plain-oom-not-graphs/log.txt',
  'silent-rank.log': 'silent-rank-torchrun-blames-a-victim/log.txt',
};

const common = { bundle: true, platform: 'node', format: 'cjs', target: 'node20', logLevel: 'warning' };

await build({
  ...common,
  entryPoints: ['src/extension.ts'],
  outfile: 'dist/extension.js',
  external: ['vscode'],
  minify: true,
  sourcemap: false,
});
for (const [name, from] of Object.entries(samples)) {
  cpSync(`../../testdata/cases/${from}`, `dist/samples/${name}`);
}
if (process.argv.includes('--tests')) {
  await build({
    ...common,
    entryPoints: ['test/suite.ts', 'test/untrusted.ts'],
    outdir: 'out',
    external: ['vscode', 'mocha'],
    sourcemap: 'inline',
  });
}
