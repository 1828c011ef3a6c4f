// The builder, /<lang>/build/: choose an item or write a cell, see it live, copy the snippet.

import { LinkError, MAX_FRAGMENT_CHARS, encodeShared } from '../cell/share-link.js';
import { copyText } from '../cell/sharing.js';
import { escapeHtml } from '../page/format.js';
import { pageLanguage, siteBase, text } from '../page/page-data.js';
import { scriptData } from '../page/site-data.js';
import { recallData, remember } from '../page/store.js';
import { answerSheet } from './answer-sheet.js';
import { PROTOCOL, problemWith } from './messages.js';
import { readParameters, unfitting } from './parameters.js';
import { problemsHtml } from './problems-view.js';
import { shown } from './inputs.js';
import { frameAddress, snippet } from './snippets.js';

/** @typedef {import('./parameters.js').Listed} Listed */

const START_CODE = 'from zeroledger import *\n\nledger(num_params=7e9, dp_size=8, stage=1).model_states_bytes_per_rank / GB';
const REFRESH_AFTER_MS = 350;
const GROUPS = ['exercise', 'live', 'chart', 'timeline', 'quiz', 'question'];

const form = /** @type {HTMLFormElement} */ (document.querySelector('[data-part=builder]'));
const part = (/** @type {string} */ name) => /** @type {HTMLElement} */ (document.querySelector(`[data-part=${name}]`));
const field = (/** @type {string} */ name) => /** @type {any} */ (form.elements.namedItem(name));
/** @type {Listed[]} */
let index = [];
/** @type {import('./snippets.js').Choice|null} */
let choice = null;
/** @type {ReturnType<typeof setTimeout>|undefined} */
let timer;

async function start() {
  index = await scriptData('items/index');
  field('id').innerHTML = `<option value="code">${escapeHtml(text('build.group.own'))}</option>` + GROUPS.map(groupHtml).join('');
  const stored = recallData('build') ?? {};
  field('id').value = index.some(({ id }) => id === stored.id) ? stored.id : 'zero1-20b-4';
  field('code').value = START_CODE;
  for (const name of ['code', 'expect', 'hints', 'solution', 'seed', 'theme']) if (typeof stored[name] === 'string') field(name).value = stored[name];
  showInputs(stored.inputs ?? {});
  form.addEventListener('input', onInput);
  form.addEventListener('submit', (event) => event.preventDefault());
  document.querySelector('[data-action=copy]')?.addEventListener('click', copy);
  document.querySelector('[data-action=sheet]')?.addEventListener('click', downloadSheet);
  addEventListener('message', fitPreview);
  part('csp').textContent = text('build.csp', { origin: new URL(siteBase()).origin });
  part('local').hidden = !/^(localhost|127\.|\[::1\])/.test(location.hostname);
  refresh();
}

/** @param {string} kind */
function groupHtml(kind) {
  const options = index.filter((one) => one.kind === kind && one.id !== 'code').map(({ id, title }) => {
    const words = title[pageLanguage()];
    return `<option value="${escapeHtml(id)}">${escapeHtml(words.length > 90 ? `${words.slice(0, 89)}…` : words)} (${escapeHtml(id)})</option>`;
  });
  return `<optgroup label="${escapeHtml(text(`build.group.${kind}`))}">${options.join('')}</optgroup>`;
}

/** @returns {Listed} */
function listed() {
  return /** @type {Listed} */ (index.find(({ id }) => id === field('id').value));
}

/** One field for each input that the item takes. @param {Record<string, string>} values */
function showInputs(values) {
  const { inputs, id } = listed();
  part('own').hidden = id !== 'code';
  part('inputs').hidden = Object.keys(inputs).length === 0;
  const legend = part('inputs').querySelector('legend');
  const fields = Object.entries(inputs).map(([name, accepted]) => {
    const options = accepted?.map((value) => `<option>${escapeHtml(shown(name, value))}</option>`);
    const control = options
      ? `<select id="build-${name}" name="input-${name}"><option value="">${escapeHtml(text('build.keep'))}</option>${options.join('')}</select>`
      : `<input id="build-${name}" name="input-${name}" spellcheck="false" placeholder="${escapeHtml(text('build.keep'))}">`;
    return `<div class="zl-field"><label for="build-${name}">${name}</label>${control}</div>`;
  });
  part('inputs').innerHTML = `<div class="zl-build-row">${fields.join('')}</div>`;
  if (legend) part('inputs').prepend(legend);
  for (const name of Object.keys(inputs)) field(`input-${name}`).value = values[name] ?? '';
}

/** @param {Event} event */
function onInput(event) {
  if (event.target === field('id')) showInputs({});
  clearTimeout(timer);
  timer = setTimeout(refresh, REFRESH_AFTER_MS);
}

/** What is written in the input fields, without those left empty. @returns {Record<string, string>} */
function givenInputs() {
  return Object.fromEntries(Object.keys(listed().inputs).map((name) => [name, field(`input-${name}`).value.trim()]).filter(([, value]) => value));
}

async function refresh() {
  const { id, kind, title } = listed();
  const own = id === 'code';
  const inputs = givenInputs();
  remember('build', { id, inputs, ...Object.fromEntries(['code', 'expect', 'hints', 'solution', 'seed', 'theme'].map((name) => [name, field(name).value])) });
  const parameters = { lang: field('lang').value, ...(field('theme').value === 'auto' ? {} : { theme: field('theme').value }), ...(field('seed').value.trim() ? { seed: field('seed').value.trim() } : {}), ...inputs };
  const read = readParameters(new URLSearchParams({ id, ...parameters }).toString());
  const problems = [...read.problems, ...unfitting(listed(), read.values.inputs)];
  part('problem').innerHTML = problems.length ? problemsHtml(problems, []) : '';
  if (problems.length) return;
  const hints = field('hints').value.split('\n').map((/** @type {string} */ line) => line.trim()).filter(Boolean);
  const task = own ? { code: field('code').value, expect: field('expect').value.trim() || undefined, hints: hints.length ? hints : undefined, solution: field('solution').value.trim() || undefined } : {};
  let hash = '';
  try {
    hash = own ? await encodeShared(task) : '';
  } catch (error) {
    if (!(error instanceof LinkError)) throw error;
    part('problem').textContent = text('build.too_long', { size: error.size, limit: MAX_FRAGMENT_CHARS });
    return;
  }
  choice = { site: siteBase(), id, kind, title: title[/** @type {'en'} */ (parameters.lang)], parameters, sandbox: field('sandbox').checked, task, hash };
  showPreview(choice);
  showSnippet();
}

/** @param {import('./snippets.js').Choice} chosen */
function showPreview(chosen) {
  const address = frameAddress(chosen);
  const before = part('preview').querySelector('iframe');
  if (before?.src === address && before.hasAttribute('sandbox') === chosen.sandbox) return;
  const frame = document.createElement('iframe');
  if (chosen.sandbox) frame.setAttribute('sandbox', 'allow-scripts');
  frame.allow = 'clipboard-write';
  frame.title = text('build.preview');
  frame.style.height = `${before?.offsetHeight ?? 400}px`;
  frame.src = address;
  frame.addEventListener('load', () => frame.contentWindow?.postMessage({ zero: PROTOCOL, type: 'hello', wants: ['height'] }, chosen.sandbox ? '*' : location.origin));
  part('preview').replaceChildren(frame);
}

/** @param {MessageEvent} event */
function fitPreview({ source, data }) {
  const frame = part('preview').querySelector('iframe');
  if (frame && source === frame.contentWindow && !problemWith(data) && data.type === 'height') frame.style.height = `${data.height}px`;
}

function showSnippet() {
  if (choice) part('snippet').textContent = snippet(field('kind').value, choice);
  part('copied').textContent = '';
}

async function copy() {
  const copied = await copyText(part('snippet').textContent ?? '');
  part('copied').textContent = text(copied ? 'build.copied' : 'build.copy_failed');
  if (!copied) getSelection()?.selectAllChildren(part('snippet'));
}

async function downloadSheet() {
  const seed = field('seed').value.trim();
  try {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([await answerSheet(seed)], { type: 'text/html' }));
    link.download = `zero-ledger-answers${seed ? `-${seed.replace(/[^\p{L}\p{N}_-]+/gu, '_')}` : ''}.html`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    part('sheet-status').textContent = link.download;
  } catch (error) {
    part('sheet-status').textContent = text('page.predict.unavailable', { reason: error instanceof Error ? error.message : String(error) });
  }
}

start();
