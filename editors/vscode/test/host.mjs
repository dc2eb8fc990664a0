// A real VS Code for tests: builds the server and the extension, starts a VS Code server on a workspace of its own, and
// opens a browser page on it.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const startLimitMs = 20_000;

export const extension = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
export const repository = path.dirname(path.dirname(extension));
export const results = path.join(extension, 'test-results');

const chromiumArgs = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
];

const settings = {
  'chat.disableAIFeatures': true,
  'editor.minimap.enabled': false,
  'files.autoSave': 'off', // as on the desktop
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'security.workspace.trust.banner': 'never',
  'security.workspace.trust.startupPrompt': 'never',
  'telemetry.telemetryLevel': 'off',
  'terminal.integrated.defaultProfile.linux': 'bash',
  'terminal.integrated.environmentChangesRelaunch': false, // or a terminal starts again under the keys of a test
  'terminal.integrated.gpuAcceleration': 'off', // or a terminal's text is not in the page
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.startupEditor': 'none',
};

/** A fresh folder for one run, to be removed by `remove`. */
export function temporaryFolder() {
  const dir = mkdtempSync(path.join(tmpdir(), 'graphtrap-vscode-'));
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }) };
}

/**
 * Builds all that a host runs, the program unless GRAPHTRAP_TEST_SERVER names one. Returns the folder of the VS Code server
 * and the program.
 */
export function build(dir) {
  const program = process.env.GRAPHTRAP_TEST_SERVER ?? path.join(dir, 'bin', 'graphtrap');
  if (!process.env.GRAPHTRAP_TEST_SERVER) {
    run(repository, 'go', 'build', '-o', program, './cmd/graphtrap');
  }
  if (!existsSync(path.join(extension, 'node_modules', '.package-lock.json'))) {
    run(extension, 'npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund');
  }
  run(extension, 'node', 'esbuild.mjs', '--tests');
  const vscode = run(extension, path.join(extension, 'test', 'host.sh')).toString().trim();
  return { vscode, program };
}

/** Runs a program and returns what it printed. */
export function run(cwd, program, ...args) {
  return execFileSync(program, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
}

/**
 * Starts a VS Code server with a user and extensions of its own.
 *
 * `flags` are more of its flags, `env` what the extension host finds in its environment.
 */
export async function startHost({ vscode, dir, log, flags = [], env = {}, userSettings = {} }) {
  writeJson(path.join(dir, 'user', 'User', 'settings.json'), { ...settings, ...userSettings });
  const port = await freePort();
  const all = [
    ...['--host', '127.0.0.1'],
    ...['--port', String(port)],
    ...folders(dir),
    ...['--without-connection-token', '--accept-server-license-terms', '--disable-telemetry', '--disable-experiments'],
    ...flags,
  ];
  const child = spawn(path.join(vscode, 'node'), [path.join(vscode, 'vscode', 'out', 'server-main.js'), ...all], {
    detached: true, // a process group of its own, to be ended whole
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  const host = {
    port,
    ended: false,
    stop: () => {
      if (!host.ended) process.kill(-child.pid, 'SIGKILL');
    },
  };
  child.on('exit', () => (host.ended = true));
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data) => log.push(String(data)));
  }
  for (const end = Date.now() + startLimitMs; ; await sleep(50)) {
    const up = await fetch(`http://127.0.0.1:${port}/version`).then(
      (answer) => answer.ok,
      () => false,
    );
    if (up) return host;
    if (host.ended || Date.now() > end) {
      host.stop();
      throw new Error(`The VS Code server did not start:\n${log.join('')}`);
    }
  }
}

/** Installs a package as a user does, before the host is started. */
export function install({ vscode, dir, vsix }) {
  const flags = [...folders(dir), '--accept-server-license-terms', '--install-extension', vsix];
  // Without its errors: the host is one without a logger, and says so at length.
  execFileSync(path.join(vscode, 'node'), [path.join(vscode, 'vscode', 'out', 'server-main.js'), ...flags], { stdio: 'ignore' });
}

export async function startBrowser() {
  const { chromium } = await import('playwright-core');
  return chromium.launch({ executablePath: chromiumPath(), args: chromiumArgs });
}

/** Opens a page that may ask nobody but the host. */
export async function openPage(browser, log, viewport = { width: 1400, height: 900 }) {
  const context = await browser.newContext({ viewport, permissions: ['clipboard-read', 'clipboard-write'] });
  await context.route(
    (url) => url.hostname !== '127.0.0.1',
    (route) => route.abort(),
  );
  const page = await context.newPage();
  page.on('console', (message) => log.push(`page: ${message.text()}\n`));
  return page;
}

export function writeJson(file, value) {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(value, undefined, 2));
}

function folders(dir) {
  return [
    ...['--server-data-dir', path.join(dir, 'server')],
    ...['--user-data-dir', path.join(dir, 'user')],
    ...['--extensions-dir', path.join(dir, 'extensions')],
  ];
}

function chromiumPath() {
  const names = ['chromium', 'chromium-browser', 'google-chrome'];
  for (const dir of (process.env.PATH ?? '').split(path.delimiter)) {
    const found = names.map((name) => path.join(dir, name)).find((candidate) => existsSync(candidate));
    if (found) return found;
  }
  throw new Error('No Chromium on the PATH: install chromium.');
}

async function freePort() {
  const probe = createServer();
  await new Promise((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
