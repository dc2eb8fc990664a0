// The tests on a folder that is not trusted. Its settings name a program that must not be run.
import * as assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import * as vscode from 'vscode';
import { api, errorOf, extension, file, openCase, reported, runSuites, until } from './editor';

export function run(): Promise<void> {
  return runSuites({
    untrusted: () => {
      test('logs are diagnosed, by a program that the folder did not choose', async () => {
        assert.equal(vscode.workspace.isTrusted, false);
        const log = await openCase();
        await until('the extension is active', () => extension().isActive);
        assert.match((await errorOf(log)).message, /rank 17/);
        assert.ok(existsSync(file(0, 'evil').fsPath));
        assert.ok(!existsSync(file(0, 'evil.ran').fsPath));
        assert.notEqual(api().client.program?.path, file(0, 'evil').fsPath);
      });

      test('a report is shown', async () => {
        assert.match(await reported('showReport'), /^# Rank 17/);
      });

      test('no check is run in a terminal', async () => {
        await vscode.commands.executeCommand('graphtrap.runVerification').then(undefined, () => undefined);
        assert.equal(vscode.window.terminals.length, 0);
      });
    },
  });
}
