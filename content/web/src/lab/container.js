// The extension as JupyterLab loads it: a module-federation container (webpack's protocol: init, get), written by hand
// because all it needs from JupyterLab is a handful of shared objects.

import { makeLessonsPlugin, makePlugin } from './extension.js';

const NAME = 'zero-ledger-guard';

/** @typedef {Record<string, Record<string, {get: () => Promise<() => any>}>>} ShareScope package → version → module */

/** @type {ShareScope} */
let scope = {};

/** @param {string} packageName @returns {Promise<any>} JupyterLab's own copy of the package, {} where the app has none */
async function shared(packageName) {
  const [version] = Object.values(scope[packageName] ?? {});
  return version ? (await version.get())() : {};
}

async function plugins() {
  const [liteServices, services, notebook, console_, translation, apputils] = await Promise.all(
    ['@jupyterlite/services', '@jupyterlab/services', '@jupyterlab/notebook', '@jupyterlab/console', '@jupyterlab/translation', '@jupyterlab/apputils'].map(shared),
  );
  const found = {
    IKernelClient: liteServices.IKernelClient,
    IDefaultDrive: services.IDefaultDrive,
    INotebookTracker: notebook.INotebookTracker,
    IConsoleTracker: console_.IConsoleTracker,
    ITranslator: translation.ITranslator,
    Notification: apputils.Notification,
  };
  return [makePlugin(found), makeLessonsPlugin(found)];
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
    const made = { __esModule: true, default: await plugins() };
    return () => made;
  },
};
