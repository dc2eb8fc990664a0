// Builds the packages: one for each platform, with the server for it inside. From the same sources come the same bytes.
//
//   node package.mjs [--only TARGET] [--out FOLDER] [--server PROGRAM]
//
// --server takes a program that is built already, for one target.
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const maxBytes = 12 * 1024 * 1024;

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
process.chdir(path.dirname(fileURLToPath(import.meta.url)));
const out = path.resolve(given.out);
mkdirSync(out, { recursive: true });
for (const target of given.only ? [given.only] : Object.keys(targets)) {
  const file = path.join(out, `graphtrap-${target}.vsix`);
  makePackage(target, file);
  const { size } = statSync(file);
  console.log(`${path.basename(file)}  ${(size / 1024 / 1024).toFixed(2)} MiB`);
  if (size > maxBytes) {
    throw new Error(`${file} is over ${maxBytes} bytes`);
  }
}
rmSync('server', { recursive: true, force: true });

function makePackage(target, file) {
  const platform = targets[target];
  if (!platform) {
    throw new Error(`no such target: ${target}; there are ${Object.keys(targets).join(', ')}`);
  }
  rmSync('server', { recursive: true, force: true });
  const server = path.join('server', platform.GOOS === 'windows' ? 'graphtrap.exe' : 'graphtrap');
  if (given.server) {
    mkdirSync('server');
    copyFileSync(given.server, server);
  } else {
    const flags = ['-trimpath', '-buildvcs=false', '-ldflags=-s -w -buildid='];
    run('go', ['build', ...flags, '-o', path.resolve(server), './cmd/graphtrap'], { cwd: '../..', env: { ...process.env, ...platform, CGO_ENABLED: '0' } });
  }
  chmodSync(server, 0o755);
  // A fixed time for all files, and their order by name: vsce does both for reproducible builds.
  const env = { ...process.env, SOURCE_DATE_EPOCH: process.env.SOURCE_DATE_EPOCH ?? '1767225600' };
  run('node_modules/.bin/vsce', ['package', '--no-dependencies', '--target', target, '--out', file], { env });
}

function run(program, args, options) {
  execFileSync(program, args, { stdio: ['ignore', 'ignore', 'inherit'], ...options });
}
