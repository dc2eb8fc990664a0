// The command that checks a fix.
import * as vscode from 'vscode';
import type { Incident } from './incident';
import type { Verification } from './report';
import { Hindrance } from './tell';

export async function copyVerification(incident: Incident): Promise<void> {
  await vscode.env.clipboard.writeText(verification(incident).command);
  vscode.window.setStatusBarMessage(vscode.l10n.t('Graphtrap: the check is on the clipboard'), 3000);
}

/** Runs it, once the user has read it and said yes. A line of Python is for the program itself. */
export async function runVerification(incident: Incident): Promise<void> {
  if (!vscode.workspace.isTrusted) {
    throw new Hindrance(vscode.l10n.t('Nothing is run in a workspace that is not trusted.'));
  }
  const { command, language, expect } = verification(incident);
  if (language === 'python') {
    await vscode.env.clipboard.writeText(command);
    void vscode.window.showInformationMessage(
      vscode.l10n.t('This check belongs into the program, not into a terminal. It is on the clipboard. {0}', expect),
    );
    return;
  }
  const run = vscode.l10n.t('Run');
  const chosen = await vscode.window.showWarningMessage(
    vscode.l10n.t('Run this in a terminal?'),
    { modal: true, detail: `${command}\n\n${expect}` },
    run,
  );
  if (chosen !== run) {
    return;
  }
  // In a terminal of its own: something may run in the active one.
  const terminal = vscode.window.terminals.find(({ name }) => name === 'Graphtrap') ?? vscode.window.createTerminal('Graphtrap');
  terminal.show(true);
  terminal.sendText(command);
}

function verification({ report }: Incident): Verification {
  const [verify] = report.verdict.verify ?? [];
  if (!verify?.command) {
    throw new Hindrance(vscode.l10n.t('The report names no check.'));
  }
  return verify;
}
