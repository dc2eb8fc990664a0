// What each command of the palette does.
import * as vscode from 'vscode';
import type { Client } from './client';
import { showDebugInfo } from './debuginfo';
import type { Diagnose } from './diagnose';
import type { Explain } from './explain';
import { applyFix } from './fix';
import { redact } from './redact';
import { chooseSample } from './samples';
import { Hindrance, tell } from './tell';
import type { Capture } from './terminal/capture';
import { copyVerification, runVerification } from './verification';

/** Registers the commands. What goes wrong in one is told. */
export function registerCommands(
  context: vscode.ExtensionContext,
  client: Client,
  diagnose: Diagnose,
  explain: Explain,
  capture: Capture,
): vscode.Disposable {
  const commands: Record<string, (argument: unknown) => unknown> = {
    diagnoseSelection: () => diagnose.selection(),
    diagnoseTerminal: () => diagnose.terminal(),
    diagnoseTerminalSelection: () => diagnose.terminalSelection(),
    captureTerminal: () => captureTerminal(capture),
    diagnoseFile: (uri) => diagnose.path(uri instanceof vscode.Uri ? uri : undefined, 'file'),
    diagnoseFolder: (uri) => diagnose.path(uri instanceof vscode.Uri ? uri : undefined, 'folder'),
    diagnoseClipboard: () => diagnose.clipboard(),
    explainSignature: (id) => explain.signature(typeof id === 'string' ? id : undefined),
    showReport: (named) => diagnose.report(named),
    applyFix: async (named) => applyFix(client, await diagnose.current(named)),
    copyVerification: async (named) => copyVerification(await diagnose.current(named)),
    runVerification: async (named) => runVerification(await diagnose.current(named)),
    copyReport: async (named) => {
      const { markdown, report } = await diagnose.current(named);
      await vscode.env.clipboard.writeText(redact(markdown, report));
      vscode.window.setStatusBarMessage(vscode.l10n.t('Graphtrap: the report is on the clipboard, redacted'), 3000);
    },
    trySample: async () => {
      const sample = await chooseSample(context.extensionPath);
      if (sample) {
        await diagnose.text('sample', sample.name, sample.text);
      }
    },
    restartServer: () => client.restart(),
    showLog: () => client.output.show(),
    showDebugInfo: () => showDebugInfo(client, context.extension),
  };
  return vscode.Disposable.from(
    ...Object.entries(commands).map(([name, run]) =>
      vscode.commands.registerCommand(`graphtrap.${name}`, async (argument: unknown) => {
        try {
          await run(argument);
        } catch (err) {
          tell(err);
        }
      }),
    ),
  );
}

function captureTerminal(capture: Capture): void {
  const terminal = vscode.window.activeTerminal;
  if (!terminal) {
    throw new Hindrance(vscode.l10n.t('No terminal is open.'));
  }
  const message = capture.toggle(terminal)
    ? vscode.l10n.t('Graphtrap: what is run in "{0}" from now on is kept in memory', terminal.name)
    : vscode.l10n.t('Graphtrap: nothing of "{0}" is kept any more', terminal.name);
  vscode.window.setStatusBarMessage(message, 5000);
}
