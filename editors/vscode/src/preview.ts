// The report beside the log. Its links open the lines that they name.
import * as vscode from 'vscode';
import type { Incident } from './incident';
import { editorLine, showLine } from './open';
import { type Action, Page } from './page';
import { linkLines, placeAt } from './places';

/** Shows one report at a time. */
export class Preview implements vscode.Disposable {
  readonly page = new Page('graphtrap.report', (href) => this.follow(href));
  /** What was shown last. */
  incident: Incident | undefined;

  async show(incident: Incident): Promise<void> {
    const { verdict } = incident.report;
    const linked = linkLines(incident.markdown, (line) => isPlace(incident, line));
    await this.page.show(verdict.title, linked, actionsOn(incident));
    this.incident = incident;
  }

  dispose(): void {
    this.page.dispose();
  }

  private async follow(href: string): Promise<void> {
    const line = Number(/#L?(\d+)/.exec(href)?.[1]);
    if (!href.startsWith('#')) {
      await showTarget(href);
    } else if (this.incident && line) {
      await showPlace(this.incident, line);
    }
  }
}

/** Opens what a link of the server's names: a line of a file, or a page of the documentation that a report refers to. */
export async function showTarget(href: string): Promise<void> {
  const target = vscode.Uri.parse(href);
  if (target.scheme === 'http' || target.scheme === 'https') {
    await vscode.env.openExternal(target);
  } else {
    await showLine(target.with({ fragment: '' }), Number(/^L(\d+)/.exec(target.fragment)?.[1] ?? 1));
  }
}

/** Shows a line of an incident, counted as its report counts. */
export async function showPlace({ subject, report }: Incident, line: number): Promise<void> {
  if (subject.kind === 'document') {
    await showLine(subject.uri, line);
    return;
  }
  const at = placeAt(report, line);
  if (at) {
    await showLine(vscode.Uri.file(at.file), await editorLine(at.file, at.offset));
  }
}

/** A compressed file cannot be shown. */
function isPlace({ subject, report }: Incident, line: number): boolean {
  if (subject.kind === 'document') {
    return true;
  }
  const at = placeAt(report, line);
  return at !== undefined && !/\.(gz|zst)$/.test(at.file);
}

function actionsOn({ report }: Incident): Action[] {
  const actions: Action[] = [];
  if (report.verdict.fixes?.length) {
    actions.push({ command: 'graphtrap.applyFix', label: vscode.l10n.t('Apply the fix in the source') });
  }
  const check = report.verdict.verify?.[0];
  if (check) {
    actions.push({ command: 'graphtrap.copyVerification', label: vscode.l10n.t('Copy the check') });
  }
  if (check?.language === 'shell') {
    actions.push({ command: 'graphtrap.runVerification', label: vscode.l10n.t('Run the check') });
  }
  actions.push({ command: 'graphtrap.copyReport', label: vscode.l10n.t('Copy the report') });
  return actions;
}
