// The page's side of one kernel's guard: knows how long Python has been busy, says Stop, and calls for a restart when the
// guard in the worker could not end a run. Without DOM and timers of its own: `tick` is called from outside.

import { COUNTDOWN_FROM_MS, KILL_AFTER_MS, REPORT_MS, TICK_MS } from './protocol.js';

/** @typedef {import('./protocol.js').PageMessage} PageMessage */
/** @typedef {import('./protocol.js').WorkerMessage} WorkerMessage */
/** @typedef {import('./protocol.js').EndReason} EndReason */
/** @typedef {import('./protocol.js').RunKind} RunKind */
/** @typedef {{run: number, kind: RunKind|null, startedAt: number, killAt: number, isWaiting: boolean}} Run */
/** @typedef {EndReason|'broken'|'crashed'} RestartReason */

/**
 * @typedef {object} Surroundings
 * @property {number} limitMs
 * @property {() => number} now milliseconds
 * @property {(message: PageMessage) => void} post to the worker
 * @property {() => {url: string, raise: () => void}} makeFlag a new stop flag (runner/stop-flag.js)
 * @property {(reason: RestartReason) => void} restart the kernel; called once
 * @property {(kind: RunKind, reason: EndReason) => void} onEnded a run was ended softly
 */

export class KernelSupervisor {
  /** @param {Surroundings} surroundings */
  constructor(surroundings) {
    this.surroundings = surroundings;
    /** @type {Run|null} */
    this.current = null;
    this.requestsInFlight = 0;
    this.stopKillAt = Infinity;
    /** @type {number|null} when the ping without an answer was sent */
    this.silentSince = null;
    this.tickedAt = Infinity;
    this.wasLate = false;
    this.isInstalled = false;
    this.isOver = false;
    /** @type {() => void} */
    this.resolveInstalled = () => {};
    /** Fulfilled when the guard is around the kernel. @type {Promise<void>} */
    this.installed = new Promise((resolve) => (this.resolveInstalled = resolve));
  }

  /** Put the guard around a kernel that has just loaded. */
  install() {
    this.renewFlag();
    this.surroundings.post({ type: 'install' });
    return this.installed;
  }

  renewFlag() {
    this.flag = this.surroundings.makeFlag();
    this.surroundings.post({ type: 'setup', limitMs: this.surroundings.limitMs, stopUrl: this.flag.url });
  }

  /** @param {WorkerMessage} message */
  receive(message) {
    this.silentSince = null;
    if (message.type === 'installed') {
      this.isInstalled = true;
      this.resolveInstalled();
    }
    if (message.type === 'begin') this.begin(message.run, message.kind);
    if (message.type === 'report' && this.current) this.allowReport(this.current);
    if (message.type === 'wait' && this.current) Object.assign(this.current, { killAt: Infinity, isWaiting: true });
    if (message.type === 'end') this.end(message);
    if (message.type === 'broken' || message.type === 'crashed') this.restart(message.type);
  }

  /** @param {number} run @param {RunKind} kind */
  begin(run, kind) {
    const { now, limitMs } = this.surroundings;
    this.current = { run, kind, startedAt: now(), killAt: now() + limitMs + KILL_AFTER_MS.limit, isWaiting: false };
  }

  /** The run has ended, and writing its traceback has a time of its own. @param {Run} current */
  allowReport(current) {
    current.killAt = this.surroundings.now() + REPORT_MS + KILL_AFTER_MS.limit;
    this.stopKillAt = Infinity;
  }

  /** @param {import('./protocol.js').EndMessage} message */
  end({ kind, reason }) {
    this.current = null;
    this.stopKillAt = Infinity;
    if (reason !== null) this.surroundings.onEnded(kind, reason);
  }

  /** @param {Promise<any>} request the kernel's answer to a message from the page */
  async follow(request) {
    this.requestsInFlight += 1;
    try {
      return await request;
    } finally {
      this.requestsInFlight -= 1;
      if (this.requestsInFlight === 0) this.stopKillAt = Infinity;
    }
  }

  get isBusy() {
    return this.current !== null || this.requestsInFlight > 0 || this.silentSince !== null;
  }

  /** Stop what runs now: softly, and with a restart if that has not worked within a second. */
  stop() {
    if (!this.isInstalled || !this.isBusy || this.isOver) return;
    this.stopKillAt = Math.min(this.stopKillAt, this.surroundings.now() + KILL_AFTER_MS.stop);
    this.flag?.raise();
    if (this.current) this.surroundings.post({ type: 'stop', run: this.current.run });
    this.renewFlag(); // the worker takes it after this run
  }

  /** Looks at the clock; call it a few times a second. Returns how long Python has been busy and what is left, in ms. */
  tick() {
    if (!this.isInstalled || this.isOver) return null;
    const now = this.surroundings.now();
    if (this.silentSince === null) {
      this.silentSince = now;
      this.surroundings.post({ type: 'ping' });
    }
    const { startedAt, killAt } = this.current ?? this.silence();
    const isHeldUp = this.isHeldUp(now);
    if (now >= this.stopKillAt && !isHeldUp) this.restart('stop');
    else if (now >= killAt && !isHeldUp) this.restart('limit');
    const busyMs = now - startedAt;
    if (this.isOver || this.current?.isWaiting || busyMs < COUNTDOWN_FROM_MS) return null;
    return { busyMs, leftMs: Math.max(0, this.surroundings.limitMs - busyMs) };
  }

  /**
   * A page that could not run for a while may have the worker's word that the run is over still waiting behind this tick:
   * the next one decides.
   * @param {number} now
   */
  isHeldUp(now) {
    const isLate = now - this.tickedAt > 2 * TICK_MS;
    this.tickedAt = now;
    this.wasLate = isLate && !this.wasLate;
    return this.wasLate;
  }

  /** A worker that does not answer is busy with something that is neither cell nor callback. */
  silence() {
    const startedAt = this.silentSince ?? this.surroundings.now();
    return { startedAt, killAt: startedAt + this.surroundings.limitMs + KILL_AFTER_MS.limit };
  }

  /** @param {RestartReason} reason */
  restart(reason) {
    if (this.isOver) return;
    this.isOver = true;
    this.surroundings.restart(reason);
  }
}
