// Bytes and counts as readers write them: "104.3 GiB", "112GB", "1.12e11", "７B". The same rules as
// zeroledger.units.parse_bytes and parse_count; tests/data/quantities.json is tried on both.

import { text } from './strings.js';

/** @typedef {'bytes'|'count'} QuantityKind */
/** @typedef {{value: number} | {problem: string}} ParsedQuantity */

const DECIMAL = { k: 1, m: 2, g: 3, t: 4, p: 5 };

/** @type {Map<string, bigint>} */
const BYTE_UNITS = new Map([['', 1n], ['b', 1n], ['byte', 1n], ['bytes', 1n], ['字节', 1n]]);
for (const [letter, power] of Object.entries(DECIMAL)) {
  BYTE_UNITS.set(`${letter}b`, 1000n ** BigInt(power));
  BYTE_UNITS.set(`${letter}ib`, 1024n ** BigInt(power));
}

/** @type {Map<string, bigint>} */
const COUNT_UNITS = new Map([
  ['', 1n], ['k', 10n ** 3n], ['m', 10n ** 6n], ['b', 10n ** 9n], ['g', 10n ** 9n], ['t', 10n ** 12n],
  ['thousand', 10n ** 3n], ['million', 10n ** 6n], ['billion', 10n ** 9n], ['trillion', 10n ** 12n],
  ['万', 10n ** 4n], ['亿', 10n ** 8n], ['万亿', 10n ** 12n],
]);

const LONGEST_TEXT = 100;
const LARGEST_EXPONENT = 30;
const AMBIGUOUS = new Set(['g', 'm', 'k', 't']);
// The number part: digits and what may stand between them, and an exponent when digits follow its e.
const NUMBER_PART = /^(?:[+\-.,_ 0-9]|(?<=\d)e(?=[+-]?\d))*/i;

/** Says, as a key of the interface strings, why a text is no quantity. */
export class NotAQuantity extends Error {}

/**
 * @param {string} written
 * @param {string} [kind] 'bytes', or 'count' for anything else
 * @param {import('./strings.js').Language} [language]
 * @returns {ParsedQuantity} whole bytes, or a number that may have a fraction, as a ratio has; or what is wrong, in the reader's language
 */
export function parseQuantity(written, kind = 'bytes', language = documentLanguage()) {
  try {
    return { value: kind === 'bytes' ? Number(parseBytes(written)) : quotient(exact(written, COUNT_UNITS)) };
  } catch (error) {
    if (!(error instanceof NotAQuantity)) throw error;
    const reason = error.message === 'unreadable' ? (kind === 'bytes' ? 'bytes' : 'count') : error.message;
    return { problem: text(language, `cell.quantity.${reason}`) };
  }
}

/** @param {string} written @returns {bigint} bytes, rounded half up; throws NotAQuantity */
export function parseBytes(written) {
  return rounded(exact(written, BYTE_UNITS));
}

/** @param {string} written @returns {bigint} elements, rounded half up; throws NotAQuantity */
export function parseCount(written) {
  return rounded(exact(written, COUNT_UNITS));
}

/** @typedef {{total: bigint, divisor: bigint}} Fraction */

/** @param {Fraction} fraction @returns {bigint} rounded half up */
function rounded({ total, divisor }) {
  return (2n * total + divisor) / (2n * divisor);
}

/** @param {Fraction} fraction @returns {number} */
function quotient({ total, divisor }) {
  return Number(total) / Number(divisor);
}

/** @param {string} written @param {Map<string, bigint>} units @returns {Fraction} */
function exact(written, units) {
  if (written.length > LONGEST_TEXT) throw new NotAQuantity('unreadable');
  const plain = written.normalize('NFKC').replaceAll('。', '.').trim();
  const number = /** @type {RegExpExecArray} */ (NUMBER_PART.exec(plain))[0];
  const unit = plain.slice(number.length).trim().toLowerCase();
  const size = units.get(unit);
  if (size === undefined) throw new NotAQuantity(AMBIGUOUS.has(unit) ? 'ambiguous' : 'unreadable');
  return scaled(number.trim(), size);
}

/** @param {string} number @param {bigint} size @returns {Fraction} number × size */
function scaled(number, size) {
  if (number.startsWith('-')) throw new NotAQuantity('negative');
  const [mantissa, exponent = '0', ...more] = number.toLowerCase().split('e');
  const [whole, fraction = '', ...rest] = mantissa.replace(/^\+/, '').split('.');
  const digits = ungroup(whole) + fraction;
  const readable = more.length === 0 && rest.length === 0 && /^\d+$/.test(digits) && /^[+-]?\d+$/.test(exponent);
  if (!readable || Math.abs(Number(exponent)) > LARGEST_EXPONENT) throw new NotAQuantity('unreadable');
  const shift = Number(exponent) - fraction.length;
  const total = BigInt(digits) * size;
  return shift >= 0 ? { total: total * 10n ** BigInt(shift), divisor: 1n } : { total, divisor: 10n ** BigInt(-shift) };
}

/** @param {string} whole @returns {string} without group separators, which must part groups of three (not so "_") */
function ungroup(whole) {
  const mark = [',', '_', ' '].find((separator) => whole.includes(separator));
  if (!mark) return whole;
  const [first, ...groups] = whole.split(mark);
  const regular = first.length >= 1 && first.length <= 3 && groups.every((group) => group.length === 3);
  if (!regular && mark !== '_') throw new NotAQuantity('unreadable');
  return first + groups.join('');
}

/** @returns {import('./strings.js').Language} */
function documentLanguage() {
  return document.documentElement.lang.startsWith('zh') ? 'zh-CN' : 'en';
}
