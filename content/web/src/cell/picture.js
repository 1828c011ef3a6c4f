// What a run drew, as an image: an SVG through the allow-list, or a PNG that is one. In an <img> neither runs anything.

import { safeSvg } from './safe-svg.js';

/** @typedef {import('../runner/protocol.js').Picture} Picture */

const PNG_START = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const PNG_WIDTH_AT = 16;
const PNG_HEIGHT_AT = 20;
const MAX_PNG_PIXELS = 16_000_000; // a small file may unpack to a huge picture

/**
 * @param {Picture} picture
 * @returns {{blob: Blob, title: string}|null} null if it is not what it says it is
 */
export function imageOf(picture) {
  if (picture.kind === 'svg') {
    const safe = safeSvg(picture.data);
    return safe && { blob: new Blob([safe.text], { type: 'image/svg+xml' }), title: safe.title };
  }
  const bytes = bytesOf(picture.data);
  return bytes && isPng(bytes) ? { blob: new Blob([bytes], { type: 'image/png' }), title: '' } : null;
}

/** @param {string} base64 */
function bytesOf(base64) {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}

/** @param {Uint8Array} bytes */
function isPng(bytes) {
  if (bytes.length < PNG_HEIGHT_AT + 4 || !PNG_START.every((byte, at) => bytes[at] === byte)) return false;
  const header = new DataView(bytes.buffer, bytes.byteOffset);
  return header.getUint32(PNG_WIDTH_AT) * header.getUint32(PNG_HEIGHT_AT) <= MAX_PNG_PIXELS;
}
