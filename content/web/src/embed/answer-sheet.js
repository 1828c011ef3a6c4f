// One HTML file with the questions of the self-test and their answers for a seed, for an instructor to print. It needs
// nothing else: no script, no style sheet, no picture.

import { escapeHtml } from '../page/format.js';
import { pageLanguage, siteBase, text } from '../page/page-data.js';
import { amountHtml } from '../page/predict-view.js';
import { variantFor } from '../page/seed.js';
import { siteData } from '../page/site-data.js';

const STYLE = 'body{font:11pt/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem;color:#111;background:#fff}h2{font-size:13pt;margin:1.6em 0 .4em}li{margin-bottom:.9em;break-inside:avoid}pre{white-space:pre-wrap;background:#f3f3f1;padding:.5em .7em;font-size:9pt}.answer span{margin-left:.8em;color:#555}';

/** @param {string} seed '' for the questions as they are @returns {Promise<string>} the file's text; rejects with an Error */
export async function answerSheet(seed) {
  const lang = pageLanguage();
  const response = await fetch(new URL(`${lang === 'en' ? 'en' : 'zh'}/quiz/`, siteBase()));
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`.trim());
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const sections = [...page.querySelectorAll('main > section')].filter((section) => section.querySelector('zero-question'));
  const parts = await Promise.all(sections.map(async (section) => {
    const items = await Promise.all([...section.querySelectorAll('zero-question')].map((question) => itemHtml(question, seed)));
    return `<h2>${escapeHtml(section.querySelector('h2')?.textContent ?? '')}</h2><ol>${items.join('')}</ol>`;
  }));
  const title = seed ? text('build.sheet_title', { seed }) : text('build.sheet_no_seed');
  return `<!doctype html><html lang="${lang}"><meta charset="utf-8"><title>${escapeHtml(title)}</title><style>${STYLE}</style><h1>${escapeHtml(text('page.site'))}</h1><p>${escapeHtml(title)}</p>${parts.join('')}</html>\n`;
}

/** @param {Element} question @param {string} seed */
async function itemHtml(question, seed) {
  const id = question.getAttribute('exercise') ?? '';
  const prompts = JSON.parse(question.getAttribute('data-variants') ?? '[]');
  const variant = seed && prompts.length ? variantFor(seed, id, prompts.length) : null;
  const prompt = variant === null ? question.querySelector('legend')?.textContent ?? '' : prompts[variant];
  return `<li><b>${escapeHtml(prompt)}</b>${await answerHtml(question, id, variant)}</li>`;
}

/** @param {Element} question @param {string} id @param {number|null} variant */
async function answerHtml(question, id, variant) {
  if (question.getAttribute('kind') !== 'number') return choiceHtml(question, await siteData(`questions/${id}`));
  const answer = variant === null ? await siteData(`exercises/${id}`) : (await siteData(`variants/${id}`))[variant];
  return `<p class="answer">${amountHtml(answer.answer, answer.unit)}</p><pre>${escapeHtml(answer.code)}</pre>`;
}

/** @param {Element} question @param {any} answer */
function choiceHtml(question, answer) {
  const words = (/** @type {string} */ id) => question.querySelector(`[data-option="${CSS.escape(id)}"] > span, .zl-option:has([value="${CSS.escape(id)}"]) > span`)?.textContent ?? id;
  const list = answer.kind === 'ordering' ? 'ol' : 'ul';
  const chosen = answer.answer.map((/** @type {string} */ id) => `<li>${escapeHtml(words(id))}</li>`).join('');
  return `<${list}>${chosen}</${list}><p>${escapeHtml(answer.solution[pageLanguage()])}</p>`;
}
