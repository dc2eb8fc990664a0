// An editor without a screen: vscode-languageserver-protocol talks to the program, and what both sides say is checked.

import { spawn } from 'node:child_process';
import {
  createProtocolConnection, ResponseError, StreamMessageReader, StreamMessageWriter,
} from 'vscode-languageserver-protocol/node';
import { Types } from './types.mjs';

/** How long the client waits for anything, in milliseconds. */
const PATIENCE = 60_000;

const INFO = 3; // MessageType

const types = new Types();

/** An error's code and message, for a request that must fail. */
export async function failure(promise) {
  try {
    const result = await promise;
    return { code: 0, message: `it succeeded: ${JSON.stringify(result).slice(0, 200)}` };
  } catch (error) {
    if (!(error instanceof ResponseError)) throw error;
    return { code: error.code, message: error.message };
  }
}

/**
 * Client is one session. Every message of the server must fit the protocol's types and must be asked for: a
 * response to a request, an answered request, or a notification that the test takes. `end` tells what did not.
 */
export class Client {
  problems = [];
  #waiting = new Map(); // requests without a response, by id
  #seen = new Set(); // ids of requests that have theirs
  #asked = new Set(); // ids of the server's requests
  #partial = new Map(); // methods of requests, by their tokens for partial results
  #working = new Map(); // what came of work, by its token
  #handlers = new Map();
  #notifications = [];
  #arrived = () => {};

  constructor(program) {
    this.process = spawn(program, ['serve', '--stdio'], { stdio: ['pipe', 'pipe', 'pipe'] });
    this.stderr = '';
    this.process.stderr.on('data', (data) => { this.stderr += data; });
    this.exited = new Promise((resolve) => this.process.on('exit', (code, signal) => resolve(signal ?? code)));
    const reader = new StreamMessageReader(this.process.stdout);
    const writer = new StreamMessageWriter(this.process.stdin);
    const tell = (message) => this.problems.push(`the protocol library: ${message}`);
    this.connection = createProtocolConnection(
      {
        onError: reader.onError, onClose: reader.onClose, onPartialMessage: reader.onPartialMessage, dispose: () => reader.dispose(),
        listen: (next) => reader.listen((message) => { this.#receive(message); next(message); }),
      },
      {
        onError: writer.onError, onClose: writer.onClose, dispose: () => writer.dispose(), end: () => writer.end(),
        write: (message) => { this.#send(message); return writer.write(message); },
      },
      { error: tell, warn: tell, info: () => {}, log: () => {} },
    );
    this.connection.onRequest((method, params) => {
      const handler = this.#handlers.get(method);
      if (handler) return handler(params);
      this.problems.push(`the server asks ${method} ${JSON.stringify(params)}, for which this client is not ready`);
      return new ResponseError(-32601, 'not ready for it');
    });
    this.connection.onNotification((method, params) => this.#take(method, params));
    this.connection.onUnhandledProgress(() => {}); // they are taken where they are received
    this.connection.listen();
  }

  /** The server's requests of a method are answered by handler. */
  answer(method, handler) { this.#handlers.set(method, handler); }

  request(method, ...rest) { return this.connection.sendRequest(method, ...rest.filter((r) => r !== undefined)); }

  notify(method, params) { return this.connection.sendNotification(method, params); }

  /** What came so far of the work or the partial results of a token. */
  progress(token) { return this.#working.get(token) ?? []; }

  /** Waits for a notification that nobody has taken yet and that fits, and takes it. */
  async notification(method, fits = () => true) {
    return this.until(`${method}`, () => {
      const found = this.#notifications.findIndex((n) => n.method === method && fits(n.params));
      return found < 0 ? undefined : this.#notifications.splice(found, 1)[0].params;
    });
  }

  /** Waits until look finds something. */
  async until(what, look) {
    const end = Date.now() + PATIENCE;
    for (;;) {
      const found = look();
      if (found !== undefined) return found;
      if (Date.now() > end) throw new Error(`no ${what}; not taken: ${JSON.stringify(this.#notifications).slice(0, 2000)}`);
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, 200);
        this.#arrived = () => { clearTimeout(timer); resolve(); };
      });
    }
  }

  /** Takes all notifications of a method that are there. */
  all(method) {
    const taken = this.#notifications.filter((n) => n.method === method);
    this.#notifications = this.#notifications.filter((n) => n.method !== method);
    return taken.map((n) => n.params);
  }

  /** Shuts the server down; returns what was wrong with the session, and its exit status. */
  async end() {
    const result = await this.request('shutdown');
    if (result !== null) this.problems.push(`shutdown gives ${JSON.stringify(result)}`);
    const late = await failure(this.request('textDocument/hover', { textDocument: { uri: 'file:///x' }, position: { line: 0, character: 0 } }));
    if (late.code !== -32600) this.problems.push(`after shutdown a request gives ${late.code} ${late.message}`);
    await this.notify('exit');
    const status = await this.exited;
    for (const n of this.#notifications) this.problems.push(`nobody asked for ${n.method} ${JSON.stringify(n.params).slice(0, 500)}`);
    for (const [id, { method }] of this.#waiting) this.problems.push(`no response to ${method}, ${id}`);
    if (this.stderr !== '') this.problems.push(`standard error: ${this.stderr}`);
    this.connection.dispose();
    return { status, problems: this.problems };
  }

  #check(value, type, where) {
    if (type) this.problems.push(...types.errors(value, type, where));
  }

  #send(message) {
    if (message.method === undefined) return;
    this.#check(message.params, types.methods.get(message.method)?.params, `our ${message.method}`);
    if (message.id === undefined) return;
    this.#waiting.set(message.id, message);
    const token = message.params?.partialResultToken;
    if (token !== undefined) this.#partial.set(token, message.method);
  }

  #receive(message) {
    if (message.jsonrpc !== '2.0') this.problems.push(`a message of JSON-RPC ${message.jsonrpc}`);
    if (message.method !== undefined) this.#receiveCall(message);
    else this.#receiveResponse(message);
    setImmediate(() => this.#arrived());
  }

  #receiveCall({ id, method, params }) {
    if (method === '$/progress') return this.#receiveProgress(params);
    if (method === '$/logTrace') return this.#check(params, types.type('LogTraceParams'), method);
    if (method === '$/cancelRequest') { // a question that is not needed any more
      if (!this.#asked.has(params?.id)) this.problems.push(`the server gives up ${JSON.stringify(params)}, which it has not asked`);
      return;
    }
    if (id !== undefined && this.#asked.has(id)) this.problems.push(`the server asks ${id} twice`);
    if (id !== undefined) this.#asked.add(id);
    const known = types.methods.get(method);
    if (!known) return void this.problems.push(`the protocol has no ${method}`);
    this.#check(params ?? undefined, known.params, method);
    if (id === undefined && known.result) this.problems.push(`${method} as a notification`);
  }

  #receiveResponse({ id, result, error }) {
    const request = this.#waiting.get(id);
    if (!request) {
      return void this.problems.push(this.#seen.has(id) ? `a second response to ${id}` : `a response to ${id}, which was not asked`);
    }
    this.#waiting.delete(id);
    this.#seen.add(id);
    if (error === undefined) return this.#check(result, types.methods.get(request.method)?.result, request.method);
    if (result !== undefined) this.problems.push(`${request.method} has a result and an error`);
    if (!Number.isSafeInteger(error.code) || typeof error.message !== 'string' || error.message === '') {
      this.problems.push(`${request.method} has the error ${JSON.stringify(error)}`);
    }
  }

  #receiveProgress({ token, value }) {
    const of = this.#partial.get(token);
    if (of) this.#check(value, types.methods.get(of).partial, `partial ${of}`);
    else if (!['begin', 'report', 'end'].includes(value?.kind)) this.problems.push(`progress ${JSON.stringify(value)}`);
    else this.#check(value, types.type(`WorkDoneProgress${value.kind[0].toUpperCase()}${value.kind.slice(1)}`), '$/progress');
    if (!this.#working.has(token)) this.#working.set(token, []);
    this.#working.get(token).push(value);
  }

  #take(method, params) {
    if (method === 'window/logMessage' && params.type >= INFO) return;
    this.#notifications.push({ method, params });
  }
}
