// What to tell the reader when a run did not simply end: what happened, what became of the variables, why, what to do.

import { hasText } from './strings.js';

/** @typedef {import('../runner/protocol.js').RunResult} RunResult */
/** @typedef {(key: string, fields?: Record<string, string|number>) => string} Say */
/** @typedef {{tone: 'danger'|'neutral', title: string, lines: string[], canRetry: boolean}} Notice */

/**
 * @param {RunResult} result
 * @param {{limitSeconds: number, stopClicked: boolean, fresh: boolean}} run
 * @param {Say} say
 * @returns {Notice|null} null when there is nothing to explain
 */
export function noticeOf(result, run, say) {
  if (result.status === 'ok') return null;
  if (hasNoPython(result)) return noPythonNotice(result, say);
  const kind = kindOf(result, run.stopClicked);
  const fields = { seconds: run.limitSeconds, type: result.errorType ?? '' };
  const lines = [];
  if (!run.fresh) lines.push(say(result.stateKept ? 'cell.kept' : 'cell.lost'));
  lines.push(say(adviceKey(result, kind), fields));
  return {
    tone: kind === 'stopped' ? 'neutral' : 'danger',
    title: say(`cell.title.${kind}`, fields),
    lines,
    canRetry: false,
  };
}

/** @param {RunResult} result @returns {boolean} whether it is not the code that failed: Python did not come, or is gone */
export function hasNoPython({ errorType }) {
  return errorType === 'LoadError' || errorType === 'SandboxLost';
}

/** @param {RunResult} result @param {Say} say @returns {Notice} */
function noPythonNotice(result, say) {
  const kind = result.errorType === 'LoadError' ? 'load' : 'lost';
  return { tone: 'danger', title: say(`cell.title.${kind}`), lines: [say(`cell.advice.${kind}`, { reason: result.error ?? '' })], canRetry: true };
}

/** @param {Say} say @returns {Notice} for a page that is back after the browser ended it during a run */
export function endedWithPage(say) {
  return { tone: 'danger', title: say('cell.title.ended_page'), lines: [say('cell.advice.ended_page')], canRetry: false };
}

/** @param {RunResult} result @param {boolean} stopClicked */
function kindOf(result, stopClicked) {
  if (result.status === 'killed') return stopClicked ? 'stopped' : 'timeout';
  if (result.errorType === 'OutputLimitExceeded') return 'output';
  if (result.errorType === 'MemoryError') return 'memory';
  if (result.errorType === 'SystemExit') return 'exit';
  return result.status;
}

/** @param {RunResult} result @param {string} kind */
function adviceKey(result, kind) {
  if (result.status === 'killed') return `cell.advice.killed_${kind}`;
  const ofType = `cell.advice.${result.errorType}`;
  if (kind === 'error') return hasText(ofType) ? ofType : 'cell.advice.error';
  return `cell.advice.${kind}`;
}
