// Optional, for pages that hold iframes of /cell/: gives each its height, and passes on the events that an iframe names in
// data-wants="predicted checked …" as DOM events "zero-ledger" of that iframe. Works as a classic script and as a module.

import { PROTOCOL } from './messages.js';

const MAX_HEIGHT_PX = 20_000;
const script = /** @type {HTMLScriptElement|null} */ (document.currentScript ?? document.querySelector('script[src*="static/zero/embed.js"]'));
const site = new URL('../../', script?.src ?? location.href);

/** The frame of a <zero-cell> is that element's own affair. @param {HTMLIFrameElement} frame */
const isOurs = (frame) => frame.src.startsWith(`${site.href}cell/`) && !frame.closest('zero-cell');
/** A sandboxed frame has the origin "null". @param {HTMLIFrameElement} frame */
const originOf = (frame) => (frame.hasAttribute('sandbox') && !frame.sandbox.contains('allow-same-origin') ? 'null' : site.origin);

/** @param {HTMLIFrameElement} frame */
function greet(frame) {
  // Says nothing but what is wanted, so that whoever is there may hear it; the answer comes to this page's origin alone.
  frame.contentWindow?.postMessage({ zero: PROTOCOL, type: 'hello', wants: ['height', ...(frame.dataset.wants ?? '').split(' ')] }, '*');
}

addEventListener('message', ({ source, origin, data }) => {
  if (data?.zero !== PROTOCOL) return;
  const frame = [...document.querySelectorAll('iframe')].find((one) => one.contentWindow === source);
  if (!frame || !isOurs(frame) || origin !== originOf(frame)) return;
  if (data.type === 'height' && data.height > 0 && data.height < MAX_HEIGHT_PX) frame.style.height = `${data.height}px`;
  frame.dispatchEvent(new CustomEvent('zero-ledger', { bubbles: true, detail: data }));
});

document.addEventListener('load', ({ target }) => target instanceof HTMLIFrameElement && isOurs(target) && greet(target), true);
for (const frame of document.querySelectorAll('iframe')) if (isOurs(frame)) greet(frame);
