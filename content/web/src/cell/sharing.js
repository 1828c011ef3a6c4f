// Makes the link that shares a cell's code. A page says what else belongs in it with `setShareContext`.

import { encodeShared } from './share-link.js';

/** @typedef {import('./share-link.js').Shared} Shared */

/** @type {() => {page: string, more: Shared}} */
let context = () => ({ page: location.href.replace(/#.*/, ''), more: {} });

/** @param {() => {page: string, more: Shared}} describe  `page`: address without fragment; `more`: inputs, seed, prediction */
export function setShareContext(describe) {
  context = describe;
}

/** @param {string} words @returns {Promise<boolean>} false where the browser does not let the page copy, or over plain http */
export async function copyText(words) {
  try {
    await navigator.clipboard.writeText(words);
    return true;
  } catch {
    return false;
  }
}

/** @param {Shared} shared @returns {Promise<string>} the whole address; rejects with LinkError 'too-large' */
export async function shareAddress(shared) {
  const { page, more } = context();
  return page + (await encodeShared({ ...more, ...shared }));
}
