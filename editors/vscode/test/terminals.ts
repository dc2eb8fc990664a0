// What is printed in a terminal, by a job of several ranks that fails.
import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { answering, api, errorOf, reported, until, virtualDocument, withSetting } from './editor';

const job = process.env['GRAPHTRAP_TEST_JOB'] ?? '';

export function terminals(): void {
  let terminal: vscode.Terminal;

  setup(async () => {
    terminal = vscode.window.createTerminal({ name: 'job', shellPath: '/bin/bash' });
    terminal.show();
    await until('shell integration', () => terminal.shellIntegration);
    await until('the terminal is active', () => vscode.window.activeTerminal === terminal);
  });

  teardown(() => terminal.dispose());

  test('nothing is kept before it is asked for', async () => {
    await ran('true');
    assert.equal(api().capture.lastOf(terminal), undefined);
  });

  test('Diagnose Terminal: the last command through the clipboard, which is put back', async () => {
    await ran(`python3 ${job} 5`);
    await vscode.env.clipboard.writeText('mine');
    assert.match(await reported('diagnoseTerminal'), /^# Rank 3 started it/);
    const document = await virtualDocument('terminal');
    assert.match((await errorOf(document)).message, /rank 3/);
    assert.equal(await vscode.env.clipboard.readText(), 'mine');
  });

  test('Diagnose Terminal Selection', async () => {
    await ran(`python3 ${job} 2`);
    await until('its text is there', async () => {
      await vscode.commands.executeCommand('workbench.action.terminal.selectAll');
      await vscode.commands.executeCommand('workbench.action.terminal.copySelection');
      return (await vscode.env.clipboard.readText()).includes('Root Cause');
    });
    await vscode.commands.executeCommand('workbench.action.terminal.selectAll');
    await vscode.env.clipboard.writeText('mine');
    assert.match(await reported('diagnoseTerminalSelection'), /^# Rank 3 started it/);
    assert.equal(await vscode.env.clipboard.readText(), 'mine');
  });

  test('Capture This Terminal: more than the screen keeps, without colours, and a link on the initiating line', async () => {
    await vscode.commands.executeCommand('graphtrap.captureTerminal');
    assert.ok(api().capture.covers(terminal));
    await withSetting('terminal.offer', false, async () => ran(`python3 ${job} 400`));
    await until('the end was read', () => api().capture.lastOf(terminal)?.running === false);
    assert.equal(api().capture.lastOf(terminal)?.exitCode, 1);
    assert.match(await reported('diagnoseTerminal'), /^# Rank 3 started it/);
    const document = await virtualDocument('terminal');
    assert.ok(document.lineCount > 3200, `${document.lineCount} lines`);
    assert.ok(!document.getText().includes('\u001b'));
    const error = await errorOf(document);

    const line = document.lineAt(error.range.start.line).text;
    const [link] = api().links.provideTerminalLinks({ terminal, line });
    assert.ok(link, 'the initiating line is a link');
    assert.deepEqual(api().links.provideTerminalLinks({ terminal, line: document.lineAt(0).text }), []);
    await api().links.handleTerminalLink(link);
    assert.equal(vscode.window.activeTextEditor?.selection.active.line, error.range.start.line);

    await vscode.commands.executeCommand('graphtrap.captureTerminal');
    assert.ok(!api().capture.covers(terminal));
    assert.equal(api().capture.lastOf(terminal), undefined, 'what was kept is let go');
  });

  test('Diagnose Terminal: a command that still runs', async () => {
    await vscode.commands.executeCommand('graphtrap.captureTerminal');
    terminal.shellIntegration?.executeCommand(`python3 ${job} 3; sleep 600`);
    await until('the failure was printed', () => api().capture.lastOf(terminal)?.text().includes('Root Cause'));
    assert.ok(api().capture.lastOf(terminal)?.running);
    assert.match(await reported('diagnoseTerminal'), /^# Rank 3 started it/);
  });

  test('a failed command offers its answer once; a command that succeeds does not', async () => {
    await withSetting('terminal.capture', true, async () => {
      const asked = await answering(
        'showInformationMessage',
        (_message, show) => show,
        async () => {
          await ran(`python3 ${job} 3`);
          await virtualDocument('terminal');
          await ran('false');
          await ran(`python3 ${job} 3; true`);
        },
      );
      assert.deepEqual(asked.map(([message]) => message), ['Rank 3 started it: a CUDA graph capture ran out of memory']);
    });
  });

  test('no offer when it is switched off', async () => {
    await withSetting('terminal.capture', true, () =>
      withSetting('terminal.offer', false, async () => {
        const asked = await answering('showInformationMessage', () => undefined, () => ran(`python3 ${job} 3`));
        assert.deepEqual(asked, []);
      }),
    );
  });

  /** Runs a command and waits for its end. */
  async function ran(command: string): Promise<void> {
    const { shellIntegration } = terminal;
    assert.ok(shellIntegration);
    await new Promise<void>((resolve) => {
      const execution = shellIntegration.executeCommand(command);
      const ending = vscode.window.onDidEndTerminalShellExecution((event) => {
        if (event.execution === execution) {
          ending.dispose();
          resolve();
        }
      });
    });
  }
}
