// Bounds on what a run may print, and batching of what it does print.

import { MAX_OUTPUT_BYTES, MAX_OUTPUT_LINES } from './protocol.js';

const NEWLINE = 10;
const IMMEDIATE_BATCHES = 50;
const BATCH_CHARS = 8192;
const BATCH_MS = 100;

/** Counts a run's output; says how much of the next piece still fits. */
export class OutputBudget {
  constructor(maxBytes = MAX_OUTPUT_BYTES, maxLines = MAX_OUTPUT_LINES) {
    this.bytesLeft = maxBytes;
    this.linesLeft = maxLines;
    this.exceeded = false;
  }

  /**
   * @param {Uint8Array} bytes
   * @returns {Uint8Array} the part of `bytes` that fits
   */
  take(bytes) {
    let end = Math.min(bytes.length, this.bytesLeft);
    for (let at = bytes.indexOf(NEWLINE); at !== -1 && at < end; at = bytes.indexOf(NEWLINE, at + 1)) {
      this.linesLeft -= 1;
      if (this.linesLeft === 0) end = at + 1;
    }
    this.bytesLeft -= end;
    if (this.linesLeft === 0) this.bytesLeft = 0;
    if (end < bytes.length) this.exceeded = true;
    return bytes.subarray(0, end);
  }
}

/**
 * Decodes and batches the two streams of one run: at once while there is little, in pieces when there is much.
 */
export class OutputBatcher {
  /**
   * @param {(pieces: import('./protocol.js').OutputPiece[]) => void} send
   * @param {() => number} now milliseconds
   */
  constructor(send, now = Date.now) {
    this.send = send;
    this.now = now;
    this.budget = new OutputBudget();
    this.decoders = makeDecoders();
    /** @type {import('./protocol.js').OutputKind} */
    this.kind = 'out';
    this.text = '';
    this.batches = 0;
    this.sentAt = this.now();
  }

  /** Begin a run. */
  reset() {
    this.budget = new OutputBudget();
    this.decoders = makeDecoders();
    this.text = '';
    this.batches = 0;
    this.sentAt = this.now();
  }

  /**
   * @param {import('./protocol.js').OutputKind} kind
   * @param {Uint8Array} bytes
   */
  write(kind, bytes) {
    const fitting = this.budget.take(bytes);
    if (fitting.length === 0) return;
    if (kind !== this.kind) this.flush();
    this.kind = kind;
    this.text += this.decoders[kind].decode(fitting, { stream: true });
    const due = this.batches < IMMEDIATE_BATCHES || this.text.length > BATCH_CHARS || this.now() - this.sentAt > BATCH_MS;
    if (due) this.flush();
  }

  /** Send what is waiting. */
  flush() {
    if (this.text === '') return;
    this.send([[this.kind, this.text]]);
    this.text = '';
    this.batches += 1;
    this.sentAt = this.now();
  }
}

function makeDecoders() {
  return { out: new TextDecoder(), err: new TextDecoder() };
}
