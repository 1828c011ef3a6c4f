// What the lab's kernels load as Pyodide: Pyodide, with our guard around it. The kernel's worker imports this module
// because jupyter-lite.json names it as pyodideUrl.

import { restBetweenLooks } from '../runner/resting-clock.js';
import { KernelGuard } from './kernel-guard.js';

// From extensions/zero-ledger-guard/static/ to the site's root.
const PYODIDE = new URL('../../../static/pyodide/', import.meta.url).href;

/** @param {Record<string, any>} options the kernel's; its indexURL is the folder of this file, where no Pyodide lies */
export async function loadPyodide(options) {
  const original = await import(/* @vite-ignore */ `${PYODIDE}pyodide.mjs`);
  const pyodide = await withRestingSleep(() => original.loadPyodide({ ...options, indexURL: PYODIDE }));
  new KernelGuard(pyodide).listen();
  return pyodide;
}

/** @param {() => Promise<any>} load which instantiates Python's WebAssembly module */
async function withRestingSleep(load) {
  const { instantiateStreaming } = WebAssembly;
  WebAssembly.instantiateStreaming = (response, imports) => {
    const { env } = /** @type {any} */ (imports);
    if (env?.emscripten_get_now) env.emscripten_get_now = restBetweenLooks(env.emscripten_get_now);
    return instantiateStreaming.call(WebAssembly, response, imports);
  };
  try {
    return await load();
  } finally {
    WebAssembly.instantiateStreaming = instantiateStreaming;
  }
}
