// Applies the fix in the Python source: the server makes the edit, the editor applies and shows it.
import * as vscode from 'vscode';
import type { CodeAction } from 'vscode-languageclient/node';
import type { Client } from './client';
import type { Incident } from './incident';
import { initiatingLine } from './report';
import { Hindrance } from './tell';

/** Applies the one edit that the server has for an incident. */
export async function applyFix(client: Client, incident: Incident): Promise<void> {
  const document = await logOf(incident);
  const edit = document && (await editFor(client, document));
  if (!edit) {
    throw new Hindrance(
      vscode.l10n.t('There is no edit for this failure: its source is not in the workspace, or not of a shape that can be edited. The report shows the fix.'),
    );
  }
  if (!(await vscode.workspace.applyEdit(edit))) {
    throw new Error(vscode.l10n.t('The edit could not be applied.'));
  }
  const [first] = edit.entries();
  if (first) {
    const [uri, [change]] = first;
    const editor = await vscode.window.showTextDocument(uri, { viewColumn: vscode.ViewColumn.One });
    if (change) {
      editor.selection = new vscode.Selection(change.range.start, change.range.start);
      editor.revealRange(change.range, vscode.TextEditorRevealType.InCenter);
    }
  }
}

/** The document that the server has to know, as edits are made for a line of an open log. */
async function logOf({ subject, report }: Incident): Promise<vscode.TextDocument | undefined> {
  if (subject.kind === 'document') {
    return vscode.workspace.openTextDocument(subject.uri);
  }
  const at = initiatingLine(report.verdict);
  return at && vscode.workspace.openTextDocument(vscode.Uri.file(at.file));
}

async function editFor(client: Client, document: vscode.TextDocument): Promise<vscode.WorkspaceEdit | undefined> {
  const languageClient = await client.running();
  const { CodeActionRequest, CodeActionResolveRequest } = await import('vscode-languageclient/node');
  const { code2ProtocolConverter: to, protocol2CodeConverter: from } = languageClient;
  const actions = await languageClient.sendRequest(CodeActionRequest.type, {
    textDocument: to.asTextDocumentIdentifier(document),
    range: to.asRange(new vscode.Range(0, 0, document.lineCount, 0)),
    context: { diagnostics: [], only: ['quickfix'] },
  });
  const edits = (actions ?? []).filter((action): action is CodeAction => 'edit' in action || 'data' in action);
  const best = edits.find((action) => action.isPreferred) ?? edits[0];
  if (!best) {
    return undefined;
  }
  const { edit } = best.edit ? best : await languageClient.sendRequest(CodeActionResolveRequest.type, best);
  return from.asWorkspaceEdit(edit);
}
