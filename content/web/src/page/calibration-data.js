/** Orders predictions by how much they deserve a second look, and reads an exported file. Pure; no DOM. */

/** Wrong ones before right ones, the surest first, then the largest error. @template {{verdict: string, relativeError: number, prediction: any}} Row @param {Row[]} rows @returns {Row[]} */
export function byConcern(rows) {
  const off = (/** @type {Row} */ row) => Math.abs(Math.log(Math.max(1 + row.relativeError, 1e-12)));
  return [...rows].sort((one, other) => Number(one.verdict === 'right') - Number(other.verdict === 'right')
    || (other.prediction.confidence ?? 0) - (one.prediction.confidence ?? 0) || off(other) - off(one));
}

/**
 * The predictions in an exported text, those of unknown exercises left out; null when it is no such file.
 * @param {string} text @param {string[]} known @returns {Record<string, any>|null}
 */
export function readExport(text, known) {
  let data;
  try {
    data = JSON.parse(text);
  } catch {
    return null;
  }
  if (data?.zero !== 'predictions' || typeof data.predictions !== 'object' || !data.predictions) return null;
  const usable = Object.entries(data.predictions).filter(([id, one]) => known.includes(id) && isPrediction(one));
  return Object.fromEntries(usable);
}

/** @param {any} one */
function isPrediction(one) {
  const amount = one?.value === null || (Number.isFinite(one?.value) && one.value >= 0);
  return amount && typeof one.text === 'string' && typeof one.reason === 'string' && [null, 1, 2, 3].includes(one.confidence);
}
