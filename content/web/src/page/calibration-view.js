/** The tables of the calibration page, as HTML text. Pure; no DOM. */
import { byConfidence, tally } from './calibration-data.js';
import { escapeHtml, formatQuotient } from './format.js';
import { amountHtml } from './predict-view.js';

/**
 * @typedef {import('./predict-view.js').Text} Text
 * @typedef {{id: string, kind: string, lesson: string, title: string, prompt: string, unit: string, section_url: string}} Question
 * @typedef {{question: Question, right: boolean, confidence: number|null, error: number|null}} Row
 * @typedef {Row & {value: number, answer: number}} PredictionRow
 * @typedef {Row & {prompt: string, given: string, seed: string}} QuizRow
 */

/** How often right at each confidence. @param {Row[]} rows @param {Text} text */
export function surenessHtml(rows, text) {
  const lines = byConfidence(rows).map(({ confidence, right, count }) =>
    `<tr><th scope="row">${confidenceHtml(confidence, text)}</th><td>${escapeHtml(text('page.calibration.right_of', { right, count }))}</td>`
    + `<td><span class="zl-share" aria-hidden="true"><span style="width:${Math.round((100 * right) / count)}%"></span></span></td></tr>`);
  return `<h2>${escapeHtml(text('page.calibration.sureness'))}</h2><table class="zl-sureness-table"><tbody>${lines.join('')}</tbody></table>`;
}

/** How many were right in each lesson. @param {PredictionRow[]} predictions @param {QuizRow[]} answers @param {string[]} titles @param {Text} text */
export function topicsHtml(predictions, answers, titles, text) {
  const cell = (/** @type {Row[]} */ rows, /** @type {string} */ title) => {
    const own = tally(rows.filter(({ question }) => question.title === title));
    return `<td>${own.count ? escapeHtml(text('page.calibration.right_of', own)) : '–'}</td>`;
  };
  const used = titles.filter((title) => [...predictions, ...answers].some(({ question }) => question.title === title));
  const lines = used.map((title) => `<tr><th scope="row">${escapeHtml(title)}</th>${cell(predictions, title)}${cell(answers, title)}</tr>`);
  return `<h2>${escapeHtml(text('page.calibration.topics'))}</h2>${tableHtml(['topic', 'predictions', 'answers'], lines, text)}`;
}

/** @param {PredictionRow[]} rows @param {Text} text */
export function predictionsHtml(rows, text) {
  const lines = rows.map(({ question, value, answer, error, right, confidence }) => `<tr data-verdict="${right ? 'right' : 'wrong'}">`
    + `<th scope="row"><a href="${escapeHtml(question.section_url)}">${escapeHtml(question.prompt)}</a></th>`
    + `<td class="zl-amount">${amountHtml(value, question.unit)}</td><td class="zl-amount">${amountHtml(answer, question.unit)}</td>`
    + `<td>${percentHtml(error)}</td><td>${confidenceHtml(confidence, text)}</td></tr>`);
  return rows.length ? `<h2>${escapeHtml(text('page.calibration.predictions'))}</h2>`
    + tableHtml(['question', 'prediction', 'result', 'error', 'confidence'], lines, text) : '';
}

/** @param {QuizRow[]} rows @param {Text} text */
export function answersHtml(rows, text) {
  const lines = rows.map(({ question, prompt, given, seed, right, error, confidence }) => `<tr data-verdict="${right ? 'right' : 'wrong'}">`
    + `<th scope="row"><a href="../quiz/${seed ? `?seed=${encodeURIComponent(seed)}` : ''}#q-${escapeHtml(question.id)}">${escapeHtml(prompt)}</a>`
    + `${seed ? ` <small>${escapeHtml(text('page.calibration.seeded', { seed }))}</small>` : ''}</th><td class="zl-said-answer">${escapeHtml(given)}</td>`
    + `<td>${escapeHtml(text(`page.calibration.outcome_${right ? 'right' : 'wrong'}`))}${error === null || right ? '' : ` ${percentHtml(error)}`}</td>`
    + `<td>${confidenceHtml(confidence, text)}</td></tr>`);
  return rows.length ? `<h2>${escapeHtml(text('page.calibration.answers'))}</h2>`
    + tableHtml(['question', 'answer', 'outcome', 'confidence'], lines, text) : '';
}

/** @param {number|null} error */
function percentHtml(error) {
  if (error === null) return '–';
  const size = formatQuotient(Math.abs(error) * 100);
  return size === '0' ? '0%' : `${error < 0 ? '−' : '+'}${size}%`;
}

/** @param {number|null} confidence @param {Text} text */
function confidenceHtml(confidence, text) {
  return escapeHtml(confidence ? text(`kit.predict.confidence_${confidence}`) : text('page.calibration.unsaid'));
}

/** @param {string[]} columns @param {string[]} lines @param {Text} text */
function tableHtml(columns, lines, text) {
  const head = columns.map((name) => `<th scope="col">${escapeHtml(text(`page.calibration.${name}`))}</th>`);
  return `<div class="zl-table" tabindex="0" role="group"><table><thead><tr>${head.join('')}</tr></thead><tbody>${lines.join('')}</tbody></table></div>`;
}
