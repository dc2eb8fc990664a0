// One unobtrusive word on a command that just failed in a captured terminal.
import * as vscode from 'vscode';
import type { Incidents } from '../incident';
import type { Capture, Captured } from './capture';

/** Offers to show who started it, where the server found that in what the failed command printed. */
export class Offer implements vscode.Disposable {
  private readonly registration: vscode.Disposable;

  constructor(
    capture: Capture,
    private readonly incidents: Incidents,
    private readonly show: (captured: Captured) => Promise<void>,
    tell: (err: unknown) => void,
  ) {
    this.registration = capture.onDidEnd((captured) => void this.consider(captured).catch(tell));
  }

  dispose(): void {
    this.registration.dispose();
  }

  private async consider(captured: Captured): Promise<void> {
    const settings = vscode.workspace.getConfiguration('graphtrap');
    if (!captured.exitCode || !settings.get<boolean>('terminal.offer', true)) {
      return;
    }
    const waiting = new vscode.CancellationTokenSource();
    try {
      const { verdict } = await this.incidents.glance(captured.text(), waiting.token);
      if (verdict.status !== 'diagnosed') {
        return;
      }
      const show = vscode.l10n.t('Show');
      const never = vscode.l10n.t('Do Not Offer');
      const chosen = await vscode.window.showInformationMessage(verdict.title, show, never);
      if (chosen === show) {
        await this.show(captured);
      } else if (chosen === never) {
        await settings.update('terminal.offer', false, vscode.ConfigurationTarget.Global);
      }
    } finally {
      waiting.dispose();
    }
  }
}
