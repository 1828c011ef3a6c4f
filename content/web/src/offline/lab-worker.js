// JupyterLite's entry pages in Chinese lie below zh/, where our service worker is nearer than JupyterLite's own at the
// root. Its worker carries the kernel's file access; so we load it into ours and hand such requests on.

const LAB_PAGE = /^zh\/(lab|notebooks|tree)\//;
const LAB_REQUEST = /\/api\/(drive|stdin\/|service-worker-heartbeat$)/;

/** @param {string} place below the site @returns {boolean} */
export function isLabPage(place) {
  return LAB_PAGE.test(place);
}

/**
 * @param {URL} site
 * @returns {((event: any) => boolean)|null} answers the lab's requests and says whether it did; null where there is no lab
 */
export function labListener(site) {
  /** @type {any} */
  const worker = self;
  const listeners = /** @type {Record<string, (event: any) => void>} */ ({});
  const { addEventListener } = worker;
  worker.addEventListener = (/** @type {string} */ type, /** @type {any} */ listener) => (listeners[type] = listener);
  try {
    worker.importScripts(new URL('service-worker.js', site).href);
  } catch {
    return null;
  } finally {
    worker.addEventListener = addEventListener;
  }
  return (event) => {
    if (!listeners.fetch || !LAB_REQUEST.test(new URL(event.request.url).pathname)) return false;
    listeners.fetch(event);
    return true;
  };
}
