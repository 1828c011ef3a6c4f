/**
 * Keep the course for reading offline. A reader who stays gets a service worker that copies pages and Python once the
 * page is quiet; not where data is to be saved, and where there is no service worker everything works as without.
 */
import { siteBase } from '../page/page-data.js';

const STAYED_MS = 10_000; // a short visit downloads nothing

async function keepCourse() {
  const folder = document.documentElement.lang.startsWith('zh') ? 'zh' : 'en';
  const scope = new URL(`${folder}/`, siteBase()).href;
  try {
    const registration = await navigator.serviceWorker.register(new URL('offline.js', siteBase()), { scope });
    const worker = registration.active ?? registration.waiting ?? registration.installing;
    await whenActive(worker);
    worker?.postMessage({ keep: folder });
  } catch (error) {
    console.debug('not kept for offline use:', error); // refused by the browser: the page needs nothing of it
  }
}

/** @param {ServiceWorker|null} worker */
function whenActive(worker) {
  return new Promise((resolve) => {
    if (!worker || worker.state === 'activated') resolve(undefined);
    worker?.addEventListener('statechange', () => worker.state === 'activated' && resolve(undefined));
  });
}

const { connection } = /** @type {any} */ (navigator);
const isWelcome = 'serviceWorker' in navigator && !connection?.saveData && !/2g/.test(connection?.effectiveType ?? '');

if (isWelcome && window.top === window) {
  setTimeout(() => ('requestIdleCallback' in window ? requestIdleCallback(keepCourse) : keepCourse()), STAYED_MS);
}
