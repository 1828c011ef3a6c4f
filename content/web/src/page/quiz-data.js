/** What is kept of a self-test question, and which questions deserve a second look. Pure; no DOM. */

/**
 * `first` is the first answer and stays as it was; `sure` is the greatest confidence of a wrong one (0: none said).
 * @typedef {{right: boolean, confidence: number|null, given: string, error: number|null, prompt: string|null}} FirstAnswer
 * @typedef {{given?: any, draft?: any, confidence?: number|null, misses: number, hints: number, solved: boolean, shown: boolean, sure?: number,
 *   first?: FirstAnswer}} QuizState
 */

/** @type {QuizState} */
export const UNTOUCHED = { misses: 0, hints: 0, solved: false, shown: false };

/**
 * The state after an answer was judged.
 * @param {QuizState} state @param {any} given  as entered @param {FirstAnswer} answer  this answer, as it is kept if it is the first
 * @returns {QuizState}
 */
export function afterAnswer(state, given, answer) {
  return {
    ...state, given, solved: answer.right, confidence: answer.confidence,
    misses: state.misses + (answer.right ? 0 : 1),
    sure: Math.max(state.sure ?? 0, answer.right ? 0 : answer.confidence ?? 0),
    first: state.first ?? answer,
  };
}

/**
 * The questions that were missed or looked up: errors that the reader was surest of first, then what is still open, then
 * what took the most tries.
 * @template {{state: QuizState}} Entry @param {Entry[]} entries @returns {Entry[]}
 */
export function toReview(entries) {
  const kept = entries.filter(({ state }) => state.misses > 0 || (state.shown && !state.first?.right));
  return kept.sort(({ state: one }, { state: other }) => (other.sure ?? 0) - (one.sure ?? 0)
    || Number(one.solved) - Number(other.solved) || other.misses - one.misses);
}

/** `value`, from storage or a file, as a first answer; null if it is none. @param {any} value @returns {FirstAnswer|null} */
export function asFirstAnswer(value) {
  const whole = typeof value?.right === 'boolean' && [null, 1, 2, 3].includes(value.confidence) && typeof value.given === 'string'
    && (value.error === null || Number.isFinite(value.error)) && (value.prompt === null || typeof value.prompt === 'string');
  return whole ? value : null;
}
