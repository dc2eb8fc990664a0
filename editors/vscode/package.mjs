// Builds the packages: one for each platform, with the server for it inside. From the same sources come the same bytes.
//
//   node package.mjs [--only TARGET] [--out FOLDER] [--server PROGRAM]
//
// --server takes a program that is built already, for one target.
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const maxBytes = 12 * 1024 * 1024;
const vsce = path.resolve(path.dirname(fileURLToPath(import.meta.url)), 'node_modules', '.bin', 'vsce');

// VS Code's names and Go's. The program is pure Go and needs no libc, so Alpine takes the one for Linux.
const targets = {
  'linux-x64': { GOOS: 'linux', GOARCH: 'amd64' },
  'linux-arm64': { GOOS: 'linux', GOARCH: 'arm64' },
  'alpine-x64': { GOOS: 'linux', GOARCH: 'amd64' },
  'alpine-arm64': { GOOS: 'linux', GOARCH: 'arm64' },
  'darwin-x64': { GOOS: 'darwin', GOARCH: 'amd64' },
  'darwin-arm64': { GOOS: 'darwin', GOARCH: 'arm64' },
  'win32-x64': { GOOS: 'windows', GOARCH: 'amd64' },
  'win32-arm64': { GOOS: 'windows', GOARCH: 'arm64' },
};

const { values: given } = parseArgs({
  options: { only: { type: 'string' }, out: { type: 'string', default: 'packages' }, server: { type: 'string' } },
});
const out = path.resolve(given.out);
process.chdir(path.dirname(fileURLToPath(import.meta.url)));
mkdirSync(out, { recursive: true });
run(process.execPath, ['esbuild.mjs']);
const stage = mkdtempSync(path.join(tmpdir(), 'graphtrap-package-'));
try {
  for (const file of execFileSync(vsce, ['ls', '--no-dependencies'], { encoding: 'utf8' }).trim().split('\n')) {
    put(file, path.join(stage, file), 0o644);
  }
  writeFileSync(path.join(stage, '.vscodeignore'), ''); // all that lies there ships
  for (const target of given.only ? [given.only] : Object.keys(targets)) {
    makePackage(target, path.join(out, `graphtrap-${target}.vsix`));
  }
} finally {
  rmSync(stage, { recursive: true });
}

function makePackage(target, file) {
  const platform = targets[target];
  if (!platform) {
    throw new Error(`no such target: ${target}; there are ${Object.keys(targets).join(', ')}`);
  }
  const folder = path.join(stage, 'server');
  rmSync(folder, { recursive: true, force: true });
  const server = path.join(folder, platform.GOOS === 'windows' ? 'graphtrap.exe' : 'graphtrap');
  if (!given.server) {
    const flags = ['-trimpath', '-buildvcs=false', '-ldflags=-s -w -buildid='];
    run('go', ['build', ...flags, '-o', server, './cmd/graphtrap'], { cwd: '../..', env: { ...process.env, ...platform, CGO_ENABLED: '0' } });
  }
  put(given.server ?? server, server, 0o755);
  // A fixed time for all files, and their order by name: vsce does both for reproducible builds.
  const env = { ...process.env, SOURCE_DATE_EPOCH: process.env.SOURCE_DATE_EPOCH ?? '1767225600' };
  run(vsce, ['package', '--no-dependencies', '--target', target, '--out', file], { cwd: stage, env });
  const { size } = statSync(file);
  console.log(`${path.basename(file)}  ${(size / 1024 / 1024).toFixed(2)} MiB`);
  if (size > maxBytes) {
    throw new Error(`${file} is over ${maxBytes} bytes`);
  }
}

/** Copies a file, with a mode that does not depend on who checked it out. */
function put(from, to, mode) {
  mkdirSync(path.dirname(to), { recursive: true });
  if (from !== to) {
    copyFileSync(from, to);
  }
  chmodSync(to, mode);
}

function run(program, args, options) {
  execFileSync(program, args, { stdio: ['ignore', 'ignore', 'inherit'], ...options });
}
