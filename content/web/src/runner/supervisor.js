// A classic blob worker inside the sandboxed frame. It owns the deadlines and the interpreters; no student code runs in
// its realm. It is a worker of its own so that a background page's throttled timers do not matter.

import { InterpreterPool } from './interpreter-pool.js';
import { joined, partsOf } from './kept-python.js';
import { PartsInbox, wasmResponse } from './parts-inbox.js';
import { SupervisedRun } from './supervised-run.js';

/** @typedef {import('./protocol.js').PageMessage} PageMessage */
/** @typedef {import('./protocol.js').RunRequest} RunRequest */
/** @typedef {import('./protocol.js').CellReport} CellReport */

class Supervisor {
  /** @param {string} interpreterSource @param {boolean} keepSpare */
  constructor(interpreterSource, keepSpare) {
    const url = URL.createObjectURL(new Blob([interpreterSource], { type: 'text/javascript' }));
    this.pool = new InterpreterPool(url, keepSpare, (memory) => this.sendSnapshot(memory));
    /** @type {MessagePort|null} */
    this.page = null;
    /** @type {RunRequest[]} */
    this.queue = [];
    /** @type {SupervisedRun|null} */
    this.running = null;
    this.busy = true; // until the first interpreter is ready
    /** @type {PartsInbox|null} */
    this.inbox = null;
  }

  /** Nothing is taken from the page before the interpreter's script runs: a busy supervisor would hold its start up. @param {MessagePort} port */
  async connect(port) {
    this.page = port;
    await this.pool.first.awake;
    port.onmessage = (event) => this.receive(event.data);
  }

  /** @param {PageMessage} message */
  receive(message) {
    if (message.type === 'part') this.takePart(message);
    else if (message.type === 'sent') this.takeEnd(message.makeSnapshot);
    else if (message.type === 'kept') this.bootFromKept(message.kept);
    else if (message.type === 'run') this.enqueue(message);
    else if (message.type === 'stop') this.stop(message.id);
  }

  /** @param {import('./protocol.js').PartMessage} message */
  takePart({ name, chunk }) {
    if (!this.inbox) {
      this.inbox = new PartsInbox();
      this.bootFromFiles(this.inbox);
    }
    this.inbox.take(name, chunk);
  }

  /** @param {boolean} makeSnapshot */
  takeEnd(makeSnapshot) {
    this.pool.wantsSnapshot = makeSnapshot;
    if (this.inbox && !makeSnapshot) this.inbox.wasm = [];
  }

  /** @param {PartsInbox} inbox */
  async bootFromFiles(inbox) {
    try {
      inbox.asm.then((asm) => this.pool.first.prepare({ asm, memory: null })); // it takes as long to read as the rest to arrive
      await this.boot(await inbox.complete());
    } catch (error) {
      this.fail(error);
    }
  }

  /** @param {import('./kept-python.js').KeptPython} kept */
  async bootFromKept(kept) {
    try {
      const { wasm, ...parts } = partsOf(kept);
      this.pool.first.prepare(parts);
      await this.boot({ ...parts, module: await WebAssembly.compileStreaming(wasmResponse(wasm)) });
    } catch (error) {
      console.warn(`Python did not start from what an earlier visit kept: ${error}`);
      this.post({ type: 'kept failed' });
    }
  }

  /** @param {import('./protocol.js').InterpreterParts} parts */
  async boot(parts) {
    await this.pool.boot(parts);
    this.post({ type: 'ready', fromSnapshot: parts.memory !== null });
    this.busy = false;
    this.next();
  }

  /** @param {Blob} memory of an interpreter that was started from the files of the inbox */
  sendSnapshot(memory) {
    const { inbox, pool: { parts } } = this;
    if (!inbox || !parts) return;
    const { asm, stdlib, zeroledger } = parts;
    this.post({ type: 'kept', kept: joined({ wasm: new Blob(inbox.wasm), asm, stdlib, zeroledger, memory }) });
    inbox.wasm = [];
  }

  /** @param {unknown} error */
  fail(error) {
    this.post({ type: 'failed', message: String(error instanceof Error ? error.message : error) });
  }

  /** @param {RunRequest} request */
  enqueue(request) {
    this.queue.push(request);
    this.next();
  }

  /** @param {number} id */
  stop(id) {
    if (this.running?.request.id === id) this.running.stop();
    const waiting = this.queue.findIndex((request) => request.id === id);
    if (waiting === -1) return;
    this.queue.splice(waiting, 1);
    const result = { status: 'stopped', value: null, picture: null, error: null, errorType: null, elapsedMs: 0, stateKept: true, truncated: false };
    this.post({ type: 'done', id, result });
  }

  async next() {
    if (this.busy) return;
    const request = this.queue.shift();
    if (!request) {
      this.pool.prepareSpare();
      return;
    }
    this.busy = true;
    try {
      await this.run(request);
    } catch (error) {
      this.fail(error);
    }
    this.busy = false;
    this.next();
  }

  /** @param {RunRequest} request */
  async run(request) {
    const interpreter = request.fresh ? this.pool.takeUnused() : this.pool.useCurrent();
    await interpreter.ready;
    const { id } = request;
    this.post({ type: 'started', id });
    this.running = new SupervisedRun(interpreter, request, (pieces) => this.post({ type: 'output', id, pieces }));
    const startedAt = performance.now();
    const supervised = this.running;
    const report = await supervised.start();
    this.running = null;
    this.retire(interpreter, request, report);
    const { spent, ...outcome } = report;
    const stateKept = !spent && !request.fresh;
    this.post({ type: 'done', id, result: { ...outcome, stateKept, elapsedMs: performance.now() - (supervised.begunAt || startedAt) } });
  }

  /**
   * @param {import('./interpreter-handle.js').InterpreterHandle} interpreter
   * @param {RunRequest} request
   * @param {CellReport} report
   */
  retire(interpreter, request, report) {
    if (request.fresh) interpreter.terminate();
    else if (report.spent) this.pool.replaceCurrent();
  }

  /** @param {any} message */
  post(message) {
    this.page?.postMessage(message);
  }
}

/** @type {Supervisor} */
let supervisor;

// The frame sends the interpreter's source at once, and the page's port when it has it.
self.onmessage = (event) => {
  const { interpreterSource, keepSpare } = event.data;
  if (interpreterSource) supervisor = new Supervisor(interpreterSource, keepSpare);
  if (event.ports[0]) supervisor.connect(event.ports[0]);
};
