// Whole sessions with the program, feature by feature.

import assert from 'node:assert/strict';
import { appendFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import {
  CancellationTokenSource, CodeActionKind, DiagnosticSeverity, DiagnosticTag, DocumentHighlightKind, FileChangeType, MessageType, Trace,
} from 'vscode-languageserver-protocol/node';
import { Client, failure } from './client.mjs';
import { Document, everything, folder, message, params, program, pulling } from './editor.mjs';

const UNKNOWN_METHOD = -32601, INVALID_PARAMS = -32602, INVALID_REQUEST = -32600, NOT_INITIALIZED = -32002, CANCELLED = -32800;

const FAILS = 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.25 GiB.';
const CHECK = 'print(sorted({tuple(s["segment_pool_id"]) for s in torch.cuda.memory_snapshot()}))';
const SHARE = 'Share one graph pool over the captures in graphs.py:29';

/** The requests on a document that name nothing but it. */
const ABOUT = ['codeLens', 'documentSymbol', 'foldingRange', 'documentLink'].map((name) => `textDocument/${name}`);

/** Starts a session, which at the test's end must have been as the protocol wants it. */
async function session(t, capabilities, { folder: root, settings, answers } = {}) {
  const client = new Client(program);
  t.after(() => client.process.kill());
  for (const [method, answer] of Object.entries(answers ?? {})) client.answer(method, answer);
  const { capabilities: server } = await client.request('initialize', params(capabilities, root, settings));
  await client.notify('initialized', {});
  return { client, server };
}

async function end(client) {
  const { status, problems } = await client.end();
  assert.deepEqual(problems, []);
  assert.equal(status, 0);
}

const at = (document, position) => ({ textDocument: document.id, position });

const command = (client, name, ...rest) => client.request('workspace/executeCommand', { command: `graphtrap.${name}`, arguments: rest });

test('the features on the log of 64 ranks', async (t) => {
  const work = folder(t);
  const log = Document.read(work.copy('cases/sixty-four-ranks/train.log', 'train.log'));
  const source = Document.read(path.join(work.copy('cases/sixty-four-ranks/engine', 'engine'), 'graphs.py'));
  work.copy('cases/sixty-four-ranks/train.py', 'train.py');

  let settings = null;
  const registered = new Map();
  const edits = [], shown = [], asked = [], refreshed = [];
  const { client, server } = await session(t, everything(), {
    folder: work.uri,
    answers: {
      'workspace/configuration': ({ items }) => { asked.push(items); return items.map((item) => (item.section === 'graphtrap' ? settings : null)); },
      'client/registerCapability': (p) => { p.registrations.forEach((r) => registered.set(r.id, r)); return null; },
      'client/unregisterCapability': (p) => { p.unregisterations.forEach((r) => registered.delete(r.id)); return null; },
      'workspace/applyEdit': (p) => { edits.push(p); return { applied: true }; },
      'window/showDocument': (p) => { shown.push(p); return { success: true }; },
      'window/workDoneProgress/create': () => null,
      'workspace/codeLens/refresh': () => null,
      'workspace/inlayHint/refresh': () => null,
      'workspace/semanticTokens/refresh': () => null,
      'workspace/textDocumentContent/refresh': (p) => { refreshed.push(p.uri); return null; },
    },
  });
  const failing = log.find(FAILS), suffering = log.find('Watchdog caught collective operation timeout');

  await t.test('initialize: what the server can do', () => {
    assert.equal(server.positionEncoding, 'utf-16');
    assert.equal(server.textDocumentSync.change, 2);
    assert.equal(server.diagnosticProvider, undefined, 'they are pushed');
    const provided = Object.keys(server).filter((key) => key.endsWith('Provider')).sort();
    assert.deepEqual(provided, ['codeAction', 'codeLens', 'definition', 'documentHighlight', 'documentLink', 'documentSymbol',
      'executeCommand', 'foldingRange', 'hover', 'inlayHint', 'references', 'semanticTokens', 'workspaceSymbol'].map((name) => `${name}Provider`));
  });

  await t.test('diagnostics: the initiating line, and the collateral ones faded', async () => {
    await log.open(client);
    const found = await log.diagnostics(client);
    const errors = found.filter((d) => d.severity === DiagnosticSeverity.Error);
    assert.equal(errors.length, 1);
    const [error] = errors;
    assert.equal(error.code, 'cuda-graph-capture-oom');
    assert.equal(error.source, 'graphtrap');
    assert.match(error.message, /^rank 17 started it: a CUDA graph capture ran out of memory/);
    assert.deepEqual(error.range.start, failing);
    assert.ok(log.slice(error.range).startsWith(FAILS));
    assert.ok(error.relatedInformation.length > 0 && error.relatedInformation.every((r) => r.location.uri === log.uri));
    const hints = found.filter((d) => d !== error);
    assert.equal(hints.length, 63);
    for (const hint of hints) {
      assert.equal(hint.severity, DiagnosticSeverity.Hint);
      assert.deepEqual(hint.tags, [DiagnosticTag.Unnecessary]);
      assert.match(hint.message, new RegExp(`of rank 17 \\(line ${failing.line + 1}\\)`));
    }
  });

  await t.test('hover: the verdict on a marked line, the meaning of any known one, nothing elsewhere', async () => {
    const hover = (position) => client.request('textDocument/hover', at(log, position));
    const verdict = await hover(failing);
    assert.equal(verdict.contents.kind, 'markdown');
    assert.match(verdict.contents.value, /Rank 17 started it/);
    assert.match(verdict.contents.value, /2\.25 GiB/);
    assert.deepEqual(verdict.range.start, failing);
    const timeout = await hover(suffering);
    assert.match(timeout.contents.value, /600\.063 s/);
    assert.match(timeout.contents.value, /ALLREDUCE/);
    assert.equal(await hover({ line: log.find('prefetched shard').line, character: 0 }), null);
    assert.equal(await hover({ line: log.end().line + 100, character: 5 }), null);
  });

  await t.test('code actions: the edit of the source, and the check', async () => {
    const actions = (range, only) => client.request('textDocument/codeAction', {
      textDocument: log.id, range, context: { diagnostics: [], ...(only && { only }) },
    });
    const found = await actions({ start: failing, end: failing });
    assert.deepEqual(found.map((a) => a.title), [SHARE, 'Copy the check command']);
    const [share, check] = found;
    assert.equal(share.isPreferred, true);
    const [change] = share.edit.documentChanges;
    assert.equal(change.textDocument.uri, source.uri);
    assert.deepEqual(change.edits.map((e) => [e.range.start.line, e.newText.trim()]), [
      [source.find('for shape in sorted').line, 'pool = torch.cuda.graph_pool_handle()'],
      [source.find('with torch.cuda.graph(').line, ', pool=pool'],
    ]);
    assert.deepEqual(check.command.arguments, [CHECK]);
    assert.deepEqual(await actions({ start: failing, end: failing }, [CodeActionKind.Refactor]), []);
    assert.deepEqual(await actions({ start: { line: 0, character: 0 }, end: { line: 0, character: 0 } }), []);
  });

  await t.test('code action resolve: a snippet where the source has another shape', async () => {
    const twisted = new Document(source.uri, source.text.replace('for shape in sorted(shapes, reverse=True):', 'while shapes:')
      .replace('self.warm_up(shape)', 'shape = shapes.pop()'));
    await twisted.open(client, 'python');
    const [snippet] = await client.request('textDocument/codeAction', {
      textDocument: log.id, range: { start: failing, end: failing }, context: { diagnostics: [] },
    });
    if (snippet.edit === undefined) {
      assert.match(snippet.title, /^Insert the graph pool snippet in graphs\.py:\d+$/);
      const { edit } = await client.request('codeAction/resolve', snippet);
      const [{ textDocument, edits: [insert] }] = edit.documentChanges;
      assert.deepEqual(textDocument, { uri: source.uri, version: 1 });
      assert.match(insert.snippet.value, /graph_pool_handle\(\)/);
    } else {
      assert.equal(snippet.edit.documentChanges[0].textDocument.version, 1, 'the edit is of the text that is open');
      assert.deepEqual(await client.request('codeAction/resolve', snippet), snippet);
    }
    await twisted.close(client);
  });

  await t.test('code lenses: above the block and on the initiating line', async () => {
    const lenses = await client.request('textDocument/codeLens', { textDocument: log.id });
    const block = log.find('[rank17]: Traceback').line;
    assert.deepEqual(lenses.map((l) => [l.range.start.line, l.command.title, l.command.command]), [block, failing.line].flatMap((line) => [
      [line, 'rank 17 started it; 63 collateral', 'graphtrap.openReport'],
      [line, SHARE, 'graphtrap.fix'],
      [line, 'Copy the check command', 'graphtrap.copyText'],
    ]));
  });

  await t.test('commands of the lenses: open the report, make the edit, copy the check', async () => {
    assert.equal(await command(client, 'openReport', { uri: log.uri }), null);
    assert.deepEqual(shown.map((p) => [p.uri.startsWith('graphtrap:report?'), p.takeFocus]), [[true, true]]);
    const { text } = await client.request('workspace/textDocumentContent', { uri: shown[0].uri });
    assert.match(text, /Rank 17 started it/);
    assert.deepEqual(await command(client, 'fix', { uri: log.uri }), { applied: true });
    assert.equal(edits.length, 1);
    assert.equal(edits[0].edit.documentChanges[0].textDocument.uri, source.uri);
    assert.equal(await command(client, 'copyText', CHECK), null);
    assert.equal((await message(client)).message, CHECK);
  });

  await t.test('document symbols: incident, ranks, messages', async () => {
    const symbols = await client.request('textDocument/documentSymbol', { textDocument: log.id });
    assert.equal(symbols.length, 1);
    const [incident] = symbols;
    assert.equal(incident.name, 'rank 17 started it; 63 collateral');
    assert.deepEqual(incident.children.slice(0, 3).map((s) => s.name), ['rank 17', 'rank 0', 'rank 1']);
    const within = (inner, outer) => (inner.start.line > outer.start.line || (inner.start.line === outer.start.line && inner.start.character >= outer.start.character))
      && (inner.end.line < outer.end.line || (inner.end.line === outer.end.line && inner.end.character <= outer.end.character));
    let events = 0;
    const walk = (symbol) => {
      assert.ok(within(symbol.selectionRange, symbol.range), symbol.name);
      for (const child of symbol.children ?? []) {
        assert.ok(within(child.range, symbol.range), child.name);
        walk(child);
      }
      if (!symbol.children?.length) events++;
    };
    walk(incident);
    assert.ok(events > 64);
  });

  await t.test('workspace symbols', async () => {
    const names = async (query) => (await client.request('workspace/symbol', { query })).map((s) => s.name);
    const all = await names('');
    assert.equal(all[0], 'rank 17 started it; 63 collateral');
    assert.ok(all.includes('rank 17: started it') && all.includes('rank 63: collateral'));
    assert.deepEqual(await names('nothing has this name'), []);
  });

  await t.test('folding: tracebacks, repeats', async () => {
    const ranges = await client.request('textDocument/foldingRange', { textDocument: log.id });
    const traceback = log.find('[rank17]: Traceback').line;
    assert.ok(ranges.some((r) => r.startLine === traceback && r.endLine > traceback && /frames/.test(r.collapsedText)));
    const last = log.end().line;
    assert.ok(ranges.every((r) => r.endLine > r.startLine && r.endLine <= last));
  });

  await t.test('document links: from frames to sources', async () => {
    const links = await client.request('textDocument/documentLink', { textDocument: log.id });
    const quoted = links.find((l) => l.target === `${source.uri}#L30`);
    assert.ok(quoted, JSON.stringify(links.slice(0, 3)));
    assert.equal(quoted.tooltip, 'graphs.py, line 30');
    assert.equal(log.slice(quoted.range), 'File "/workspace/engine/graphs.py", line 30');
  });

  await t.test('document highlights: all lines of the rank', async () => {
    const found = await client.request('textDocument/documentHighlight', at(log, failing));
    const lines = log.lines;
    assert.ok(found.length > 20);
    const written = found.filter((h) => h.kind === DocumentHighlightKind.Write);
    assert.deepEqual(written.map((h) => h.range.start.line), [failing.line]);
    const others = found.filter((h) => /^\[rank(?!17\])/.test(lines[h.range.start.line]));
    assert.deepEqual(others, []);
  });

  await t.test('definition: from what suffered to what started it, from a frame to the source', async () => {
    const [started] = await client.request('textDocument/definition', at(log, suffering));
    assert.equal(started.targetUri, log.uri);
    assert.deepEqual(started.targetSelectionRange.start, failing);
    const [line] = await client.request('textDocument/definition', at(log, log.find('graphs.py", line 30')));
    assert.equal(line.targetUri, source.uri);
    assert.equal(source.slice(line.targetSelectionRange), 'out = self.model(static_input)');
    assert.equal(await client.request('textDocument/definition', at(log, log.find('prefetched shard'))), null);
  });

  await t.test('references: all that suffered, whole and in pieces', async () => {
    const ask = (more) => client.request('textDocument/references', { ...at(log, failing), context: { includeDeclaration: true }, ...more });
    const whole = await ask();
    assert.deepEqual(whole[0].range.start, failing);
    assert.ok(whole.length > 63 && whole.every((l) => l.uri === log.uri));
    assert.ok(whole.some((l) => l.range.start.line === suffering.line));
    const rest = await ask({ partialResultToken: 'pieces' });
    assert.deepEqual([...client.progress('pieces').flat(), ...rest], whole);
  });

  await t.test('partial results: a long answer comes in pieces, before its empty response', async () => {
    const whole = await client.request('textDocument/documentHighlight', at(log, log.find('Epoch 3')));
    const rest = await client.request('textDocument/documentHighlight', { ...at(log, log.find('Epoch 3')), partialResultToken: 42 });
    const pieces = client.progress(42);
    if (whole.length > 256) {
      assert.deepEqual(rest, []);
      assert.ok(pieces.length > 1);
    }
    assert.deepEqual([...pieces.flat(), ...rest], whole);
    const folds = await client.request('textDocument/foldingRange', { textDocument: log.id });
    const last = await client.request('textDocument/foldingRange', { textDocument: log.id, partialResultToken: 'folds' });
    assert.deepEqual([...client.progress('folds').flat(), ...last], folds);
  });

  await t.test('inlay hints: how long before or after', async () => {
    const hints = await client.request('textDocument/inlayHint', { textDocument: log.id, range: log.whole() });
    const hint = hints.find((h) => h.position.line === suffering.line);
    assert.ok(hint, `${hints.length} hints`);
    assert.match(hint.label, /\+10 min/);
    assert.match(hint.tooltip, /after the initiating event/);
    assert.deepEqual(await client.request('textDocument/inlayHint', {
      textDocument: log.id, range: { start: { line: 0, character: 0 }, end: { line: 1, character: 0 } },
    }), []);
  });

  await t.test('semantic tokens: off unless the user turns them on', async () => {
    const full = () => client.request('textDocument/semanticTokens/full', { textDocument: log.id });
    assert.equal(await full(), null);
    settings = { semanticTokens: true };
    await client.notify('workspace/didChangeConfiguration', { settings: null });
    await log.diagnostics(client); // the new settings are in force
    const { data } = await full();
    const kinds = server.semanticTokensProvider.legend.tokenTypes;
    const seen = new Map();
    for (let i = 0, line = 0, character = 0; i < data.length; i += 5) {
      const [down, right, length, kind, modifiers] = data.slice(i, i + 5);
      line += down;
      character = down === 0 ? character + right : right;
      assert.ok(kind < kinds.length && modifiers === 0 && length > 0 && length <= 100_000);
      if (line === failing.line) seen.set(character, kinds[kind]);
    }
    assert.equal(data.length % 5, 0);
    assert.deepEqual([...seen], [[0, 'type'], [failing.character, 'keyword']]);
    const part = await client.request('textDocument/semanticTokens/range', {
      textDocument: log.id, range: { start: { line: failing.line, character: 0 }, end: { line: failing.line + 1, character: 0 } },
    });
    assert.deepEqual(part.data.slice(0, 2), [failing.line, 0]);
  });

  await t.test('settings: one message names each wrong key, the others apply', async () => {
    settings = { collateralSeverity: 'none', rankOfInterest: 'three', nonsense: 1 };
    await client.notify('workspace/didChangeConfiguration', { settings: null });
    const { message: text } = await message(client, MessageType.Warning);
    assert.match(text, /rankOfInterest/);
    assert.match(text, /nonsense/);
    assert.doesNotMatch(text, /^- collateralSeverity/m);
    assert.equal((await log.diagnostics(client)).length, 1);
    settings = null;
    await client.notify('workspace/didChangeConfiguration', { settings: null });
    assert.equal((await log.diagnostics(client)).length, 64);
    assert.deepEqual([...registered.values()].map((r) => r.method).filter((m) => m !== 'workspace/didChangeWatchedFiles'), ['workspace/didChangeConfiguration']);
  });

  await t.test('graphtrap.diagnose: text, range, document, path and folder', async () => {
    const run = (what, more) => client.request('workspace/executeCommand', { command: 'graphtrap.diagnose', arguments: [what], ...more });
    for (const what of [{ uri: log.uri }, { text: log.text }, { path: path.join(work.dir, 'train.log') }, { path: 'train.log' }]) {
      const report = await run(what);
      assert.equal(report.verdict.initiator.rank, 17, Object.keys(what)[0]);
      assert.equal(report.verdict.signature, 'cuda-graph-capture-oom');
    }
    const selected = await run({ uri: log.uri, range: { start: { line: failing.line - 9, character: 0 }, end: { line: failing.line + 20, character: 0 } }, format: 'markdown' });
    assert.equal(selected.report.verdict.initiator.rank, 17);
    assert.match(selected.rendered, /Rank 17 started it/);
    const many = folder(t);
    many.copy('cases/two-ranks-fail-in-the-same-second-one-file-each/logs', 'logs');
    const report = await run({ folder: path.join(many.dir, 'logs'), format: 'text' }, { workDoneToken: 'work' });
    assert.ok(report.report.input.files.length > 1);
    assert.deepEqual(client.progress('work').map((p) => p.kind).filter((kind) => kind !== 'report'), ['begin', 'end']);
    assert.equal((await failure(run({}))).code, INVALID_PARAMS);
    assert.equal((await failure(run({ path: 'a', text: 'b' }))).code, INVALID_PARAMS);
    assert.equal((await failure(run({ path: path.join(work.dir, 'not-there.log') }))).code, -32803);
  });

  await t.test('graphtrap.diagnose: it can be cancelled where its progress is shown', async () => {
    const big = path.join(work.dir, 'big.log');
    writeFileSync(big, log.text.slice(0, 1_000_000).repeat(40));
    const request = client.request('workspace/executeCommand', {
      command: 'graphtrap.diagnose', arguments: [{ path: big }], workDoneToken: 'big',
    });
    await client.until('begin', () => (client.progress('big').length > 0 ? true : undefined));
    await client.notify('window/workDoneProgress/cancel', { token: 'big' });
    assert.equal((await failure(request)).code, CANCELLED);
    const kinds = client.progress('big').map((p) => p.kind);
    assert.equal(kinds[0], 'begin');
    assert.equal(kinds.at(-1), 'end');
    assert.equal(client.progress('big')[0].cancellable, true);
  });

  await t.test('graphtrap.explain, graphtrap.report, graphtrap.debugInfo', async () => {
    const explained = await command(client, 'explain', { id: 'cuda-graph-capture-oom' });
    assert.equal(explained.kind, 'failure');
    assert.match(explained.markdown, /graph_pool_handle/);
    assert.equal((await failure(command(client, 'explain', { id: 'no-such-failure' }))).code, INVALID_PARAMS);
    const { uri } = await command(client, 'report', { uri: log.uri });
    const { text } = await client.request('workspace/textDocumentContent', { uri });
    assert.match(text, /Rank 17 started it/);
    assert.match(text, new RegExp(`#L${failing.line + 1}\\)`));
    const info = await command(client, 'debugInfo');
    assert.equal(info.client.name, 'graphtrap-protocol-client');
    assert.equal(info.encoding, 'utf-16');
    const whole = JSON.stringify(info);
    for (const secret of ['rank17', 'workspace', 'train', work.dir]) assert.ok(!whole.includes(secret), `it has ${secret}`);
    assert.equal((await failure(command(client, 'noSuchCommand'))).code, INVALID_PARAMS);
  });

  await t.test('hover and hints on lines that no verdict marks: who, when, what', async () => {
    const card = Document.read(work.copy('cases/xid79-bus-id-maps-to-rank-two-not-device-seven/log.txt', 'card.log'));
    await card.open(client);
    const [error] = (await card.diagnostics(client)).filter((d) => d.severity === DiagnosticSeverity.Error);
    assert.match(error.message, /^rank 2 started it/);
    const { contents } = await client.request('textDocument/hover', at(card, card.find('Timeout(ms)=600000')));
    assert.match(contents.value, /600/);
    const hints = await client.request('textDocument/inlayHint', { textDocument: card.id, range: card.whole() });
    assert.ok(hints.length > 0 && hints.every((h) => h.tooltip.startsWith('Printed by') || h.tooltip.startsWith('Printed')), JSON.stringify(hints[0]));
    await card.close(client);
    await card.cleared(client);
  });

  await t.test('workspace folders: another one has its own settings', async () => {
    const more = folder(t);
    asked.length = 0;
    await client.notify('workspace/didChangeWorkspaceFolders', { event: { added: [{ uri: more.uri, name: 'more' }], removed: [] } });
    await client.until('question for its settings', () => asked.find((items) => items.some((item) => item.scopeUri === more.uri)));
    await client.notify('workspace/didChangeWorkspaceFolders', { event: { added: [], removed: [{ uri: more.uri, name: 'more' }] } });
    await client.until('question without it', () => asked.findLast((items, i) => i > 0 && !items.some((item) => item.scopeUri === more.uri)));
  });

  await t.test('growth: a report that is shown is refreshed', async () => {
    await log.append(client, '[rank3]: 2026-11-28 04:40:00,000 | INFO | one more line\n');
    assert.equal((await log.diagnostics(client)).length, 64);
    await client.until('refresh of the report', () => (refreshed.includes(shown[0].uri) ? true : undefined));
  });

  await t.test('watched files: a log on disk is followed', async () => {
    const file = work.copy('cases/sglang-victim-prints-first/log.txt', 'other.log');
    const other = Document.read(file);
    const published = () => client.notification('textDocument/publishDiagnostics', (p) => p.uri === other.uri);
    assert.equal((await command(client, 'diagnose', { path: file })).verdict.initiator.rank, 2);
    const before = await published();
    assert.equal(before.diagnostics.filter((d) => d.severity === DiagnosticSeverity.Error).length, 1);
    const watchers = () => [...registered.values()].filter((r) => r.method === 'workspace/didChangeWatchedFiles').flatMap((r) => r.registerOptions.watchers);
    await client.until('watcher of the log', () => watchers().find((w) => w.globPattern.pattern === 'other.log'));
    appendFileSync(file, 'one more line\n');
    await client.notify('workspace/didChangeWatchedFiles', { changes: [{ uri: other.uri, type: FileChangeType.Changed }] });
    assert.deepEqual((await published()).diagnostics, before.diagnostics);
    writeFileSync(file, 'nothing failed\n');
    await client.notify('workspace/didChangeWatchedFiles', { changes: [{ uri: other.uri, type: FileChangeType.Changed }] });
    assert.deepEqual((await published()).diagnostics, []);
  });

  await t.test('trace: the client is told of messages while it wants to be', async () => {
    const traced = [];
    await client.connection.trace(Trace.Messages, { log: (text) => traced.push(text) });
    await client.request('textDocument/hover', at(log, failing));
    await client.until('trace of hover', () => traced.find((text) => /textDocument\/hover/.test(text)));
    await client.connection.trace(Trace.Off, { log: () => {} });
  });

  await t.test('close: the diagnostics are taken back, and nothing is answered any more', async () => {
    await log.close(client);
    await log.cleared(client);
    assert.equal(await client.request('textDocument/hover', at(log, failing)), null);
    for (const method of ABOUT) assert.deepEqual(await client.request(method, { textDocument: log.id }), [], method);
  });

  await end(client);
});

test('an editor that asks for its diagnostics', async (t) => {
  const work = folder(t);
  const log = Document.read(work.copy('cases/sglang-victim-prints-first/log.txt', 'train.log'));
  let refreshes = 0;
  const { client, server } = await session(t, pulling(), {
    folder: work.uri,
    answers: {
      'workspace/configuration': ({ items }) => items.map(() => null), 'client/registerCapability': () => null,
      'workspace/diagnostic/refresh': () => { refreshes++; return null; }, 'workspace/codeLens/refresh': () => null,
      'workspace/inlayHint/refresh': () => null, 'workspace/semanticTokens/refresh': () => null,
    },
  });
  assert.equal(server.diagnosticProvider.workspaceDiagnostics, true);
  assert.equal(server.diagnosticProvider.interFileDependencies, false);
  await log.open(client);
  const pull = (previousResultId) => client.request('textDocument/diagnostic', { textDocument: log.id, previousResultId });

  await t.test('result ids: what has not changed is not sent again', async () => {
    const full = await pull();
    assert.equal(full.kind, 'full');
    assert.equal(full.items.filter((d) => d.severity === DiagnosticSeverity.Error).length, 1);
    assert.deepEqual(await pull(full.resultId), { kind: 'unchanged', resultId: full.resultId });
    assert.equal((await pull('another')).kind, 'full');
  });

  await t.test('the workspace: its answer waits until there is news, and can be cancelled', async () => {
    const ask = (previousResultIds, token, cancellation) => client.request('workspace/diagnostic', { previousResultIds, partialResultToken: token }, cancellation);
    const { items } = await ask([]);
    assert.deepEqual(items.map((i) => [i.uri, i.kind, i.version]), [[log.uri, 'full', 1]]);
    const known = [{ uri: log.uri, value: items[0].resultId }];
    assert.deepEqual((await ask(known)).items.map((i) => i.kind), ['unchanged']);

    const cancellation = new CancellationTokenSource();
    const idle = failure(ask(known, 'idle', cancellation.token));
    await pull(); // the one above waits
    cancellation.cancel();
    assert.equal((await idle).code, CANCELLED);

    const waiting = ask(known, 'news');
    await log.append(client, `[rank0]: ${FAILS}\n`);
    const changed = [...(await waiting).items, ...client.progress('news').flatMap((p) => p.items)];
    assert.ok(changed.length > 0 && changed.every((i) => i.uri === log.uri));
  });

  await log.close(client);
  assert.deepEqual((await pull()).items, []);
  assert.equal(refreshes, 0, 'nothing but documents has changed');
  await end(client);
});

test('an editor that can do nothing', async (t) => {
  const work = folder(t);
  const log = Document.read(work.copy('cases/sixty-four-ranks/train.log', 'train.log'));
  work.copy('cases/sixty-four-ranks/engine', 'engine');
  const { client, server } = await session(t, {}, { folder: work.uri, settings: { semanticTokens: true } });
  assert.equal(server.positionEncoding, 'utf-16');
  for (const provider of ['diagnosticProvider', 'inlayHintProvider', 'semanticTokensProvider']) assert.equal(server[provider], undefined, provider);
  await log.open(client);
  const found = await client.notification('textDocument/publishDiagnostics', (p) => p.uri === log.uri);
  assert.ok(found.diagnostics.every((d) => d.tags === undefined && d.relatedInformation === undefined));
  const failing = log.find(FAILS);
  const hover = await client.request('textDocument/hover', at(log, failing));
  assert.equal(hover.contents.kind, 'plaintext');
  const actions = await client.request('textDocument/codeAction', { textDocument: log.id, range: { start: failing, end: failing }, context: { diagnostics: [] } });
  assert.ok(actions.every((a) => typeof a.command === 'string'), 'commands, not literals');
  const symbols = await client.request('textDocument/documentSymbol', { textDocument: log.id });
  assert.ok(symbols.length > 64 && symbols.every((s) => s.location.uri === log.uri && s.kind <= 18));
  const definition = await client.request('textDocument/definition', at(log, log.find('Watchdog caught')));
  assert.deepEqual([definition.uri, definition.range.start], [log.uri, failing]);
  assert.match((await command(client, 'report', { uri: log.uri })).markdown, /Rank 17 started it/);
  assert.equal(await command(client, 'openReport', { uri: log.uri }), null);
  assert.match((await message(client)).message, /^Rank 17 started it/);
  assert.equal((await failure(command(client, 'fix', { uri: log.uri }))).code, -32803);
  await end(client);
});

test('requests and messages that should not be', async (t) => {
  const work = folder(t);
  const log = Document.read(work.copy('cases/sixty-four-ranks/train.log', 'train.log'));
  const client = new Client(program);
  t.after(() => client.process.kill());
  const position = { line: 0, character: 0 };

  assert.equal((await failure(client.request('textDocument/hover', at(log, position)))).code, NOT_INITIALIZED);
  await client.notify('textDocument/didClose', { textDocument: log.id });
  await client.request('initialize', params(everything(), null));
  client.answer('workspace/configuration', ({ items }) => items.map(() => null));
  client.answer('client/registerCapability', () => null);
  await client.notify('initialized', {});
  const { message: dropped } = await client.notification('window/logMessage');
  assert.match(dropped, /didClose/);
  assert.match(client.stderr, /initialize comes first/);
  client.stderr = '';
  assert.equal((await failure(client.request('initialize', params({}, null)))).code, INVALID_REQUEST);

  const unknown = {
    'textDocument/rename': { textDocument: log.id, position, newName: 'x' }, 'graphtrap/unknown': [1], '$/unknown': {},
    'textDocument/didOpen': { textDocument: { ...log.id, languageId: 'log', version: 1, text: '' } }, // is a notification
  };
  for (const [method, value] of Object.entries(unknown)) {
    assert.equal((await failure(client.request(method, value))).code, UNKNOWN_METHOD, method);
  }
  for (const method of ['graphtrap/unknown', '$/unknown', '$/logTrace']) await client.notify(method, { a: [null] });
  await client.notify('$/cancelRequest', { id: 'never sent' });
  await client.notify('window/workDoneProgress/cancel', { token: 'never sent' });
  assert.equal((await failure(client.request('codeAction/resolve', { title: 'x', data: 'nobody wrote this' }))).code, INVALID_PARAMS);

  await t.test('quiet: prose and output that nobody asked for', async () => {
    const prose = new Document('untitled:Untitled-1', `They say ${FAILS}\n`);
    const output = new Document('output:extension-output-1', `${FAILS}\n`);
    await prose.open(client, 'plaintext');
    await output.open(client, 'plaintext');
    for (const document of [prose, output]) {
      assert.equal(await client.request('textDocument/hover', at(document, { line: 0, character: 12 })), null);
      for (const method of ABOUT) assert.deepEqual(await client.request(method, { textDocument: document.id }), [], method);
      await document.close(client);
    }
  });

  await t.test('growth: each version gets its own diagnostics', async () => {
    const lines = log.text.split('\n');
    const growing = new Document('file:///elsewhere/grown.log', '');
    await growing.open(client);
    assert.deepEqual(await growing.diagnostics(client), []);
    for (let i = 0; i < lines.length; i += 2000) await growing.append(client, `${lines.slice(i, i + 2000).join('\n')}\n`);
    const found = await growing.diagnostics(client);
    assert.equal(found.filter((d) => d.severity === DiagnosticSeverity.Error).length, 1);
    const versions = client.all('textDocument/publishDiagnostics').map((p) => p.version);
    assert.deepEqual(versions, [...versions].sort((a, b) => a - b));
    assert.ok(versions.every((v) => v < growing.version));
    await growing.close(client);
    await growing.cleared(client);
  });

  await t.test('cancel: a request that waits for the analysis is given up', async () => {
    const big = new Document('file:///elsewhere/big.log', log.text.repeat(8));
    await big.open(client);
    const asked = ['textDocument/hover', 'textDocument/documentSymbol', 'textDocument/codeLens'].map((method) => {
      const cancellation = new CancellationTokenSource();
      const response = failure(client.request(method, { textDocument: big.id, ...(method.endsWith('hover') && { position }) }, cancellation.token));
      return { method, cancellation, response };
    });
    setImmediate(() => asked.forEach(({ cancellation }) => cancellation.cancel()));
    for (const { method, response } of asked) assert.equal((await response).code, CANCELLED, method);
    await big.close(client);
    await big.cleared(client);
    assert.ok(client.all('textDocument/publishDiagnostics').every((p) => p.version === 1), 'the analysis may have been faster');
  });

  await end(client);
});

test('positions: colours, emoji and CJK text in each encoding', async (t) => {
  const text = `\u001b[31m训练 🚀\u001b[0m [rank1]: 🧨 step 1\n\u001b[1m[rank0]:\u001b[0m 错误🔥 torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.25 GiB. 🧨\n`;
  const width = {
    'utf-8': (s) => Buffer.byteLength(s), 'utf-16': (s) => s.length, 'utf-32': (s) => [...s].length,
  };
  for (const [encoding, measure] of Object.entries(width)) {
    await t.test(encoding, async (t) => {
      const capabilities = everything();
      capabilities.general.positionEncodings = [encoding];
      const { client, server } = await session(t, capabilities, {
        answers: { 'workspace/configuration': ({ items }) => items.map(() => null), 'client/registerCapability': () => null },
      });
      assert.equal(server.positionEncoding, encoding);
      const log = new Document('file:///elsewhere/train.log', text);
      await log.open(client);
      const line = log.lines[1];
      const cut = ({ start, end }) => {
        const at = (n) => [...line].reduce(([used, offset], c) => (used < n ? [used + measure(c), offset + c.length] : [used, offset]), [0, 0])[1];
        return line.slice(at(start.character), at(end.character));
      };
      const [error] = await log.diagnostics(client);
      assert.equal(error.range.start.line, 1);
      assert.match(cut(error.range), /torch\.OutOfMemoryError: CUDA out of memory\. Tried to allocate 2\.25 GiB\./);
      assert.equal(measure(line.slice(0, line.indexOf(cut(error.range)))), error.range.start.character);
      const hover = await client.request('textDocument/hover', at(log, { line: 1, character: measure(line.slice(0, line.indexOf('Tried'))) }));
      assert.match(hover.contents.value, /2\.25 GiB/);
      await end(client);
    });
  }
});

test('exit status: 0 after shutdown, else 1', async (t) => {
  const ends = {
    'exit without shutdown': (client) => client.notify('exit'),
    'the end of input': (client) => client.process.stdin.end(),
    'exit before initialize': (client) => client.notify('exit'),
  };
  for (const [name, stop] of Object.entries(ends)) {
    await t.test(name, async (t) => {
      const client = new Client(program);
      t.after(() => client.process.kill());
      if (!name.endsWith('initialize')) await client.request('initialize', params({}, null));
      await stop(client);
      assert.equal(await client.exited, 1);
      assert.deepEqual(client.problems, []);
    });
  }
});

test('the schema itself: wrong messages are noticed', async () => {
  const { Types } = await import('./types.mjs');
  const types = new Types();
  const result = (method) => types.methods.get(method).result;
  assert.deepEqual(types.errors({ contents: { kind: 'markdown', value: '' } }, result('textDocument/hover'), 'hover'), []);
  for (const [method, value] of [
    ['textDocument/hover', {}],
    ['textDocument/hover', { contents: 'x', range: { start: { line: 0, character: -1 }, end: { line: 0, character: 0 } } }],
    ['textDocument/hover', { contents: { kind: 'html', value: '' } }],
    ['textDocument/hover', { contents: 'x', extra: 1 }],
    ['textDocument/references', [{ uri: 'a' }]],
    ['textDocument/foldingRange', [{ startLine: 0.5, endLine: 2 }]],
  ]) {
    assert.notDeepEqual(types.errors(value, result(method), method), [], JSON.stringify(value));
  }
});
