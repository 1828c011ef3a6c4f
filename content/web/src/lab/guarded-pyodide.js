// What the lab's kernels load as Pyodide: Pyodide, with our guard around it. The kernel's worker imports this module
// because jupyter-lite.json names it as pyodideUrl.

import { unpacked } from '../runner/parts-inbox.js';
import { restBetweenLooks } from '../runner/resting-clock.js';
import { KernelGuard } from './kernel-guard.js';

// From extensions/zero-ledger-guard/static/ to the site's root.
const PYODIDE = new URL('../../../static/pyodide/', import.meta.url).href;

/** @param {Record<string, any>} options the kernel's; its indexURL is the folder of this file, where no Pyodide lies */
export async function loadPyodide(options) {
  const [original, stdLibURL] = await Promise.all([import(/* @vite-ignore */ `${PYODIDE}pyodide.mjs`), unpackedUrl(options.stdLibURL)]);
  const pyodide = await withRestingSleep(() => original.loadPyodide({ ...options, indexURL: PYODIDE, stdLibURL }));
  URL.revokeObjectURL(stdLibURL);
  new KernelGuard(pyodide).listen();
  return pyodide;
}

/** @param {string} url of an archive, packed once more as a whole @returns {Promise<string>} where the archive can be had */
async function unpackedUrl(url) {
  const response = await fetch(url);
  if (!response.ok || !response.body) throw new Error(`${url}: HTTP ${response.status}`);
  return URL.createObjectURL(new Blob([await unpacked(response.body)]));
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
