// The page's Runner: loads Python into the sandbox, sends it code, and reports. One a page.

import { bundledFile } from '../site-files.js';
import { LoadError, PartsLoader } from './load-parts.js';
import { MAX_LIMIT_MS } from './protocol.js';
import { openSandbox } from './sandbox-frame.js';
import { SnapshotStore } from './snapshot-store.js';

/** @typedef {import('./protocol.js').RunResult} RunResult */
/** @typedef {import('./protocol.js').OutputKind} OutputKind */
/** @typedef {import('./protocol.js').ResultMode} ResultMode */
/** @typedef {import('./kept-python.js').KeptPython} KeptPython */
/** @typedef {'idle'|'loading'|'ready'|'running'|'failed'} RunnerState */
/** @typedef {'fetching'|'starting'|null} LoadStep */

/**
 * @typedef {object} RunOptions
 * @property {number} [limitMs] at most 60000, which is also the default
 * @property {(kind: OutputKind, text: string) => void} [onOutput]
 * @property {(secondsLeft: number) => void} [onCountdown] each second, from the tenth on
 * @property {() => void} [onStart] the run has begun
 * @property {ResultMode} [result]
 * @property {boolean} [fresh] in an interpreter that never ran anything, and is not used again
 * @property {string} [session] runs of one session share their variables
 * @property {AbortSignal} [signal] aborted, it stops this run, also one that still waits
 */

/** @typedef {{id: number, options: RunOptions, limitMs: number, resolve: (result: RunResult) => void, timer?: ReturnType<typeof setInterval>, silence?: ReturnType<typeof setTimeout>}} PendingRun */

const COUNTDOWN_AFTER_MS = 10_000;
// With no progress for so long something hangs, which Firefox does now and then: once more then, in a new sandbox.
const STALLED_MS = { fetching: 60_000, starting: 45_000 };
const FETCH_AFTER_MS = 200; // by then the browser's own store has mostly answered
// The supervisor ends every run in time; if it does not even say so, its process is gone.
const SILENCE_MS = { start: 60_000, run: 15_000, stop: 8_000 };

export class Runner extends EventTarget {
  /**
   * @param {URL|string} siteBase the site's root, with a trailing slash
   * @param {{fetch?: typeof fetch}} [options] another way to the parts, for a frame that may not fetch
   */
  constructor(siteBase, options = {}) {
    super();
    this.options = options;
    this.siteBase = new URL(siteBase, document.baseURI);
    /** @type {RunnerState} */
    this.phase = 'idle';
    /** @type {LoadStep} */
    this.step = null;
    this.progress = { loadedBytes: 0, totalBytes: 0 };
    this.message = '';
    /** @type {'files'|'snapshot'|null} */
    this.startedFrom = null;
    this.stalledMs = STALLED_MS;
    this.hasTriedAgain = false;
    this.snapshots = new SnapshotStore(this.siteBase);
    /** @type {Map<number, PendingRun>} */
    this.pending = new Map();
    this.lastId = 0;
    /** @type {number|null} */
    this.runningId = null;
    /** @type {MessagePort|null} */
    this.port = null;
    /** @type {PartsLoader|undefined} */
    this.loader = undefined;
    /** Sent, and to be sent again if Python has to start anew. @type {any[]} */
    this.outbox = [];
    /** Set to a function to see every message: (direction, message). @type {((direction: string, message: any) => void)|null} */
    this.log = null;
  }

  /** @returns {RunnerState} */
  get state() {
    return this.phase;
  }

  /** @returns {{state: RunnerState, step: LoadStep, loadedBytes: number, totalBytes: number, message: string}} */
  get status() {
    return { state: this.phase, step: this.step, ...this.progress, message: this.message };
  }

  /** Begin loading Python; does nothing when that has begun. After a failure it tries again. */
  start() {
    if (this.phase !== 'idle' && this.phase !== 'failed') return;
    this.hasTriedAgain = false;
    this.enter('fetching');
    this.load(this.readKept());
  }

  /** @param {'fetching'|'starting'} step of loading */
  enter(step) {
    this.setState('loading', step);
    this.expectProgress();
  }

  expectProgress() {
    clearTimeout(this.bootTimer);
    this.bootTimer = setTimeout(() => this.onStalled(), this.stalledMs[this.step ?? 'starting']);
  }

  onStalled() {
    if (this.step === 'fetching') this.fail('nothing arrived for a minute');
    else if (this.hasTriedAgain) this.fail('it did not start, and neither did a second try');
    else {
      this.hasTriedAgain = true;
      this.snapshots.drop(); // in case it was that
      this.startAnew(null);
    }
  }

  /** @param {Promise<KeptPython|'refused'|null>} reading what an earlier visit kept */
  async load(reading) {
    const sandbox = openSandbox(bundledFile('sandbox.html'));
    this.sandbox = sandbox;
    this.progress = { loadedBytes: 0, totalBytes: 0 };
    sandbox.port.onmessage = (event) => this.receive(event.data);
    // The port keeps what is sent until the frame has its end.
    sandbox.connected.catch((error) => this.failIn(sandbox, error.message));
    try {
      const kept = await reading;
      if (this.sandbox !== sandbox) return;
      if (kept === null || kept === 'refused') await this.sendParts(sandbox.port, kept !== 'refused');
      else this.sendKept(sandbox.port, kept);
      if (this.phase === 'loading' && this.sandbox === sandbox) this.enter('starting');
    } catch (error) {
      this.failIn(sandbox, error instanceof LoadError ? error.message : String(error));
    }
  }

  /** One that has been replaced says nothing of the new one. @param {ReturnType<typeof openSandbox>} sandbox @param {string} message */
  failIn(sandbox, message) {
    if (this.sandbox === sandbox) this.fail(message);
  }

  /** Mostly at once; else the parts are asked for meanwhile. */
  async readKept() {
    const timer = setTimeout(() => this.fetchParts(), FETCH_AFTER_MS);
    const kept = await this.snapshots.read();
    clearTimeout(timer);
    return kept;
  }

  fetchParts() {
    this.loader ??= new PartsLoader(this.siteBase, (progress) => this.onProgress(progress), this.options.fetch);
    return this.loader;
  }

  dropParts() {
    this.loader?.abort();
    this.loader = undefined;
  }

  /** @param {MessagePort} port @param {KeptPython} kept */
  sendKept(port, kept) {
    this.dropParts();
    port.postMessage({ type: 'kept', kept });
  }

  /** @param {MessagePort} port @param {boolean} mayKeep whether a snapshot is wanted */
  async sendParts(port, mayKeep) {
    const isAsBuilt = await this.fetchParts().deliverTo((name, chunk) => {
      port.postMessage({ type: 'part', name, chunk }, chunk ? [chunk.buffer] : []);
    });
    port.postMessage({ type: 'sent', makeSnapshot: mayKeep && isAsBuilt && this.snapshots.isUsable });
  }

  /** Start Python from its files, in a new sandbox. @param {'refused'|null} kept refused: and keep nothing for the next visit */
  startAnew(kept) {
    this.closeSandbox();
    this.enter('fetching');
    this.load(Promise.resolve(kept));
    for (const message of this.outbox) this.sandbox?.port.postMessage(message);
  }

  refuseKept() {
    this.snapshots.refuse();
    this.startAnew('refused');
  }

  closeSandbox() {
    this.dropParts();
    this.sandbox?.frame.remove();
    this.sandbox?.port.close();
    this.sandbox = undefined;
  }

  /** @param {{loadedBytes: number, totalBytes: number}} progress */
  onProgress(progress) {
    this.progress = progress;
    if (this.phase !== 'loading') return;
    if (this.step === 'fetching') this.expectProgress();
    this.announce();
  }

  /**
   * Run `source`. Waits until Python is ready; resolves with what came of it, never rejects for what the code does.
   * @param {string} source
   * @param {RunOptions} [options]
   * @returns {Promise<RunResult>}
   */
  run(source, options = {}) {
    const { limitMs = MAX_LIMIT_MS, result = 'repr', fresh = false, session = 'page' } = options;
    const id = ++this.lastId;
    const boundedMs = boundLimit(limitMs);
    return new Promise((resolve) => {
      this.pending.set(id, { id, options, limitMs: boundedMs, resolve });
      options.signal?.addEventListener('abort', () => this.stopRun(id));
      this.start();
      if (this.phase === 'ready' && this.pending.size === 1) this.expectEnd(id, SILENCE_MS.start); // others wait behind it
      this.post({ type: 'run', id, source: String(source), limitMs: boundedMs, result, fresh, session: String(session) });
    });
  }

  /** Stop the current run, or the one that waits for Python. */
  stop() {
    const id = this.runningId ?? this.pending.keys().next().value;
    if (id !== undefined) this.stopRun(id);
  }

  /** @param {number} id */
  stopRun(id) {
    if (!this.pending.has(id)) return;
    this.post({ type: 'stop', id });
    if (id === this.runningId) this.expectEnd(id, SILENCE_MS.stop);
  }

  /** @param {any} message */
  post(message) {
    this.log?.('to sandbox', message);
    this.sandbox?.port.postMessage(message);
    if (this.phase === 'ready' || this.phase === 'running') return;
    if (message.type === 'stop') this.cancelWaiting(message.id);
    else this.outbox.push(message);
  }

  /** @param {number} id */
  cancelWaiting(id) {
    this.outbox = this.outbox.filter((message) => message.id !== id);
    this.finish(id, emptyResult('stopped', true));
  }

  /** @param {import('./protocol.js').SupervisorMessage} message */
  receive(message) {
    this.log?.('from sandbox', message);
    if (message.type === 'ready') this.becomeReady(message.fromSnapshot);
    else if (message.type === 'failed') this.fail(message.message);
    else if (message.type === 'started') this.onStarted(message.id);
    else if (message.type === 'output') this.passOutput(message);
    else if (message.type === 'done') this.finish(message.id, message.result);
    else if (message.type === 'kept') this.snapshots.write(message.kept);
    else if (message.type === 'kept failed') this.refuseKept();
  }

  /** @param {boolean} fromSnapshot */
  becomeReady(fromSnapshot) {
    clearTimeout(this.bootTimer);
    this.startedFrom = fromSnapshot ? 'snapshot' : 'files';
    this.outbox = [];
    this.loader = undefined;
    this.setState('ready', null);
  }

  /** @param {number} id */
  onStarted(id) {
    const run = this.pending.get(id);
    if (!run) return;
    this.runningId = id;
    this.setState('running', null);
    run.options.onStart?.();
    this.expectEnd(id, run.limitMs + SILENCE_MS.run);
    const endsAt = performance.now() + run.limitMs;
    run.timer = setInterval(() => {
      const leftMs = endsAt - performance.now();
      if (run.limitMs - leftMs >= COUNTDOWN_AFTER_MS) run.options.onCountdown?.(Math.max(0, Math.ceil(leftMs / 1000)));
    }, 1000);
  }

  /** @param {number} id @param {number} ms give the sandbox up if this run has not ended by then */
  expectEnd(id, ms) {
    const run = this.pending.get(id);
    if (!run) return;
    clearTimeout(run.silence);
    run.silence = setTimeout(() => this.fail('the Python sandbox stopped answering', 'SandboxLost'), ms);
  }

  /** @param {import('./protocol.js').OutputMessage} message */
  passOutput({ id, pieces }) {
    const run = this.pending.get(id);
    for (const [kind, text] of pieces) run?.options.onOutput?.(kind, text);
  }

  /** @param {number} id @param {RunResult} result */
  finish(id, result) {
    const run = this.pending.get(id);
    if (!run) return;
    clearInterval(run.timer);
    clearTimeout(run.silence);
    this.pending.delete(id);
    if (this.runningId === id) this.runningId = null;
    if (this.phase === 'running') this.setState('ready', null);
    run.resolve(result);
  }

  /** @param {string} message @param {'LoadError'|'SandboxLost'} [errorType] */
  fail(message, errorType = 'LoadError') {
    if (this.phase === 'failed') return;
    clearTimeout(this.bootTimer);
    if (this.phase === 'loading') this.snapshots.drop(); // in case it was that
    this.closeSandbox();
    this.outbox = [];
    this.message = message;
    this.setState('failed', null);
    const failure = { ...emptyResult('crashed', false), errorType, error: message };
    for (const id of [...this.pending.keys()]) this.finish(id, failure);
  }

  /** @param {RunnerState} phase @param {LoadStep} step */
  setState(phase, step) {
    this.phase = phase;
    this.step = step;
    if (phase !== 'failed') this.message = '';
    this.announce();
  }

  announce() {
    this.dispatchEvent(new CustomEvent('state', { detail: this.status }));
  }
}

/** @param {unknown} limitMs @returns {number} */
export function boundLimit(limitMs) {
  const wanted = Number(limitMs);
  return Number.isFinite(wanted) && wanted > 0 ? Math.min(wanted, MAX_LIMIT_MS) : MAX_LIMIT_MS;
}

/** @param {import('./protocol.js').RunStatus} status @param {boolean} stateKept @returns {RunResult} */
function emptyResult(status, stateKept) {
  return { status, value: null, picture: null, error: null, errorType: null, elapsedMs: 0, stateKept, truncated: false };
}

/** @type {Map<string, Runner>} */
const runners = new Map();

/** @param {URL|string} siteBase @returns {Runner} the page's one runner for this site */
export function runnerFor(siteBase) {
  const key = new URL(siteBase, document.baseURI).href;
  let runner = runners.get(key);
  if (!runner) {
    runner = new Runner(key);
    if (isLogWanted()) runner.log = (direction, message) => console.debug(direction, message);
    runners.set(key, runner);
  }
  return runner;
}

/**
 * Have `runner` serve this page instead of one of its own.
 * @param {URL|string} siteBase @param {Pick<Runner, keyof EventTarget|'run'|'start'|'stop'|'state'|'status'>} runner
 */
export function useRunner(siteBase, runner) {
  runners.set(new URL(siteBase, document.baseURI).href, /** @type {Runner} */ (runner));
}

/** localStorage.setItem('zero:log', 'on') shows every message between page and sandbox on the console. */
function isLogWanted() {
  try {
    return localStorage.getItem('zero:log') === 'on';
  } catch {
    return false;
  }
}
