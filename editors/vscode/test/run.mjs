// Runs the test suite in a real VS Code: builds the server and the extension, starts a VS Code server on a fresh
// workspace that holds the shipped case, opens one browser page on it (the extension host waits for one), and waits
// for the suite's report.
//
//   node test/run.mjs [--keep]     --keep: keep the screenshot and the logs of a run that passed, too
import { spawn, execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const reportLimitMs = 120_000; // a run takes 10 s; the rest is for a machine that is busy
const startLimitMs = 20_000;

const extension = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const repository = path.dirname(path.dirname(extension));
const results = path.join(extension, 'test-results');

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

process.exitCode = await main();

async function main() {
  const keep = process.argv.includes('--keep');
  const dir = mkdtempSync(path.join(tmpdir(), 'graphtrap-vscode-'));
  const log = [];
  let host;
  let browser;
  try {
    const vscode = build(dir);
    const { chromium } = await import('playwright-core');
    host = await startHost(vscode, dir, log);
    browser = await chromium.launch({ executablePath: chromiumPath(), args: chromiumArgs });
    const page = await openPage(browser, host.port, dir, log);
    const report = await waitForReport(path.join(dir, 'report.json'), host);
    if (keep || !report || report.stats.failures > 0) {
      rmSync(results, { recursive: true, force: true });
      mkdirSync(results, { recursive: true });
      await page.screenshot({ path: path.join(results, 'page.png') });
      writeFileSync(path.join(results, 'log.txt'), log.join(''));
      console.log(`Screenshot and log: ${results}`);
    }
    return print(report);
  } finally {
    await browser?.close();
    host?.stop();
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Builds all that the host runs, and returns the host's folder. */
function build(dir) {
  const run = (cwd, program, ...args) => execFileSync(program, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
  run(repository, 'go', 'build', '-o', path.join(dir, 'bin', 'graphtrap'), './cmd/graphtrap');
  if (!existsSync(path.join(extension, 'node_modules', '.package-lock.json'))) {
    run(extension, 'npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund');
  }
  run(extension, 'node', 'esbuild.mjs', '--tests');
  cpSync(path.join(repository, 'testdata', 'cases', 'sixty-four-ranks'), path.join(dir, 'workspace'), { recursive: true });
  writeJson(path.join(dir, 'workspace', '.vscode', 'settings.json'), {
    'graphtrap.server.path': path.join(dir, 'bin', 'graphtrap'),
  });
  return run(extension, path.join(extension, 'test', 'host.sh')).toString().trim();
}

async function startHost(vscode, dir, log) {
  writeJson(path.join(dir, 'user', 'User', 'settings.json'), {
    'chat.disableAIFeatures': true,
    'editor.minimap.enabled': false,
    'extensions.autoCheckUpdates': false,
    'extensions.autoUpdate': false,
    'telemetry.telemetryLevel': 'off',
    'workbench.secondarySideBar.defaultVisibility': 'hidden',
    'workbench.startupEditor': 'none',
  });
  const port = await freePort();
  const flags = [
    ['--host', '127.0.0.1'],
    ['--port', String(port)],
    ['--server-data-dir', path.join(dir, 'server')],
    ['--user-data-dir', path.join(dir, 'user')],
    ['--extensions-dir', path.join(dir, 'extensions')],
    ['--without-connection-token', '--accept-server-license-terms', '--disable-telemetry'],
    ['--disable-workspace-trust', '--disable-experiments'],
    ['--enable-smoke-test-driver'], // or a built VS Code runs no tests
  ].flat();
  const child = spawn(path.join(vscode, 'node'), [path.join(vscode, 'vscode', 'out', 'server-main.js'), ...flags], {
    detached: true, // a process group of its own, to be ended whole
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, GRAPHTRAP_TEST_REPORT: path.join(dir, 'report.json') },
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
    const up = await fetch(`http://127.0.0.1:${port}/version`).then((answer) => answer.ok, () => false);
    if (up) return host;
    if (host.ended || Date.now() > end) {
      host.stop();
      throw new Error(`The VS Code server did not start:\n${log.join('')}`);
    }
  }
}

async function openPage(browser, port, dir, log) {
  const context = await browser.newContext({
    viewport: { width: 1400, height: 900 },
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  await context.route((url) => url.hostname !== '127.0.0.1', (route) => route.abort());
  const page = await context.newPage();
  page.on('console', (message) => log.push(`page: ${message.text()}\n`));
  const remote = `vscode-remote://127.0.0.1:${port}`;
  const payload = [
    ['extensionDevelopmentPath', remote + extension],
    ['extensionTestsPath', remote + path.join(extension, 'out', 'suite.js')],
  ];
  const query = new URLSearchParams({ folder: path.join(dir, 'workspace'), payload: JSON.stringify(payload) });
  await page.goto(`http://127.0.0.1:${port}/?${query}`);
  return page;
}

/** The suite's report, or undefined when there is none in time. */
async function waitForReport(file, host) {
  for (const end = Date.now() + reportLimitMs; Date.now() < end && !host.ended; await sleep(100)) {
    try {
      return JSON.parse(readFileSync(file, 'utf8'));
    } catch {
      // not there, or not whole
    }
  }
  return undefined;
}

/** Prints the result and returns the exit status. */
function print(report) {
  if (!report) {
    console.log(`No report from the test suite after ${reportLimitMs / 1000} s.`);
    return 1;
  }
  for (const { fullTitle, duration } of report.passes) {
    console.log(`ok    ${fullTitle} (${duration} ms)`);
  }
  for (const { fullTitle, err } of report.failures) {
    console.log(`FAIL  ${fullTitle}\n${(err.stack ?? err.message ?? '').replace(/^/gm, '      ')}`);
  }
  console.log(`${report.stats.passes} passed, ${report.stats.failures} failed`);
  return report.stats.failures === 0 && report.stats.passes > 0 ? 0 : 1;
}

function chromiumPath() {
  const names = ['chromium', 'chromium-browser', 'google-chrome'];
  for (const dir of (process.env.PATH ?? '').split(path.delimiter)) {
    const found = names.map((name) => path.join(dir, name)).find((candidate) => existsSync(candidate));
    if (found) return found;
  }
  throw new Error('No Chromium on the PATH: install chromium.');
}

function writeJson(file, value) {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(value, undefined, 2));
}

async function freePort() {
  const probe = createServer();
  await new Promise((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
