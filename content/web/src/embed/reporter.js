// Tells the embedding page what happens here, if it asked: by a greeting ("hello"), answered to its sender, or by
// ?report=<its origin>. Only this frame's parent is listened to, and every message names the origin it may reach.

import { EVENTS, PROTOCOL, eventsWanted } from './messages.js';
import { hasStatement, statementOf } from './xapi.js';

/** @typedef {{title: string, kind: string}} Item */

export class Reporter {
  /** @param {import('./parameters.js').Parameters} parameters @param {Window} frame @param {URL|string} site */
  constructor({ id, name, lang, report }, frame, site) {
    this.fixed = { zero: PROTOCOL, item: id, name };
    this.lang = lang;
    this.frame = frame;
    this.site = String(site);
    this.seq = 0;
    this.height = 0;
    this.isShown = false;
    /** @type {Item|null} */
    this.item = null;
    /** Statements of this visit, for the reader to keep. @type {any[]} */
    this.statements = [];
    /** Who asked for what: origin → events. @type {Map<string, Set<string>>} */
    this.listeners = new Map(report ? [[report, new Set(EVENTS)]] : []);
    if (frame.parent !== frame) frame.addEventListener('message', (event) => this.receive(event));
  }

  /** @param {MessageEvent} event */
  receive(event) {
    if (event.source !== this.frame.parent) return;
    const wants = eventsWanted(event.data);
    if (!wants) return;
    // A page without an origin can only be reached by "*", which would reach whatever replaces it: it gets heights alone.
    const isNamed = event.origin !== 'null';
    this.listeners.set(isNamed ? event.origin : '*', new Set(isNamed ? wants : wants.filter((one) => one === 'height')));
    if (this.isShown) this.measure(true);
    if (this.item) this.post({ type: 'ready', kind: this.item.kind, lang: this.lang });
  }

  /** The item is there. @param {Item} item */
  ready(item) {
    this.item = item;
    this.post({ type: 'ready', kind: item.kind, lang: this.lang });
  }

  /** @param {any} event `type` and its fields, see messages.js */
  tell(event) {
    this.post(event);
    if (!hasStatement(event.type)) return;
    const about = { site: this.site, title: this.item?.title ?? '', lang: this.lang, id: uuid(), time: new Date().toISOString() };
    const statement = statementOf({ ...this.fixed, ...event }, about);
    this.statements.push(statement);
    this.post({ type: 'statement', statement });
  }

  /** @param {any} event */
  post(event) {
    for (const [origin, wants] of this.listeners) {
      if (wants.has(event.type)) this.frame.parent.postMessage({ ...this.fixed, seq: ++this.seq, ...event }, origin);
    }
  }

  /** Sends the height of the content when it has changed. @param {boolean} [always] */
  measure(always = false) {
    if (!this.isShown) return; // an empty frame would shrink to nothing, and a lazy one then never load
    const height = Math.ceil(this.frame.document.body.getBoundingClientRect().height);
    if (height === this.height && !always) return;
    this.height = height;
    this.post({ type: 'height', height });
  }

  /** Something is on the page: from now on its height counts. */
  shown() {
    this.isShown = true;
    this.measure(true);
    new ResizeObserver(() => this.measure()).observe(this.frame.document.body);
  }
}

/** crypto.randomUUID is only there in secure contexts. */
function uuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
