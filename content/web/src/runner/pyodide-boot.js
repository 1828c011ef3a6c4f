// Start Pyodide from parts that are already here, in a realm that may fetch nothing.

import { loadPyodide } from 'pyodide/pyodide.mjs';
import { restBetweenLooks } from './resting-clock.js';

const NOWHERE = 'https://pyodide.invalid/';
// What CPython's Emscripten port calls to learn whether a signal has come (Python/emscripten_signal.c).
const POLL_IMPORT = '_Py_CheckEmscriptenSignals_Helper';
// Pyodide checks the versions named here against its own, and needs no packages.
const EMPTY_LOCK = { info: PYODIDE_LOCK_INFO, packages: {} };

/** @param {Blob} source a module's @returns {Promise<any>} the module */
export function importModule(source) {
  return import(/* @vite-ignore */ URL.createObjectURL(source));
}

/** @typedef {import('./memory-image.js').MemoryImage} MemoryImage */

/**
 * @param {{asm: any, module: WebAssembly.Module, stdlib: ArrayBuffer|Blob, image: MemoryImage|null}} parts `asm`: the imported
 *   pyodide.asm.mjs; `stdlib` is used only without an image
 * @param {() => number} poll answers Python's question for signals
 * @param {import('./memory-cap.js').MemoryCap} memory
 * @param {boolean} willMakeSnapshot
 * @returns {Promise<any>} Pyodide's API
 */
export async function startPyodide({ asm, module, stdlib, image }, poll, memory, willMakeSnapshot) {
  giveBlobsAFolder();
  answerFetchesFrom(image ? new Blob() : stdlib);
  useCompiled(module, poll, memory);
  return loadPyodide(
    /** @type {any} */ ({
      indexURL: NOWHERE,
      packageBaseUrl: NOWHERE,
      createPyodideModule: image ? restoring(asm.default, image) : asm.default,
      lockFileContents: EMPTY_LOCK,
      jsglobals: Object.freeze(Object.create(null)),
      stdin: () => null,
      _makeSnapshot: willMakeSnapshot,
      _loadSnapshot: image ? new Uint8Array() : undefined,
    }),
  );
}

/**
 * Pyodide restores a memory that it is given whole; the image writes less.
 * @param {(settings: any) => Promise<any>} create @param {MemoryImage} image
 */
function restoring(create, image) {
  return async (/** @type {any} */ settings) => {
    settings.INITIAL_MEMORY = image.layout.heapBytes;
    const module = await create(settings);
    module.API.restoreSnapshot = () => {
      image.writeTo(module);
      return image.layout.objects;
    };
    return module;
  };
}

/**
 * Emscripten asks for the folder of its script, and a blob has none. Where that throws, V8 reads the module, which is one
 * huge function, once more to say where it was.
 */
function giveBlobsAFolder() {
  self.URL = class extends URL {
    /** @param {string|URL} url @param {string|URL} [base] */
    constructor(url, base) {
      super(url, String(base).startsWith('blob:') ? NOWHERE : base);
    }
  };
}

/** @param {ArrayBuffer|Blob} stdlib */
function answerFetchesFrom(stdlib) {
  self.fetch = async (input) => {
    const url = String(input instanceof Request ? input.url : input);
    if (url.endsWith('.zip')) return new Response(stdlib);
    if (url.endsWith('.wasm')) return new Response('');
    throw new TypeError('this worker has no network');
  };
}

/**
 * Instantiate what was compiled once for all interpreters. Pyodide's own poll reads an element of a buffer; a getter
 * there costs more than twice as much on code with many calls as a function that takes the poll's place.
 * @param {WebAssembly.Module} module
 * @param {() => number} poll
 * @param {import('./memory-cap.js').MemoryCap} memory
 */
function useCompiled(module, poll, memory) {
  WebAssembly.instantiateStreaming = async (_response, imports) => {
    const env = /** @type {any} */ (imports).env;
    if (!(POLL_IMPORT in env)) throw new Error(`this Pyodide has no ${POLL_IMPORT}: the time limit would not work`);
    env[POLL_IMPORT] = poll;
    memory.watch(env);
    env.emscripten_get_now = restBetweenLooks(env.emscripten_get_now);
    return { module, instance: await WebAssembly.instantiate(module, imports) };
  };
}
