/** "My calibration": the reader's predictions beside the results, confident errors first; export, import, delete. */
import { escapeHtml, formatQuotient } from './format.js';
import { judge } from './judge.js';
import { text } from './page-data.js';
import { bundledFile } from '../site-files.js';
import { amountHtml } from './predict-view.js';
import { recallData, remember } from './store.js';
import { byConcern, readExport } from './calibration-data.js';

/** @typedef {{id: string, lesson: string, title: string, prompt: string, unit: string}} Question */

/** @type {Question[]} */
const questions = JSON.parse(document.getElementById('zl-questions')?.textContent ?? '[]');
const room = /** @type {HTMLElement} */ (document.querySelector('[data-part=calibration]'));
const problem = /** @type {HTMLElement} */ (document.querySelector('[data-part=calibration-problem]'));
const file = /** @type {HTMLInputElement} */ (document.querySelector('[data-part=import-file]'));

/** The committed predictions, by exercise. @returns {Record<string, any>} */
function committed() {
  const all = questions.map(({ id }) => [id, recallData(`predict:${id}`)]);
  return Object.fromEntries(all.filter(([, stored]) => stored && !stored.draft));
}

/** @param {Question} question @param {any} prediction */
async function judged(question, prediction) {
  const response = await fetch(bundledFile(`exercises/${encodeURIComponent(question.id)}.json`));
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`.trim());
  const answer = await response.json();
  return { question, prediction, answer, ...judge(answer, prediction.value) };
}

async function show() {
  problem.textContent = '';
  const predictions = committed();
  const made = questions.filter(({ id }) => typeof predictions[id]?.value === 'number');
  if (!made.length) {
    room.innerHTML = `<p>${escapeHtml(text('page.calibration.none'))}</p>`;
    return;
  }
  try {
    const rows = byConcern(await Promise.all(made.map((question) => judged(question, predictions[question.id]))));
    room.innerHTML = topicsHtml(rows) + tableHtml(rows);
  } catch (error) {
    problem.textContent = text('page.predict.unavailable', { reason: error instanceof Error ? error.message : String(error) });
  }
}

/** How many were right in each lesson. @param {any[]} rows */
function topicsHtml(rows) {
  const titles = [...new Set(questions.map(({ title }) => title))];
  const lines = titles.map((title) => {
    const own = rows.filter(({ question }) => question.title === title);
    return own.length ? `<li>${escapeHtml(text('page.calibration.topic', { title, right: own.filter(({ verdict }) => verdict === 'right').length, count: own.length }))}</li>` : '';
  });
  return `<ul>${lines.join('')}</ul>`;
}

/** @param {any[]} rows */
function tableHtml(rows) {
  const head = ['question', 'prediction', 'result', 'error', 'confidence'].map((name) => `<th scope="col">${escapeHtml(text(`page.calibration.${name}`))}</th>`);
  const body = rows.map(({ question, prediction, answer, relativeError, verdict }) => `<tr data-verdict="${verdict}"><th scope="row"><a href="../${question.lesson}/">${escapeHtml(question.prompt)}</a></th>`
    + `<td class="zl-amount">${amountHtml(prediction.value, answer.unit)}</td><td class="zl-amount">${amountHtml(answer.answer, answer.unit)}</td>`
    + `<td>${relativeError < 0 ? '−' : '+'}${formatQuotient(Math.abs(relativeError) * 100)}%</td>`
    + `<td>${prediction.confidence ? escapeHtml(text(`kit.predict.confidence_${prediction.confidence}`)) : '–'}</td></tr>`);
  return `<div class="zl-table" tabindex="0" role="group"><table><thead><tr>${head.join('')}</tr></thead><tbody>${body.join('')}</tbody></table></div>`;
}

function exportAll() {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([JSON.stringify({ zero: 'predictions', predictions: committed() }, null, 1)], { type: 'application/json' }));
  link.download = 'zero-predictions.json';
  link.click();
  URL.revokeObjectURL(link.href);
}

async function importFile() {
  const [chosen] = file.files ?? [];
  if (!chosen) return;
  const found = readExport(await chosen.text(), questions.map(({ id }) => id));
  file.value = '';
  if (!found) {
    problem.textContent = text('page.calibration.bad_file', { name: chosen.name });
    return;
  }
  for (const [id, prediction] of Object.entries(found)) remember(`predict:${id}`, prediction);
  await show();
}

/** @param {string} name @param {() => void} act */
const onAction = (name, act) => document.querySelector(`[data-action=${name}]`)?.addEventListener('click', act);
onAction('export', exportAll);
onAction('import', () => file.click());
onAction('delete', () => {
  if (!confirm(text('page.calibration.delete_sure'))) return;
  for (const { id } of questions) remember(`predict:${id}`, undefined);
  show();
});
file.addEventListener('change', importFile);
show();
