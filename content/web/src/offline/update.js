/**
 * Notice that the site has a newer build than this page, and offer it: in a quiet page every few minutes, at once when
 * a file of this build is gone. Nothing reloads by itself.
 */
import { siteBase, text } from '../page/page-data.js';
import { keepDrafts, restoreDrafts } from './drafts.js';

const CHECK_EACH_MS = 5 * 60_000;
const SEEN_KEY = 'zero:update-seen';
const own = document.querySelector('meta[name="zero-version"]')?.getAttribute('content') ?? '';
let checkedAt = performance.now();
let isOffered = false;

/** @param {boolean} [isBroken] a part of this page could not be loaded */
async function check(isBroken = false) {
  if (!own || isOffered) return;
  checkedAt = performance.now();
  const published = await publishedVersion();
  if (!published || published === own || (!isBroken && published === seen())) return;
  isOffered = true;
  offer(published, isBroken);
}

/** @returns {Promise<string>} "" when it cannot be had */
async function publishedVersion() {
  try {
    const response = await fetch(new URL('version.json', siteBase()), { cache: 'no-cache' });
    return response.ok ? String((await response.json()).version) : '';
  } catch {
    return '';
  }
}

/** @param {string} version @param {boolean} isBroken */
function offer(version, isBroken) {
  const bar = document.createElement('aside');
  bar.className = 'zl-update';
  bar.setAttribute('role', 'status');
  const words = document.createElement('p');
  words.textContent = text(isBroken ? 'page.update.broken' : 'page.update.ready');
  const reload = button('page.update.reload', 'zl-button', () => {
    see(version);
    keepDrafts();
    location.reload();
  });
  const later = button('page.update.later', 'zl-button zl-quiet', () => {
    see(version);
    bar.remove();
  });
  bar.append(words, reload, later);
  document.body.append(bar);
}

/** @param {string} key @param {string} className @param {() => void} onClick */
function button(key, className, onClick) {
  const made = document.createElement('button');
  made.type = 'button';
  made.className = className;
  made.textContent = text(key);
  made.addEventListener('click', onClick);
  return made;
}

/** The version that this tab was offered last: it is not offered twice. @returns {string|null} */
function seen() {
  try {
    return sessionStorage.getItem(SEEN_KEY);
  } catch {
    return null;
  }
}

/** @param {string} version */
function see(version) {
  try {
    sessionStorage.setItem(SEEN_KEY, version);
  } catch {
    // then it is offered again
  }
}

/** Files of this build that the server no longer has. @param {PerformanceObserverEntryList} list */
function onLoaded(list) {
  const gone = list.getEntries().some((entry) => /** @type {any} */ (entry).responseStatus === 404 && /\/static\/zero-/.test(entry.name));
  if (gone) check(true);
}

restoreDrafts();
setInterval(() => document.visibilityState === 'visible' && check(), CHECK_EACH_MS);
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible' && performance.now() - checkedAt > CHECK_EACH_MS) check();
});
addEventListener('unhandledrejection', (event) => {
  if (event.reason instanceof TypeError && /import|module/i.test(event.reason.message)) check(true);
});
if ('PerformanceObserver' in window) new PerformanceObserver(onLoaded).observe({ type: 'resource', buffered: true });
