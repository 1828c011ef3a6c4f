// Interface strings in the reader's language, from the one file that notebooks and pages share.

import strings from '../../../lessonkit/strings.json';

/** @typedef {'en'|'zh-CN'} Language */

/** @type {Record<string, Record<string, string>>} */
const table = strings;

/** @param {Element} element @returns {Language} of the text around it */
export function languageOf(element) {
  const tag = element.closest('[lang]')?.getAttribute('lang') ?? document.documentElement.lang;
  return tag.toLowerCase().startsWith('zh') ? 'zh-CN' : 'en';
}

/** @param {string} key @returns {boolean} */
export function hasText(key) {
  return key in table;
}

/**
 * @param {Language} language
 * @param {string} key
 * @param {Record<string, string|number>} [fields] for the {names} in the string
 */
export function text(language, key, fields = {}) {
  const entry = table[key];
  if (!entry) throw new Error(`no interface string ${key}`);
  return entry[language].replace(/\{(\w+)\}/g, (whole, name) => String(fields[name] ?? whole));
}
