// A run during which the browser ended the whole page, as it does where memory is short, leaves its mark in the tab's
// storage. A page that ends in any other way takes the mark away.

import { keyPrefix, storageOrNull } from './storage-scope.js';

export class UnfinishedRun {
  /** @param {string} page path of the page @param {string} cellId @param {Storage|null} [storage] */
  constructor(page, cellId, storage = storageOrNull('sessionStorage')) {
    this.key = `${keyPrefix()}running:${page}:${cellId}`;
    this.storage = storage;
  }

  begin() {
    try {
      this.storage?.setItem(this.key, '1');
    } catch {
      // Storage is full: then nothing is said later.
    }
  }

  end() {
    this.storage?.removeItem(this.key);
  }

  /** @returns {boolean} whether there was one; it is told once */
  take() {
    const found = this.storage?.getItem(this.key) === '1';
    if (found) this.end();
    return found;
  }
}
