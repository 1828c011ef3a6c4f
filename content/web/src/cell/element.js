// <zero-cell>: Python that the reader can change and run. The code between the tags is the original; without
// JavaScript it is shown as it stands.
// Attributes: limit (seconds, at most 60), fresh, session, cell-id (else id).
// Events: zero-run with the RunResult as detail, when a run is over.

import { runnerFor } from '../runner/client.js';
import { MAX_LIMIT_MS } from '../runner/protocol.js';
import { loadEditor } from './load-editor.js';
import { endedWithPage, hasNoPython, noticeOf } from './notice.js';
import { OutputView } from './output-view.js';
import { imageOf } from './picture.js';
import { SavedCode, digest } from './saved-code.js';
import { LinkError, MAX_FRAGMENT_CHARS } from './share-link.js';
import { copyText, shareAddress } from './sharing.js';
import { siteBase } from './site.js';
import { languageOf, text } from './strings.js';
import { UnfinishedRun } from './unfinished-run.js';
import { buildView, showCodeNotice, showNotice } from './view.js';
import { whenNear } from './when-near.js';

/** @typedef {import('../runner/protocol.js').RunResult} RunResult */
/** @typedef {ReturnType<typeof import('./editor.js').createEditor>} Editor */

const SAVE_DELAY_MS = 300;
const BYTES_PER_MB = 1e6;
const ALT_CHARS = 500;

export class ZeroCell extends HTMLElement {
  constructor() {
    super();
    /** @type {Editor|null} */
    this.editor = null;
    this.original = '';
    this.code = '';
    this.active = false;
    this.stopClicked = false;
    this.built = false;
    /** @type {Promise<typeof import('./editor.js')>|null} */
    this.loadingEditor = null;
    this.runner = runnerFor(siteBase);
    this.onRunnerState = () => this.showRunnerState();
    this.onPageHide = () => {
      this.saveNow();
      this.unfinished?.end();
    };
  }

  connectedCallback() {
    this.runner.addEventListener('state', this.onRunnerState);
    addEventListener('pagehide', this.onPageHide);
    if (!this.built) this.build();
    this.stopWatching = whenNear(this, () => this.prepare());
  }

  disconnectedCallback() {
    this.runner.removeEventListener('state', this.onRunnerState);
    removeEventListener('pagehide', this.onPageHide);
    this.saveNow();
    this.stopWatching?.();
    if (this.active) this.stop();
  }

  build() {
    this.built = true;
    this.language = languageOf(this);
    this.original = originalCode(this);
    this.saved = new SavedCode(location.pathname, this.cellId, this.original);
    this.code = this.saved.read();
    const root = this.attachShadow({ mode: 'open' });
    this.view = buildView(root, this.say);
    this.output = new OutputView(this.view.output, (chars) => this.say('cell.line_cut', { chars }));
    this.showPlainCode();
    const { run, stop, reset, copy, code } = this.view;
    run.addEventListener('click', () => this.run());
    stop.addEventListener('click', () => this.stop());
    reset.addEventListener('click', () => this.reset());
    copy.addEventListener('click', () => this.copyCode());
    this.view.share.addEventListener('click', () => this.share());
    code.addEventListener('pointerdown', () => this.prepare(), { once: true });
    this.showEdited();
    this.offerEarlier();
    this.setStatus('');
    this.unfinished = new UnfinishedRun(location.pathname, this.cellId);
    if (this.unfinished.take()) showNotice(this.view.notice, endedWithPage(this.say), this.say, () => this.run());
  }

  /** @type {import('./notice.js').Say} */
  say = (key, fields) => text(this.language ?? 'en', key, fields);

  /** @returns {string} the code as it stands */
  get source() {
    return this.code;
  }

  set source(code) {
    this.code = code;
    if (this.editor) this.editor.setCode(code);
    else if (this.built) this.showPlainCode();
    this.onEdited();
  }

  get cellId() {
    return this.getAttribute('cell-id') ?? this.id ?? '';
  }

  /** @returns {number} seconds */
  get limitSeconds() {
    const limit = Number(this.getAttribute('limit'));
    return limit > 0 ? Math.min(limit, MAX_LIMIT_MS / 1000) : MAX_LIMIT_MS / 1000;
  }

  /** Before the editor is there: the page's own highlighted code if it is the original, else plain text. */
  showPlainCode() {
    const plain = document.createElement('pre');
    plain.className = 'plain';
    const slotted = this.code === this.original && this.querySelector('pre');
    if (slotted) this.view?.code.replaceChildren(document.createElement('slot'));
    else {
      plain.textContent = this.code;
      this.view?.code.replaceChildren(plain);
    }
  }

  /** The cell is near or in use: load the editor, and Python unless the reader saves data. */
  prepare() {
    this.stopWatching?.();
    this.loadEditor();
    const { connection } = /** @type {any} */ (navigator);
    if (!connection?.saveData) onceIdle(() => this.runner.start());
  }

  async loadEditor() {
    this.loadingEditor ??= loadEditor();
    const { createEditor } = await this.loadingEditor;
    if (this.editor || !this.view) return;
    const holder = document.createElement('div');
    this.editor = createEditor(holder, {
      code: this.code,
      label: this.say('cell.editor_label'),
      root: /** @type {ShadowRoot} */ (this.shadowRoot),
      onRun: () => this.run(),
      onChange: (code) => {
        this.code = code;
        this.onEdited();
      },
    });
    const focused = this.hasFocusedCode();
    this.view.code.replaceChildren(holder);
    if (focused) this.editor.focus();
  }

  /** Whether the plain code, which can have the focus to be scrolled, has it. */
  hasFocusedCode() {
    const within = this.shadowRoot?.activeElement ?? document.activeElement;
    return within !== null && within !== this && (this.contains(within) || Boolean(this.view?.code.contains(within)));
  }

  onEdited() {
    this.showEdited();
    clearTimeout(this.saveTimer);
    this.saveTimer = setTimeout(() => this.saveNow(), SAVE_DELAY_MS);
  }

  /** Keeps what was typed a moment ago: the page may be about to go. */
  saveNow() {
    clearTimeout(this.saveTimer);
    if (this.saveTimer) this.saved?.write(this.code);
    this.saveTimer = undefined;
  }

  /** Where the page's code has changed since the reader edited it, that edit is offered, once a visit. */
  offerEarlier() {
    const earlier = this.cellId ? this.saved?.earlier() : null;
    if (!earlier || !this.view) return;
    showCodeNotice(this.view.aside, this.say('cell.earlier.notice'), [
      [this.say('cell.earlier.show'), () => this.takeEarlier(earlier)],
      [this.say('cell.earlier.forget'), () => this.endOffer(earlier.forget, 'cell.earlier.forgotten')],
    ]);
  }

  /** @param {{code: string, forget: () => void}} earlier */
  takeEarlier({ code, forget }) {
    this.source = code;
    this.saveNow();
    const isKept = this.saved?.read() === code; // storage may be full
    this.endOffer(isKept ? forget : () => {}, 'cell.earlier.shown');
  }

  /** @param {() => void} forget @param {string} words for screen readers */
  endOffer(forget, words) {
    forget();
    if (this.view) this.view.aside.hidden = true;
    this.announce(this.say(words));
    this.view?.run.focus();
  }

  /** Show code that came by a link, and say so. It does not run, and the reader's own copy stays as it is. @param {string} code */
  showFromLink(code) {
    if (!this.saved || !this.view) return;
    this.saveNow();
    const { saved, original } = this;
    this.show(new SavedCode(location.pathname, `${this.cellId}:link:${digest(code)}`, code), code);
    const back = /** @type {[string, () => void][]} */ (original ? [[this.say('cell.link.back'), () => this.goBack(saved, original)]] : []);
    showCodeNotice(this.view.aside, this.say(original ? 'cell.link.notice_own' : 'cell.link.notice'), back);
  }

  /** @param {SavedCode} saved @param {string} original */
  goBack(saved, original) {
    this.saveNow();
    this.show(saved, original);
    if (this.view) this.view.aside.hidden = true;
    history.replaceState(null, '', location.href.replace(/#.*/, ''));
    this.announce(this.say('cell.link.own_is_back'));
    this.view?.run.focus();
  }

  /** @param {SavedCode} saved where edits go from now on @param {string} original */
  show(saved, original) {
    this.original = original;
    this.source = saved.read();
    this.saved = saved;
    clearTimeout(this.saveTimer);
    this.saveTimer = undefined;
  }

  /** Copy a link to the code as it stands; where copying is not allowed, show it. */
  async share() {
    try {
      const address = await shareAddress({ cell: this.cellId, code: this.code });
      await this.offer(address);
    } catch (error) {
      if (!(error instanceof LinkError)) throw error;
      this.tell(this.say('cell.link.too_large', { size: error.size, limit: MAX_FRAGMENT_CHARS }));
    }
  }

  /** @param {string} address */
  async offer(address) {
    const field = this.view?.link;
    if (!field) return;
    field.value = address;
    field.hidden = false;
    const copied = await copyText(address);
    this.tell(this.say(copied ? 'cell.link.copied' : 'cell.link.select'));
    if (copied) return;
    field.focus();
    field.select();
  }

  showEdited() {
    if (this.view) this.view.reset.hidden = this.code === this.original;
  }

  reset() {
    this.source = this.original;
    this.saved?.write(this.original);
    this.announce(this.say('cell.was_reset'));
    this.view?.run.focus();
  }

  async copyCode() {
    this.tell(this.say((await copyText(this.code)) ? 'cell.copied' : 'cell.copy_failed'));
  }

  /** Run the code. A second call while one waits or runs does nothing. @returns {Promise<RunResult|undefined>} */
  async run() {
    if (this.active || !this.view || !this.output) return undefined;
    this.active = true;
    this.stopClicked = false;
    this.aborter = new AbortController();
    this.clearResults();
    this.showButtons();
    this.loadEditor();
    const fresh = this.hasAttribute('fresh') || Boolean(/** @type {any} */ (this.runner).isAlwaysFresh);
    const options = {
      limitMs: this.limitSeconds * 1000,
      fresh,
      signal: this.aborter.signal,
      session: this.getAttribute('session') ?? 'page',
      onStart: () => this.onStart(),
      onOutput: (/** @type {'out'|'err'} */ kind, /** @type {string} */ piece) => this.output?.add(kind, piece),
      onCountdown: (/** @type {number} */ secondsLeft) => this.setStatus(this.say('cell.countdown', { seconds: secondsLeft })),
    };
    this.unfinished?.begin();
    const running = this.runner.run(this.code, options);
    this.showRunnerState();
    const result = await running;
    this.unfinished?.end();
    this.active = false;
    clearInterval(this.clock);
    this.showResult(result, fresh);
    this.dispatchEvent(new CustomEvent('zero-run', { detail: result, bubbles: true }));
    return result;
  }

  stop() {
    this.stopClicked = true;
    this.aborter?.abort();
  }

  onStart() {
    const startedAt = performance.now();
    this.started = true;
    const tick = () => {
      const seconds = Math.floor((performance.now() - startedAt) / 1000);
      if (seconds < 10) this.setStatus(this.say('cell.running', { seconds }));
    };
    tick();
    this.clock = setInterval(tick, 1000);
    this.announce(this.say('cell.running_started'));
  }

  clearResults() {
    this.started = false;
    this.output?.clear();
    const { picture, value, traceback, notice } = this.view ?? {};
    for (const part of [picture, value, traceback, notice]) if (part) part.hidden = true;
    if (picture) URL.revokeObjectURL(picture.src);
  }

  /** @param {RunResult} result @param {boolean} fresh */
  showResult(result, fresh) {
    const { view, output } = this;
    if (!view || !output) return;
    const hadFocus = this.shadowRoot?.activeElement === view.stop;
    output.finish();
    const isDrawn = result.picture !== null && this.showPicture(result.picture, result.value);
    showText(view.value, result.status === 'ok' && !isDrawn ? result.value : null);
    showText(view.traceback, hasNoPython(result) ? null : result.error);
    const run = { limitSeconds: this.limitSeconds, stopClicked: this.stopClicked, fresh };
    const notice = noticeOf(result, run, this.say);
    if (notice) showNotice(view.notice, notice, this.say, () => this.run());
    this.showButtons();
    if (hadFocus) view.run.focus();
    view.progress.hidden = true;
    const seconds = formatSeconds(result.elapsedMs);
    this.setStatus(this.started ? this.say(notice ? 'cell.ended_after' : 'cell.done_in', { seconds }) : '');
    this.announce(notice ? [notice.title, ...notice.lines].join(' ') : this.say('cell.done_in', { seconds }));
  }

  /**
   * @param {import('../runner/protocol.js').Picture} picture @param {unknown} value the same as text
   * @returns {boolean} false if it cannot be shown; the output says so
   */
  showPicture(picture, value) {
    const image = imageOf(picture);
    const box = this.view?.picture;
    if (!image || !box) {
      this.output?.add('err', this.say('cell.picture_refused'));
      this.output?.flush();
      return false;
    }
    box.src = URL.createObjectURL(image.blob);
    box.alt = image.title || String(value).slice(0, ALT_CHARS);
    box.hidden = false;
    return true;
  }

  showButtons() {
    if (!this.view) return;
    this.view.run.hidden = this.active;
    this.view.stop.hidden = !this.active;
    if (this.active && this.shadowRoot?.activeElement === null && document.activeElement === this) this.view.stop.focus();
  }

  /** While Python loads, say so: to a reader who waits, in words; to others only by the bar. */
  showRunnerState() {
    const { view } = this;
    if (!view || !this.active || this.started) return;
    const { state, step, loadedBytes, totalBytes } = this.runner.status;
    view.progress.hidden = state !== 'loading';
    if (state === 'loading' && step === 'fetching') {
      view.progress.max = totalBytes || 1;
      view.progress.value = loadedBytes;
      const fields = { loaded: inMB(loadedBytes), total: inMB(totalBytes) };
      this.setStatus(this.say('cell.loading', fields));
    } else if (state === 'loading') {
      view.progress.removeAttribute('value');
      this.setStatus(this.say('cell.starting'));
    } else if (state === 'running') {
      this.setStatus(this.say('cell.queued'));
    }
    if (state === 'loading' && !this.saidLoading) {
      this.saidLoading = true;
      this.announce(this.say('cell.will_run'));
    }
  }

  /** @param {string} message */
  setStatus(message) {
    if (this.view) this.view.status.textContent = message;
  }

  /** @param {string} message for everybody */
  tell(message) {
    this.setStatus(message);
    this.announce(message);
  }

  /** @param {string} message for screen readers; not for every tick of the clock */
  announce(message) {
    if (this.view) this.view.announcer.textContent = message;
  }
}

/** @param {HTMLElement} element @returns {string} the code between the tags, without the newlines around it */
function originalCode(element) {
  return (element.textContent ?? '').replace(/^\s*\n/, '').trimEnd();
}

/** @param {HTMLElement} element @param {string|null} content */
function showText(element, content) {
  element.textContent = content ?? '';
  element.hidden = content === null || content === undefined;
}

/** @param {() => void} work */
function onceIdle(work) {
  if ('requestIdleCallback' in window) requestIdleCallback(work, { timeout: 2000 });
  else setTimeout(work, 200);
}

/** @param {number} bytes */
function inMB(bytes) {
  return (bytes / BYTES_PER_MB).toFixed(1);
}

/** @param {number} ms @returns {string} seconds, with as many digits as say something */
function formatSeconds(ms) {
  return (ms / 1000).toFixed(ms < 10_000 ? 2 : 1);
}

if (!customElements.get('zero-cell')) customElements.define('zero-cell', ZeroCell);
