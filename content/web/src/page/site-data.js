// Data files of the site. A page fetches the JSON; a frame without an origin cannot, and loads the twin that is a script.

import { bundledFile } from '../site-files.js';

/** @type {Map<string, (data: any) => void>} */
const waiting = new Map();

/** Such a frame's origin is "null": on a plain static host it may fetch nothing, not even its own files. */
export const hasOrigin = globalThis.origin !== 'null';

/**
 * The answer file <name>.json.
 * @param {string} name "exercises/zero1-20b-4" @returns {Promise<any>} rejects with an Error that says why
 */
export async function siteData(name) {
  if (!hasOrigin) return scriptData(name);
  const response = await fetch(bundledFile(`${name}.json`));
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`.trim());
  return response.json();
}

/**
 * What data/<name>.js hands to zeroData(name, data).
 * @param {string} name @returns {Promise<any>}
 */
export function scriptData(name) {
  /** @type {any} */ (globalThis).zeroData = (/** @type {string} */ given, /** @type {any} */ data) => {
    waiting.get(given)?.(data);
    waiting.delete(given);
  };
  return new Promise((resolve, reject) => {
    waiting.set(name, resolve);
    const script = document.createElement('script');
    script.src = bundledFile(`data/${name}.js`).href;
    script.onload = () => {
      script.remove();
      if (waiting.delete(name)) reject(new Error(`${name}.js holds something else`));
    };
    script.onerror = () => {
      script.remove();
      waiting.delete(name);
      reject(new Error(`${name}.js could not be loaded`));
    };
    document.head.append(script);
  });
}
