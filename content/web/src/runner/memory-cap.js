// How much memory a program may have. Past that Python gets nothing more and raises MemoryError.

import { MAX_MEMORY_BYTES } from './protocol.js';

const WASM_PAGE_BYTES = 65_536;
const RESIZE_IMPORT = 'emscripten_resize_heap';
// How engines say that they themselves had no memory left.
const NO_MEMORY = /out of memory|allocation|allocate|could not be grown|unable to grow/i;

export class MemoryCap {
  constructor() {
    this.ranOut = false;
    const { grow } = WebAssembly.Memory.prototype;
    // Emscripten grows by more than it was asked for; here it gets what there is.
    WebAssembly.Memory.prototype.grow = function (pages) {
      const left = (MAX_MEMORY_BYTES - this.buffer.byteLength) / WASM_PAGE_BYTES;
      if (left < 1) throw new RangeError('memory limit');
      return grow.call(this, Math.min(pages, Math.floor(left)));
    };
  }

  /** @param {any} env what Python's WebAssembly imports; throws if Pyodide asks for memory in another way */
  watch(env) {
    const resize = env[RESIZE_IMPORT];
    if (typeof resize !== 'function') throw new Error(`this Pyodide has no ${RESIZE_IMPORT}: the memory limit would not work`);
    env[RESIZE_IMPORT] = (/** @type {number} */ wantedBytes) => {
      const grown = wantedBytes >>> 0 <= MAX_MEMORY_BYTES && resize(wantedBytes);
      if (!grown) this.ranOut = true;
      return grown ? 1 : 0;
    };
  }

  /** @param {unknown} error that ended the interpreter @returns {boolean} whether for lack of memory */
  explains(error) {
    return this.ranOut || (error instanceof RangeError && NO_MEMORY.test(error.message));
  }
}
