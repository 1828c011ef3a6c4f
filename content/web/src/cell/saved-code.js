// The reader's edited code, kept in this browser until it is reset. When a lesson's own code changes, what the reader made
// of the older one stays, to be asked for by `earlier`.

import { keyPrefix, storageOrNull } from './storage-scope.js';

/** @param {string} text @returns {string} a short digest, to tell versions of a cell apart */
export function digest(text) {
  let hash = 0x811c9dc5;
  for (const unit of text) {
    hash ^= /** @type {number} */ (unit.codePointAt(0));
    hash = Math.imul(hash, 0x01000193) >>> 0;
  }
  return hash.toString(16).padStart(8, '0');
}

const DIGEST = /^[0-9a-f]{8}$/;

export class SavedCode {
  /**
   * @param {string} page path of the page
   * @param {string} cellId
   * @param {string} original a cell whose original changed starts afresh
   * @param {Storage|null} [storage]
   */
  constructor(page, cellId, original, storage = storageOrNull('localStorage')) {
    this.prefix = `${keyPrefix()}cell:${page}:${cellId}:`;
    this.key = this.prefix + digest(original);
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

  /** @returns {{code: string, forget: () => void}|null} an edit of an older original, where there is none of this one */
  earlier() {
    try {
      const { storage } = this;
      if (!storage || storage.getItem(this.key) !== null) return null;
      const key = Object.keys(storage).find((name) => name.startsWith(this.prefix) && DIGEST.test(name.slice(this.prefix.length)));
      const code = key && storage.getItem(key);
      return key && code ? { code, forget: () => storage.removeItem(key) } : null;
    } catch {
      return null;
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
