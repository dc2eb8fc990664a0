// What was diagnosed, and what the server said of it.
import * as vscode from 'vscode';
import type { Client, Progress } from './client';
import type { Report } from './report';

/** What to read: an open document or some lines of it, or a file or folder on disk of any size. */
export type Subject =
  | { readonly kind: 'document'; readonly uri: vscode.Uri; readonly range?: vscode.Range }
  | { readonly kind: 'file' | 'folder'; readonly path: string };

/** An answer of the server. */
export interface Incident {
  readonly subject: Subject;
  readonly report: Report;
  /** The report for people, as the server renders it. */
  readonly markdown: string;
}

/** Asks the server, and keeps the newest answer. */
export class Incidents implements vscode.Disposable {
  latest: Incident | undefined;
  private readonly added = new vscode.EventEmitter<Incident>();
  readonly onDidDiagnose = this.added.event;

  constructor(private readonly client: Client) {}

  async diagnose(subject: Subject, token: vscode.CancellationToken, progress?: Progress): Promise<Incident> {
    const argument = { ...named(subject), format: 'markdown' };
    const answer = (await this.client.execute('graphtrap.diagnose', argument, token, progress)) as Partial<{
      report: Report;
      rendered: string;
    }> | null;
    if (!answer?.report?.verdict || typeof answer.rendered !== 'string') {
      throw new Error(
        vscode.l10n.t('The server ({0}) gave no report. Is it of the same version as the extension?', String(this.client.version)),
      );
    }
    const incident = { subject, report: answer.report, markdown: answer.rendered };
    this.latest = incident;
    this.added.fire(incident);
    return incident;
  }

  /** Diagnoses text that is shown nowhere. The answer is not kept. */
  async glance(text: string, token: vscode.CancellationToken): Promise<Report> {
    return (await this.client.execute('graphtrap.diagnose', { text, format: 'json' }, token)) as Report;
  }

  dispose(): void {
    this.added.dispose();
  }
}

function named(subject: Subject): object {
  switch (subject.kind) {
    case 'file':
      return { path: subject.path };
    case 'folder':
      return { folder: subject.path };
    case 'document':
      return document(subject);
  }
}

function document(subject: Subject & { kind: 'document' }): object {
  const uri = subject.uri.toString();
  if (!subject.range) {
    return { uri };
  }
  const { start, end } = subject.range;
  return {
    uri,
    range: {
      start: { line: start.line, character: start.character },
      end: { line: end.line, character: end.character },
    },
  };
}
