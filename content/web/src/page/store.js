/**
 * The reader's own browser as memory: keys start with "zero:". Where storage is refused (private windows, embedded
 * frames) things last as long as the page.
 */

import { keyPrefix } from '../cell/storage-scope.js';

/** @type {Map<string, string>} */
const pageOnly = new Map();

/** @param {string} key @param {any} value  plain data; undefined forgets the key */
export function remember(key, value) {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (value === undefined) pageOnly.delete(key);
  else pageOnly.set(key, text);
  try {
    if (value === undefined) localStorage.removeItem(keyPrefix() + key);
    else localStorage.setItem(keyPrefix() + key, text);
  } catch {
    // pageOnly has it
  }
}

/** The text kept under `key`, or null. @param {string} key @returns {string|null} */
export function recall(key) {
  try {
    return localStorage.getItem(keyPrefix() + key) ?? pageOnly.get(key) ?? null;
  } catch {
    return pageOnly.get(key) ?? null;
  }
}

/** The data kept under `key`; null when there is none or it is not JSON. @param {string} key @returns {any} */
export function recallData(key) {
  try {
    return JSON.parse(recall(key) ?? 'null');
  } catch {
    return null;
  }
}

/** All keys that begin with `prefix`, without "zero:". @param {string} prefix @returns {string[]} */
export function keysFrom(prefix) {
  const found = new Set([...pageOnly.keys()].filter((key) => key.startsWith(prefix)));
  try {
    for (let at = 0; at < localStorage.length; at += 1) {
      const key = localStorage.key(at) ?? '';
      if (key.startsWith(`zero:${prefix}`)) found.add(key.slice('zero:'.length));
    }
  } catch {
    // what the page itself remembers is all there is
  }
  return [...found].sort();
}

/** Whether what is remembered outlasts the page. */
export function storageLasts() {
  try {
    localStorage.setItem('zero:probe', '1');
    localStorage.removeItem('zero:probe');
    return true;
  } catch {
    return false;
  }
}
