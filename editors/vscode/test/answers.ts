// What the user sees on the lines of a log.
import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { api, code, diagnostics, errorOf, file, hoverText, initiatingLine, lines, openCase, some, until } from './editor';

export function answers(): void {
  let log: vscode.TextDocument;
  let initiating: number;

  suiteSetup(async () => {
    log = await openCase();
    initiating = initiatingLine(log);
  });

  test('one error on the initiating line, with related lines', async () => {
    const error = await errorOf(log);
    assert.equal(error.range.start.line, initiating);
    assert.equal(code(error), 'cuda-graph-capture-oom');
    assert.match(error.message, /rank 17/);
    assert.ok(error.relatedInformation?.length, 'the error has related lines');
    for (const related of error.relatedInformation) {
      assert.equal(related.location.uri.toString(), log.uri.toString());
    }
  });

  test('what is collateral is faded', () => {
    const hints = diagnostics(log.uri, vscode.DiagnosticSeverity.Hint);
    assert.ok(hints.length > 0);
    for (const hint of hints) {
      assert.ok(hint.tags?.includes(vscode.DiagnosticTag.Unnecessary), `faded: ${hint.message}`);
      assert.match(hint.message, /rank 17/);
    }
  });

  test('a hover explains the initiating line', async () => {
    const text = await hoverText(log, new vscode.Position(initiating, log.lineAt(initiating).text.indexOf('OutOfMemoryError')));
    assert.match(text, /rank 17/i);
    assert.match(text, /pool/i);
  });

  test('a quick fix copies the check to the clipboard', async () => {
    const copy = (await quickFixes(log, initiating)).find((action) => action.command?.command === 'graphtrap.copyText');
    assert.ok(copy?.command, 'there is an action that copies');
    const args = (copy.command.arguments ?? []) as unknown[];
    await vscode.env.clipboard.writeText('before');
    await vscode.commands.executeCommand(copy.command.command, ...args);
    assert.equal(await vscode.env.clipboard.readText(), args[0]);
  });

  test('a quick fix shares one graph pool in the source, and moves with what is typed there', async () => {
    const [[source] = []] = (await sharePool(log, initiating)).entries();
    assert.ok(source, 'the edit changes a file');
    assert.match(source.path, /engine\/graphs\.py$/);
    const python = await vscode.workspace.openTextDocument(source);
    const typed = new vscode.WorkspaceEdit();
    typed.insert(source, new vscode.Position(0, 0), '# typed\n');
    assert.ok(await vscode.workspace.applyEdit(typed));
    assert.ok(await vscode.workspace.applyEdit(await sharePool(log, initiating)));

    assert.match(python.getText(), /^# typed\n/);
    assert.match(python.getText(), /with torch\.cuda\.graph\(graph, pool=\w+\):/);
    assert.equal(python.getText().match(/graph_pool_handle/g)?.length, 1);
    await revert(python);
  });

  test('code lenses stand on the initiating line, and their commands exist', async () => {
    const lenses = await until('lenses', async () =>
      some(await vscode.commands.executeCommand<vscode.CodeLens[]>('vscode.executeCodeLensProvider', log.uri, 20)),
    );
    assert.ok(lenses.some(({ command }) => command?.title.includes('rank 17')));
    const known = new Set(await vscode.commands.getCommands());
    for (const { command } of lenses) {
      assert.ok(command, 'a lens is resolved');
      assert.ok(command.command === '' || known.has(command.command), `${command.title}: ${command.command} exists`);
    }
  });

  test('symbols: the incident, its ranks, their events', async () => {
    const symbols = await vscode.commands.executeCommand<vscode.DocumentSymbol[]>('vscode.executeDocumentSymbolProvider', log.uri);
    const names = (list: readonly vscode.DocumentSymbol[]): string[] => list.flatMap(({ name, children }) => [name, ...names(children)]);
    assert.ok(names(symbols).some((name) => /rank 17/i.test(name)), names(symbols).slice(0, 20).join('\n'));
  });

  test('the traceback of the initiating rank can be folded', async () => {
    const ranges = await vscode.commands.executeCommand<vscode.FoldingRange[]>('vscode.executeFoldingRangeProvider', log.uri);
    const traceback = lines(log).findIndex((text) => text.startsWith('[rank17]: Traceback'));
    assert.ok(ranges.some(({ start, end }) => start <= traceback && traceback <= end && end - start < 50));
  });

  test('a frame links to its source', async () => {
    const links = await vscode.commands.executeCommand<vscode.DocumentLink[]>('vscode.executeLinkProvider', log.uri, 500);
    assert.ok(links.some(({ target }) => target?.path.endsWith('engine/graphs.py')));
  });

  test('the output of a batch job is a log, too', async () => {
    const output = await vscode.workspace.openTextDocument(file(0, 'slurm-17.out'));
    assert.equal(output.languageId, 'log');
    assert.match((await errorOf(output)).message, /out of memory/i);
  });

  test('the status bar says who started it', async () => {
    await openCase();
    const { item } = api().statusBar;
    await until('rank 17 in the status bar', () => item.text.includes('rank 17'));
    assert.equal(item.command, 'graphtrap.showReport');
  });
}

async function sharePool(document: vscode.TextDocument, line: number): Promise<vscode.WorkspaceEdit> {
  const actions = await quickFixes(document, line);
  const share = actions.find((action) => /^Share one graph pool .*\w\.py:\d+$/.test(action.title));
  assert.ok(share?.edit, `an action with an edit among: ${actions.map((action) => action.title).join(', ')}`);
  return share.edit;
}

/** The quick fixes of a line. VS Code gives none while other extensions, which start with it, register theirs. */
async function quickFixes(document: vscode.TextDocument, line: number): Promise<vscode.CodeAction[]> {
  const resolveAll = 100;
  return until('quick fixes', async () => {
    const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(
      'vscode.executeCodeActionProvider',
      document.uri,
      document.lineAt(line).range,
      vscode.CodeActionKind.QuickFix.value,
      resolveAll,
    );
    return actions.length > 0 && actions;
  });
}

async function revert(document: vscode.TextDocument): Promise<void> {
  await vscode.window.showTextDocument(document);
  await vscode.commands.executeCommand('workbench.action.files.revert');
  await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
}
