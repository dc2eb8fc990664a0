// The extension: it starts the language server, which does all the thinking, and shows what was asked for.
import * as vscode from 'vscode';
import { Client, logs } from './client';
import { registerCommands } from './commands';
import { Diagnose } from './diagnose';
import { Explain } from './explain';
import { Incidents } from './incident';
import { Preview } from './preview';
import { StatusBar } from './statusbar';
import { tell } from './tell';
import { Capture } from './terminal/capture';
import { TerminalLinks } from './terminal/links';
import { Offer } from './terminal/offer';
import { Texts } from './texts';

/** What `activate` returns, for tests. */
export interface TestApi {
  readonly client: Client;
  readonly capture: Capture;
  readonly diagnose: Diagnose;
  readonly explain: Explain;
  readonly incidents: Incidents;
  readonly links: TerminalLinks;
  readonly preview: Preview;
  readonly statusBar: StatusBar;
}

let client: Client | undefined;

export function activate(context: vscode.ExtensionContext): TestApi {
  const connection = new Client(context);
  client = connection;
  const incidents = new Incidents(connection);
  const texts = new Texts();
  const preview = new Preview();
  const capture = new Capture();
  const links = new TerminalLinks();
  const diagnose = new Diagnose(connection, incidents, texts, preview, capture, links);
  const explain = new Explain(connection);
  const statusBar = new StatusBar(connection);
  context.subscriptions.push(
    incidents,
    texts,
    preview,
    capture,
    links,
    statusBar,
    explain,
    new Offer(capture, incidents, (captured) => diagnose.captured(captured), tell),
    registerCommands(context, connection, diagnose, explain, capture),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration('graphtrap.server.path') && connection.state !== 'off') {
        connection.restart().catch(tell);
      }
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(() => {
      if (connection.state !== 'off') {
        connection.restart().catch(tell); // settings that were ignored now count
      }
    }),
  );
  startWithTheFirstLog(context, connection);
  return { client: connection, capture, diagnose, explain, incidents, links, preview, statusBar };
}

export async function deactivate(): Promise<void> {
  await client?.stop();
  client?.dispose();
  client = undefined;
}

/** An extension that is activated by a terminal or a command starts no server before there is something to read. */
function startWithTheFirstLog(context: vscode.ExtensionContext, client: Client): void {
  const isLog = (document: vscode.TextDocument): boolean => vscode.languages.match(logs, document) > 0 && client.knows(document);
  const start = (): void => void client.running().catch(tell);
  if (vscode.workspace.textDocuments.some(isLog)) {
    start();
    return;
  }
  const waiting = vscode.workspace.onDidOpenTextDocument((document) => {
    if (isLog(document)) {
      waiting.dispose();
      start();
    }
  });
  context.subscriptions.push(waiting);
}
