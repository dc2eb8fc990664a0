// Which lines of a document are meant.
import * as vscode from 'vscode';

/** The selected lines, whole: what stands at the start of a line says who printed it. Undefined if nothing is selected. */
export function selectedLines(editor: vscode.TextEditor): vscode.Range[] | undefined {
  const ranges = editor.selections
    .filter((selection) => !selection.isEmpty)
    .map(({ start, end }) => {
      const last = end.character === 0 && end.line > start.line ? end.line - 1 : end.line;
      return new vscode.Range(start.line, 0, last, editor.document.lineAt(last).text.length);
    });
  return ranges.length ? ranges : undefined;
}
