// How much a program may keep in files: they lie in JavaScript's memory, where the cap on Python's does not count them.

import { MAX_FILE_BYTES } from './protocol.js';

const NO_SPACE = 51; // ENOSPC, as WebAssembly's system interface numbers it

/** Past the cap Python gets OSError. @param {any} fs Emscripten's file system @param {number} [maxBytes] of all files written */
export function capFiles(fs, maxBytes = MAX_FILE_BYTES) {
  const { MEMFS } = fs.filesystems;
  const operations = MEMFS.ops_table.file.stream;
  const { write } = operations;
  const { resizeFileStorage } = MEMFS;
  const written = new Set();
  let atMostBytes = 0; // some of them may be gone

  const holdsMemory = (/** @type {any} */ file) =>
    file.parent.contents?.[file.name] === file || fs.streams.some((/** @type {any} */ stream) => stream?.node === file);

  const countAgain = () => {
    for (const file of written) if (!holdsMemory(file)) written.delete(file);
    return [...written].reduce((sum, file) => sum + file.usedBytes, 0);
  };

  const reserve = (/** @type {any} */ file, /** @type {number} */ size) => {
    const more = size - file.usedBytes;
    if (more <= 0) return;
    written.add(file);
    if (atMostBytes + more > maxBytes) atMostBytes = countAgain();
    if (atMostBytes + more > maxBytes) throw new fs.ErrnoError(NO_SPACE);
    atMostBytes += more;
  };

  operations.write = (/** @type {any} */ stream, /** @type {any} */ buffer, /** @type {number} */ offset, /** @type {number} */ length, /** @type {number} */ position, /** @type {boolean} */ canOwn) => {
    reserve(stream.node, position + length);
    return write(stream, buffer, offset, length, position, canOwn);
  };
  MEMFS.resizeFileStorage = (/** @type {any} */ file, /** @type {number} */ size) => {
    reserve(file, size);
    resizeFileStorage(file, size);
  };
}
