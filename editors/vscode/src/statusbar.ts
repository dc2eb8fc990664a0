// The item of the status bar: who started it in the log that is looked at, or what the server is doing.
import * as vscode from 'vscode';
import { type Client, logs } from './client';

const shortest = 48; // characters of a message that the bar has room for

/** Shows itself beside logs, and when the server failed. */
export class StatusBar implements vscode.Disposable {
  /** Public for tests. */
  readonly item = vscode.window.createStatusBarItem('graphtrap', vscode.StatusBarAlignment.Right, 100);
  private readonly registrations: vscode.Disposable;

  constructor(private readonly client: Client) {
    this.item.name = 'Graphtrap';
    const update = (): void => this.update();
    this.registrations = vscode.Disposable.from(
      this.item,
      client.onDidChangeState(update),
      vscode.window.onDidChangeActiveTextEditor(update),
      vscode.languages.onDidChangeDiagnostics(({ uris }) => {
        const active = vscode.window.activeTextEditor?.document.uri.toString();
        if (uris.some((uri) => uri.toString() === active)) {
          update();
        }
      }),
    );
    update();
  }

  dispose(): void {
    this.registrations.dispose();
  }

  private update(): void {
    const document = vscode.window.activeTextEditor?.document;
    const log = document && vscode.languages.match(logs, document) > 0;
    if (this.client.state === 'failed') {
      this.show('$(warning) Graphtrap', vscode.l10n.t('The server does not run. Show the log.'), 'graphtrap.showLog');
      return;
    }
    if (!log) {
      this.item.hide();
      return;
    }
    const found = headline(document);
    if (found) {
      this.show(`$(search) ${brief(found.message)}`, found.message, 'graphtrap.showReport');
    } else if (this.client.state === 'starting') {
      this.show('$(loading~spin) Graphtrap', vscode.l10n.t('The server is starting.'), 'graphtrap.showLog');
    } else {
      this.show('$(search) Graphtrap', vscode.l10n.t('Nothing was found in this log so far. Show the report.'), 'graphtrap.showReport');
    }
  }

  private show(text: string, tooltip: string, command: string): void {
    this.item.text = text;
    this.item.tooltip = tooltip;
    this.item.command = command;
    this.item.show();
  }
}

/** What the server says on the initiating line. */
function headline({ uri }: vscode.TextDocument): vscode.Diagnostic | undefined {
  return vscode.languages
    .getDiagnostics(uri)
    .filter(({ source, tags }) => source === 'graphtrap' && !tags?.includes(vscode.DiagnosticTag.Unnecessary))
    .sort((a, b) => a.severity - b.severity)
    .at(0);
}

function brief(message: string): string {
  const [first = ''] = message.split(/[:;]/, 1);
  return first.length > shortest ? `${first.slice(0, shortest)}...` : first;
}
