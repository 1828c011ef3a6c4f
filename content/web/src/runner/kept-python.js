// What a later visit starts from, as one Blob: the parts, unpacked, and Python's memory. A blob is handed on without its
// bytes, so that each worker reads just what it needs, and no other has to copy it.

/** @typedef {{wasm: Blob, asm: Blob, stdlib: Blob, zeroledger: Blob, memory: Blob}} KeptParts */
/** @typedef {{blob: Blob, sizes: number[]}} KeptPython sizes in bytes, in the order of NAMES */

const NAMES = /** @type {(keyof KeptParts)[]} */ (['wasm', 'asm', 'stdlib', 'zeroledger', 'memory']);
const TYPES = { wasm: 'application/wasm', asm: 'text/javascript', stdlib: '', zeroledger: '', memory: '' };

/** @param {Record<keyof KeptParts, ArrayBuffer|Blob>} parts @returns {KeptPython} */
export function joined(parts) {
  const blobs = NAMES.map((name) => new Blob([parts[name]]));
  return { blob: new Blob(blobs), sizes: blobs.map((blob) => blob.size) };
}

/** @param {KeptPython} kept @returns {KeptParts} throws RangeError if the sizes do not add up to it */
export function partsOf({ blob, sizes }) {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  if (sizes.length !== NAMES.length || total !== blob.size) throw new RangeError(`${blob.size} bytes are kept, not ${sizes}`);
  let at = 0;
  const slices = NAMES.map((name, index) => [name, blob.slice(at, (at += sizes[index]), TYPES[name])]);
  return /** @type {any} */ (Object.fromEntries(slices));
}
