/** Text from data: byte figures, counts, filled-in templates, escaped HTML. Pure; no DOM. */

/** @type {Record<string, number>} Bytes in each unit the pages show. */
export const BYTES_PER_UNIT = { B: 1, MB: 1e6, GB: 1e9, TB: 1e12, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 };

/**
 * `bytes` in `unit`, rounded as the package's format_bytes does: two decimals below 10, one below 1000,
 * none above, no trailing zeros. From 1000 on the digits are grouped.
 * @param {number} bytes @param {string} unit
 */
export function formatBytes(bytes, unit) {
  return `${formatQuotient(bytes / BYTES_PER_UNIT[unit])} ${unit}`;
}

/** A number of units: at most two decimals, fewer for large ones. @param {number} value */
export function formatQuotient(value) {
  const digits = value < 10 ? 2 : value < 1000 ? 1 : 0;
  const fixed = (Math.round(value * 10 ** digits) / 10 ** digits).toFixed(digits);
  const [whole, fraction = ''] = fixed.split('.');
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
