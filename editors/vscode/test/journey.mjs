// One journey through a real VS Code, as a person makes it, with the package installed as a user installs it: a job fails
// in the terminal, Diagnose Terminal, the initiating rank, the source, the fix. Takes the screenshots of the README.
//
//   node test/journey.mjs [--keep]     --keep: put the screenshots into media/, too
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build, extension, install, openPage, repository, results, run, startBrowser, startHost, temporaryFolder } from './host.mjs';

const keep = process.argv.includes('--keep');
const waitMs = 60_000;
const { dir, remove } = temporaryFolder();
const shots = path.join(dir, 'shots');
const log = [];
let host;
let browser;
let page;
let step = 'build';
try {
  const { vscode, program } = build(dir);
  const workspace = path.join(dir, 'workspace');
  cpSync(path.join(repository, 'testdata', 'cases', 'sixty-four-ranks'), workspace, { recursive: true });
  cpSync(path.join(extension, 'test', 'job', 'launch.py'), path.join(workspace, 'launch.py'));
  mkdirSync(shots);

  run(extension, 'node', 'package.mjs', '--only', 'linux-x64', '--server', program, '--out', dir);
  install({ vscode, dir, vsix: path.join(dir, 'graphtrap-linux-x64.vsix') });
  host = await startHost({ vscode, dir, log, flags: ['--disable-workspace-trust'], userSettings: { 'window.commandCenter': false } });
  browser = await startBrowser();
  page = await openPage(browser, log);
  page.setDefaultTimeout(waitMs);
  const start = Date.now();
  await journey(workspace);
  console.log(`The journey took ${((Date.now() - start) / 1000).toFixed(1)} s`);
  if (keep) {
    cpSync(shots, path.join(extension, 'media'), { recursive: true });
  }
} catch (err) {
  console.log(`FAIL  ${step}\n${err.stack}`);
  mkdirSync(results, { recursive: true });
  await page?.screenshot({ path: path.join(results, 'journey.png') });
  writeFileSync(path.join(results, 'journey.txt'), log.join(''));
  console.log(`Screenshot and log: ${results}`);
  process.exitCode = 1;
} finally {
  await browser?.close();
  host?.stop();
  remove();
}

async function journey(workspace) {
  await does('open the folder', async () => {
    await page.goto(`http://127.0.0.1:${host.port}/?${new URLSearchParams({ folder: workspace })}`);
    await page.locator('.explorer-folders-view .monaco-list-row').filter({ hasText: 'launch.py' }).waitFor();
  });
  await does('run the failing job in the terminal', async () => {
    await palette('View: Toggle Primary Side Bar Visibility');
    await palette('Terminal: Create New Terminal');
    const rows = page.locator('.terminal-wrapper.active .xterm-rows');
    await rows.filter({ hasText: /[#$]\s*$/ }).waitFor();
    await page.keyboard.type("PS1='$ '; clear");
    await page.keyboard.press('Enter');
    await rows.filter({ hasText: /^\s*\$\s*$/ }).waitFor();
    await page.keyboard.type('python3 launch.py 20');
    await page.keyboard.press('Enter');
    await rows.filter({ hasText: /rank {6}: 3[^]*\$\s*$/ }).waitFor();
  });
  await does('Diagnose Terminal', async () => {
    await palette('Graphtrap: Diagnose Terminal');
    await page.locator('.tab').filter({ hasText: 'Rank 3 started it' }).waitFor();
    await page.locator('.cdr.squiggly-error').first().waitFor({ state: 'attached' });
    await report().getByRole('heading', { name: /^Rank 3 started it/ }).waitFor();
  });
  await does('read the initiating line', async () => {
    await page.locator('.statusbar-item').filter({ hasText: 'rank 3 started it' }).waitFor();
    await report().locator('a[data-href^="#"]').first().click();
    await page.locator('.view-line').filter({ hasText: 'OutOfMemoryError' }).first().waitFor();
    await page.locator('.codelens-decoration').filter({ hasText: 'rank 3 started it' }).first().waitFor();
    await shot('terminal.png');
  });
  await does('read the whole report', async () => {
    await palette('View: Toggle Panel Visibility');
    await shot('report.png');
  });
  await does('see it in Problems', async () => {
    await palette('Problems: Focus on Problems View');
    await page.locator('.markers-panel .monaco-list-row').filter({ hasText: 'rank 3 started it' }).first().waitFor();
    await shot('problems.png');
    await palette('View: Toggle Panel Visibility');
  });
  await does('apply the fix, and see the edited line', async () => {
    await report().getByRole('link', { name: 'Apply the fix in the source' }).click();
    await page.locator('.tab.active').filter({ hasText: 'graphs.py' }).waitFor();
    await page.locator('.view-line').filter({ hasText: 'torch.cuda.graph(graph, pool=' }).waitFor();
    await page.locator('.view-line').filter({ hasText: 'graph_pool_handle()' }).waitFor();
    await shot('fix.png');
  });
  await does('open a log of 64 ranks, and hover over its initiating line', async () => {
    await palette('File: Save');
    await palette('View: Close All Editors');
    await palette('View: Toggle Primary Side Bar Visibility');
    await page.locator('.explorer-folders-view .monaco-list-row').filter({ hasText: 'train.log' }).dblclick();
    await page.locator('.statusbar-item').filter({ hasText: 'rank 17 started it' }).waitFor();
    await palette('Go to Next Problem in Files (Error, Warning, Info)');
    const squiggle = page.locator('.cdr.squiggly-error').first();
    await squiggle.waitFor({ state: 'attached' });
    await page.keyboard.press('Escape');
    await hover(squiggle, /rank 17/i);
    await shot('answer.png');
  });
  await does('open the walkthrough', async () => {
    await page.mouse.move(5, 5);
    await palette('Welcome: Open Walkthrough...', 'Who started it?');
    await page.getByText('Ask the terminal').first().waitFor();
    await page.locator('.getting-started-media img, .getting-started-media iframe').first().waitFor();
  });
}

async function does(what, work) {
  step = what;
  const start = Date.now();
  await work();
  console.log(`ok    ${what} (${Date.now() - start} ms)`);
}

/** Runs a command as one who types its name, and answers what it asks. */
async function palette(command, answer) {
  const box = page.locator('.quick-input-widget input.input');
  const row = (text) => page.locator('.quick-input-list .monaco-list-row').filter({ hasText: text }).first();
  await page.keyboard.press('F1');
  await box.waitFor({ state: 'visible' });
  await box.fill(`>${command}`);
  await row(command).click();
  if (answer) {
    await row(answer).click();
  }
  await box.waitFor({ state: 'hidden' });
}

/** Moves the mouse over something until it shows its hover: lines that still move take the mouse away. */
async function hover(target, text) {
  const shown = page.locator('.monaco-hover').filter({ hasText: text }).first();
  for (const end = Date.now() + waitMs; Date.now() < end && !(await shown.isVisible()); ) {
    const box = await target.boundingBox();
    if (!box) { // it is being drawn anew
      await page.waitForTimeout(100);
      continue;
    }
    await page.mouse.move(box.x + 200, box.y + 8);
    await page.mouse.move(box.x + 220, box.y + 9);
    await shown.waitFor({ timeout: 3000 }).catch(() => page.mouse.move(5, 5));
  }
  await shown.waitFor({ timeout: 1000 });
}

/** The page of the report, which is a frame in a frame. */
function report() {
  return page.frameLocator('iframe.webview').last().frameLocator('iframe');
}

async function shot(name) {
  await page.screenshot({ path: path.join(shots, name) });
}
