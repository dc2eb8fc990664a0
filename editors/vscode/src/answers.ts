// The answers that were asked for, as read-only documents.
import * as vscode from 'vscode';

const scheme = 'graphtrap';

/** The part of the server's answer that names it. */
export interface Verdict {
  readonly status?: string;
  readonly initiator?: { readonly rank?: number | null; readonly process?: string | null } | null;
}

/** Shows Markdown answers beside the editor, and forgets each when it is closed. */
export class Answers implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly texts = new Map<string, string>();
  private readonly registrations: vscode.Disposable;
  private count = 0;

  constructor() {
    this.registrations = vscode.Disposable.from(
      vscode.workspace.registerTextDocumentContentProvider(scheme, this),
      vscode.workspace.onDidCloseTextDocument((document) => this.texts.delete(document.uri.toString())),
    );
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.toString()) ?? 'This answer is no longer kept. Select the text and ask again.';
  }

  async show(verdict: Verdict | undefined, markdown: string): Promise<vscode.TextDocument> {
    this.count++;
    const uri = vscode.Uri.from({ scheme, path: `/${this.count}/${title(verdict)}.md` });
    this.texts.set(uri.toString(), markdown);
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preview: true });
    return document;
  }

  dispose(): void {
    this.registrations.dispose();
  }
}

/** The name of an answer's tab. */
export function title(verdict: Verdict | undefined): string {
  const initiator = verdict?.initiator;
  const who =
    typeof initiator?.rank === 'number' ? `rank ${initiator.rank}` : (initiator?.process ?? '').replace(/[^\w.-]+/g, ' ');
  switch (verdict?.status) {
    case 'diagnosed':
      return who ? `${who} started it` : 'who started it';
    case 'undetermined':
      return who ? `undetermined, suspect ${who}` : 'undetermined';
    default:
      return 'no failure found';
  }
}
