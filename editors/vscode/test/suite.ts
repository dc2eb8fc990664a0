// The tests, run by VS Code inside its extension host. The workspace holds the shipped case: train.log, in which
// rank 17 of 64 runs out of memory in a CUDA graph capture, and the Python sources that it names.
import * as assert from 'node:assert/strict';
import Mocha from 'mocha';
import * as vscode from 'vscode';
import type { TestApi } from '../src/extension';

export async function run(): Promise<void> {
  const mocha = new Mocha({
    ui: 'tdd',
    timeout: 30_000,
    reporter: 'json',
    reporterOptions: { output: process.env['GRAPHTRAP_TEST_REPORT'] },
  });
  mocha.suite.emit('pre-require', globalThis, '', mocha);
  suite('graphtrap', tests);
  await new Promise<void>((resolve) => mocha.run(() => resolve()));
}

/** What rank 17 printed when its allocation failed. */
const statement = /rank17\]:.*OutOfMemoryError: CUDA out of memory/;

function tests(): void {
  let api: TestApi;
  let log: vscode.TextDocument;
  let initiating: number;

  suiteSetup(async () => {
    const [folder] = vscode.workspace.workspaceFolders ?? [];
    assert.ok(folder, 'the workspace has a folder');
    log = await vscode.workspace.openTextDocument(vscode.Uri.joinPath(folder.uri, 'train.log'));
    await vscode.window.showTextDocument(log);
    initiating = lines(log).findIndex((line) => statement.test(line));
    assert.notEqual(initiating, -1, 'train.log has the statement of rank 17');
  });

  test('starts when a log is opened', async () => {
    const extension = vscode.extensions.getExtension<TestApi>('graphtrap.graphtrap');
    assert.ok(extension);
    await until('the extension is active', () => extension.isActive);
    api = extension.exports;
    await api.ready();
    assert.match(api.version() ?? '', /^graphtrap /);
  });

  test('puts one error on the initiating line, with related lines', async () => {
    const errors = await until('an error', () =>
      some(diagnostics(log).filter((found) => found.severity === vscode.DiagnosticSeverity.Error)),
    );
    assert.equal(errors.length, 1);
    const error = errors[0]!;
    assert.equal(error.range.start.line, initiating);
    assert.equal(code(error), 'cuda-graph-capture-oom');
    assert.match(error.message, /rank 17/);
    assert.ok(error.relatedInformation?.length, 'the error has related lines');
    for (const related of error.relatedInformation) {
      assert.equal(related.location.uri.toString(), log.uri.toString());
    }
  });

  test('fades what is collateral', () => {
    const hints = diagnostics(log).filter((found) => found.severity === vscode.DiagnosticSeverity.Hint);
    assert.ok(hints.length > 0);
    for (const hint of hints) {
      assert.ok(hint.tags?.includes(vscode.DiagnosticTag.Unnecessary), `faded: ${hint.message}`);
      assert.match(hint.message, /rank 17/);
    }
  });

  test('explains the initiating line on hover', async () => {
    const hovers = await vscode.commands.executeCommand<vscode.Hover[]>(
      'vscode.executeHoverProvider',
      log.uri,
      new vscode.Position(initiating, log.lineAt(initiating).text.indexOf('OutOfMemoryError')),
    );
    const text = hovers
      .flatMap((hover) => hover.contents)
      .map((content) => (typeof content === 'string' ? content : content.value))
      .join('\n');
    assert.match(text, /rank 17/i);
    assert.match(text, /pool/i);
  });

  test('copies the check command to the clipboard', async () => {
    const copy = (await quickFixes(log, initiating)).find((action) => action.command?.command === 'graphtrap.copyText');
    assert.ok(copy?.command, 'there is an action that copies');
    const [text] = copy.command.arguments ?? [];
    await vscode.env.clipboard.writeText('before');
    await vscode.commands.executeCommand(copy.command.command, ...(copy.command.arguments ?? []));
    assert.equal(await vscode.env.clipboard.readText(), text);
  });

  test('diagnoses a traceback that was pasted into an untitled document', async () => {
    const pasted = lines(log).slice(initiating - 12, initiating + 20);
    const document = await vscode.workspace.openTextDocument({ content: ['> pasted', ...pasted].join('\n') });
    const editor = await vscode.window.showTextDocument(document);
    editor.selection = new vscode.Selection(1, 0, document.lineCount, 0);
    assert.match(await diagnose(), /rank 17/i);
  });

  test('diagnoses selected lines of a log, whole and with their numbers', async () => {
    const editor = await vscode.window.showTextDocument(log);
    const from = initiating - 12;
    editor.selection = new vscode.Selection(from, log.lineAt(from).text.length - 1, initiating + 20, 1);
    const answer = await diagnose();
    assert.match(answer, /rank 17/i);
    assert.ok(answer.includes(String(initiating + 1)), `names line ${initiating + 1}: ${answer}`);
  });

  test('diagnoses the whole document when nothing is selected', async () => {
    const editor = await vscode.window.showTextDocument(log);
    editor.selection = new vscode.Selection(0, 0, 0, 0);
    assert.match(await diagnose(), /rank 17 started it/i);
  });

  test('shares one graph pool in the source with one quick fix', async () => {
    const source = (await sharePool(log, initiating)).entries()[0]?.[0];
    assert.ok(source, 'the edit changes a file');
    assert.match(source.path, /\.py$/);

    // What is typed and not yet saved moves the edit with it.
    const python = await vscode.workspace.openTextDocument(source);
    const typed = new vscode.WorkspaceEdit();
    typed.insert(source, new vscode.Position(0, 0), '# typed\n');
    assert.ok(await vscode.workspace.applyEdit(typed));
    assert.ok(await vscode.workspace.applyEdit(await sharePool(log, initiating)));

    assert.match(python.getText(), /^# typed\n/);
    assert.match(python.getText(), /with torch\.cuda\.graph\(graph, pool=\w+\):/);
    assert.equal(python.getText().match(/graph_pool_handle/g)?.length, 1);
  });

  test('says what to do when the server cannot be run', async () => {
    const settings = vscode.workspace.getConfiguration('graphtrap');
    const program = settings.get('server.path');
    await settings.update('server.path', '/nowhere/graphtrap', vscode.ConfigurationTarget.Workspace);
    await assert.rejects(api.ready(), /\/nowhere\/graphtrap does not exist .*graphtrap\.server\.path/);
    await settings.update('server.path', program, vscode.ConfigurationTarget.Workspace);
    await api.ready();
  });
}

/** Runs the command and returns the text of the answer that it opens. */
async function diagnose(): Promise<string> {
  await vscode.commands.executeCommand('graphtrap.diagnoseSelection');
  const answer = await until('an answer', () =>
    vscode.window.activeTextEditor?.document.uri.scheme === 'graphtrap' && vscode.window.activeTextEditor.document,
  );
  const text = answer.getText();
  assert.equal(answer.languageId, 'markdown');
  assert.match(answer.uri.path, /rank 17/);
  await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
  return text;
}

async function sharePool(document: vscode.TextDocument, line: number): Promise<vscode.WorkspaceEdit> {
  const actions = await quickFixes(document, line);
  const share = actions.find((action) => /^Share one graph pool .*\w\.py:\d+$/.test(action.title));
  assert.ok(share?.edit, `an action with an edit among: ${actions.map((action) => action.title)}`);
  return share.edit;
}

async function quickFixes(document: vscode.TextDocument, line: number): Promise<vscode.CodeAction[]> {
  const resolveAll = 100;
  return vscode.commands.executeCommand<vscode.CodeAction[]>(
    'vscode.executeCodeActionProvider',
    document.uri,
    document.lineAt(line).range,
    vscode.CodeActionKind.QuickFix.value,
    resolveAll,
  );
}

function diagnostics(document: vscode.TextDocument): vscode.Diagnostic[] {
  return vscode.languages.getDiagnostics(document.uri);
}

function code({ code }: vscode.Diagnostic): unknown {
  return typeof code === 'object' ? code.value : code;
}

function lines(document: vscode.TextDocument): string[] {
  return Array.from({ length: document.lineCount }, (_, line) => document.lineAt(line).text);
}

function some<T>(items: T[]): T[] | undefined {
  return items.length ? items : undefined;
}

async function until<T>(what: string, look: () => T): Promise<NonNullable<Exclude<T, false>>> {
  const end = Date.now() + 20_000;
  for (;;) {
    const found = look();
    if (found !== undefined && found !== null && found !== false) {
      return found as NonNullable<Exclude<T, false>>;
    }
    assert.ok(Date.now() < end, `in time: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
