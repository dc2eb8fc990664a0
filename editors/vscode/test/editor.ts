// What the suites do in the editor and wait for.
import * as assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import Mocha from 'mocha';
import * as vscode from 'vscode';
import type { TestApi } from '../src/extension';

/** Runs suites and writes the report that run.mjs waits for, and beside it what is being tested. */
export async function runSuites(suites: Record<string, () => void>): Promise<void> {
  const report = process.env['GRAPHTRAP_TEST_REPORT'] ?? '';
  const mocha = new Mocha({
    ui: 'tdd',
    timeout: 60_000,
    reporter: 'json',
    reporterOptions: { output: report },
  });
  mocha.suite.emit('pre-require', globalThis, '', mocha);
  // A window may run tests before it has read which folders it shows.
  mocha.suite.beforeAll('the window has its folders', () => until('folders', () => vscode.workspace.workspaceFolders?.length));
  for (const [name, tests] of Object.entries(suites)) {
    suite(name, tests);
  }
  await new Promise<void>((resolve) => {
    const runner = mocha.run(() => resolve());
    runner.on('test', (test) => writeFileSync(`${report}.test`, test.fullTitle()));
  });
}

export function extension(): vscode.Extension<TestApi> {
  const found = vscode.extensions.getExtension<TestApi>('graphtrap.graphtrap');
  assert.ok(found);
  return found;
}

export function api(): TestApi {
  return extension().exports;
}

/** A file of the workspace. */
export function file(folder: number, name: string): vscode.Uri {
  const found = vscode.workspace.workspaceFolders?.[folder];
  assert.ok(found, `the workspace has a folder ${folder}`);
  return vscode.Uri.joinPath(found.uri, name);
}

/** The shipped case: rank 17 of 64 runs out of memory in a graph capture. */
export async function openCase(): Promise<vscode.TextDocument> {
  const log = await vscode.workspace.openTextDocument(file(0, 'train.log'));
  await vscode.window.showTextDocument(log, { viewColumn: vscode.ViewColumn.One, preview: false });
  return log;
}

/** The line on which rank 17 states what it failed of. */
export function initiatingLine(log: vscode.TextDocument): number {
  const line = lines(log).findIndex((text) => /rank17\]:.*OutOfMemoryError: CUDA out of memory/.test(text));
  assert.notEqual(line, -1);
  return line;
}

export function lines(document: vscode.TextDocument): string[] {
  return document.getText().split(/\r\n|\r|\n/);
}

export function diagnostics(uri: vscode.Uri, severity: vscode.DiagnosticSeverity): vscode.Diagnostic[] {
  return vscode.languages.getDiagnostics(uri).filter((found) => found.source === 'graphtrap' && found.severity === severity);
}

/** Waits for the one error that the server puts on the initiating line. */
export async function errorOf(document: vscode.TextDocument): Promise<vscode.Diagnostic> {
  const errors = await until('an error', () => some(diagnostics(document.uri, vscode.DiagnosticSeverity.Error)));
  assert.equal(errors.length, 1);
  return errors[0]!;
}

export function code({ code }: vscode.Diagnostic): unknown {
  return typeof code === 'object' ? code.value : code;
}

/** Runs a command and returns the text of the hover at a place. */
export async function hoverText(document: vscode.TextDocument, at: vscode.Position): Promise<string> {
  const hovers = await vscode.commands.executeCommand<vscode.Hover[]>('vscode.executeHoverProvider', document.uri, at);
  return hovers
    .flatMap((hover) => hover.contents as vscode.MarkdownString[])
    .map(({ value }) => value)
    .join('\n');
}

/** The active document, once it is one of ours from a source. */
export async function virtualDocument(source: string): Promise<vscode.TextDocument> {
  return until(`a document from ${source}`, () => {
    const document = vscode.window.activeTextEditor?.document;
    return document?.uri.scheme === 'graphtrap-text' && document.uri.authority === source && document;
  });
}

/** Runs a command of ours, which must end in a report, and returns its Markdown. */
export async function reported(command: string, ...args: unknown[]): Promise<string> {
  const before = api().preview.incident;
  await vscode.commands.executeCommand(`graphtrap.${command}`, ...args);
  const incident = await until('a report', () => {
    const now = api().preview.incident;
    return now !== before && now;
  });
  return incident.markdown;
}

/** Answers what the user would be asked while something runs, and returns what was asked. */
export async function answering(
  method: 'showInformationMessage' | 'showWarningMessage' | 'showErrorMessage' | 'showQuickPick' | 'showInputBox' | 'showOpenDialog',
  answer: (...asked: unknown[]) => unknown,
  work: () => PromiseLike<unknown>,
): Promise<unknown[][]> {
  const window = vscode.window as unknown as Record<string, unknown>;
  const original = window[method];
  const asked: unknown[][] = [];
  window[method] = (...args: unknown[]) => {
    asked.push(args);
    return Promise.resolve(answer(...args));
  };
  try {
    await work();
  } finally {
    window[method] = original;
  }
  return asked;
}

/** Sets a setting of the workspace for as long as something runs. */
export async function withSetting(key: string, value: unknown, work: () => Promise<void>): Promise<void> {
  const settings = (): vscode.WorkspaceConfiguration => vscode.workspace.getConfiguration('graphtrap');
  const before = settings().inspect(key)?.workspaceValue;
  await settings().update(key, value, vscode.ConfigurationTarget.Workspace);
  try {
    await work();
  } finally {
    await settings().update(key, before, vscode.ConfigurationTarget.Workspace);
  }
}

export function some<T>(items: readonly T[]): readonly T[] | undefined {
  return items.length ? items : undefined;
}

export async function until<T>(what: string, look: () => T | PromiseLike<T>): Promise<NonNullable<Exclude<T, false>>> {
  const end = Date.now() + 30_000;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== null && found !== false) {
      return found as NonNullable<Exclude<T, false>>;
    }
    assert.ok(Date.now() < end, `in time: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
