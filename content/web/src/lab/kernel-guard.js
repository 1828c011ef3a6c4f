// The guard inside a kernel's worker: the runner's clock, around cells, widget callbacks and whatever else Python does.

import { GuardClock } from '../runner/guard.js';
import { makeIterationInterruptible, terminatesNoLoops } from '../runner/interruptible-iteration.js';
import { MAX_OUTPUT_BYTES, MAX_OUTPUT_LINES, SIGNALS } from '../runner/protocol.js';
import { makeFlagReader } from '../runner/stop-flag.js';
import guardSource from '../runner/python/guard.py';
import hardenSource from '../runner/python/harden.py';
import kernelGuardSource from './python/kernel_guard.py';
import { KEY, MAX_LIMIT_MS, REPEAT_CANCEL_MS, REPORT_MS } from './protocol.js';

/** @typedef {import('./protocol.js').PageMessage} PageMessage */
/** @typedef {import('./protocol.js').WorkerMessage} WorkerMessage */
/** @typedef {import('./protocol.js').EndReason} EndReason */
/** @typedef {import('./protocol.js').RunKind} RunKind */

const FORCE_AT_CANCEL = 3;

/**
 * What Pyodide reads when an error must leave through WebAssembly: the conversion to a number runs outside its try/catch,
 * so that no Python code sees the error.
 * @param {unknown} error
 */
const thrownAsNumber = (error) => ({
  valueOf() {
    throw error;
  },
});

export class KernelGuard {
  /** @param {any} pyodide */
  constructor(pyodide) {
    this.pyodide = pyodide;
    this.limitMs = MAX_LIMIT_MS;
    this.stopUrl = '';
    this.isFlagRaised = makeFlagReader();
    this.clock = new GuardClock();
    this.isDead = false;
    /** @type {any} the Python side, once installed */
    this.python = null;
    this.run = 0;
    /** @type {RunKind|null} kind of the run under way */
    this.kind = null;
    /** @type {EndReason|null} why the run under way was ended while it waited */
    this.cancelled = null;
    this.timesCancelled = 0;
    this.isStretch = false;
  }

  /** @param {WorkerMessage} message */
  post(message) {
    self.postMessage({ [KEY]: message });
  }

  listen() {
    self.addEventListener('message', (event) => {
      const message = event.data?.[KEY];
      if (message) this.receive(message);
    });
  }

  /** @param {PageMessage} message */
  receive(message) {
    if (message.type === 'ping') this.post({ type: 'pong' });
    if (message.type === 'setup') ({ limitMs: this.limitMs, stopUrl: this.stopUrl } = message);
    if (message.type === 'install') this.install();
    if (message.type === 'stop' && message.run === this.run) this.cancel(message.run, 'stop');
  }

  install() {
    this.tellOfCrashes();
    const load = this.pyodide.runPython(
      `def load(name, source):
    import sys, types
    module = sys.modules[name] = types.ModuleType(name)
    exec(compile(source, f"<zero-guard {name}>", "exec"), module.__dict__)
    return module
load`,
      { globals: this.pyodide.toPy({}), filename: '<zero-guard load>' },
    );
    load('guard', guardSource);
    load('harden', hardenSource);
    const page = {
      begin: (/** @type {RunKind} */ kind) => this.begin(kind),
      report: () => this.report(),
      wait: () => this.wait(),
      resume: () => this.resume(),
      end: () => this.end(),
      exceed: () => this.clock.end('output'),
    };
    this.python = load('kernel_guard', kernelGuardSource).install(page, MAX_OUTPUT_BYTES, MAX_OUTPUT_LINES);
    this.pyodide.setInterruptBuffer(this.makeBuffer());
    if (terminatesNoLoops()) makeIterationInterruptible(this.pyodide, () => this.breakLoop());
    this.post({ type: 'installed' });
  }

  /** Called within loops of C. */
  breakLoop() {
    try {
      this.clock.breakIfDue();
    } catch (error) {
      setTimeout(() => this.die('broken'), 0); // when Python's stack is gone
      throw error;
    }
  }

  /** A Pyodide that has died answers no more, and does not say so to the page. */
  tellOfCrashes() {
    const api = this.pyodide._api;
    const onFatal = api.on_fatal;
    api.on_fatal = (/** @type {any} */ error) => {
      this.die(this.clock.broken ? 'broken' : 'crashed');
      return onFatal?.(error);
    };
  }

  /** @param {'broken'|'crashed'} type */
  die(type) {
    this.isDead = true;
    clearTimeout(this.waitTimer);
    this.post({ type });
  }

  /**
   * What Pyodide takes for its interrupt buffer: asks the clock at every poll. Also notices Python that runs outside a cell
   * or callback, such as a task left behind.
   */
  makeBuffer() {
    const { clock } = this;
    const onStretch = () => this.beginStretch();
    const onBroken = () => setTimeout(() => this.die('broken'), 0); // when Python's stack is gone
    return {
      get 0() {
        if (!clock.running) onStretch();
        try {
          return clock.poll();
        } catch (error) {
          onBroken();
          return thrownAsNumber(error);
        }
      },
      // Pyodide writes 0 after it took a signal; without a setter the getter never fires.
      set 0(_value) {},
    };
  }

  startClock() {
    this.clock.start(this.limitMs, () => this.isFlagRaised(this.stopUrl));
  }

  beginStretch() {
    this.isStretch = true;
    this.startClock();
    setTimeout(() => this.endStretch(), 0); // runs when Python has come back to the event loop
  }

  endStretch() {
    if (!this.isStretch || this.isDead) return;
    this.isStretch = false;
    const wasEnded = this.clock.reason !== null;
    this.clock.clear();
    if (wasEnded) this.python.rest();
  }

  /** @param {RunKind} kind */
  begin(kind) {
    this.isStretch = false;
    this.run += 1;
    this.kind = kind;
    this.cancelled = null;
    this.timesCancelled = 0;
    this.resume();
  }

  /** The run may take the whole limit from now on. */
  resume() {
    this.startClock();
    clearTimeout(this.waitTimer);
    const { run } = this;
    this.waitTimer = setTimeout(() => this.cancel(run, 'limit'), this.limitMs);
    this.post({ type: 'begin', run, kind: this.kind ?? 'cell' });
  }

  /** The reader is being asked for input: that time is not the program's. */
  wait() {
    this.clock.clear();
    this.clock.running = true; // so that it does not count as a stretch
    clearTimeout(this.waitTimer);
    this.post({ type: 'wait', run: this.run });
  }

  /** The run is over, its error is about to be written. */
  report() {
    this.cancelled ??= this.endReason();
    this.clock.start(REPORT_MS, () => false);
    this.post({ type: 'report', run: this.run });
  }

  end() {
    clearTimeout(this.waitTimer);
    const reason = this.cancelled ?? this.endReason();
    const { run, kind } = this;
    this.kind = null;
    this.clock.clear();
    this.post({ type: 'end', run, kind: kind ?? 'cell', reason });
  }

  /** @returns {EndReason|null} */
  endReason() {
    return this.clock.reason === 'output' ? null : this.clock.reason;
  }

  /**
   * End a run that waits. This runs from the event loop, hence Python is not computing; again until the run is over.
   * @param {number} run @param {EndReason} reason
   */
  cancel(run, reason) {
    if (this.isDead || this.kind === null || run !== this.run) return;
    this.cancelled ??= reason;
    this.timesCancelled += 1;
    if (this.timesCancelled < FORCE_AT_CANCEL) this.clock.start(REPORT_MS, () => false);
    else this.clock.end(this.cancelled); // it catches CancelledError: interrupt it where it does
    this.python.cancel(SIGNALS[this.cancelled]);
    this.waitTimer = setTimeout(() => this.cancel(run, reason), REPEAT_CANCEL_MS);
  }
}
