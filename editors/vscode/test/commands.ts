// Every command that reads what is in the editor, and what can be done with its report.
import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { answering, api, code, errorOf, extension, hoverText, initiatingLine, lines, openCase, reported, until, virtualDocument } from './editor';

export function commands(): void {
  let log: vscode.TextDocument;
  let initiating: number;

  setup(async () => {
    log = await openCase();
    initiating = initiatingLine(log);
  });

  test('are all registered that package.json lists', async () => {
    const { contributes } = extension().packageJSON as { contributes: { commands: { command: string }[] } };
    const known = new Set(await vscode.commands.getCommands());
    for (const { command } of contributes.commands) {
      assert.ok(known.has(command), command);
    }
  });

  test('Diagnose Selection: a pasted traceback, which becomes a log with its line marked', async () => {
    const pasted = lines(log).slice(initiating - 12, initiating + 20);
    const document = await vscode.workspace.openTextDocument({ content: ['> pasted', ...pasted].join('\n') });
    const editor = await vscode.window.showTextDocument(document);
    editor.selection = new vscode.Selection(1, 0, document.lineCount, 0);
    assert.match(await reported('diagnoseSelection'), /rank 17/i);
    const active = vscode.window.activeTextEditor?.document;
    assert.equal(active?.languageId, 'log');
    assert.equal((await errorOf(active)).range.start.line, 13);
  });

  test('Diagnose Selection: lines of a log, whole and with their numbers', async () => {
    const editor = await vscode.window.showTextDocument(log);
    const from = initiating - 12;
    editor.selection = new vscode.Selection(from, log.lineAt(from).text.length - 1, initiating + 20, 1);
    const answer = await reported('diagnoseSelection');
    assert.match(answer, /rank 17/i);
    assert.ok(answer.includes(String(initiating + 1)), `names line ${initiating + 1}: ${answer}`);
  });

  test('Diagnose Selection: the whole document when nothing is selected', async () => {
    const editor = await vscode.window.showTextDocument(log);
    editor.selection = new vscode.Selection(0, 0, 0, 0);
    assert.match(await reported('diagnoseSelection'), /rank 17 started it/i);
  });

  test('Diagnose Selection: a document of another language, as a log of its own', async () => {
    const content = ['# Notes', ...lines(log).slice(initiating - 12, initiating + 20)].join('\n');
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ language: 'markdown', content }));
    assert.match(await reported('diagnoseSelection'), /rank 17/i);
    await errorOf(await virtualDocument('selection'));
  });

  test('Diagnose Clipboard: a read-only log with diagnostics and hovers', async () => {
    const red = lines(log)
      .slice(initiating - 12, initiating + 20)
      .map((line) => `\u001b[31m${line}\u001b[0m`);
    await vscode.env.clipboard.writeText(red.join('\r\n'));
    assert.match(await reported('diagnoseClipboard'), /rank 17/i);
    const document = await virtualDocument('clipboard');
    assert.equal(document.languageId, 'log');
    assert.ok(!document.getText().includes('\u001b'));
    const error = await errorOf(document);
    assert.equal(error.range.start.line, 12);
    assert.match(await hoverText(document, error.range.start), /rank 17/i);
    const before = document.getText();
    await vscode.commands.executeCommand('type', { text: 'typed' });
    assert.equal(document.getText(), before, 'nothing can be typed into it');
  });

  test('Show Report: links open the lines that they name', async () => {
    assert.match(await reported('showReport'), /^# Rank 17 started it/);
    const { preview } = api();
    assert.match(preview.page.title ?? '', /^Rank 17 started it/);
    const hrefs = [...(preview.page.html ?? '').matchAll(/<a href="(open:[^"]*|#\d+)"/g)].map(([, href]) => href!);
    assert.ok(hrefs.length > 3, preview.page.html ?? 'no page');
    for (const href of hrefs) {
      await vscode.commands.executeCommand('workbench.action.focusFirstEditorGroup');
      await preview.page.open(href);
      const editor = vscode.window.activeTextEditor;
      assert.equal(editor?.document.uri.toString(), log.uri.toString());
      assert.equal(editor.selection.active.line + 1, Number(/\d+$/.exec(href)?.[0]));
    }
  });

  test('Show Report: links open lines of text that is in no file', async () => {
    await vscode.env.clipboard.writeText(lines(log).slice(initiating - 12, initiating + 20).join('\n'));
    await reported('diagnoseClipboard');
    const document = await virtualDocument('clipboard');
    await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
    assert.match(api().preview.page.html ?? '', /href="#13"/);
    await api().preview.page.open('#13');
    const editor = await until('the line', () => vscode.window.activeTextEditor);
    assert.equal(editor.document.uri.toString(), document.uri.toString());
    assert.equal(editor.selection.active.line, 12);
    assert.match(editor.document.lineAt(12).text, /OutOfMemoryError/);
  });

  test('Apply Fix in Source: the source shows the edited line', async () => {
    await vscode.commands.executeCommand('graphtrap.applyFix');
    const editor = await until('the source', () => {
      const active = vscode.window.activeTextEditor;
      return active?.document.uri.path.endsWith('/engine/graphs.py') && active;
    });
    assert.match(editor.document.getText(), /with torch\.cuda\.graph\(graph, pool=\w+\):/);
    assert.ok(editor.document.isDirty, 'saving is left to the user');
    assert.match(editor.document.lineAt(editor.selection.active.line).text, /pool/);
    await vscode.commands.executeCommand('workbench.action.files.revert');
  });

  test('Apply Fix in Source: says so when there is no edit', async () => {
    await vscode.env.clipboard.writeText('[rank1]: ValueError: no such shard');
    await vscode.commands.executeCommand('graphtrap.diagnoseClipboard');
    await virtualDocument('clipboard');
    const asked = await answering('showInformationMessage', () => undefined, () => vscode.commands.executeCommand('graphtrap.applyFix'));
    assert.match(String(asked[0]?.[0]), /no edit/);
  });

  test('Copy Verification Command', async () => {
    await vscode.commands.executeCommand('graphtrap.copyVerification');
    assert.equal(await vscode.env.clipboard.readText(), api().incidents.latest?.report.verdict.verify?.[0]?.command);
  });

  test('Run Verification Command in Terminal: a line of Python is copied, not run', async () => {
    const before = vscode.window.terminals.length;
    const run = (): PromiseLike<unknown> => vscode.commands.executeCommand('graphtrap.runVerification');
    const told = await answering('showInformationMessage', () => undefined, run);
    assert.match(String(told[0]?.[0]), /belongs into the program/);
    assert.match(await vscode.env.clipboard.readText(), /memory_snapshot/);
    assert.equal(vscode.window.terminals.length, before);
  });

  test('Run Verification Command in Terminal: asks, and runs nothing without a yes', async () => {
    await vscode.env.clipboard.writeText('[rank1]: RuntimeError: DataLoader worker (pid 512) is killed by signal: Bus error.');
    await vscode.commands.executeCommand('graphtrap.diagnoseClipboard');
    await virtualDocument('clipboard');
    const before = vscode.window.terminals.length;
    const run = (): PromiseLike<unknown> => vscode.commands.executeCommand('graphtrap.runVerification');
    const asked = await answering('showWarningMessage', () => undefined, run);
    const { detail, modal } = asked[0]?.[1] as vscode.MessageOptions;
    assert.equal(modal, true);
    assert.match(detail ?? '', /df -h/);
    assert.equal(vscode.window.terminals.length, before);
    await answering('showWarningMessage', (_message, _options, yes) => yes, run);
    const terminal = vscode.window.terminals.find(({ name }) => name === 'Graphtrap');
    assert.ok(terminal);
    terminal.dispose();
  });

  test('Copy Report as Markdown: without names of hosts and folders', async () => {
    await vscode.commands.executeCommand('graphtrap.copyReport');
    const copied = await vscode.env.clipboard.readText();
    assert.match(copied, /^# Rank 17 started it/);
    assert.doesNotMatch(copied, /file:|node-02|\/workspace\//);
  });

  test('Try a Sample', async () => {
    const asked = await answering('showQuickPick', (items) => (items as unknown[])[0], async () => {
      assert.match(await reported('trySample'), /rank 17/i);
    });
    assert.ok((asked[0]?.[0] as unknown[]).length >= 3);
    const error = await errorOf(await virtualDocument('sample'));
    assert.equal(code(error), 'cuda-graph-capture-oom');
  });

  test('a report without a failure and one that is undetermined are reports, too', async () => {
    for (const [index, expected] of [
      [1, /out of memory/i],
      [2, /undetermined/i],
    ] as const) {
      await answering('showQuickPick', (items) => (items as unknown[])[index], async () => {
        assert.match(await reported('trySample'), expected);
      });
    }
  });

  test('Explain Signature: the failure of the line under the cursor', async () => {
    const editor = await vscode.window.showTextDocument(log);
    await errorOf(log);
    editor.selection = new vscode.Selection(initiating, 0, initiating, 0);
    await vscode.commands.executeCommand('graphtrap.explainSignature');
    const page = await until('an explanation', () => api().explain.page.html);
    assert.match(page, /A CUDA graph capture ran out of memory/);
    assert.match(page, /graph_pool_handle/);
  });

  test('Explain Signature: an id that is not known', async () => {
    const asked = await answering('showErrorMessage', () => undefined, () =>
      vscode.commands.executeCommand('graphtrap.explainSignature', 'nope'),
    );
    assert.match(String(asked[0]?.[0]), /nope/);
  });

  test('Show Debug Information: no text of a document', async () => {
    await vscode.commands.executeCommand('graphtrap.showDebugInfo');
    const document = await until('the information', () => {
      const active = vscode.window.activeTextEditor?.document;
      return active?.languageId === 'json' && active;
    });
    const info = JSON.parse(document.getText()) as { server: { version: string; state: string } };
    assert.equal(info.server.state, 'running');
    assert.match(info.server.version, /^graphtrap /);
    assert.doesNotMatch(document.getText(), /OutOfMemory|train\.log|\/graphtrap/);
  });

  test('Show Log', async () => {
    await vscode.commands.executeCommand('graphtrap.showLog');
  });

}
