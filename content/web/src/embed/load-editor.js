// Stands for cell/load-editor.js in a classic script, which cannot import: the editor is another classic script.

import { bundledFile } from '../site-files.js';

/** @returns {Promise<typeof import('../cell/editor.js')>} */
export function loadEditor() {
  return new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = bundledFile('cell-editor.js').href;
    script.onload = () => resolve(/** @type {any} */ (globalThis).zeroEditor);
    script.onerror = () => reject(new Error('the editor could not be loaded'));
    document.head.append(script);
  });
}
