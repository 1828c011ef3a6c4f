/** How far a reader is in a lesson, and where they stopped. Pure; no DOM. */

/**
 * @typedef {{cell: string, share: number, at: number}} Place  the cell last read, the largest part ever read (0 to 1),
 *   and when (milliseconds since 1970)
 */

/** `value`, from storage, as a Place; null if it is none. @param {any} value @returns {Place|null} */
export function asPlace(value) {
  const whole = typeof value?.cell === 'string' && /^[a-z0-9-]+$/.test(value.cell)
    && Number.isFinite(value.share) && Number.isFinite(value.at);
  return whole ? { cell: value.cell, share: Math.min(Math.max(value.share, 0), 1), at: value.at } : null;
}

/** The part of a page that has come into view: cells whose top is above the window's lower edge. @param {number[]} tops @param {number} height */
export function shareSeen(tops, height) {
  return tops.length ? tops.filter((top) => top < height).length / tops.length : 0;
}

/** The key of the place that is newest; null when there is none. @param {Map<string, Place|null>} places @returns {string|null} */
export function newestPlace(places) {
  const read = [...places].filter(([, place]) => place);
  read.sort(([, one], [, other]) => /** @type {Place} */ (other).at - /** @type {Place} */ (one).at);
  return read[0]?.[0] ?? null;
}

/**
 * The parts of the line that says how much of a lesson is done, to be put into words.
 * @param {any[]} predictions  settled predictions of its exercises, null where there is none @param {Place|null} place
 */
export function lessonProgress(predictions, place) {
  const made = predictions.filter((one) => typeof one?.value === 'number').length;
  const skipped = predictions.filter((one) => one && typeof one.value !== 'number').length;
  const percent = place ? Math.floor(place.share * 100) : 0;
  return { made, skipped, count: predictions.length, percent, begun: made + skipped + percent > 0 };
}
