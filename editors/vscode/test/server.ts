// The server's life: ended by force, restarted, missing.
import * as assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import * as vscode from 'vscode';
import { answering, api, diagnostics, errorOf, openCase, reported, until, withSetting } from './editor';

export function server(): void {
  test('is started again when it is killed, and marks the log again', async () => {
    const log = await openCase();
    await errorOf(log);
    const before = serverProcess();
    process.kill(before, 'SIGKILL');
    await until('another server', () => {
      const now = serverProcess(true);
      return now !== undefined && now !== before;
    });
    await until('it runs', () => api().client.state === 'running');
    await errorOf(log);
  });

  test('Restart Server', async () => {
    const log = await openCase();
    const before = serverProcess();
    await vscode.commands.executeCommand('graphtrap.restartServer');
    assert.equal(api().client.state, 'running');
    assert.notEqual(serverProcess(), before);
    await errorOf(log);
  });

  test('says what to do when the program cannot be run', async () => {
    const asked = await answering('showErrorMessage', () => undefined, () =>
      withSetting('server.path', '/nowhere/graphtrap', async () => {
        await until('the failure', () => api().client.state === 'failed');
        assert.match(api().statusBar.item.text, /warning/);
      }),
    );
    assert.match(String(asked[0]?.[0]), /\/nowhere\/graphtrap does not exist .*graphtrap\.server\.path/);
    await until('the server runs again', () => api().client.state === 'running');
  });

  test('is told of settings', async () => {
    const log = await openCase();
    await errorOf(log);
    await withSetting('collateralSeverity', 'warning', async () => {
      await until('warnings', () => diagnostics(log.uri, vscode.DiagnosticSeverity.Warning).length > 0);
    });
    await until('hints again', () => diagnostics(log.uri, vscode.DiagnosticSeverity.Hint).length > 0);
  });

  test('reads nothing unasked when automatic analysis is off', async () => {
    const log = await openCase();
    await errorOf(log);
    await withSetting('automaticAnalysis', false, async () => {
      await until('no marks', () => vscode.languages.getDiagnostics(log.uri).length === 0);
      assert.match(await reported('showReport'), /^# Rank 17/);
      await errorOf(log);
    });
  });
}

/** The process of the server, which is a child of this one. */
function serverProcess(): number;
function serverProcess(mayBeGone: boolean): number | undefined;
function serverProcess(mayBeGone = false): number | undefined {
  const found = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .find((pid) => {
      try {
        const parent = Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
        return parent === process.pid && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('\0serve\0');
      } catch {
        return false; // it ended
      }
    });
  assert.ok(found !== undefined || mayBeGone, 'the server runs');
  return found === undefined ? undefined : Number(found);
}
