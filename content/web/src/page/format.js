/** Text from data: byte figures, counts, filled-in templates, escaped HTML. Pure; no DOM. */

/** @type {Record<string, number>} Bytes in each unit the pages show. */
export const BYTES_PER_UNIT = { B: 1, MB: 1e6, GB: 1e9, TB: 1e12, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 };

/**
 * `bytes` in `unit`, rounded as the package's format_bytes does: two decimals below 10, one below 1000,
 * none above (or at most `digits`), no trailing zeros. From 1000 on the digits are grouped.
 * @param {number} bytes @param {string} unit @param {number} [digits]
 */
export function formatBytes(bytes, unit, digits) {
  return `${decimals(bytes, BYTES_PER_UNIT[unit], digits)} ${unit}`;
}

/** A number: at most two decimals, fewer for large ones. @param {number} value @param {number} [digits] */
export function formatQuotient(value, digits) {
  return decimals(value, 1, digits);
}

/** total / size as text, rounded half up. @param {number} total @param {number} size @param {number} [digits] */
function decimals(total, size, digits = total < 10 * size ? 2 : total < 1000 * size ? 1 : 0) {
  const scaled = Math.round((total * 10 ** digits) / size); // multiplied first: 1.005 has no exact double
  const [whole, fraction = ''] = (scaled / 10 ** digits).toFixed(digits).split('.');
  const kept = fraction.replace(/0+$/, '');
  return groupDigits(whole) + (kept ? `.${kept}` : '');
}

/** A whole number with its digits in groups of three. @param {number|string} count */
export function groupDigits(count) {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}

/**
 * `template` with every {name} replaced. A missing field is a mistake of ours and throws.
 * @param {string} template @param {Record<string, string|number>} [fields]
 */
export function fill(template, fields = {}) {
  return template.replace(/\{(\w+)\}/g, (_, name) => {
    if (!(name in fields)) throw new Error(`string "${template}" needs the field ${name}`);
    return String(fields[name]);
  });
}

/** `text` safe inside HTML and SVG, in content and in quoted attributes. @param {string|number} text */
export function escapeHtml(text) {
  return String(text).replace(/[&<>"']/g, (mark) => `&#${mark.charCodeAt(0)};`);
}
