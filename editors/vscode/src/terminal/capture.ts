// What commands print in terminals: kept in memory, only where it was asked for, and only its end.
import * as vscode from 'vscode';
import { plainText } from './escapes';
import { Tail } from './tail';

/** One command of a terminal. */
export interface Captured {
  readonly terminal: vscode.Terminal;
  readonly name: string;
  /** The exit status; undefined while the command runs, or where the shell tells none. */
  exitCode: number | undefined;
  running: boolean;
  /** What was printed so far, as plain text. */
  text(): string;
  /** Whether the beginning was let go. */
  readonly cut: boolean;
}

/** Reads the terminals that it may. */
export class Capture implements vscode.Disposable {
  private readonly asked = new WeakSet<vscode.Terminal>();
  private readonly last = new Map<vscode.Terminal, Captured>();
  private readonly ended = new vscode.EventEmitter<Captured>();
  private readonly registrations: vscode.Disposable;
  /** A command ended and all that it printed is read. */
  readonly onDidEnd = this.ended.event;

  constructor() {
    const executions = new Map<vscode.TerminalShellExecution, { captured: Captured; read: Promise<void> }>();
    this.registrations = vscode.Disposable.from(
      this.ended,
      vscode.window.onDidStartTerminalShellExecution(({ terminal, execution }) => {
        if (!this.covers(terminal)) {
          return;
        }
        const tail = new Tail(limit());
        const captured: Captured = {
          terminal,
          name: execution.commandLine.value.split(/\s+/, 1)[0] ?? '',
          exitCode: undefined,
          running: true,
          text: () => plainText(tail.text()),
          get cut() {
            return tail.cut;
          },
        };
        this.last.set(terminal, captured);
        // At once: what is printed before the call is not given.
        executions.set(execution, { captured, read: fill(tail, execution.read()) });
      }),
      vscode.window.onDidEndTerminalShellExecution(async ({ execution, exitCode }) => {
        const ending = executions.get(execution);
        if (ending) {
          executions.delete(execution);
          await ending.read;
          ending.captured.exitCode = exitCode;
          ending.captured.running = false;
          this.ended.fire(ending.captured);
        }
      }),
      vscode.window.onDidCloseTerminal((terminal) => this.last.delete(terminal)),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration('graphtrap.terminal.capture')) {
          this.forgetUncovered();
        }
      }),
    );
  }

  /** Whether what is run in a terminal from now on is kept. */
  covers(terminal: vscode.Terminal): boolean {
    return this.asked.has(terminal) || vscode.workspace.getConfiguration('graphtrap').get<boolean>('terminal.capture', false);
  }

  /** Keeps what is run in a terminal, or no longer. Returns whether it now does. */
  toggle(terminal: vscode.Terminal): boolean {
    if (!this.asked.delete(terminal)) {
      this.asked.add(terminal);
    }
    this.forgetUncovered();
    return this.covers(terminal);
  }

  /** The command that runs or ran last in a terminal. */
  lastOf(terminal: vscode.Terminal): Captured | undefined {
    return this.last.get(terminal);
  }

  dispose(): void {
    this.registrations.dispose();
    this.last.clear();
  }

  private forgetUncovered(): void {
    for (const terminal of this.last.keys()) {
      if (!this.covers(terminal)) {
        this.last.delete(terminal);
      }
    }
  }
}

async function fill(tail: Tail, output: AsyncIterable<string>): Promise<void> {
  for await (const chunk of output) {
    tail.add(chunk);
  }
}

/** In characters, of which a log has one a byte. */
function limit(): number {
  return vscode.workspace.getConfiguration('graphtrap').get<number>('terminal.captureLimit', 16) * 1024 * 1024;
}
