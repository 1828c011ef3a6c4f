// The extension as JupyterLab loads it: a module-federation container (webpack's protocol: init, get), written by hand
// because all it needs from JupyterLab is a handful of shared objects.

import { makePlugin } from './extension.js';

const NAME = 'zero-ledger-guard';

/** @typedef {Record<string, Record<string, {get: () => Promise<() => any>}>>} ShareScope package → version → module */

/** @type {ShareScope} */
let scope = {};

/** @param {string} packageName @returns {Promise<any>} JupyterLab's own copy of the package, {} where the app has none */
async function shared(packageName) {
  const [version] = Object.values(scope[packageName] ?? {});
  return version ? (await version.get())() : {};
}

async function plugin() {
  const [services, notebook, console_, translation, apputils] = await Promise.all(
    ['@jupyterlite/services', '@jupyterlab/notebook', '@jupyterlab/console', '@jupyterlab/translation', '@jupyterlab/apputils'].map(shared),
  );
  return makePlugin({
    IKernelClient: services.IKernelClient,
    INotebookTracker: notebook.INotebookTracker,
    IConsoleTracker: console_.IConsoleTracker,
    ITranslator: translation.ITranslator,
    Notification: apputils.Notification,
  });
}

const lab = /** @type {any} */ (window);
lab._JUPYTERLAB ??= {};
lab._JUPYTERLAB[NAME] = {
  /** @param {ShareScope} shareScope */
  init(shareScope) {
    scope = shareScope;
  },
  /** @param {string} name */
  async get(name) {
    if (name !== './extension') throw new Error(`${NAME} has no module ${name}`);
    const made = { __esModule: true, default: await plugin() };
    return () => made;
  },
};
