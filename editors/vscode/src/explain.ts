// What the server knows of a failure or a message, as a page.
import * as vscode from 'vscode';
import type { Client } from './client';
import { Page } from './page';
import { showTarget } from './preview';

/** Shows entries of the signatures. */
export class Explain implements vscode.Disposable {
  readonly page = new Page('graphtrap.explanation', showTarget);

  constructor(private readonly client: Client) {}

  /** The entry with an id; without one, of the line under the cursor, else one that the user names. */
  async signature(given: string | undefined): Promise<void> {
    const id = given ?? underCursor() ?? (await ask());
    if (!id) {
      return;
    }
    const uri = vscode.window.activeTextEditor?.document.uri.toString();
    const answer = (await this.client.execute('graphtrap.explain', { id, ...(uri ? { uri } : {}) })) as { markdown: string };
    await this.page.show(id, answer.markdown);
  }

  dispose(): void {
    this.page.dispose();
  }
}

/** The code of our diagnostic on the line of the cursor. */
function underCursor(): string | undefined {
  const editor = vscode.window.activeTextEditor;
  if (!editor) {
    return undefined;
  }
  const line = editor.selection.active.line;
  const code = vscode.languages
    .getDiagnostics(editor.document.uri)
    .find(({ source, range }) => source === 'graphtrap' && range.start.line <= line && line <= range.end.line)?.code;
  const value = typeof code === 'object' ? code.value : code;
  return value === undefined ? undefined : String(value);
}

function ask(): Thenable<string | undefined> {
  return vscode.window.showInputBox({
    prompt: vscode.l10n.t('The id of a failure or a message: the code that Problems shows'),
    placeHolder: 'cuda-graph-capture-oom',
  });
}
