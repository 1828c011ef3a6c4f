// What the lab's kernels load as Pyodide: Pyodide, with our guard around it. The kernel's worker imports this module
// because jupyter-lite.json names it as pyodideUrl.

import { KernelGuard } from './kernel-guard.js';

// From extensions/zero-ledger-guard/static/ to the site's root.
const PYODIDE = new URL('../../../static/pyodide/', import.meta.url).href;

/** @param {Record<string, any>} options the kernel's; its indexURL is the folder of this file, where no Pyodide lies */
export async function loadPyodide(options) {
  const original = await import(/* @vite-ignore */ `${PYODIDE}pyodide.mjs`);
  const pyodide = await original.loadPyodide({ ...options, indexURL: PYODIDE });
  new KernelGuard(pyodide).listen();
  return pyodide;
}
