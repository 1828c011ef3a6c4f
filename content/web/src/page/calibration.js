/** "My calibration": predictions beside results and first answers in the self-test, confident errors first; export, import, delete. */
import { answersHtml, predictionsHtml, surenessHtml, topicsHtml } from './calibration-view.js';
import { byConcern, itemOf, readExport, seedOf } from './calibration-data.js';
import { escapeHtml } from './format.js';
import { judge } from './judge.js';
import { text } from './page-data.js';
import { asFirstAnswer } from './quiz-data.js';
import { settledPrediction } from './settled.js';
import { siteData } from './site-data.js';
import { keysFrom, recallData, remember, storageLasts } from './store.js';

/** @typedef {import('./calibration-view.js').Question} Question */

/** @type {Question[]} */
const questions = JSON.parse(document.getElementById('zl-questions')?.textContent ?? '[]');
const known = new Map(questions.map((question) => [question.id, question]));
const room = /** @type {HTMLElement} */ (document.querySelector('[data-part=calibration]'));
const problem = /** @type {HTMLElement} */ (document.querySelector('[data-part=calibration-problem]'));
const report = /** @type {HTMLElement} */ (document.querySelector('[data-part=calibration-report]'));
const file = /** @type {HTMLInputElement} */ (document.querySelector('[data-part=import-file]'));

/** The committed and skipped predictions, by exercise. @returns {Record<string, any>} */
function settled() {
  const all = questions.map(({ id }) => [id, settledPrediction(id)]);
  return Object.fromEntries(all.filter(([, prediction]) => prediction));
}

/** The states of self-test questions, by key without "quiz:"; those of seeds too. @returns {Record<string, any>} */
function quizStates() {
  const keys = keysFrom('quiz:').map((key) => key.slice('quiz:'.length)).filter((key) => known.has(itemOf(key)));
  return Object.fromEntries(keys.map((key) => [key, recallData(`quiz:${key}`)]));
}

/** @param {Question} question @param {any} prediction @returns {Promise<import('./calibration-view.js').PredictionRow>} */
async function judged(question, prediction) {
  const answer = await siteData(`exercises/${question.id}`);
  const { verdict, relativeError } = judge(answer, prediction.value);
  const { value, confidence } = prediction;
  return { question, value, confidence, answer: answer.answer, error: relativeError, right: verdict === 'right' };
}

/** @returns {import('./calibration-view.js').QuizRow[]} */
function quizRows() {
  return Object.entries(quizStates()).flatMap(([key, state]) => {
    const question = known.get(itemOf(key));
    const first = asFirstAnswer(state?.first);
    if (!question || !first) return [];
    const { right, confidence, error, given } = first;
    return [{ question, right, confidence, error, given, prompt: first.prompt ?? question.prompt, seed: seedOf(key) }];
  });
}

async function show() {
  problem.textContent = '';
  const predictions = settled();
  const made = questions.filter(({ id, kind }) => kind === 'number' && typeof predictions[id]?.value === 'number');
  try {
    const rows = byConcern(await Promise.all(made.map((question) => judged(question, predictions[question.id]))));
    const answers = byConcern(quizRows());
    const titles = [...new Set(questions.map(({ title }) => title))];
    room.innerHTML = rows.length + answers.length
      ? surenessHtml([...rows, ...answers], text) + topicsHtml(rows, answers, titles, text) + predictionsHtml(rows, text) + answersHtml(answers, text)
      : `<p>${escapeHtml(text('page.calibration.none'))}</p>`;
  } catch (error) {
    const key = storageLasts() ? 'page.predict.unavailable' : 'page.predict.unavailable_not_kept';
    problem.textContent = text(key, { reason: error instanceof Error ? error.message : String(error) });
  }
}

function exportAll() {
  const link = document.createElement('a');
  const data = { zero: 'predictions', predictions: settled(), quiz: quizStates() };
  link.href = URL.createObjectURL(new Blob([JSON.stringify(data, null, 1)], { type: 'application/json' }));
  link.download = 'zero-predictions.json';
  link.click();
  URL.revokeObjectURL(link.href);
}

/** Adds what a file holds; what is here already stays as it is. */
async function importFile() {
  const [chosen] = file.files ?? [];
  if (!chosen) return;
  const found = readExport(await chosen.text(), [...known.keys()]);
  file.value = '';
  report.textContent = '';
  if (!found) {
    problem.textContent = text('page.calibration.bad_file', { name: chosen.name });
    return;
  }
  const entries = [
    ...Object.entries(found.predictions).map(([id, one]) => ({ key: `predict:${id}`, one, isHere: recallData(`predict:${id}`) !== null })),
    ...Object.entries(found.quiz).map(([key, one]) => ({ key: `quiz:${key}`, one, isHere: recallData(`quiz:${key}`) !== null })),
  ];
  const added = entries.filter(({ isHere }) => !isHere);
  for (const { key, one } of added) remember(key, one);
  await show();
  report.textContent = text('page.calibration.imported', { added: added.length, kept: entries.length - added.length });
}

function deleteAll() {
  if (!confirm(text('page.calibration.delete_sure'))) return;
  for (const { id } of questions) remember(`predict:${id}`, undefined);
  for (const key of Object.keys(quizStates())) remember(`quiz:${key}`, undefined);
  report.textContent = '';
  show();
}

/** @param {string} name @param {() => void} act */
const onAction = (name, act) => document.querySelector(`[data-action=${name}]`)?.addEventListener('click', act);
onAction('export', exportAll);
onAction('import', () => file.click());
onAction('delete', deleteAll);
file.addEventListener('change', importFile);
if (!storageLasts()) room.insertAdjacentHTML('beforebegin', `<p class="zl-note">${escapeHtml(text('page.not_kept'))}</p>`);
show();
