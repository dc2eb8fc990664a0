// Text that is in no document, as read-only logs: what a terminal printed, what the clipboard holds, a sample.
import * as vscode from 'vscode';

// The server gives the documents of the scheme "graphtrap".
export const scheme = 'graphtrap-text';
const kept = 5; // a tab that is closed may be opened again from a report

/** Where a text came from. */
export type Source = 'terminal' | 'clipboard' | 'selection' | 'sample';

/** Holds the newest few texts, in memory only. */
export class Texts implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly texts = new Map<string, string>();
  private readonly registration = vscode.workspace.registerTextDocumentContentProvider(scheme, this);
  private count = 0;

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.toString()) ?? vscode.l10n.t('This text is no longer kept.');
  }

  /** Makes a document of the language Log. The name is of plain characters, as URIs are compared by their spelling. */
  async open(source: Source, name: string, text: string): Promise<vscode.TextDocument> {
    this.count++;
    const plain = name.replace(/[^\w.-]+/g, '-').replace(/^-+|-+$/g, '') || source;
    const uri = vscode.Uri.from({ scheme, authority: source, path: `/${this.count}/${plain}.log` });
    this.forget();
    this.texts.set(uri.toString(), text);
    return vscode.workspace.openTextDocument(uri);
  }

  dispose(): void {
    this.registration.dispose();
    this.texts.clear();
  }

  private forget(): void {
    const open = new Set(vscode.workspace.textDocuments.map((document) => document.uri.toString()));
    for (const uri of this.texts.keys()) {
      if (this.texts.size < kept) {
        return;
      }
      if (!open.has(uri)) {
        this.texts.delete(uri);
      }
    }
  }
}
