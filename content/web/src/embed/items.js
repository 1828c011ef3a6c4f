// Puts an item's HTML into the page, with the embedder's inputs, and wakes its elements.

import { pageStrings } from '../page/page-data.js';
import { recallData, remember } from '../page/store.js';
import { scriptData } from '../page/site-data.js';
import { assignments, chooseVariant, withInputs } from './inputs.js';

/** @typedef {import('./parameters.js').Parameters} Parameters */
/** @typedef {{id: string, kind: string, title: string, html: string, lesson: string, code?: string, spans?: Record<string, number[][]>, variants?: import('./inputs.js').Variant[]}} Item */

/**
 * @param {HTMLElement} root @param {Item} item @param {Parameters} values @param {string} [code] in place of the item's own
 */
export async function placeItem(root, item, values, code) {
  const template = document.createElement('template');
  template.innerHTML = item.html;
  const made = document.importNode(template.content, true); // inert until it is in the page
  const prepare = { live: prepareCell, exercise: prepareExercise, chart: prepareChart, timeline: prepareTimeline }[item.kind];
  await prepare?.(made, item, values, code);
  root.replaceChildren(made);
  if (item.kind === 'chart') openOwnCount(root, values);
  if (item.kind === 'quiz' || item.kind === 'question') await import('../page/quiz.js');
}

/** @param {DocumentFragment} made @param {Item} item @param {Parameters} values @param {string} [code] */
function prepareCell(made, item, { inputs }, code) {
  const place = made.querySelector('zero-cell code');
  if (!place) return;
  const isOwn = item.id === 'code';
  if (isOwn && (code !== undefined || Object.keys(inputs).length)) place.textContent = assignments(inputs) + (code ?? '');
  else if (Object.keys(inputs).length) place.textContent = withInputs(item.code ?? '', item.spans ?? {}, inputs);
}

/** @param {DocumentFragment} made @param {Item} item @param {Parameters} values */
function prepareExercise(made, item, { inputs, seed }) {
  const variants = item.variants ?? [];
  const variant = chooseVariant(item.id, variants, inputs, seed);
  if (variant === null) return;
  made.querySelector('zero-predict')?.setAttribute('variant', String(variant));
  const prompt = made.querySelector('.zl-predict-prompt');
  if (prompt) prompt.textContent = variants[variant].prompt;
}

/** @param {DocumentFragment} made @param {Item} _item @param {Parameters} values */
async function prepareChart(made, _item, { inputs }) {
  const grid = await scriptData('grid');
  const holder = document.createElement('script');
  holder.type = 'application/json';
  holder.id = 'zl-grid';
  holder.textContent = JSON.stringify(grid);
  document.body.append(holder);
  const explorer = await import('../page/explorer.js').then(() => made.querySelector('zero-explorer'));
  const { model, N, stage, P } = inputs;
  const preset = grid.models.find((/** @type {any} */ one) => one.id === model || (model === undefined && one.num_params === P));
  if (!explorer || (model ?? N ?? stage ?? P) === undefined || recallData('explorer:')) return;
  const start = startOf(explorer, grid);
  remember('explorer:', { ...start, ...(preset ? { model: preset.id } : {}), ...(N ? { dp_size: N } : {}), ...(stage === undefined ? {} : { stage }) });
}

/** What the build wrote into the controls. @param {Element} explorer @param {any} grid */
function startOf(explorer, grid) {
  const value = (/** @type {string} */ selector) => explorer.querySelector(selector)?.getAttribute('value') ?? '';
  return {
    model: value('[data-control=model] option[selected]'),
    dp_size: grid.dp_sizes[Number(value('[data-control=n]'))],
    stage: Number(value('[data-control=stage] input[checked]')),
    unit: value('[data-control=unit] input[checked]'),
  };
}

/** A count that no listed model has stands ready in the chart's own field; Python counts it when asked. @param {HTMLElement} root @param {Parameters} values */
function openOwnCount(root, { inputs: { P }, autorun }) {
  const explorer = /** @type {any} */ (root.querySelector('zero-explorer'));
  if (P === undefined || !explorer?.grid || explorer.grid.models.some((/** @type {any} */ one) => one.num_params === P)) return;
  explorer.control('model').value = 'custom';
  explorer.piece('custom').hidden = false;
  explorer.textarea.value = String(P);
  if (autorun) explorer.applyCustom();
}

/** @param {DocumentFragment} made @param {Item} _item @param {Parameters} values */
async function prepareTimeline(made, _item, { inputs }) {
  const element = made.querySelector('zero-timeline');
  if (!element) return;
  pageStrings();
  const { choiceOf } = await import('../page/timeline-view.js');
  const { N, stage, model } = inputs;
  const key = `timeline::${element.id}`;
  if ((N ?? stage ?? model) !== undefined && !recallData(key)) {
    const settings = JSON.parse(element.querySelector('script')?.textContent ?? '{}').settings;
    const choice = choiceOf(settings);
    remember(key, { ...choice, ...(N ? { dp_size: N } : {}), ...(stage === undefined ? {} : { stage }), ...(model ? { model } : {}) });
  }
  await import('../page/timeline-element.js');
}
