// A clock that goes on ticking in a background tab, where the page's own timers are slowed down to one a minute.

const SOURCE = 'onmessage = (event) => setInterval(() => postMessage(0), event.data)';

/** @param {number} everyMs @param {() => void} onTick */
export function startTicker(everyMs, onTick) {
  const url = URL.createObjectURL(new Blob([SOURCE], { type: 'text/javascript' }));
  const worker = new Worker(url);
  URL.revokeObjectURL(url);
  worker.onmessage = onTick;
  worker.postMessage(everyMs);
}
