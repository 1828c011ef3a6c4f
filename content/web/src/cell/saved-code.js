// The reader's edited code, kept in this browser until it is reset.

import { keyPrefix } from './storage-scope.js';

/** @param {string} text @returns {string} a short digest, to tell versions of a cell apart */
export function digest(text) {
  let hash = 0x811c9dc5;
  for (const unit of text) {
    hash ^= /** @type {number} */ (unit.codePointAt(0));
    hash = Math.imul(hash, 0x01000193) >>> 0;
  }
  return hash.toString(16).padStart(8, '0');
}

export class SavedCode {
  /**
   * @param {string} page path of the page
   * @param {string} cellId
   * @param {string} original a cell whose original changed starts afresh
   * @param {Storage|null} [storage]
   */
  constructor(page, cellId, original, storage = browserStorage()) {
    this.key = `${keyPrefix()}cell:${page}:${cellId}:${digest(original)}`;
    this.original = original;
    this.storage = storage;
  }

  /** @returns {string} the edited code, or the original */
  read() {
    try {
      return this.storage?.getItem(this.key) ?? this.original;
    } catch {
      return this.original;
    }
  }

  /** @param {string} code */
  write(code) {
    try {
      if (code === this.original) this.storage?.removeItem(this.key);
      else this.storage?.setItem(this.key, code);
    } catch {
      // Storage is full or forbidden: the code just does not survive a reload.
    }
  }
}

function browserStorage() {
  try {
    return localStorage;
  } catch {
    return null;
  }
}
