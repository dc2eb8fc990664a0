// The commands that have something read: each finds the text or its path, the server says what it means.
import { promises as fs } from 'node:fs';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { copiedBy } from './clipboard';
import { type Client, logs } from './client';
import type { Incident, Incidents, Subject } from './incident';
import { shown } from './page';
import type { Preview } from './preview';
import { initiatingLine } from './report';
import { selectedLines } from './selection';
import { Hindrance } from './tell';
import type { Capture, Captured } from './terminal/capture';
import { plainText } from './terminal/escapes';
import type { TerminalLinks } from './terminal/links';
import type { Source, Texts } from './texts';

/** Diagnoses, and shows the answer beside what was read. */
export class Diagnose {
  constructor(
    private readonly client: Client,
    private readonly incidents: Incidents,
    private readonly texts: Texts,
    private readonly preview: Preview,
    private readonly capture: Capture,
    private readonly links: TerminalLinks,
  ) {}

  /** The selected lines of the active editor, or all of it when nothing is selected. */
  async selection(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    if (!editor) {
      throw new Hindrance(vscode.l10n.t('No editor is open. Open a log, or copy a traceback and run Diagnose Clipboard.'));
    }
    const ranges = selectedLines(editor);
    let document = editor.document;
    if (document.languageId === 'plaintext') {
      // From now on it is a log, because the user says so: then its lines are marked, too.
      document = await vscode.languages.setTextDocumentLanguage(document, 'log');
    }
    if (!this.client.knows(document) || (ranges && ranges.length > 1)) {
      const text = ranges?.map((range) => document.getText(range)).join('\n') ?? document.getText();
      await this.text('selection', path.parse(document.fileName).name, text);
      return;
    }
    const [range] = ranges ?? [];
    await this.quietly({ kind: 'document', uri: document.uri, ...(range ? { range } : {}) });
  }

  /** What the command that runs or ran last in the active terminal printed. */
  async terminal(): Promise<void> {
    const terminal = activeTerminal();
    const captured = this.capture.lastOf(terminal);
    if (captured) {
      await this.captured(captured);
      return;
    }
    const text = await copiedBy('workbench.action.terminal.copyLastCommandOutput');
    if (text === undefined) {
      throw new Hindrance(
        vscode.l10n.t(
          'The terminal tells of no finished command. Select its text and run Diagnose Terminal Selection, or run Capture This Terminal and then the command.',
        ),
      );
    }
    await this.printed(terminal, terminal.name, text);
  }

  async terminalSelection(): Promise<void> {
    const terminal = activeTerminal();
    const text = await copiedBy('workbench.action.terminal.copySelection');
    if (text === undefined) {
      throw new Hindrance(vscode.l10n.t('Nothing is selected in the terminal.'));
    }
    await this.printed(terminal, terminal.name, text);
  }

  /** What a captured command printed so far. */
  async captured(captured: Captured): Promise<void> {
    const text = captured.text();
    if (text.trim() === '') {
      throw new Hindrance(vscode.l10n.t('"{0}" printed nothing so far.', captured.name));
    }
    await this.printed(captured.terminal, captured.name, text);
    if (captured.cut) {
      void vscode.window.showInformationMessage(
        vscode.l10n.t('Only the end of what "{0}" printed was kept: see the setting graphtrap.terminal.captureLimit.', captured.name),
      );
    }
  }

  async clipboard(): Promise<void> {
    const text = await vscode.env.clipboard.readText();
    if (text.trim() === '') {
      throw new Hindrance(vscode.l10n.t('The clipboard holds no text.'));
    }
    await this.text('clipboard', 'clipboard', plainText(text));
  }

  /** A file or a folder of per-rank files, by its path: the editor gives no document over 50 MB to extensions. */
  async path(given: vscode.Uri | undefined, what: 'file' | 'folder'): Promise<void> {
    const uri = given ?? (await ask(what));
    if (!uri) {
      return;
    }
    if (uri.scheme !== 'file') {
      throw new Hindrance(vscode.l10n.t('{0} is not on the disk of the machine where the extension runs.', uri.toString()));
    }
    await fs.access(uri.fsPath);
    await vscode.window.withProgress(
      {
        location: vscode.ProgressLocation.Notification,
        title: vscode.l10n.t('Graphtrap: reading {0}', path.basename(uri.fsPath)),
        cancellable: true,
      },
      async (progress, token) => this.answer(await this.incidents.diagnose({ kind: what, path: uri.fsPath }, token, progress)),
    );
  }

  /** A text that becomes a document of its own, shown at the line that started the failure. */
  async text(source: Source, name: string, text: string): Promise<Incident> {
    const document = await this.texts.open(source, name, text);
    const editor = await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.One, preview: false });
    const incident = await this.quietly({ kind: 'document', uri: document.uri });
    const at = initiatingLine(incident.report.verdict);
    if (at) {
      const start = new vscode.Position(at.line - 1, 0);
      editor.selection = new vscode.Selection(start, start);
      editor.revealRange(new vscode.Range(start, start), vscode.TextEditorRevealType.InCenter);
    }
    return incident;
  }

  /** The report that the page shows or a lens names; else on what the user looks at: the active log, else the last one. */
  async current(named?: unknown): Promise<Incident> {
    if (named === shown && this.preview.incident) {
      return this.preview.incident;
    }
    const uri = documentOf(named);
    if (uri) {
      return this.read({ kind: 'document', uri });
    }
    const document = vscode.window.activeTextEditor?.document;
    const { latest } = this.incidents;
    if (document && this.isLog(document)) {
      // A part of it that was selected is still what the user looks at.
      const same = latest?.subject.kind === 'document' && latest.subject.uri.toString() === document.uri.toString();
      return same && latest.subject.range ? latest : this.read({ kind: 'document', uri: document.uri });
    }
    if (!latest) {
      throw new Hindrance(vscode.l10n.t('Nothing was diagnosed yet. Open a log, or run Try a Sample.'));
    }
    return latest;
  }

  async report(named?: unknown): Promise<void> {
    const document = vscode.window.activeTextEditor?.document;
    const uri = documentOf(named) ?? (document && this.isLog(document) ? document.uri : undefined);
    await this.answer(uri ? await this.read({ kind: 'document', uri }) : await this.current());
  }

  private isLog(document: vscode.TextDocument): boolean {
    return vscode.languages.match(logs, document) > 0 && this.client.knows(document);
  }

  private async printed(terminal: vscode.Terminal, name: string, text: string): Promise<void> {
    this.links.add(terminal, await this.text('terminal', name, plainText(text)));
  }

  private async quietly(subject: Subject): Promise<Incident> {
    const incident = await this.read(subject);
    await this.answer(incident);
    return incident;
  }

  private async read(subject: Subject): Promise<Incident> {
    return vscode.window.withProgress(
      { location: vscode.ProgressLocation.Window, title: vscode.l10n.t('Graphtrap: reading') },
      (progress, token) => this.incidents.diagnose(subject, token, progress),
    );
  }

  private answer(incident: Incident): Promise<void> {
    return this.preview.show(incident);
  }
}

/** The argument of a command: the editor's menus give a URI, the server's lenses {uri}. */
function documentOf(argument: unknown): vscode.Uri | undefined {
  if (argument instanceof vscode.Uri) {
    return argument;
  }
  const uri = (argument as { uri?: unknown } | null | undefined)?.uri;
  return typeof uri === 'string' ? vscode.Uri.parse(uri) : undefined;
}

function activeTerminal(): vscode.Terminal {
  const terminal = vscode.window.activeTerminal;
  if (!terminal) {
    throw new Hindrance(vscode.l10n.t('No terminal is open.'));
  }
  return terminal;
}

async function ask(what: 'file' | 'folder'): Promise<vscode.Uri | undefined> {
  const [chosen] =
    (await vscode.window.showOpenDialog({
      canSelectFiles: what === 'file',
      canSelectFolders: what === 'folder',
      canSelectMany: false,
      openLabel: vscode.l10n.t('Diagnose'),
    })) ?? [];
  return chosen;
}
