// The interpreters of one page: the current one, which keeps the sessions' variables, and a spare, ready to take over.

import { InterpreterHandle } from './interpreter-handle.js';

const SPARE_DELAY_MS = 300;

/** @typedef {import('./protocol.js').InterpreterParts} InterpreterParts */

export class InterpreterPool {
  /** @param {string} url of the interpreter's script @param {boolean} keepSpare */
  constructor(url, keepSpare) {
    this.url = url;
    this.keepSpare = keepSpare;
    /** @type {InterpreterParts|null} */
    this.parts = null;
    this.current = new InterpreterHandle(url);
    /** @type {InterpreterHandle|null} */
    this.spare = null;
    this.spareTimer = 0;
  }

  /** @param {InterpreterParts} parts all that interpreters are made of; the first boots now */
  async boot(parts) {
    this.parts = parts;
    this.current.boot(parts);
    await this.current.ready;
  }

  make() {
    const interpreter = new InterpreterHandle(this.url);
    interpreter.boot(/** @type {InterpreterParts} */ (this.parts));
    return interpreter;
  }

  /** @returns {InterpreterHandle} one that never ran anything; no longer the pool's */
  takeUnused() {
    clearTimeout(this.spareTimer);
    const unused = this.spare ?? this.make();
    this.spare = null;
    return unused;
  }

  /** The current interpreter must not be used again. */
  replaceCurrent() {
    this.current.terminate();
    this.current = this.takeUnused();
  }

  /** Start a spare soon, unless memory is short or a run begins before. */
  prepareSpare() {
    clearTimeout(this.spareTimer);
    if (!this.keepSpare || this.spare) return;
    this.spareTimer = setTimeout(() => {
      this.spare = this.make();
      this.spare.ready.catch(() => this.dropSpare());
    }, SPARE_DELAY_MS);
  }

  dropSpare() {
    this.spare?.terminate();
    this.spare = null;
    this.keepSpare = false;
  }
}
