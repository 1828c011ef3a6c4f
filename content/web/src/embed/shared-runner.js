// One Python for all frames of the site on one page. The first frame that needs Python starts the runner; the others,
// which have the same origin, use that one. Runs queue there. Every run gets an interpreter of its own that no other
// run has used, so that one embed's code finds nothing of another's. Sandboxed frames have no common origin: each has
// its own runner, and starts it on a click only.

import { Runner } from '../runner/client.js';
import { siblings } from './scope.js';

const WATCH_LEADER_MS = 1000;
const SITE_SESSIONS = ['timeline', 'explorer']; // the site's own programs, which go on where they left off
const ATTRIBUTE = 'zeroLedgerRunner'; // where a frame keeps the runner that it lends

/** @typedef {import('../runner/client.js').RunOptions} RunOptions */
/** @typedef {import('../runner/protocol.js').RunResult} RunResult */

export class SharedRunner extends EventTarget {
  /**
   * @param {URL|string} siteBase @param {Window} frame this page's window
   * @param {{session: string, sharesVariables: boolean, isLazy: boolean, fetch?: typeof fetch}} options `session`: prefix of the
   *   names of this frame's sessions; `isLazy`: load nothing before the first run
   */
  constructor(siteBase, frame, { session, sharesVariables, isLazy, ...options }) {
    super();
    this.siteBase = new URL(siteBase, document.baseURI);
    this.frame = frame;
    this.sessionPrefix = session;
    this.sharesVariables = sharesVariables;
    this.isLazy = isLazy;
    this.options = options;
    /** @type {{runner: Runner, owner: Window}|null} */
    this.leader = null;
  }

  /** Readers' code finds no variables of an earlier run, unless embeds were told to share. */
  get isAlwaysFresh() {
    return !this.sharesVariables;
  }

  get status() {
    return this.leader?.runner.status ?? { state: /** @type {const} */ ('idle'), step: null, loadedBytes: 0, totalBytes: 0, message: '' };
  }

  get state() {
    return this.status.state;
  }

  start() {
    if (!this.isLazy) this.connect().start();
  }

  stop() {
    this.leader?.runner.stop();
  }

  /**
   * As Runner.run. Sessions of other frames are out of reach, and a reader's code runs in a fresh interpreter.
   * @param {string} source @param {RunOptions} [options] @returns {Promise<RunResult>}
   */
  run(source, options = {}) {
    const runner = this.connect();
    const session = `${this.sessionPrefix}/${options.session ?? 'page'}`;
    const fresh = options.fresh || (this.isAlwaysFresh && !SITE_SESSIONS.includes(options.session ?? ''));
    const running = runner.run(source, { ...options, session, fresh });
    if (this.leader?.owner === this.frame) return running;
    return Promise.race([running, this.leaderIsGone()]);
  }

  /** The runner to use: a living sibling's, else this frame's own. @returns {Runner} */
  connect() {
    if (this.leader && !this.leader.owner.closed) return this.leader.runner;
    this.leader = this.findLeader() ?? this.becomeLeader();
    this.leader.runner.addEventListener('state', (event) => {
      this.dispatchEvent(new CustomEvent('state', { detail: /** @type {CustomEvent} */ (event).detail }));
    });
    return this.leader.runner;
  }

  findLeader() {
    if (this.frame.parent === this.frame) return null;
    for (const other of siblings(this.frame)) {
      const runner = lentBy(other, this.siteBase.href);
      if (runner) return { runner, owner: other };
    }
    return null;
  }

  becomeLeader() {
    const runner = new Runner(this.siteBase, this.options);
    /** @type {any} */ (this.frame)[ATTRIBUTE] = runner;
    return { runner, owner: this.frame };
  }

  /** When the embedding page removes the frame that holds Python, its runs never end by themselves. @returns {Promise<RunResult>} */
  leaderIsGone() {
    const { leader } = this;
    return new Promise((resolve) => {
      const timer = setInterval(() => {
        if (!leader?.owner.closed) return;
        clearInterval(timer);
        const error = 'the frame that held Python was removed from the page';
        resolve({ status: 'crashed', value: null, error, errorType: 'LoadError', elapsedMs: 0, stateKept: false, truncated: false, picture: null });
      }, WATCH_LEADER_MS);
    });
  }
}

/** @param {Window} other @param {string} siteBase @returns {Runner|null} */
function lentBy(other, siteBase) {
  try {
    const runner = /** @type {any} */ (other)[ATTRIBUTE];
    return runner?.siteBase.href === siteBase ? runner : null;
  } catch {
    return null; // a frame of another origin
  }
}
