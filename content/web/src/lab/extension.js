// The JupyterLab plugin: every kernel that starts on this page gets a guard, Stop works, and the reader is told.

import { storageLasts } from '../page/store.js';
import { StopFlag } from '../runner/stop-flag.js';
import { panelsOf, runningCell, writeIntoCell } from './cells.js';
import { LessonDrive, oneAtATime } from './lesson-drive.js';
import { Countdown, makeTexts } from './notices.js';
import { KEY, MAX_LIMIT_MS, TICK_MS } from './protocol.js';
import { KernelSupervisor } from './supervisor.js';
import { startTicker } from './ticker.js';

const INSTALL_WITHIN_MS = 20_000;
export const PLUGIN_ID = 'zero-ledger-guard:plugin';
export const LESSONS_PLUGIN_ID = 'zero-ledger-guard:lessons';

/**
 * @typedef {object} Shared what JupyterLab shares with its extensions
 * @property {any} IKernelClient
 * @property {any} IDefaultDrive
 * @property {any} INotebookTracker
 * @property {any} IConsoleTracker
 * @property {any} ITranslator
 * @property {any} Notification
 */

/** @param {Shared} shared @returns the plugin, as JupyterLab wants it */
export function makePlugin({ IKernelClient, INotebookTracker, IConsoleTracker, ITranslator, Notification }) {
  const optional = [INotebookTracker, IConsoleTracker, ITranslator].filter(Boolean); // an app may not have them all
  return {
    id: PLUGIN_ID,
    description: 'Ends cells and widget callbacks at 60 seconds, makes Stop work, shows the time left.',
    autoStart: true,
    requires: [IKernelClient],
    optional,
    activate(/** @type {any} */ _app, /** @type {any} */ client, /** @type {any[]} */ ...found) {
      const service = (/** @type {any} */ token) => found[optional.indexOf(token)] ?? null;
      const trackers = { notebooks: service(INotebookTracker), consoles: service(IConsoleTracker) };
      const text = makeTexts(service(ITranslator)?.languageCode ?? 'en');
      new Lab(client, trackers, text, Notification, limitFrom(location.search)).start();
    },
  };
}

/** @param {Shared} shared @returns the plugin that shows republished lessons, as JupyterLab wants it */
export function makeLessonsPlugin({ IDefaultDrive, ITranslator, Notification }) {
  return {
    id: LESSONS_PLUGIN_ID,
    description: 'Shows a republished lesson, keeps the copy that the reader has edited beside it, and says so where nothing can be kept.',
    autoStart: true,
    requires: [IDefaultDrive],
    optional: [ITranslator].filter(Boolean),
    activate(/** @type {any} */ app, /** @type {any} */ drive, /** @type {any} */ translator) {
      const text = makeTexts(translator?.languageCode ?? 'en');
      if (!storageLasts()) Notification.emit(text('lab.not_kept'), 'warning', { autoClose: false });
      const open = (/** @type {string} */ path) => app.commands.execute('docmanager:open', { path });
      new LessonDrive(drive, {
        fetchPublished: (path) => fetchPublished(`${drive.serverSettings.baseUrl}files/${path}`),
        copyWords: (date, number) => text('lab.copy_words', { date: number > 1 ? `${date} ${number}` : date }),
        lock: oneAtATime,
        onKept: (_path, copyPath) => Notification.emit(text('lab.republished', { name: copyPath.split('/').pop() ?? copyPath }), 'info', {
          autoClose: false,
          actions: [{ label: text('lab.open_copy'), callback: () => open(copyPath) }],
        }),
      }).attach();
    },
  };
}

/** @param {string} url @returns {Promise<any>} the notebook as it is on the site now; null when it cannot be had */
async function fetchPublished(url) {
  try {
    const response = await fetch(url, { cache: 'no-cache' });
    return response.ok ? await response.json() : null;
  } catch {
    return null; // offline, or no notebook
  }
}

/** @param {string} search the URL's query; `zero-limit=5` asks for a limit of 5 s, and can only shorten it @returns {number} ms */
export function limitFrom(search) {
  const seconds = Number(new URLSearchParams(search).get('zero-limit') ?? NaN);
  return seconds > 0 ? Math.min(seconds * 1000, MAX_LIMIT_MS) : MAX_LIMIT_MS;
}

/** All kernels of this page. */
class Lab {
  /**
   * @param {any} client JupyterLite's kernels @param {import('./cells.js').Trackers} trackers
   * @param {ReturnType<typeof makeTexts>} text @param {any} notification JupyterLab's @param {number} limitMs
   */
  constructor(client, trackers, text, notification, limitMs) {
    this.client = client;
    this.trackers = trackers;
    this.text = text;
    this.notification = notification;
    this.limitMs = limitMs;
    this.countdown = new Countdown(text);
    /** @type {Map<string, KernelSupervisor>} by kernel id */
    this.supervisors = new Map();
  }

  start() {
    this.client.changed.connect((/** @type {any} */ _sender, /** @type {any} */ change) => {
      if (change.type === 'add') this.attach(change.newValue);
      if (change.type === 'remove') this.forget(change.key);
    });
    const interrupt = this.client.interrupt.bind(this.client);
    this.client.interrupt = (/** @type {string} */ id) => {
      this.supervisors.get(id)?.stop();
      return interrupt(id); // takes the cells behind this one out of the queue
    };
    startTicker(TICK_MS, () => this.tick());
  }

  /** @param {any} kernel JupyterLite's, not ready yet; its worker and its `ready` are where the guard comes in */
  attach(kernel) {
    const worker = kernel._worker;
    if (!worker) return; // not a kernel that runs in a worker
    const supervisor = new KernelSupervisor({
      limitMs: this.limitMs,
      now: () => performance.now(),
      post: (message) => worker.postMessage({ [KEY]: message }),
      makeFlag: () => new StopFlag(),
      restart: (reason) => this.restart(kernel.id, reason),
      onEnded: (kind, reason) => this.tellEnded(kind, reason),
    });
    this.supervisors.set(kernel.id, supervisor);
    worker.addEventListener('message', (/** @type {MessageEvent} */ event) => {
      if (event.data?.[KEY]) supervisor.receive(event.data[KEY]);
    });
    guardBefore(kernel, () => supervisor.install());
    const handleMessage = kernel.handleMessage.bind(kernel);
    kernel.handleMessage = (/** @type {any} */ message) => supervisor.follow(handleMessage(message));
  }

  /** @param {string} id */
  forget(id) {
    const supervisor = this.supervisors.get(id);
    if (!supervisor) return;
    supervisor.isOver = true;
    this.countdown.hide(supervisor);
    this.supervisors.delete(id);
  }

  tick() {
    for (const supervisor of [...this.supervisors.values()]) {
      this.countdown.show(supervisor, supervisor.tick(), () => supervisor.stop());
    }
  }

  /** @param {string} id @param {import('./supervisor.js').RestartReason} reason */
  async restart(id, reason) {
    const panels = panelsOf(this.trackers, id);
    const cell = runningCell(panels);
    const why = this.text(`lab.restarted_${reason}`, { limit: this.limitMs / 1000 });
    const words = `${this.text('lab.restarted')} ${why} ${this.text('lab.restarted_what_now')}`;
    if (panels.length > 0) await panels[0].sessionContext.restartKernel();
    else await this.client.restart(id);
    if (cell) writeIntoCell(cell, words);
    this.notification.emit(this.text('lab.restarted'), 'warning', { autoClose: false });
  }

  /**
   * A cell shows its own traceback; a widget callback has no place of its own to say it.
   * @param {import('./protocol.js').RunKind} kind @param {import('./protocol.js').EndReason} reason
   */
  tellEnded(kind, reason) {
    if (kind !== 'callback') return;
    this.notification.emit(this.text(`lab.callback_${reason}`, { limit: this.limitMs / 1000 }), 'warning', { autoClose: false });
  }
}

/** Makes the kernel ready only when `install` is done too, or has failed. @param {any} kernel @param {() => Promise<void>} install */
function guardBefore(kernel, install) {
  const guarded = kernel.ready.then(() => {
    const late = new Promise((_, reject) => setTimeout(() => reject(new Error('no answer')), INSTALL_WITHIN_MS));
    return Promise.race([install(), late]).catch((error) => {
      console.warn(`ZeRO Ledger: this kernel runs without its guard: ${error.message}`);
    });
  });
  guarded.catch(() => {}); // a kernel disposed before it was ready; whoever waits for it is told
  Object.defineProperty(kernel, 'ready', { get: () => guarded });
}
