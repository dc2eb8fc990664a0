// The extension: it starts the language server, which does all the thinking, and shows what was asked for.
import * as vscode from 'vscode';
import { Answers } from './answers';
import { Client } from './client';
import { ProgramError } from './program';

/** What `activate` returns, for tests. */
export interface TestApi {
  /** Waits for the server; rejects with what the user is told. */
  ready(): Promise<void>;
  /** What `graphtrap version` printed. */
  version(): string | undefined;
}

let client: Client | undefined;

export function activate(context: vscode.ExtensionContext): TestApi {
  const running = new Client(context);
  const answers = new Answers();
  client = running;
  context.subscriptions.push(
    answers,
    vscode.commands.registerCommand('graphtrap.diagnoseSelection', () => diagnoseSelection(running, answers)),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration('graphtrap.server.path')) {
        running.restart().catch(tell);
      }
    }),
  );
  running.running().catch(tell);
  return {
    ready: async () => void (await running.running()),
    version: () => running.version,
  };
}

export async function deactivate(): Promise<void> {
  await client?.stop();
  client?.dispose();
  client = undefined;
}

/** Diagnoses the selected lines of the active editor, or all of it when nothing is selected. */
async function diagnoseSelection(client: Client, answers: Answers): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (!editor) {
    void vscode.window.showErrorMessage('Graphtrap: no editor is open. Open a log, or paste one into a new file.');
    return;
  }
  const ranges = editor.selections
    .filter((selection) => !selection.isEmpty)
    .map((selection) => wholeLines(editor.document, selection));
  try {
    const answer = await vscode.window.withProgress(
      { location: vscode.ProgressLocation.Window, title: 'Graphtrap: reading' },
      (_progress, token) => client.diagnose(editor.document, ranges, token),
    );
    await answers.show(answer.report?.verdict, answer.rendered);
  } catch (err) {
    tell(err);
  }
}

/** What stands at the start of a line says who printed it, so a line counts whole. */
function wholeLines(document: vscode.TextDocument, { start, end }: vscode.Range): vscode.Range {
  const last = end.character === 0 && end.line > start.line ? end.line - 1 : end.line;
  return new vscode.Range(start.line, 0, last, document.lineAt(last).text.length);
}

function tell(err: unknown): void {
  const message = `Graphtrap: ${err instanceof Error ? err.message : String(err)}`;
  if (!(err instanceof ProgramError)) {
    void vscode.window.showErrorMessage(message);
    return;
  }
  const settings = 'Open Settings';
  void vscode.window.showErrorMessage(message, settings).then((chosen) => {
    if (chosen === settings) {
      void vscode.commands.executeCommand('workbench.action.openSettings', 'graphtrap.server.path');
    }
  });
}
