// The script of sandbox.html: start the supervisor at once, then hand it the page's port. Both workers' sources lie in
// this document, because a frame with an opaque origin may fetch nothing from a plain static host.

const sourceOf = (/** @type {string} */ id) => document.getElementById(id)?.textContent ?? '';

const url = URL.createObjectURL(new Blob([sourceOf('supervisor')], { type: 'text/javascript' }));
const supervisor = new Worker(url);
const memoryGiB = /** @type {any} */ (navigator).deviceMemory ?? 4;
supervisor.postMessage({ interpreterSource: sourceOf('interpreter'), keepSpare: memoryGiB > 2 });
supervisor.onerror = (event) => parent.postMessage({ zeroSandbox: 'failed', message: event.message }, '*');

let connected = false;
addEventListener('message', (event) => {
  if (event.source !== parent || connected || !event.ports[0]) return;
  connected = true;
  supervisor.postMessage({}, [event.ports[0]]);
});
parent.postMessage({ zeroSandbox: 'loaded' }, '*');

export {};
