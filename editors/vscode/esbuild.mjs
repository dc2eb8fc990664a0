// Bundles the extension and its test suite into one file each; `vscode` is given by the editor.
import { build } from 'esbuild';

const common = { bundle: true, platform: 'node', format: 'cjs', target: 'node20', logLevel: 'warning' };

await build({
  ...common,
  entryPoints: ['src/extension.ts'],
  outfile: 'dist/extension.js',
  external: ['vscode'],
  minify: true,
  sourcemap: false,
});
if (process.argv.includes('--tests')) {
  await build({
    ...common,
    entryPoints: ['test/suite.ts'],
    outfile: 'out/suite.js',
    external: ['vscode', 'mocha'],
    sourcemap: 'inline',
  });
}
