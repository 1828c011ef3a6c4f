// What a lesson notebook says, as a short mark: cells' ids, types and sources, not outputs or metadata. Pure; no DOM.
// content/publish/fingerprint.py puts the same mark into each published notebook; tests/data/fingerprints.json holds both to it.

const OFFSET = 0xcbf29ce484222325n;
const PRIME = 0x100000001b3n;
const LESSON = /^(en|zh)\/\d\d-[a-z0-9-]+\.ipynb$/;

/** @typedef {{cells?: {id?: string, cell_type: string, source: string|string[]}[], metadata?: any}} Notebook */

/** Whether a path of the lab's drive is that of a lesson. @param {string} path */
export function isLesson(path) {
  return LESSON.test(path.replace(/^\//, ''));
}

/** FNV-1a, 64 bits, over the cells. @param {Notebook} notebook @returns {string} 16 hexadecimal digits */
export function fingerprint(notebook) {
  const encoder = new TextEncoder();
  let mark = OFFSET;
  for (const { id = '', cell_type: type, source } of notebook.cells ?? []) {
    const text = Array.isArray(source) ? source.join('') : source;
    for (const byte of encoder.encode(`${id}\0${type}\0${text}\0`)) mark = BigInt.asUintN(64, (mark ^ BigInt(byte)) * PRIME);
  }
  return mark.toString(16).padStart(16, '0');
}

/** The mark of the published lesson that a notebook began as; null where it has none. @param {Notebook} notebook @returns {string|null} */
export function originOf(notebook) {
  return notebook?.metadata?.zero?.published ?? null;
}

/** Whether a reader has changed what the notebook says. @param {Notebook} notebook */
export function isEdited(notebook) {
  return fingerprint(notebook) !== originOf(notebook);
}

/** A file name with words before its ending, `01-ledger (my copy).ipynb`. @param {string} path @param {string} words */
export function withWords(path, words) {
  return path.replace(/\.ipynb$/, `${words}.ipynb`);
}
