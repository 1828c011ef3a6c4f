// Start Pyodide from parts that are already here, in a realm that may fetch nothing.

import { loadPyodide } from 'pyodide/pyodide.mjs';
import { MAX_MEMORY_BYTES } from './protocol.js';

const NOWHERE = 'https://pyodide.invalid/';
const WASM_PAGE_BYTES = 65_536;
// Pyodide checks the versions named here against its own, and needs no packages.
const EMPTY_LOCK = { info: PYODIDE_LOCK_INFO, packages: {} };

/** @param {string} source a module's text @returns {Promise<any>} the module */
export function importText(source) {
  return import(/* @vite-ignore */ URL.createObjectURL(new Blob([source], { type: 'text/javascript' })));
}

/**
 * @param {import('./protocol.js').InterpreterParts} parts
 * @param {Promise<any>} asm the imported pyodide.asm.mjs
 * @returns {Promise<any>} Pyodide's API
 */
export async function startPyodide(parts, asm) {
  answerFetchesFrom(parts.stdlib);
  useCompiled(parts.module);
  return loadPyodide(
    /** @type {any} */ ({
      indexURL: NOWHERE,
      packageBaseUrl: NOWHERE,
      createPyodideModule: (await asm).default,
      lockFileContents: EMPTY_LOCK,
      jsglobals: Object.freeze(Object.create(null)),
      stdin: () => null,
    }),
  );
}

/** @param {ArrayBuffer} stdlib */
function answerFetchesFrom(stdlib) {
  self.fetch = async (input) => {
    const url = String(input instanceof Request ? input.url : input);
    if (url.endsWith('.zip')) return new Response(stdlib);
    if (url.endsWith('.wasm')) return new Response('');
    throw new TypeError('this worker has no network');
  };
}

/** @param {WebAssembly.Module} module */
function useCompiled(module) {
  WebAssembly.instantiateStreaming = async (_response, imports) => ({
    module,
    instance: await WebAssembly.instantiate(module, imports),
  });
}

/**
 * Cap the heap: growing past it fails, which Python sees as MemoryError.
 * @param {() => void} onRefused
 */
export function capMemory(onRefused) {
  const { grow } = WebAssembly.Memory.prototype;
  WebAssembly.Memory.prototype.grow = function (pages) {
    if (this.buffer.byteLength + pages * WASM_PAGE_BYTES > MAX_MEMORY_BYTES) {
      onRefused();
      throw new RangeError('memory limit');
    }
    return grow.call(this, pages);
  };
}
