// A classic blob worker inside the sandboxed frame. It owns the deadlines and the interpreters; no student code runs in
// its realm. It is a worker of its own so that a background page's throttled timers do not matter.

import { InterpreterPool } from './interpreter-pool.js';
import { PartsInbox } from './parts-inbox.js';
import { SupervisedRun } from './supervised-run.js';

/** @typedef {import('./protocol.js').PageMessage} PageMessage */
/** @typedef {import('./protocol.js').RunRequest} RunRequest */
/** @typedef {import('./protocol.js').CellReport} CellReport */

class Supervisor {
  /** @param {string} interpreterSource @param {boolean} keepSpare */
  constructor(interpreterSource, keepSpare) {
    const url = URL.createObjectURL(new Blob([interpreterSource], { type: 'text/javascript' }));
    this.pool = new InterpreterPool(url, keepSpare, (bytes) => this.page?.postMessage({ type: 'snapshot', bytes }, [bytes]));
    /** @type {MessagePort|null} */
    this.page = null;
    /** @type {RunRequest[]} */
    this.queue = [];
    /** @type {SupervisedRun|null} */
    this.running = null;
    this.busy = true; // until the first interpreter is ready
    /** @type {ArrayBuffer|null} */
    this.snapshot = null;
    this.inbox = new PartsInbox();
    this.inbox.asm.then((text) => this.pool.current.sendAsm(text)); // it takes as long to read as the rest to arrive
  }

  /** @param {MessagePort} port */
  connect(port) {
    this.page = port;
    port.onmessage = (event) => this.receive(event.data);
    this.bootWhenComplete();
  }

  /** @param {PageMessage} message */
  receive(message) {
    if (message.type === 'part') this.inbox.take(message.name, message.chunk);
    else if (message.type === 'snapshot') this.snapshot = message.bytes;
    else if (message.type === 'sent') this.takeEnd(message);
    else if (message.type === 'run') this.enqueue(message);
    else if (message.type === 'stop') this.stop(message.id);
  }

  /** @param {import('./protocol.js').SentMessage} message */
  takeEnd({ useSnapshot, makeSnapshot }) {
    this.pool.wantsSnapshot = makeSnapshot;
    this.inbox.setSnapshot(useSnapshot ? this.snapshot : null);
    this.snapshot = null;
  }

  async bootWhenComplete() {
    try {
      const parts = await this.inbox.complete();
      await this.boot(parts);
      this.post({ type: 'ready', fromSnapshot: this.pool.parts?.snapshot != null });
      this.busy = false;
      this.next();
    } catch (error) {
      this.post({ type: 'failed', message: String(error instanceof Error ? error.message : error) });
    }
  }

  /** @param {import('./protocol.js').InterpreterParts} parts */
  async boot(parts) {
    try {
      await this.pool.boot(parts);
    } catch (error) {
      if (!parts.snapshot) throw error;
      this.post({ type: 'snapshot failed' });
      await this.pool.bootAgain({ ...parts, snapshot: null });
    }
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
      this.post({ type: 'failed', message: String(error instanceof Error ? error.message : error) });
    }
    this.busy = false;
    this.next();
  }

  /** @param {RunRequest} request */
  async run(request) {
    const interpreter = request.fresh ? this.pool.takeUnused() : this.pool.current;
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
