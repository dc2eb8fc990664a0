// Shows a line in its editor.
import { createReadStream } from 'node:fs';
import * as vscode from 'vscode';

/** Shows a line, counted from 1 as the editor counts, in the group that has the document already, else in the first. */
export async function showLine(uri: vscode.Uri, line: number): Promise<void> {
  const at = new vscode.Position(Math.max(line - 1, 0), 0);
  // By this command, because VS Code gives extensions no document over 50 MB.
  await vscode.commands.executeCommand('vscode.open', uri, {
    selection: new vscode.Range(at, at),
    viewColumn: columnOf(uri) ?? vscode.ViewColumn.One,
  });
}

/** The editor's line, from 1, of a byte of a file: the editor also ends a line at a carriage return alone. */
export async function editorLine(file: string, offset: number): Promise<number> {
  let line = 1;
  let afterReturn = false;
  if (offset > 0) {
    for await (const chunk of createReadStream(file, { end: offset - 1 }) as AsyncIterable<Buffer>) {
      for (const byte of chunk) {
        if (byte === 0x0d || (byte === 0x0a && !afterReturn)) {
          line++;
        }
        afterReturn = byte === 0x0d;
      }
    }
  }
  return line;
}

function columnOf(uri: vscode.Uri): vscode.ViewColumn | undefined {
  return vscode.window.tabGroups.all.find((group) =>
    group.tabs.some(({ input }) => input instanceof vscode.TabInputText && input.uri.toString() === uri.toString()),
  )?.viewColumn;
}
