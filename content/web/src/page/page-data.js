/** What the page carries for its scripts: the explorer's grid, strings, the site's address, the runner. */
import allStrings from '../../../lessonkit/strings.json';
import { fill } from './format.js';

/** @param {string} id @returns {any} */
function inlineJson(id) {
  return JSON.parse(document.getElementById(id)?.textContent ?? 'null');
}

/** @type {Record<string, string>|undefined} */
let strings;

/** The interface strings of the page's language. @returns {Record<string, string>} */
export function pageStrings() {
  if (!strings) {
    const lang = pageLanguage();
    strings = Object.fromEntries(Object.entries(allStrings).map(([key, texts]) => [key, texts[lang]]));
  }
  return strings;
}

/** @returns {'en'|'zh-CN'} */
export function pageLanguage() {
  return document.documentElement.lang.startsWith('zh') ? 'zh-CN' : 'en';
}

/** Whether there is an interface string `key`. @param {string} key */
export function hasText(key) {
  return key in pageStrings();
}

/** The interface string `key`, its fields filled in. @param {string} key @param {Record<string, string|number>} [fields] */
export function text(key, fields) {
  const template = pageStrings()[key];
  if (template === undefined) throw new Error(`no interface string ${key}`);
  return fill(template, fields);
}

/** @returns {import('./ledger-view.js').Grid|null} */
export function pageGrid() {
  return inlineJson('zl-grid');
}

/** The site's root as an absolute address. */
export function siteBase() {
  return new URL(document.body.dataset.site ?? './', document.baseURI).href;
}

/** The lesson's slug. */
export function lessonSlug() {
  return document.body.dataset.lesson ?? '';
}

/** The page's one runner; its code is fetched on first use. @returns {Promise<import('../runner/client.js').Runner>} */
export async function pageRunner() {
  const { runnerFor } = await import('../runner/client.js');
  return runnerFor(siteBase());
}
