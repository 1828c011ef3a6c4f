// The interpreters of one page: the current one, which keeps the sessions' variables, and a spare, ready to take over.

import { InterpreterHandle } from './interpreter-handle.js';

const SPARE_DELAY_MS = 300;

/** @typedef {import('./protocol.js').InterpreterParts} InterpreterParts */

export class InterpreterPool {
  /**
   * @param {string} url of the interpreter's script
   * @param {boolean} keepSpare
   * @param {(memory: Blob) => void} onSnapshot takes the memory of an interpreter that ran nothing yet
   */
  constructor(url, keepSpare, onSnapshot) {
    this.url = url;
    this.keepSpare = keepSpare;
    this.onSnapshot = onSnapshot;
    this.wantsSnapshot = false;
    /** @type {InterpreterParts|null} */
    this.parts = null;
    this.first = new InterpreterHandle(url); // it starts now, and boots when it has its parts
    /** @type {InterpreterHandle|null} */
    this.current = this.first;
    this.isCurrentUsed = false;
    /** @type {InterpreterHandle|null} */
    this.spare = null;
    this.spareTimer = 0;
  }

  /** @param {InterpreterParts} parts all that interpreters are made of; the first boots now */
  async boot(parts) {
    this.parts = parts;
    this.first.boot(parts);
    await this.first.ready;
  }

  make() {
    const interpreter = new InterpreterHandle(this.url);
    interpreter.boot(/** @type {InterpreterParts} */ (this.parts));
    return interpreter;
  }

  /** @returns {InterpreterHandle} the one that keeps the sessions' variables */
  useCurrent() {
    this.current ??= this.takeUnused();
    this.isCurrentUsed = true;
    return this.current;
  }

  /** @returns {InterpreterHandle} one that never ran anything; no longer the pool's */
  takeUnused() {
    clearTimeout(this.spareTimer);
    const unused = this.spare ?? (this.isCurrentUsed ? null : this.current) ?? this.make();
    if (unused === this.spare) this.spare = null;
    if (unused === this.current) this.current = null;
    return unused;
  }

  /** The current interpreter must not be used again. */
  replaceCurrent() {
    this.current?.terminate();
    this.current = this.takeUnused();
    this.isCurrentUsed = false;
  }

  /** Start a spare soon, unless memory is short or a run begins before. */
  prepareSpare() {
    clearTimeout(this.spareTimer);
    if (!this.keepSpare || this.spare) return;
    this.spareTimer = setTimeout(() => this.makeSpare(), SPARE_DELAY_MS);
  }

  /** The first spare also leaves a picture of its memory for the next visit. */
  makeSpare() {
    const spare = new InterpreterHandle(this.url);
    const makesSnapshot = this.wantsSnapshot;
    this.wantsSnapshot = false;
    spare.boot(/** @type {InterpreterParts} */ (this.parts), makesSnapshot ? this.onSnapshot : undefined);
    spare.ready.catch(() => this.dropSpare(spare, makesSnapshot));
    this.spare = spare;
  }

  /** @param {InterpreterHandle} spare @param {boolean} mayTryAgain */
  dropSpare(spare, mayTryAgain) {
    spare.terminate();
    if (this.spare === spare) this.spare = null;
    this.keepSpare = mayTryAgain;
  }
}
