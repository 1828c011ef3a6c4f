// The course's service worker, <site>/offline.js, registered below en/ and zh/. It keeps what a page asks it to keep and
// answers from that: files whose address names their content always, pages only when the network does not answer.
// Whatever it does not know goes to the network as if it were not there.

import { isLabPage, labListener } from './lab-worker.js';

/** @type {any} */
const worker = self;
const SITE = new URL('./', worker.location.href);
// Caches belong to the origin, which may hold other sites.
const PREFIX = `zero-offline ${SITE.pathname} `;
const PAGE_PATIENCE_MS = 4000;
const CONTENT_ADDRESSED = /^static\/(zero-[0-9a-f]+\/|pyodide\/[^?]+\?v=)/;

const answerForLab = worker.registration.scope.startsWith(new URL('zh/', SITE).href) ? labListener(SITE) : null;

worker.addEventListener('install', () => worker.skipWaiting());

worker.addEventListener('message', (/** @type {any} */ event) => {
  if (event.data?.keep) event.waitUntil(keepFor(event.source, String(event.data.keep)));
});

worker.addEventListener('fetch', (/** @type {any} */ event) => {
  if (answerForLab?.(event)) return;
  const url = new URL(event.request.url);
  if (event.request.method !== 'GET' || !url.href.startsWith(SITE.href)) return;
  const place = url.href.slice(SITE.href.length);
  if (event.request.mode === 'navigate') {
    if (!isLabPage(place)) event.respondWith(pageFor(event.request, pageAddress(url)));
  } else if (CONTENT_ADDRESSED.test(place)) {
    event.respondWith(keptFile(url).then((found) => found ?? fetch(event.request)));
  }
});

/** Keep the course and tell the page that asked: {kept: version}, or {notKept: reason}. @param {any} page @param {string} language */
async function keepFor(page, language) {
  try {
    page?.postMessage({ kept: await keep(language) });
  } catch (error) {
    page?.postMessage({ notKept: String(error) }); // storage is full or the network broke off: what is there stays
  }
}

/** Newest first. @returns {Promise<Cache[]>} */
async function ourCaches() {
  const names = (await caches.keys()).filter((name) => name.startsWith(PREFIX));
  return Promise.all(names.reverse().map((name) => caches.open(name)));
}

/** @param {URL} url @returns {Promise<Response|undefined>} */
async function keptFile(url) {
  for (const cache of await ourCaches()) {
    const found = await cache.match(url.href);
    if (found) return found;
  }
  return undefined;
}

/** The network's page; the kept one when that takes too long or fails. @param {Request} request @param {URL} address */
async function pageFor(request, address) {
  const network = fetch(request);
  const kept = keptFile(address);
  const late = new Promise((resolve) => setTimeout(resolve, PAGE_PATIENCE_MS));
  const first = await Promise.race([network.catch(() => null), late.then(() => kept).then((page) => page ?? network)]);
  return first && first.status < 500 ? first : (await kept) ?? first ?? network;
}

/** @param {URL} url @returns {URL} without search, fragment and index.html: what a page is kept under */
function pageAddress(url) {
  return new URL(url.pathname.replace(/index\.html$/, ''), url);
}

/**
 * Keep this build's pages of one language, and what they need, one file after the other. A page is kept only when
 * everything shared is there, and only if it is of the same build.
 * @param {string} language folder, `en` or `zh`
 * @returns {Promise<string>} the build's name
 */
async function keep(language) {
  const manifest = await (await fetched(new URL('offline.json', SITE), { cache: 'no-cache' })).json();
  const cache = await caches.open(PREFIX + manifest.version);
  for (const place of manifest.shared) await add(cache, new URL(place, SITE));
  for (const place of manifest.pages[language] ?? []) await addPage(cache, new URL(place, SITE), manifest.version);
  await forgetOlder(PREFIX + manifest.version);
  return manifest.version;
}

/** @param {Cache} cache @param {URL} url */
async function add(cache, url) {
  if (await cache.match(url.href)) return;
  await cache.put(url.href, (await keptFile(url)) ?? (await fetched(url)));
}

/** @param {Cache} cache @param {URL} url @param {string} version */
async function addPage(cache, url, version) {
  if (await cache.match(url.href)) return;
  const response = await fetched(url, { cache: 'no-cache' });
  if (!(await response.clone().text()).includes(`content="${version}"`)) throw new Error(`${url.pathname} is of another build`);
  await cache.put(url.href, response);
}

/** @param {URL} url @param {RequestInit} [init] @returns {Promise<Response>} */
async function fetched(url, init) {
  const response = await fetch(url, init);
  if (!response.ok) throw new Error(`${url.pathname}: HTTP ${response.status}`);
  return response;
}

/** The build before stays: pages that are open may still need parts of it. @param {string} current */
async function forgetOlder(current) {
  const others = (await caches.keys()).filter((name) => name.startsWith(PREFIX) && name !== current);
  await Promise.all(others.slice(0, -1).map((name) => caches.delete(name)));
}
