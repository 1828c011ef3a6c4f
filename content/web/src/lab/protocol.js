// What the lab's page and the guard in a kernel's worker say to each other, and the times they share. No behaviour here.

import { MAX_LIMIT_MS } from '../runner/protocol.js';

export { MAX_LIMIT_MS };

/** Our messages travel on the kernel's own worker under this key; the kernel ignores what it does not know. */
export const KEY = 'zeroGuard';

// After the limit the soft guard has 1.4 s (runner/protocol.js) before it breaks the interpreter; then the page restarts
// the kernel. Writing a traceback may take longer, and says so with `report`.
export const KILL_AFTER_MS = { limit: 1900, stop: 1000 };
export const REPORT_MS = 8000;
export const COUNTDOWN_FROM_MS = 10_000;
export const TICK_MS = 250;
export const REPEAT_CANCEL_MS = 100;

/** @typedef {'cell'|'callback'} RunKind */
/** @typedef {'limit'|'stop'} EndReason */

/** @typedef {{type: 'setup', limitMs: number, stopUrl: string}} SetupMessage `stopUrl`: a blob URL; revoked, it means Stop */
/** @typedef {{type: 'install'}} InstallMessage put the guard around the kernel, which is loaded by now */
/** @typedef {{type: 'stop', run: number}} StopMessage for a run that waits; one that computes looks at the blob URL */
/** @typedef {{type: 'ping'}} PingMessage */
/** @typedef {SetupMessage|InstallMessage|StopMessage|PingMessage} PageMessage */

/** @typedef {{type: 'installed'} | {type: 'pong'}} StateMessage */
/** @typedef {{type: 'broken'} | {type: 'crashed'}} DeathMessage the interpreter is dead: by the guard, or by itself */
/** @typedef {{type: 'begin', run: number, kind: RunKind}} BeginMessage */
/** @typedef {{type: 'report', run: number}} ReportMessage the run has ended, its traceback is being written */
/** @typedef {{type: 'wait', run: number}} WaitMessage the run waits for the reader's input(); the clock stands */
/** @typedef {{type: 'end', run: number, kind: RunKind, reason: EndReason|null}} EndMessage */
/** @typedef {StateMessage|DeathMessage|BeginMessage|ReportMessage|WaitMessage|EndMessage} WorkerMessage */
