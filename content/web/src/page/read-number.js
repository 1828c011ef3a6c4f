/** A number as the reader typed it. */
import { parseQuantity } from '../cell/quantity.js';
import { text } from './page-data.js';

const SMALLEST_BARE_BYTES = 1e6;

/**
 * What the reader typed as bytes or a count, or what is wrong with it. A small bare number is taken for a unit left
 * out, not for that many bytes.
 * @param {string} written @param {string} unit @returns {{value: number} | {problem: string}}
 */
export function readNumber(written, unit) {
  const parsed = parseQuantity(written, unit);
  if ('problem' in parsed) return { problem: text('kit.predict.needs_number', { reason: parsed.problem }) };
  const bare = unit === 'bytes' && parsed.value < SMALLEST_BARE_BYTES && !/[a-z\u4e00-\u9fff]/i.test(written.normalize('NFKC'));
  return bare ? { problem: text('page.predict.needs_unit') } : parsed;
}
