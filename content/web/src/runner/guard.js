// The soft guard's clock: an object that Pyodide reads as its interrupt buffer while Python runs.

import { BREAK_AFTER_MS, POLL_STOP_MS, REPEAT_SIGNAL_MS, SIGNALS } from './protocol.js';

const NEVER = Infinity;

/** Thrown across the WebAssembly boundary to end a run that swallows signals; the interpreter is dead afterwards. */
export class InterpreterBroken extends Error {}

/** @typedef {import('./protocol.js').EndReason} EndReason */

/**
 * The clock of one interpreter. `buffer[0]` is read at every poll of the interpreter; anything other than 0 is a signal.
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
    this.buffer = this.makeBuffer();
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

  /** @returns {number|object} 0, a signal number, or an object that breaks the interpreter */
  look() {
    const now = this.now();
    if (this.reason === null) {
      if (now >= this.limitAt) this.end('limit');
      else if (now >= this.pollStopAt) {
        this.pollStopAt = now + POLL_STOP_MS;
        if (this.stopAsked()) this.end('stop');
      }
    }
    if (this.reason !== null) {
      if (now >= this.breakAt) return this.breaker();
      if (now >= this.signalAt) {
        this.signalAt = now + REPEAT_SIGNAL_MS;
        this.planNextLook();
        return SIGNALS[this.reason];
      }
    }
    this.planNextLook();
    return 0;
  }

  /** The conversion to a number runs outside Pyodide's try/catch, so the error ends the run whatever Python catches. */
  breaker() {
    return {
      valueOf: () => {
        this.broken = true;
        throw new InterpreterBroken('ended');
      },
    };
  }

  makeBuffer() {
    const clock = this;
    const { dateNow } = this;
    return {
      // The clock is read on every poll: skipping polls makes late stops where each poll is far from the next.
      get 0() {
        return dateNow() < clock.lookAgainAt ? 0 : clock.look();
      },
      // Pyodide writes 0 after it took a signal; without a setter the getter never fires.
      set 0(_value) {},
    };
  }
}
