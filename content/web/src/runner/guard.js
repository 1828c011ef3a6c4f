// The soft guard's clock: what Python asks, while it runs, whether a signal has come.

import { BREAK_AFTER_MS, POLL_STOP_MS, REPEAT_SIGNAL_MS, SIGNALS } from './protocol.js';

const NEVER = Infinity;

/** Thrown through WebAssembly to end a run that swallows signals; no Python code sees it, and the interpreter is dead. */
export class InterpreterBroken extends Error {}

/** @typedef {import('./protocol.js').EndReason} EndReason */

/**
 * The clock of one interpreter.
 */
export class GuardClock {
  /** @param {{dateNow?: () => number, now?: () => number}} [clocks] coarse and exact milliseconds */
  constructor({ dateNow = Date.now, now = performance.now.bind(performance) } = {}) {
    this.dateNow = dateNow;
    this.now = now;
    this.running = false;
    this.lookAgainAt = NEVER;
    this.limitAt = NEVER;
    this.signalAt = NEVER;
    this.breakAt = NEVER;
    this.pollStopAt = NEVER;
    /** @type {EndReason|null} */
    this.reason = null;
    this.broken = false;
    this.stopAsked = () => false;
    // Python calls this at every poll, and the clock is read each time: skipping polls makes late stops where each poll is
    // far from the next.
    this.poll = () => (dateNow() < this.lookAgainAt ? 0 : this.look());
  }

  /** The run is over: no more signals. */
  clear() {
    this.running = false;
    this.lookAgainAt = NEVER;
    this.limitAt = NEVER;
    this.signalAt = NEVER;
    this.breakAt = NEVER;
    this.pollStopAt = NEVER;
    this.reason = null;
    this.broken = false;
    this.stopAsked = () => false;
  }

  /**
   * Begin a run.
   * @param {number} limitMs
   * @param {() => boolean} stopAsked looks whether Stop was clicked; costs about a millisecond
   */
  start(limitMs, stopAsked) {
    this.clear();
    this.running = true;
    this.limitAt = this.now() + limitMs;
    this.stopAsked = stopAsked;
    this.pollStopAt = this.now() + POLL_STOP_MS;
    this.planNextLook();
  }

  /** @param {EndReason} reason end the current run for this reason, now */
  end(reason) {
    if (!this.running || this.reason !== null) return;
    this.reason = reason;
    this.signalAt = this.now();
    this.breakAt = this.signalAt + BREAK_AFTER_MS[reason];
    this.planNextLook();
  }

  planNextLook() {
    const next = this.reason === null ? Math.min(this.limitAt, this.pollStopAt) : Math.min(this.signalAt, this.breakAt);
    this.lookAgainAt = this.dateNow() + Math.max(0, Math.floor(next - this.now()));
  }

  /** @returns {number} 0 or a signal number; throws InterpreterBroken when the signals were in vain */
  look() {
    const now = this.now();
    if (this.reason === null) this.lookForReason(now);
    let signal = 0;
    this.breakIfOverdue(now);
    if (this.reason !== null && now >= this.signalAt) {
      this.signalAt = now + REPEAT_SIGNAL_MS;
      signal = SIGNALS[this.reason];
    }
    this.planNextLook();
    return signal;
  }

  /** For loops that take no signal: throws InterpreterBroken when the run should have ended by one. */
  breakIfDue() {
    if (this.dateNow() < this.lookAgainAt) return;
    const now = this.now();
    if (this.reason === null) this.lookForReason(now);
    this.breakIfOverdue(now);
  }

  /** @param {number} now */
  breakIfOverdue(now) {
    if (this.reason === null || now < this.breakAt) return;
    this.broken = true;
    throw new InterpreterBroken('ended');
  }

  /** @param {number} now */
  lookForReason(now) {
    if (now >= this.limitAt) this.end('limit');
    else if (now >= this.pollStopAt) {
      this.pollStopAt = now + POLL_STOP_MS;
      if (this.stopAsked()) this.end('stop');
    }
  }
}
