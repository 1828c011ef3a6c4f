/** Byte figures for tables, as HTML. Pure. */
import { unitFor } from './curve.js';
import { formatBytes } from './format.js';

/** Bytes with a sign and few digits; a dash for what was not read. @param {number|null} bytes @param {boolean} [signed] */
export function amount(bytes, signed = false) {
  if (bytes === null || bytes === undefined) return '–';
  const size = Math.abs(bytes);
  const sign = bytes < 0 ? '−' : signed && bytes > 0 ? '+' : '';
  const unit = size < 1e6 ? (size < 1e3 ? 'B' : 'kB') : unitFor(size);
  const text = unit === 'kB' ? `${Number((size / 1e3).toPrecision(3))} kB` : formatBytes(size, unit, unit === 'B' ? 0 : size >= 1e9 ? 2 : undefined);
  return `<span class="zl-quantity">${sign}${text}</span>`;
}
