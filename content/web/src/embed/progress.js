// Turns what the elements of an embedded page say into the events of messages.js.

import { recallData } from '../page/store.js';

/** @param {import('./reporter.js').Reporter} reporter @param {HTMLElement} root @param {{kind: string, isChecked: boolean}} item */
export function reportProgress(reporter, root, { kind, isChecked }) {
  root.addEventListener('zero-judged', (event) => {
    const { prediction, verdict, unit, now } = /** @type {CustomEvent} */ (event).detail;
    if (!now) return;
    const { value, confidence, skipped } = prediction;
    reporter.tell({ type: 'predicted', value, unit, confidence, skipped });
    reporter.tell({ type: 'checked', verdict, right: verdict === 'right' });
    reporter.tell({ type: 'completed', success: verdict === 'right' });
  });
  root.addEventListener('zero-run', (event) => {
    const { status, elapsedMs } = /** @type {CustomEvent} */ (event).detail;
    reporter.tell({ type: 'ran', status, elapsedMs });
    if (kind === 'live' && !isChecked && status === 'ok') reporter.tell({ type: 'completed', success: true });
  });
  root.addEventListener('zero-quiz', (event) => onQuestion(reporter, root, /** @type {any} */ (event.target), kind));
}

/** @type {WeakMap<Element, {misses: number, solved: boolean, shown: boolean}>} */
const before = new WeakMap();

/** @param {import('./reporter.js').Reporter} reporter @param {HTMLElement} root @param {any} question @param {string} kind */
function onQuestion(reporter, root, question, kind) {
  const { misses, solved, shown } = recallData(question.storeKey) ?? question.state;
  const last = before.get(question) ?? { misses: 0, solved: false, shown: false };
  before.set(question, { misses, solved, shown });
  if (misses > last.misses || (solved && !last.solved)) reporter.tell({ type: 'checked', verdict: solved ? 'right' : 'wrong', right: solved });
  if (kind === 'question' && (solved || shown) && !(last.solved || last.shown)) reporter.tell({ type: 'completed', success: solved });
  if (kind !== 'quiz' || !solved || last.solved) return;
  const all = [...root.querySelectorAll('zero-question')];
  if (all.every((one) => recallData(/** @type {any} */ (one).storeKey)?.solved)) reporter.tell({ type: 'completed', success: true });
}
