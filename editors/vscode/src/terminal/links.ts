// Links in terminals, on the lines that started a failure.
import * as vscode from 'vscode';
import type { Incident } from '../incident';
import { showPlace } from '../preview';
import { initiatingLine } from '../report';

/** What a click on the line shows. */
class WhoStartedIt extends vscode.TerminalLink {
  constructor(
    startIndex: number,
    length: number,
    readonly incident: Incident,
    readonly line: number,
  ) {
    super(startIndex, length, incident.report.verdict.title);
  }
}

/** Marks the initiating line of what was diagnosed in each terminal. */
export class TerminalLinks implements vscode.TerminalLinkProvider<WhoStartedIt>, vscode.Disposable {
  private readonly diagnosed = new WeakMap<vscode.Terminal, Incident>();
  private readonly registration = vscode.window.registerTerminalLinkProvider(this);

  add(terminal: vscode.Terminal, incident: Incident): void {
    this.diagnosed.set(terminal, incident);
  }

  provideTerminalLinks({ terminal, line }: vscode.TerminalLinkContext): WhoStartedIt[] {
    const incident = this.diagnosed.get(terminal);
    const at = incident && initiatingLine(incident.report.verdict);
    const text = at?.text.trim();
    const startIndex = text ? line.indexOf(text) : -1;
    if (!incident || !at || !text || startIndex < 0) {
      return [];
    }
    return [new WhoStartedIt(startIndex, text.length, incident, at.line)];
  }

  async handleTerminalLink({ incident, line }: WhoStartedIt): Promise<void> {
    await showPlace(incident, line);
  }

  dispose(): void {
    this.registration.dispose();
  }
}
