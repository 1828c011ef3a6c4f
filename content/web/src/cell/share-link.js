// What a link carries in its fragment: "#z1." and JSON, deflated, in base64url. Pure but for the browser's own streams.

const PREFIX = 'z1.';
const ANY_VERSION = /^z(\d+)\./;
export const MAX_FRAGMENT_CHARS = 8192;
const MAX_TEXT_BYTES = 65_536; // of the JSON; what deflates better than 1 to 8 is a bomb, not a program
const MAX_CODE_CHARS = 60_000;

/**
 * @typedef {{text?: string, reason?: string, confidence?: number}} SharedPrediction
 * @typedef {object} Shared
 * @property {string} [cell] id of the lesson's cell that the code is for
 * @property {string} [code]
 * @property {Record<string, string|number>} [inputs]
 * @property {string} [seed]
 * @property {string} [exercise] that the prediction is for
 * @property {SharedPrediction} [prediction]
 * @property {string} [expect] a Python expression for the result
 * @property {number} [tolerance] relative
 * @property {string[]} [hints]
 * @property {string} [solution]
 */

/** `reason`: 'too-large' (with `size`), 'damaged' or 'newer'. */
export class LinkError extends Error {
  name = 'LinkError';
  /** @param {'too-large'|'damaged'|'newer'} reason @param {number} [size] characters */
  constructor(reason, size = 0) {
    super(reason);
    this.reason = reason;
    this.size = size;
  }
}

/** @param {string} hash @returns {boolean} whether it is one of ours, sound or not */
export function isShareFragment(hash) {
  return ANY_VERSION.test(hash.replace(/^#/, ''));
}

/** @param {Shared} shared @returns {Promise<string>} the fragment with its "#"; rejects with LinkError 'too-large' */
export async function encodeShared(shared) {
  const bytes = new TextEncoder().encode(JSON.stringify(shared));
  const packed = await streamed(bytes, new CompressionStream('deflate-raw'), Infinity);
  const fragment = PREFIX + toBase64Url(packed);
  if (fragment.length > MAX_FRAGMENT_CHARS || bytes.length > MAX_TEXT_BYTES) throw new LinkError('too-large', fragment.length);
  return `#${fragment}`;
}

/** @param {string} hash @returns {Promise<Shared>} rejects with LinkError */
export async function decodeShared(hash) {
  const fragment = hash.replace(/^#/, '');
  if (fragment.length > MAX_FRAGMENT_CHARS) throw new LinkError('too-large', fragment.length);
  if (!fragment.startsWith(PREFIX)) throw new LinkError(ANY_VERSION.test(fragment) ? 'newer' : 'damaged');
  let data;
  try {
    const bytes = await streamed(fromBase64Url(fragment.slice(PREFIX.length)), new DecompressionStream('deflate-raw'), MAX_TEXT_BYTES);
    data = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw error instanceof LinkError ? error : new LinkError('damaged');
  }
  return checked(data);
}

/** Only what is known, each of its type. @param {any} data @returns {Shared} */
function checked(data) {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) throw new LinkError('damaged');
  const { cell, code, inputs, seed, exercise, prediction, expect, tolerance, hints, solution } = data;
  const good = [cell, seed, exercise, expect].every((one) => isText(one, 1000)) && [code, solution].every((one) => isText(one, MAX_CODE_CHARS))
    && (tolerance === undefined || (typeof tolerance === 'number' && tolerance >= 0))
    && (hints === undefined || (Array.isArray(hints) && hints.length <= 10 && hints.every((one) => typeof one === 'string')))
    && isRecord(inputs) && isRecord(prediction);
  if (!good) throw new LinkError('damaged');
  const found = { cell, code, inputs, seed, exercise, prediction, expect, tolerance, hints, solution };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
}

/** @param {any} value @param {number} most characters */
function isText(value, most) {
  return value === undefined || (typeof value === 'string' && value.length <= most);
}

/** @param {any} value */
function isRecord(value) {
  if (value === undefined) return true;
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    && Object.values(value).every((one) => (typeof one === 'string' && one.length <= 1000) || (typeof one === 'number' && Number.isFinite(one)));
}

/**
 * @param {Uint8Array<ArrayBuffer>} bytes @param {CompressionStream|DecompressionStream} through @param {number} most bytes out
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
async function streamed(bytes, through, most) {
  const reader = new Blob([bytes]).stream().pipeThrough(through).getReader();
  /** @type {Uint8Array<ArrayBuffer>[]} */
  const chunks = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > most) {
      reader.cancel().catch(() => {});
      throw new LinkError('too-large', size);
    }
    chunks.push(value);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

/** @param {Uint8Array} bytes */
function toBase64Url(bytes) {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/** @param {string} text @returns {Uint8Array<ArrayBuffer>} */
function fromBase64Url(text) {
  if (!/^[\w-]*$/.test(text)) throw new LinkError('damaged');
  return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0));
}
