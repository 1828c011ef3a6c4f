// The editor as a classic script of its own: load-editor.js picks it up.
import * as editor from '../cell/editor.js';

/** @type {any} */ (globalThis).zeroEditor = editor;
