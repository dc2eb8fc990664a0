// Text that VS Code gives an extension only through the clipboard.
import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';

/** What a command of the editor puts on the clipboard, or undefined if it puts nothing there. The clipboard's text is put back. */
export async function copiedBy(command: string): Promise<string | undefined> {
  const { clipboard } = vscode.env;
  const before = await clipboard.readText();
  const nothing = randomUUID();
  await clipboard.writeText(nothing);
  try {
    await vscode.commands.executeCommand(command);
    const copied = await clipboard.readText();
    return copied === nothing || copied.trim() === '' ? undefined : copied;
  } finally {
    await clipboard.writeText(before);
  }
}
