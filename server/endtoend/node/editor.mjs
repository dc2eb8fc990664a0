// What the sessions share: what editors say that they can do, and documents as editors count them.

import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { MessageType } from 'vscode-languageserver-protocol/node';

export const program = process.env.GRAPHTRAP_PROGRAM;
export const testdata = process.env.GRAPHTRAP_TESTDATA;

/** An editor that can do everything, except that it is sent its diagnostics. */
export function everything() {
  return {
    general: { positionEncodings: ['utf-16'] },
    window: { workDoneProgress: true, showDocument: { support: true }, showMessage: {} },
    workspace: {
      applyEdit: true, configuration: true, workspaceFolders: true,
      workspaceEdit: { documentChanges: true, snippetEditSupport: true, changeAnnotationSupport: { groupsOnLabel: false } },
      didChangeConfiguration: { dynamicRegistration: true },
      didChangeWatchedFiles: { dynamicRegistration: true, relativePatternSupport: true },
      symbol: { symbolKind: { valueSet: Array.from({ length: 26 }, (_, i) => i + 1) } },
      codeLens: { refreshSupport: true }, inlayHint: { refreshSupport: true }, semanticTokens: { refreshSupport: true },
      textDocumentContent: { dynamicRegistration: false }, executeCommand: {},
    },
    textDocument: {
      synchronization: {},
      publishDiagnostics: { relatedInformation: true, versionSupport: true, tagSupport: { valueSet: [1, 2] } },
      hover: { contentFormat: ['markdown', 'plaintext'] },
      codeAction: {
        isPreferredSupport: true, dataSupport: true, honorsChangeAnnotations: true, resolveSupport: { properties: ['edit'] },
        codeActionLiteralSupport: { codeActionKind: { valueSet: ['quickfix'] } },
      },
      codeLens: {}, references: {}, documentHighlight: {},
      definition: { linkSupport: true }, documentLink: { tooltipSupport: true },
      documentSymbol: {
        hierarchicalDocumentSymbolSupport: true, labelSupport: true,
        symbolKind: { valueSet: Array.from({ length: 26 }, (_, i) => i + 1) },
      },
      foldingRange: { lineFoldingOnly: true, foldingRange: { collapsedText: true }, foldingRangeKind: { valueSet: ['comment', 'imports', 'region'] } },
      inlayHint: {},
      semanticTokens: {
        requests: { full: true, range: true }, formats: ['relative'], tokenTypes: ['type', 'keyword', 'string', 'number', 'comment'], tokenModifiers: [],
      },
    },
  };
}

/** The same editor, but one that asks for its diagnostics. */
export function pulling() {
  const capabilities = everything();
  capabilities.textDocument.diagnostic = { relatedDocumentSupport: true };
  capabilities.workspace.diagnostics = { refreshSupport: true };
  return capabilities;
}

/** The params of initialize. */
export function params(capabilities, folder, options) {
  return {
    processId: process.pid, clientInfo: { name: 'graphtrap-protocol-client', version: '1' }, rootUri: null, capabilities,
    workspaceFolders: folder ? [{ uri: folder, name: 'work' }] : null,
    ...(options && { initializationOptions: options }),
  };
}

/** An empty folder, which goes when the test ends. */
export function folder(t) {
  const dir = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'graphtrap-')));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return {
    dir, uri: uriOf(dir),
    copy(source, name) {
      cpSync(path.join(testdata, ...source.split('/')), path.join(dir, name), { recursive: true });
      return path.join(dir, name);
    },
  };
}

export const uriOf = (file) => pathToFileURL(file).href;

/** A document as the protocol counts it in UTF-16: lines end at LF, CRLF and CR. */
export class Document {
  version = 1;

  constructor(uri, text) {
    this.uri = uri;
    this.text = text;
    this.id = { uri };
  }

  static read(file) { return new Document(uriOf(file), readFileSync(file, 'utf8')); }

  get lines() { return this.text.split(/\r\n|\n|\r/); }

  /** Where a text stands, for the nth time. */
  find(text, nth = 1) {
    let at = -1;
    for (let i = 0; i < nth; i++) at = this.text.indexOf(text, at + 1);
    if (at < 0) throw new Error(`${this.uri} has no ${text}`);
    const before = this.text.slice(0, at).split(/\r\n|\n|\r/);
    return { line: before.length - 1, character: before.at(-1).length };
  }

  /** What stands in a range on one line. */
  slice({ start, end }) {
    if (start.line !== end.line) throw new Error(`${JSON.stringify({ start, end })} is not on one line`);
    return this.lines[start.line].slice(start.character, end.character);
  }

  end() {
    const lines = this.lines;
    return { line: lines.length - 1, character: lines.at(-1).length };
  }

  whole() { return { start: { line: 0, character: 0 }, end: this.end() }; }

  open(client, languageId = 'log') {
    return client.notify('textDocument/didOpen', { textDocument: { uri: this.uri, languageId, version: this.version, text: this.text } });
  }

  append(client, text) {
    const end = this.end();
    this.text += text;
    return client.notify('textDocument/didChange', {
      textDocument: { uri: this.uri, version: ++this.version }, contentChanges: [{ range: { start: end, end }, text }],
    });
  }

  close(client) { return client.notify('textDocument/didClose', { textDocument: this.id }); }

  /** Waits for the diagnostics of the version that the document has now. */
  async diagnostics(client) {
    return (await client.notification('textDocument/publishDiagnostics', (p) => p.uri === this.uri && p.version === this.version)).diagnostics;
  }

  /** Waits until the diagnostics are taken back. */
  cleared(client) {
    return client.notification('textDocument/publishDiagnostics', (p) => p.uri === this.uri && p.version === undefined && p.diagnostics.length === 0);
  }
}

/** The next message to the user, if it is of this type. */
export const message = (client, type = MessageType.Info) => client.notification('window/showMessage', (p) => p.type === type);
