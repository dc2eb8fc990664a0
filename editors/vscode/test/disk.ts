// Files and folders that are read by their path.
import * as assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import * as vscode from 'vscode';
import { answering, api, file, reported, until } from './editor';

export function disk(): void {
  test('Diagnose File on Disk: 60 MB, with progress', async function () {
    const big = file(0, 'big.log');
    assert.ok(statSync(big.fsPath).size > 55 * 1024 * 1024);
    const told: string[] = [];
    const original = vscode.window.withProgress;
    const window = vscode.window as { withProgress: unknown };
    window.withProgress = (options: vscode.ProgressOptions, task: Parameters<typeof original>[1]) => {
      assert.ok(options.cancellable);
      return original(options, (progress, token) =>
        task(
          {
            report: (value) => {
              told.push(JSON.stringify(value));
              progress.report(value);
            },
          },
          token,
        ),
      );
    };
    try {
      assert.match(await reported('diagnoseFile', big), /^# Rank 17 started it/);
    } finally {
      window.withProgress = original;
    }
    assert.ok(told.some((value) => value.includes('MiB read')), told.join('\n'));
    this.test!.title += `: ${told.length} reports`;
    assert.equal(vscode.workspace.textDocuments.filter(({ uri }) => uri.path.endsWith('big.log')).length, 0, 'it is no document');

    // Its links open it, though it is over what extensions are given.
    const href = /<a href="(#\d+)"/.exec(api().preview.page.html ?? '')?.[1];
    assert.ok(href, api().preview.page.html ?? '');
    await api().preview.page.open(href);
    await until('a tab with the file', () => {
      const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
      return input instanceof vscode.TabInputText && input.uri.path.endsWith('big.log');
    });
    await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
  });

  test('Diagnose File on Disk: cancelled', async () => {
    const cancelling = new vscode.CancellationTokenSource();
    const reading = api().incidents.diagnose({ kind: 'file', path: file(0, 'big.log').fsPath }, cancelling.token);
    setTimeout(() => cancelling.cancel(), 20);
    await assert.rejects(reading, (err: { code?: number }) => err instanceof vscode.CancellationError || err.code === -32800);
    // The server goes on.
    assert.match(await reported('diagnoseFile', file(0, 'train.log')), /^# Rank 17/);
  });

  test('Diagnose Folder: per-rank files are one incident', async () => {
    assert.match(await reported('diagnoseFolder', file(1, 'logs')), /^# Rank 3 started it/);
    const href = /<a href="(#\d+)"/.exec(api().preview.page.html ?? '')?.[1];
    assert.ok(href, api().preview.page.html ?? '');
    await api().preview.page.open(href);
    const editor = await until('the file', () => vscode.window.activeTextEditor);
    assert.match(editor.document.uri.path, /rank3\.log$/);
  });

  test('Diagnose Folder: asks which, when none is named', async () => {
    const asked = await answering('showOpenDialog', () => [file(1, 'logs')], async () => {
      assert.match(await reported('diagnoseFolder'), /^# Rank 3/);
    });
    assert.equal((asked[0]?.[0] as vscode.OpenDialogOptions).canSelectFolders, true);
  });

  test('a file that is not there is told', async () => {
    const asked = await answering('showErrorMessage', () => undefined, () =>
      vscode.commands.executeCommand('graphtrap.diagnoseFile', file(0, 'gone.log')),
    );
    assert.match(String(asked[0]?.[0]), /gone\.log/);
  });
}
