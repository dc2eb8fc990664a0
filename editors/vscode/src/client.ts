// The connection to the language server.
import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
// Types alone: the library itself is loaded when the server starts, so that activation costs little.
import type { DocumentSelector, LanguageClient, Middleware } from 'vscode-languageclient/node';
import { locate, probe, type Program } from './program';

/** The documents that the server diagnoses by itself. */
export const logs = [
  { language: 'log' },
  { pattern: '**/*.{log,out,err}' },
] satisfies DocumentSelector & vscode.DocumentSelector;

// Python too, so that a fix is made for what the editor shows and not for what is on disk.
const selector = [...logs, { language: 'python', scheme: 'file' }] satisfies DocumentSelector & vscode.DocumentSelector;

/** What the server is doing. */
export type ServerState = 'off' | 'starting' | 'running' | 'failed';

/** How a request that takes time tells how far it is. */
export type Progress = vscode.Progress<{ message?: string; increment?: number }>;

/** Starts the server when it is needed, and again when the settings name another program. */
export class Client implements vscode.Disposable {
  readonly output = vscode.window.createOutputChannel('Graphtrap', { log: true });
  /** What `graphtrap version` printed, once the server runs. */
  version: string | undefined;
  /** The program that was started last. */
  program: Program | undefined;
  private starting: Promise<LanguageClient> | undefined;
  private current: ServerState = 'off';
  private readonly changed = new vscode.EventEmitter<ServerState>();
  readonly onDidChangeState = this.changed.event;

  constructor(private readonly context: vscode.ExtensionContext) {}

  get state(): ServerState {
    return this.current;
  }

  /** The running client. A start that failed is tried anew at the next call. */
  running(): Promise<LanguageClient> {
    if (!this.starting) {
      const starting = this.start();
      this.starting = starting;
      starting.catch((err: unknown) => {
        this.output.error(String(err));
        if (this.starting === starting) {
          this.starting = undefined;
          this.become('failed');
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
    this.become('off');
  }

  /** Runs a command of the server. */
  async execute(command: string, argument: object, token?: vscode.CancellationToken, progress?: Progress): Promise<unknown> {
    const client = await this.running();
    const { ExecuteCommandRequest, WorkDoneProgress } = await import('vscode-languageclient/node');
    const workDoneToken = randomUUID();
    const listening = client.onProgress(WorkDoneProgress.type, workDoneToken, progressTo(progress));
    try {
      return await client.sendRequest(ExecuteCommandRequest.type, { command, arguments: [argument], workDoneToken }, token);
    } finally {
      listening.dispose();
    }
  }

  /** Whether the server is sent a document. Our own output is a log too: reading it would trace the reading, without end. */
  knows(document: vscode.TextDocument): boolean {
    return vscode.languages.match(selector, document) > 0 && !this.own(document);
  }

  dispose(): void {
    void this.stop().finally(() => {
      this.output.dispose();
      this.changed.dispose();
    });
  }

  private own({ uri }: vscode.TextDocument): boolean {
    return uri.scheme === 'output' && uri.path.startsWith(this.context.extension.id);
  }

  private become(state: ServerState): void {
    if (this.current !== state) {
      this.current = state;
      this.changed.fire(state);
    }
  }

  private async start(): Promise<LanguageClient> {
    this.become('starting');
    const setting = vscode.workspace.getConfiguration('graphtrap').get<string>('server.path', '').trim();
    const program = locate(setting, this.context.extensionPath, process.env['PATH'] ?? '');
    this.program = program;
    this.version = await probe(program);
    this.output.info(`${program.path}: ${this.version}`);
    const { ErrorAction, ErrorCodes, LanguageClient, ResponseError, State } = await import('vscode-languageclient/node');
    const client: LanguageClient = new LanguageClient(
      'graphtrap',
      'Graphtrap',
      { command: program.path, args: ['serve', '--stdio'] },
      {
        documentSelector: selector,
        outputChannel: this.output,
        errorHandler: {
          // What cannot be written or read any more is that of a server which ended. Its end comes behind it, and starts
          // another one; the library would stop for good, if the error comes first.
          error: () => ({ action: ErrorAction.Continue, handled: true }),
          closed: () => whenClosed.closed(),
        },
        middleware: {
          didOpen: async (document, next) => (this.own(document) ? undefined : next(document)),
          didChange: async (event, next) => (this.own(event.document) ? undefined : next(event)),
          didClose: async (document, next) => (this.own(document) ? undefined : next(document)),
          executeCommand,
          // A server that is just being ended is not asked any more: it would refuse, and the user be told of an error.
          sendRequest: async (type, param, token, next) => {
            if (!this.starting) {
              throw new ResponseError(ErrorCodes.ConnectionInactive, 'the server is being ended');
            }
            return next(type, param, token);
          },
          workspace: {
            // Nor need it be told.
            didChangeConfiguration: async (sections, next) => (this.starting ? next(sections) : undefined),
          },
        },
      },
    );
    const whenClosed = client.createDefaultErrorHandler();
    // The client starts a server that ended again, and gives up when it ends too often.
    client.onDidChangeState(({ newState }) => {
      this.become(newState === State.Running ? 'running' : newState === State.Stopped ? 'failed' : 'starting');
    });
    await client.start();
    return client;
  }
}

function progressTo(progress: Progress | undefined): (value: { message?: string; percentage?: number }) => void {
  let reached = 0;
  return ({ message, percentage }) => {
    const increment = (percentage ?? reached) - reached;
    reached += increment;
    progress?.report({ ...(message === undefined ? {} : { message }), increment });
  };
}

// The server cannot reach the clipboard, so its code actions name a command and the editor does it.
// Two more commands of its lenses show something, and we show it in our way.
const executeCommand: NonNullable<Middleware['executeCommand']> = (command, args: unknown[], next): vscode.ProviderResult<unknown> => {
  switch (command) {
    case 'graphtrap.copyText':
      return vscode.env.clipboard.writeText(String(args[0]));
    case 'graphtrap.openReport':
      return vscode.commands.executeCommand('graphtrap.showReport', ...args);
    case 'graphtrap.fix':
      return vscode.commands.executeCommand('graphtrap.applyFix', ...args);
    default:
      return next(command, args);
  }
};
