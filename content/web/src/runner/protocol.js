// What page, supervisor and interpreter say to each other, and the limits they share. No behaviour here.

export const MAX_LIMIT_MS = 60_000;
export const MAX_OUTPUT_BYTES = 1_000_000;
export const MAX_OUTPUT_LINES = 10_000;
export const MAX_PICTURE_BYTES = 1_000_000; // python/pictures.py repeats it
export const MAX_MEMORY_BYTES = 512 * 1024 * 1024;
export const MAX_FILE_BYTES = 256 * 1024 * 1024;

// The soft guard signals at the limit and every 100 ms after; then it breaks the interpreter; then the supervisor
// terminates the worker. The last must come after the second, or it would take away the traceback.
export const REPEAT_SIGNAL_MS = 100;
export const BREAK_AFTER_MS = { limit: 1400, stop: 500, output: 1400 };
export const KILL_AFTER_MS = { limit: 1800, stop: 800 };
export const POLL_STOP_MS = 200;

/** Signal numbers; python/guard.py gives each its exception. */
export const SIGNALS = { limit: 14, stop: 2, output: 10 };

/** Names of the runner's Python files, in the order they are loaded. */
export const PYTHON_MODULES = ['guard', 'loop', 'tracebacks', 'restore', 'pictures', 'cell', 'harden', 'boot'];

/** @typedef {'out'|'err'} OutputKind */
/** @typedef {'repr'|'json'|'none'} ResultMode */
/** @typedef {'limit'|'stop'|'output'} EndReason */
/** @typedef {'ok'|'error'|'timeout'|'stopped'|'killed'|'crashed'} RunStatus */

/** @typedef {{kind: 'svg'|'png', data: string}} Picture untrusted: SVG text, or the base64 text of a PNG */

/**
 * @typedef {object} RunResult What came of a run.
 * @property {RunStatus} status
 * @property {any} value the last expression's value: repr text, data, or null
 * @property {Picture|null} picture how that value draws itself
 * @property {string|null} error traceback or message
 * @property {string|null} errorType name of the exception
 * @property {number} elapsedMs
 * @property {boolean} stateKept false when the next run finds none of this session's variables
 * @property {boolean} truncated true when output was dropped
 */

/**
 * @typedef {object} RunRequest page to supervisor
 * @property {'run'} type
 * @property {number} id
 * @property {string} source
 * @property {number} limitMs
 * @property {ResultMode} result
 * @property {boolean} fresh
 * @property {string} session
 */

/** @typedef {{type: 'stop', id: number}} StopRequest */
/** @typedef {'wasm'|'asm'|'stdlib'|'zeroledger'} PartName */
/** @typedef {{type: 'part', name: PartName, chunk: Uint8Array<ArrayBuffer>|null}} PartMessage null ends the part */
/** @typedef {{type: 'kept', kept: import('./kept-python.js').KeptPython}} KeptMessage from the page one to start from, to the page one to keep */
/** @typedef {{type: 'sent', makeSnapshot: boolean}} SentMessage those were all parts; whether the page would keep a snapshot */
/** @typedef {RunRequest|StopRequest|PartMessage|KeptMessage|SentMessage} PageMessage */

/** @typedef {[OutputKind, string]} OutputPiece */
/** @typedef {{type: 'output', id: number, pieces: OutputPiece[]}} OutputMessage */
/** @typedef {{type: 'done', id: number, result: RunResult}} DoneMessage */
/** @typedef {{type: 'started', id: number}} StartedMessage the run has left the queue */
/** @typedef {{type: 'ready', fromSnapshot: boolean} | {type: 'failed', message: string}} BootMessage */
/** @typedef {{type: 'kept failed'}} KeptFailedMessage Python did not start from it */
/** @typedef {OutputMessage|DoneMessage|StartedMessage|BootMessage|KeptMessage|KeptFailedMessage} SupervisorMessage */

/**
 * @typedef {object} InterpreterParts what an interpreter is made of
 * @property {Blob} asm source of pyodide.asm.mjs
 * @property {WebAssembly.Module} module
 * @property {ArrayBuffer|Blob} stdlib a zip archive of byte code
 * @property {ArrayBuffer|Blob} zeroledger another
 * @property {Blob|null} memory to start from (memory-image.js)
 */

/**
 * @typedef {object} CellRequest supervisor to interpreter
 * @property {number} nonce
 * @property {string} source
 * @property {number} limitMs
 * @property {ResultMode} result
 * @property {string} session
 * @property {string} stopUrl a blob URL; revoked, it means Stop
 */

/**
 * @typedef {object} CellReport interpreter to supervisor
 * @property {RunStatus} status
 * @property {any} value
 * @property {Picture|null} picture
 * @property {string|null} error
 * @property {string|null} errorType
 * @property {boolean} truncated
 * @property {boolean} spent the interpreter must not be used again
 */
