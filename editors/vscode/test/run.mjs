// Runs the test suites inside a real VS Code: one on a workspace of two folders, one on a folder that is not trusted.
//
//   node test/run.mjs [--keep] [NAME...]
//
// Runs the suites that are named, else both. --keep keeps the screenshots and the logs of a run that passed, too.
import { appendFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { build, extension, openPage, repository, results, startBrowser, startHost, temporaryFolder, writeJson } from './host.mjs';

const reportLimitMs = 300_000; // a run takes a minute; the rest is for a machine that is busy
const bigLog = 60 * 1024 * 1024;

const keep = process.argv.includes('--keep');
const named = process.argv.slice(2).filter((argument) => argument !== '--keep');
let failed = false;
let passes = 0;
rmSync(results, { recursive: true, force: true });
const { dir, remove } = temporaryFolder();
const browser = await startBrowser();
try {
  const built = build(dir);
  const scenarios = {
    'two folders': { ...built, suite: 'suite', prepare: twoFolders, flags: ['--disable-workspace-trust'] },
    untrusted: { ...built, suite: 'untrusted', prepare: untrustedFolder, flags: [] },
  };
  for (const name of named.length ? named : Object.keys(scenarios)) {
    await scenario(name, scenarios[name]);
  }
  console.log(`${passes} passed, ${failed ? 'and some failed' : '0 failed'}`);
} finally {
  await browser.close();
  remove();
}
process.exitCode = failed || passes === 0 ? 1 : 0;

/** Starts a host on a workspace, waits for the suite's report, and prints it. */
async function scenario(name, { vscode, program, suite, prepare, flags }) {
  const home = path.join(dir, suite);
  const reportFile = path.join(home, 'report.json');
  const log = [];
  const query = prepare(path.join(home, 'workspace'), program);
  const host = await startHost({
    vscode,
    dir: home,
    log,
    flags: [...flags, '--enable-smoke-test-driver'], // or a built VS Code runs no tests
    env: {
      GRAPHTRAP_TEST_REPORT: reportFile,
      GRAPHTRAP_TEST_JOB: path.join(extension, 'test', 'job', 'launch.py'),
    },
  });
  let page;
  try {
    page = await openPage(browser, log);
    const remote = `vscode-remote://127.0.0.1:${host.port}`;
    const payload = [
      ['extensionDevelopmentPath', remote + extension],
      ['extensionTestsPath', remote + path.join(extension, 'out', `${suite}.js`)],
    ];
    await page.goto(`http://127.0.0.1:${host.port}/?${new URLSearchParams({ ...query, payload: JSON.stringify(payload) })}`);
    const report = await waitForReport(reportFile, host);
    const bad = print(name, report);
    failed ||= bad;
    if (keep || bad) {
      mkdirSync(results, { recursive: true });
      await page.screenshot({ path: path.join(results, `${suite}.png`) }).catch((err) => log.push(String(err)));
      writeFileSync(path.join(results, `${suite}.txt`), log.join(''));
      console.log(`Screenshot and log: ${results}`);
    }
  } finally {
    await page?.context().close();
    host.stop();
  }
}

/** The shipped case with its sources and a log over 50 MB, and a folder of per-rank files. */
function twoFolders(workspace, program) {
  const cases = path.join(repository, 'testdata', 'cases');
  cpSync(path.join(cases, 'sixty-four-ranks'), path.join(workspace, 'train'), { recursive: true });
  cpSync(path.join(cases, 'deepspeed-per-rank-files-stale-pool-handle'), path.join(workspace, 'ranks'), { recursive: true });
  cpSync(path.join(cases, 'plain-oom-not-graphs', 'log.txt'), path.join(workspace, 'train', 'slurm-17.out'));
  writeBigLog(path.join(workspace, 'train', 'big.log'), path.join(cases, 'sixty-four-ranks', 'train.log'));
  writeJson(path.join(workspace, 'two.code-workspace'), {
    folders: [{ path: 'train' }, { path: 'ranks' }],
    settings: { 'graphtrap.server.path': program },
  });
  return { workspace: path.join(workspace, 'two.code-workspace') };
}

/** A folder whose settings name a program that must not be run. */
function untrustedFolder(workspace, program) {
  cpSync(path.join(repository, 'testdata', 'cases', 'sixty-four-ranks'), workspace, { recursive: true });
  const evil = path.join(workspace, 'evil');
  writeFileSync(evil, `#!/bin/sh\ntouch '${evil}.ran'\n`, { mode: 0o755 });
  writeJson(path.join(workspace, '.vscode', 'settings.json'), { 'graphtrap.server.path': evil });
  // What the user of the machine chose holds.
  writeJson(path.join(path.dirname(workspace), 'user', 'Machine', 'settings.json'), { 'graphtrap.server.path': program });
  return { folder: workspace };
}

/** Training output without a failure, and then the case. */
function writeBigLog(file, theCase) {
  const failure = readFileSync(theCase);
  let chunk = '';
  for (let step = 0; chunk.length < 1024 * 1024; step++) {
    chunk += `[rank${step % 64}]: 2026-11-28 03:00:${String(step % 60).padStart(2, '0')},000 | step=${step} loss=2.0 tok/s=9039 mfu=43.9%\n`;
  }
  writeFileSync(file, '');
  for (let written = 0; written + failure.length < bigLog; written += chunk.length) {
    appendFileSync(file, chunk);
  }
  appendFileSync(file, failure);
}

/** The suite's report, or undefined when there is none in time. */
async function waitForReport(file, host) {
  for (const end = Date.now() + reportLimitMs; Date.now() < end && !host.ended && browser.isConnected(); await sleep(100)) {
    try {
      return JSON.parse(readFileSync(file, 'utf8'));
    } catch {
      // not there, or not whole
    }
  }
  const reached = existsSync(`${file}.test`) ? readFileSync(`${file}.test`, 'utf8') : 'no test';
  const why = browser.isConnected() ? (host.ended ? 'the host ended' : `${reportLimitMs / 1000} s passed`) : 'the browser ended';
  console.log(`No report: ${why}; the suite reached "${reached}"`);
  return undefined;
}

/** Prints the result and returns whether it is a bad one. */
function print(name, report) {
  if (!report) {
    console.log(`FAIL  ${name}: no report`);
    return true;
  }
  for (const { fullTitle, duration } of report.passes) {
    console.log(`ok    ${name}: ${fullTitle} (${duration} ms)`);
  }
  for (const { fullTitle, err } of report.failures) {
    console.log(`FAIL  ${name}: ${fullTitle}\n${(err.stack ?? err.message ?? '').replace(/^/gm, '      ')}`);
  }
  for (const { fullTitle } of report.pending) {
    console.log(`skip  ${name}: ${fullTitle}`);
  }
  passes += report.stats.passes;
  return report.stats.failures > 0 || report.stats.passes === 0;
}
