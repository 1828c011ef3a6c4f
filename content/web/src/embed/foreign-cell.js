// <zero-cell> for other people's pages, in one file: <script type="module" src="…/static/zero/zero-cell.js"></script>.
// The code between the tags becomes a live cell in a frame of this site, so that nothing it does touches the page.
// Where scripts are off, the code stands there as it was written.

import { encodeShared } from '../cell/share-link.js';
import { PROTOCOL, problemWith } from './messages.js';

const INPUTS = ['P', 'N', 'stage', 'model', 'card'];
const PASSED_ON = ['lang', 'theme', 'autorun', 'state', 'name', 'seed', ...INPUTS];
const MAX_HEIGHT_PX = 20_000;
const LINE_PX = 23;
const AROUND_CODE_PX = 110;

/** Where this file lies. A module has no currentScript, a classic script no import.meta; this works as either. */
function siteOfScript() {
  const script = /** @type {HTMLScriptElement|null} */ (document.currentScript ?? document.querySelector('script[src*="static/zero/zero-cell.js"]'));
  return new URL('../../', script?.src ?? location.href);
}

const site = siteOfScript();

class ForeignCell extends HTMLElement {
  connectedCallback() {
    if (this.shadowRoot) return;
    // While the page is still being parsed, the code is not there yet.
    if (document.readyState === 'loading') addEventListener('DOMContentLoaded', () => this.build(), { once: true });
    else this.build();
  }

  async build() {
    if (this.shadowRoot) return;
    const root = this.attachShadow({ mode: 'open' });
    root.adoptedStyleSheets = [styleSheet()];
    try {
      const frame = await this.makeFrame();
      // In the page's own tree: frames of one page find each other, and share Python, through window.frames, which
      // leaves out those in shadow trees. The slot shows this child alone.
      frame.slot = 'frame';
      const slot = document.createElement('slot');
      slot.name = 'frame';
      root.append(slot);
      this.append(frame);
    } catch (error) {
      const words = document.createElement('p');
      words.setAttribute('role', 'alert');
      words.textContent = `zero-cell: ${error instanceof Error ? error.message : error}`;
      root.append(words, document.createElement('slot')); // the code as it stands
    }
  }

  async makeFrame() {
    const code = this.item ? undefined : codeOf(this);
    const address = new URL('cell/', site);
    address.searchParams.set('id', this.item ?? 'code');
    for (const name of PASSED_ON) {
      const value = this.getAttribute(name) ?? (name === 'lang' ? this.closest('[lang]')?.getAttribute('lang')?.replace(/^zh.*/i, 'zh-CN').replace(/^en.*/i, 'en') : null);
      if (value !== null && value !== undefined && (name !== 'lang' || /^(en|zh|zh-CN)$/.test(value))) address.searchParams.set(name, value);
    }
    const shared = { code, ...taskOf(this) };
    const hash = Object.values(shared).some((one) => one !== undefined) ? await encodeShared(shared).catch((error) => {
      throw error.reason === 'too-large' ? new Error(`the code is too long for an address: ${error.size} characters, at most 8192`) : error;
    }) : '';
    const frame = document.createElement('iframe');
    frame.title = this.getAttribute('title') ?? 'Python';
    frame.loading = 'lazy';
    frame.allow = 'clipboard-write';
    if (this.hasAttribute('sandboxed')) frame.setAttribute('sandbox', 'allow-scripts');
    frame.style.height = `${AROUND_CODE_PX + LINE_PX * (code ?? '').split('\n').length}px`;
    frame.src = address.href + hash;
    const origin = this.hasAttribute('sandboxed') ? 'null' : site.origin;
    frame.addEventListener('load', () => {
      const wants = ['height', ...(this.getAttribute('wants') ?? '').split(' ')];
      frame.contentWindow?.postMessage({ zero: PROTOCOL, type: 'hello', wants }, '*');
    });
    addEventListener('message', (event) => this.receive(event, frame, origin));
    return frame;
  }

  /** @returns {string|null} id of an item of the site, in place of code */
  get item() {
    return this.getAttribute('item');
  }

  /** @param {MessageEvent} event @param {HTMLIFrameElement} frame @param {string} origin */
  receive({ source, origin: from, data }, frame, origin) {
    if (source !== frame.contentWindow || from !== origin || problemWith(data)) return;
    if (data.type === 'height') frame.style.height = `${Math.min(data.height, MAX_HEIGHT_PX)}px`;
    this.dispatchEvent(new CustomEvent('zero-ledger', { bubbles: true, detail: data }));
  }
}

/** A sheet made by script, which a page's content security policy does not forbid as it does <style>. */
function styleSheet() {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(':host{display:block;margin:1em 0}::slotted(iframe){display:block;width:100%;border:0;color-scheme:normal}[role=alert]{margin:0 0 .5em;border-left:3px solid;padding-left:.6em}');
  return sheet;
}

/** The code: of the first <pre> that is no solution, else all text that is in no <details>. @param {HTMLElement} element */
function codeOf(element) {
  const pre = element.querySelector(':scope > pre, :scope > code');
  const text = pre ? pre.textContent : [...element.childNodes].filter((node) => node.nodeName !== 'DETAILS').map((node) => node.textContent).join('');
  return dedent((text ?? '').replace(/^\s*\n/, '').trimEnd());
}

/** @param {string} code */
function dedent(code) {
  const lines = code.split('\n');
  const common = Math.min(...lines.filter((line) => line.trim()).map((line) => line.length - line.trimStart().length));
  return Number.isFinite(common) ? lines.map((line) => line.slice(common)).join('\n') : code;
}

/** @param {HTMLElement} element @returns {import('../cell/share-link.js').Shared} */
function taskOf(element) {
  const inside = (/** @type {Element} */ details) => [...details.childNodes].filter((node) => node.nodeName !== 'SUMMARY').map((node) => node.textContent).join('').trim();
  const hints = [...element.querySelectorAll('details[data-hint]')].map(inside);
  const solution = element.querySelector('details[data-solution]');
  const tolerance = Number(element.getAttribute('tolerance') ?? NaN);
  return {
    expect: element.getAttribute('expect') ?? undefined,
    tolerance: tolerance >= 0 ? tolerance : undefined,
    hints: hints.length ? hints : undefined,
    solution: solution ? dedent(inside(solution)) : undefined,
  };
}

if (!customElements.get('zero-cell')) customElements.define('zero-cell', ForeignCell);
