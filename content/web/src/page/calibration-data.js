/** What the calibration page shows: orders answers by how much they deserve a second look, counts them, reads an exported file. Pure; no DOM. */
import { asFirstAnswer } from './quiz-data.js';

/**
 * Wrong ones before right ones, the surest first, then the largest error.
 * @template {{right: boolean, confidence: number|null, error: number|null}} Row @param {Row[]} rows @returns {Row[]}
 */
export function byConcern(rows) {
  const off = (/** @type {Row} */ row) => (row.error === null ? 0 : Math.abs(Math.log(Math.max(1 + row.error, 1e-12))));
  return [...rows].sort((one, other) => Number(one.right) - Number(other.right)
    || (other.confidence ?? 0) - (one.confidence ?? 0) || off(other) - off(one));
}

/** How many rows there are and how many of them are right. @param {{right: boolean}[]} rows */
export function tally(rows) {
  return { count: rows.length, right: rows.filter(({ right }) => right).length };
}

/** The tally of each confidence that was said, from certain down to none said (null). @param {{right: boolean, confidence: number|null}[]} rows */
export function byConfidence(rows) {
  const steps = [3, 2, 1, null].map((confidence) => ({ confidence, ...tally(rows.filter((row) => row.confidence === confidence)) }));
  return steps.filter(({ count }) => count > 0);
}

/**
 * The predictions and self-test states in an exported text, those of unknown exercises left out; null when it is no such
 * file. Self-test states lie under their key without "quiz:", which may begin with a seed.
 * @param {string} text @param {string[]} known @returns {{predictions: Record<string, any>, quiz: Record<string, any>}|null}
 */
export function readExport(text, known) {
  let data;
  try {
    data = JSON.parse(text);
  } catch {
    return null;
  }
  if (data?.zero !== 'predictions' || typeof data.predictions !== 'object' || !data.predictions) return null;
  const usable = (/** @type {any} */ entries, /** @type {(key: string, one: any) => boolean} */ fits) =>
    Object.fromEntries(Object.entries(entries ?? {}).filter(([key, one]) => fits(key, one)));
  return {
    predictions: usable(data.predictions, (id, one) => known.includes(id) && isPrediction(one)),
    quiz: usable(data.quiz, (key, one) => known.includes(itemOf(key)) && isQuizState(one)),
  };
}

/** The exercise of a self-test key, "autumn:adam-20b-total". @param {string} key */
export function itemOf(key) {
  return key.slice(key.lastIndexOf(':') + 1);
}

/** The seed of such a key, '' where there is none. @param {string} key */
export function seedOf(key) {
  return key.slice(0, Math.max(key.lastIndexOf(':'), 0));
}

/** @param {any} one */
function isPrediction(one) {
  const amount = one?.value === null || (Number.isFinite(one?.value) && one.value >= 0);
  return amount && typeof one.text === 'string' && typeof one.reason === 'string' && [null, 1, 2, 3].includes(one.confidence);
}

/** @param {any} one */
function isQuizState(one) {
  return Number.isFinite(one?.misses) && Number.isFinite(one.hints) && typeof one.solved === 'boolean' && typeof one.shown === 'boolean'
    && (one.first === undefined || asFirstAnswer(one.first) !== null);
}
