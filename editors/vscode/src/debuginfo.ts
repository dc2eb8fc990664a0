// What a bug report needs, with no text of any document and no path in it.
import * as vscode from 'vscode';
import type { Client } from './client';

/** Opens it as a document, for the user to read before it goes anywhere. */
export async function showDebugInfo(client: Client, extension: vscode.Extension<unknown>): Promise<vscode.TextDocument> {
  const { version } = extension.packageJSON as { version: string };
  const settings = vscode.workspace.getConfiguration('graphtrap');
  const info = {
    extension: version,
    editor: `${vscode.env.appName} ${vscode.version}`,
    host: vscode.env.remoteName ?? 'local',
    system: `${process.platform} ${process.arch}, Node ${process.version}`,
    server: {
      state: client.state,
      from: client.program?.from ?? null,
      version: client.version ?? null,
      says: await client.execute('graphtrap.debugInfo', {}).catch((err: unknown) => String(err)),
    },
    workspace: {
      trusted: vscode.workspace.isTrusted,
      folders: vscode.workspace.workspaceFolders?.length ?? 0,
      documents: vscode.workspace.textDocuments.filter((document) => client.knows(document)).length,
    },
    terminals: vscode.window.terminals.map(({ shellIntegration }) => ({ shellIntegration: shellIntegration !== undefined })),
    // Those of the server are in what it says, without paths.
    settings: {
      'server.path': settings.get<string>('server.path') !== '',
      terminal: settings.get('terminal'),
      trace: settings.get('trace'),
    },
  };
  const document = await vscode.workspace.openTextDocument({ language: 'json', content: JSON.stringify(info, undefined, 2) });
  await vscode.window.showTextDocument(document);
  return document;
}
