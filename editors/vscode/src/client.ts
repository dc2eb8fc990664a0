// The connection to the language server.
import * as vscode from 'vscode';
import { type DocumentSelector, ExecuteCommandRequest, LanguageClient, type Middleware } from 'vscode-languageclient/node';
import type { Verdict } from './answers';
import { locate, probe } from './program';

/** What the server answers to graphtrap.diagnose with the format "markdown". */
export interface Answer {
  readonly report?: { readonly verdict?: Verdict };
  readonly rendered: string;
}

// Python too, so that a fix is made for what the editor shows and not for what is on disk.
const selector = [
  { language: 'log' },
  { pattern: '**/*.{log,out,err}' },
  { language: 'python', scheme: 'file' },
] satisfies DocumentSelector & vscode.DocumentSelector;

/** Starts the server when it is needed, and again when the settings name another program. */
export class Client implements vscode.Disposable {
  /** What `graphtrap version` printed, once the server runs. */
  version: string | undefined;
  private starting: Promise<LanguageClient> | undefined;
  private readonly output = vscode.window.createOutputChannel('Graphtrap', { log: true });

  constructor(private readonly context: vscode.ExtensionContext) {}

  /** The running client. A start that failed is tried anew at the next call. */
  running(): Promise<LanguageClient> {
    if (!this.starting) {
      const starting = this.start();
      this.starting = starting;
      starting.catch((err) => {
        this.output.error(String(err));
        if (this.starting === starting) {
          this.starting = undefined;
        }
      });
    }
    return this.starting;
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.running();
  }

  async stop(): Promise<void> {
    const stopping = this.starting;
    this.starting = undefined;
    const client = await stopping?.catch(() => undefined);
    await client?.dispose();
  }

  /** Has the server read some lines of a document, or all of it when there are no ranges. */
  async diagnose(document: vscode.TextDocument, ranges: vscode.Range[], token: vscode.CancellationToken): Promise<Answer> {
    const client = await this.running();
    const argument = { ...this.subject(client, document, ranges), format: 'markdown' };
    const params = { command: 'graphtrap.diagnose', arguments: [argument] };
    const answer: Partial<Answer> | null = await client.sendRequest(ExecuteCommandRequest.type, params, token);
    if (typeof answer?.rendered !== 'string') {
      throw new Error(`The server (${this.version}) gave no rendered answer. Is it of the same version as the extension?`);
    }
    return { ...answer, rendered: answer.rendered };
  }

  dispose(): void {
    void this.stop();
    this.output.dispose();
  }

  /** A document that the server knows is named, so that the answer gives its lines; else the text is sent. */
  private subject(client: LanguageClient, document: vscode.TextDocument, ranges: vscode.Range[]): object {
    if (vscode.languages.match(selector, document) > 0 && !this.own(document) && ranges.length < 2) {
      const { uri } = client.code2ProtocolConverter.asTextDocumentIdentifier(document);
      const [range] = ranges;
      return range ? { uri, range: client.code2ProtocolConverter.asRange(range) } : { uri };
    }
    const text = ranges.length ? ranges.map((range) => document.getText(range)).join('\n') : document.getText();
    return { text };
  }

  /** Our own output channel is a log too: reading it would trace the reading, without end. */
  private own({ uri }: vscode.TextDocument): boolean {
    return uri.scheme === 'output' && uri.path.startsWith(this.context.extension.id);
  }

  private async start(): Promise<LanguageClient> {
    const setting = vscode.workspace.getConfiguration('graphtrap').get<string>('server.path', '').trim();
    const program = locate(setting, this.context.extensionPath, process.env['PATH'] ?? '');
    this.version = await probe(program);
    this.output.info(`${program.path}: ${this.version}`);
    const client = new LanguageClient(
      'graphtrap',
      'Graphtrap',
      { command: program.path, args: ['serve', '--stdio'] },
      {
        documentSelector: selector,
        outputChannel: this.output,
        middleware: {
          didOpen: async (document, next) => (this.own(document) ? undefined : next(document)),
          didChange: async (event, next) => (this.own(event.document) ? undefined : next(event)),
          didClose: async (document, next) => (this.own(document) ? undefined : next(document)),
          executeCommand,
        },
      },
    );
    await client.start();
    return client;
  }
}

// The server cannot reach the clipboard, so its code actions name this command and the editor does it.
const executeCommand: NonNullable<Middleware['executeCommand']> = (command, args, next) =>
  command === 'graphtrap.copyText' ? vscode.env.clipboard.writeText(String(args[0])) : next(command, args);
