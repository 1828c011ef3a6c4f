// One run in one interpreter, with the hard deadline that no student code can touch.

import { KILL_AFTER_MS, MAX_LIMIT_MS, MAX_OUTPUT_BYTES, MAX_OUTPUT_LINES, MAX_PICTURE_BYTES } from './protocol.js';
import { StopFlag } from './stop-flag.js';

/** @typedef {import('./protocol.js').RunRequest} RunRequest */
/** @typedef {import('./protocol.js').CellReport} CellReport */
/** @typedef {import('./protocol.js').OutputPiece} OutputPiece */
/** @typedef {import('./interpreter-handle.js').InterpreterHandle} InterpreterHandle */

const SLACK = 2; // the interpreter keeps the exact bounds; this only holds one that was subverted
const BASE64_SLACK = 1.4;
const BEGIN_GRACE_MS = 3000; // the interpreter may still be busy importing zeroledger
let lastNonce = 0;

export class SupervisedRun {
  /**
   * @param {InterpreterHandle} interpreter
   * @param {RunRequest} request
   * @param {(pieces: OutputPiece[]) => void} onOutput
   */
  constructor(interpreter, request, onOutput) {
    this.interpreter = interpreter;
    this.request = request;
    this.onOutput = onOutput;
    this.flag = new StopFlag();
    this.nonce = ++lastNonce;
    this.outputLeft = SLACK * (MAX_OUTPUT_BYTES + MAX_OUTPUT_LINES);
    this.stopping = false;
    this.begunAt = 0;
    this.timer = 0;
    /** @type {(report: CellReport) => void} */
    this.settle = () => {};
  }

  /** @returns {Promise<CellReport>} */
  start() {
    const limitMs = Math.min(Math.max(0, this.request.limitMs), MAX_LIMIT_MS);
    const { source, session, result } = this.request;
    return new Promise((resolve) => {
      this.settle = (report) => {
        clearTimeout(this.timer);
        resolve(report);
      };
      this.limitMs = limitMs;
      this.killAfter(limitMs + KILL_AFTER_MS.limit + BEGIN_GRACE_MS, 'killed');
      this.interpreter.onmessage = (message) => this.receive(message);
      this.interpreter.worker.onerror = () => this.settle(endedReport('crashed'));
      this.interpreter.port.postMessage({ nonce: this.nonce, source, limitMs, session, result, stopUrl: this.flag.url });
    });
  }

  /** The reader clicked Stop: ask first, terminate soon after. */
  stop() {
    if (this.stopping) return;
    this.stopping = true;
    this.flag.raise();
    clearTimeout(this.timer);
    this.killAfter(KILL_AFTER_MS.stop, 'killed');
  }

  /** @param {number} ms @param {CellReport['status']} status */
  killAfter(ms, status) {
    this.timer = setTimeout(() => this.settle(endedReport(status)), ms);
  }

  /** @param {any} message from the interpreter; to be treated as data from a stranger */
  receive(message) {
    if (message?.nonce !== this.nonce) return;
    if (message.type === 'begun') this.begin();
    if (message.type === 'output') this.passOutput(message.pieces);
    if (message.type === 'done') this.settle(cleanReport(message.report));
  }

  /** The code has begun: its time runs from now. Only the first such message counts. */
  begin() {
    if (this.begunAt !== 0) return;
    this.begunAt = performance.now();
    if (this.stopping) return;
    clearTimeout(this.timer);
    this.killAfter((this.limitMs ?? 0) + KILL_AFTER_MS.limit, 'killed');
  }

  /** @param {unknown} pieces */
  passOutput(pieces) {
    if (!Array.isArray(pieces)) return;
    for (const [kind, text] of pieces) {
      if (typeof text !== 'string' || text.length > this.outputLeft) continue;
      this.outputLeft -= text.length;
      this.onOutput([[kind === 'err' ? 'err' : 'out', text]]);
    }
  }
}

/** @param {CellReport['status']} status @returns {CellReport} */
function endedReport(status) {
  return { status, value: null, picture: null, error: null, errorType: null, truncated: false, spent: true };
}

const STATUSES = new Set(['ok', 'error', 'timeout', 'stopped', 'killed', 'crashed']);

/** @param {any} report @returns {CellReport} */
function cleanReport(report) {
  return {
    status: STATUSES.has(report?.status) ? report.status : 'crashed',
    value: report?.value ?? null,
    picture: cleanPicture(report?.picture),
    error: textOrNull(report?.error),
    errorType: textOrNull(report?.errorType),
    truncated: Boolean(report?.truncated),
    spent: Boolean(report?.spent),
  };
}

/** @param {any} picture @returns {import('./protocol.js').Picture|null} */
function cleanPicture(picture) {
  if (typeof picture?.data !== 'string' || picture.data.length > BASE64_SLACK * MAX_PICTURE_BYTES) return null;
  return { kind: picture.kind === 'png' ? 'png' : 'svg', data: picture.data };
}

/** @param {unknown} value */
function textOrNull(value) {
  return typeof value === 'string' ? value : null;
}
