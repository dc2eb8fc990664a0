// How the user is told that something could not be done.
import * as vscode from 'vscode';
import { ProgramError } from './program';

/** What stops a command, in words for the user. */
export class Hindrance extends Error {}

/** Tells once, and offers the next step. A cancelled command is nothing to tell. */
export function tell(err: unknown): void {
  if (err instanceof vscode.CancellationError || cancelled(err)) {
    return;
  }
  const message = `Graphtrap: ${err instanceof Error ? err.message : String(err)}`;
  if (err instanceof Hindrance) {
    void vscode.window.showInformationMessage(message);
    return;
  }
  const [label, command, ...args] =
    err instanceof ProgramError
      ? [vscode.l10n.t('Open Settings'), 'workbench.action.openSettings', 'graphtrap.server.path']
      : [vscode.l10n.t('Show Log'), 'graphtrap.showLog'];
  void vscode.window.showErrorMessage(message, label).then((chosen) => {
    if (chosen === label) {
      void vscode.commands.executeCommand(command, ...args);
    }
  });
}

/** LSP's codes for a request that was cancelled, by the client or by the server. */
function cancelled(err: unknown): boolean {
  const code = (err as { code?: unknown } | null)?.code;
  return code === -32800 || code === -32802;
}
