// A republished lesson is shown, whatever the reader's browser keeps. JupyterLite's own rule is that a copy in the browser
// outranks the site's file for ever. Here a copy that the reader has not changed gives way, and one that they have
// changed is kept beside the new text under a name of its own.

import { fingerprint, isEdited, isLesson, originOf, withWords } from './published.js';

/** @typedef {import('./published.js').Notebook} Notebook */
/** @typedef {{content: any, type: string, last_modified: string}} FileModel JupyterLab's, as far as it matters here */

/**
 * @typedef {object} Surroundings
 * @property {(path: string) => Promise<Notebook|null>} fetchPublished the site's notebook as it is now; null when it cannot be had
 * @property {(date: string, number: number) => string} copyWords what the kept copy's name says, from " (my copy 2026-11-29)"
 * @property {(path: string, copyPath: string) => void} onKept
 * @property {<T>(name: string, work: () => Promise<T>) => Promise<T>} lock one at a time, in all tabs where the browser can
 */

export class LessonDrive {
  /** @param {any} drive JupyterLite's drive over the browser's storage and the site's files @param {Surroundings} surroundings */
  constructor(drive, surroundings) {
    this.drive = drive;
    this.around = surroundings;
    this.get = drive.get.bind(drive);
    this.save = drive.save.bind(drive);
  }

  /** Puts itself in front of the drive's `get` and `save`. */
  attach() {
    this.drive.get = async (/** @type {string} */ path, /** @type {any} */ options) => {
      const model = await this.get(path, options);
      // Only a document that opens asks for this type; a checkpoint or a duplicate takes the file as it is.
      const opens = options?.content && options.type === 'notebook' && isLesson(path);
      return opens ? this.current(path, options, model) : model;
    };
    this.drive.save = async (/** @type {string} */ path, /** @type {any} */ model) => {
      if (isLesson(path) && model?.content?.cells) await this.keepWhatIsOverwritten(path, model.content);
      return this.save(path, model);
    };
  }

  /**
   * The file to open: `model`, unless the site has another version by now.
   * @param {string} path @param {any} options @param {FileModel} model @returns {Promise<FileModel>}
   */
  async current(path, options, model) {
    const published = await this.around.fetchPublished(path);
    if (!published || !isOutdated(model.content, published)) return model;
    return this.around.lock(path, async () => {
      const stored = await this.get(path, options); // another tab may have been here
      if (!isOutdated(stored.content, published)) return stored;
      try {
        if (isEdited(stored.content)) await this.keep(path, stored);
      } catch (error) {
        console.warn(`ZeRO Ledger: the copy of ${path} could not be set aside, so it stays: ${error}`);
        return stored;
      }
      await this.drive.delete(path);
      const fresh = await this.get(path, options);
      return { ...fresh, content: published };
    });
  }

  /** A second tab saves over the edits of the first: those are set aside too. @param {string} path @param {Notebook} notebook */
  async keepWhatIsOverwritten(path, notebook) {
    await this.around.lock(path, async () => {
      const stored = await this.get(path, { content: true }).catch(() => null);
      if (!stored || originOf(stored.content) === originOf(notebook) || !isEdited(stored.content)) return;
      if (fingerprint(stored.content) !== fingerprint(notebook)) await this.keep(path, stored);
    });
  }

  /** @param {string} path @param {FileModel} stored the reader's @returns {Promise<void>} */
  async keep(path, stored) {
    const date = localDate(stored.last_modified);
    const mark = fingerprint(stored.content);
    for (let number = 1; ; number += 1) {
      const copyPath = withWords(path, this.around.copyWords(date, number));
      const there = await this.get(copyPath, { content: true }).catch(() => null);
      if (there && fingerprint(there.content) !== mark) continue; // an earlier copy of that day
      if (!there) await this.save(copyPath, { type: 'notebook', format: 'json', name: copyPath.split('/').pop(), content: stored.content });
      this.around.onKept(path, copyPath);
      return;
    }
  }
}

/** Whether `notebook` began as another version than `published` and differs from it. @param {Notebook} notebook @param {Notebook} published */
function isOutdated(notebook, published) {
  return originOf(notebook) !== originOf(published) && fingerprint(notebook) !== fingerprint(published);
}

/** @param {string} moment an ISO date @returns {string} its day here, 2026-11-29 */
function localDate(moment) {
  const date = new Date(moment);
  const two = (/** @type {number} */ number) => String(number).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** @type {Map<string, Promise<unknown>>} */
const chains = new Map();

/** One work at a time for each name, in this page and, where the browser has locks, in all tabs. @type {Surroundings['lock']} */
export function oneAtATime(name, work) {
  const locks = globalThis.navigator?.locks;
  if (locks) return /** @type {Promise<any>} */ (locks.request(`zero-lesson ${name}`, work));
  const turn = (chains.get(name) ?? Promise.resolve()).then(work, work);
  chains.set(name, turn);
  return turn;
}
