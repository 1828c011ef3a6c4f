/**
 * Lesson 6's chart: one bar per tensor-parallel degree, model states and activations stacked. Looks amounts up in the
 * grid that the package computed. Pure: the build draws with it in node, the page on every change.
 */
import { chartSvg } from './chart.js';
import { escapeHtml, fill, formatBytes } from './format.js';
import { CHART_WIDTHS } from './ledger-view.js';

/**
 * @typedef {{models: {id: string, title: string}[], tp_sizes: number[], num_cards: number, recompute: string[], seq_length: number,
 *   categories: string[], cards: {name: string, memory_bytes: number}[], states: number[][][][], activations: number[][][][]}} ParallelGrid
 * @typedef {{model: string, tp_size: number, stage: number, sequence_parallel: boolean, recompute: string}} ParallelSettings
 * @typedef {Record<string, string>} Strings
 */

const UNIT = 'GB';
export const STAGES = [0, 1, 2, 3];

/** `settings`, with whatever the grid does not have taken from `start`. @param {ParallelGrid} grid @param {any} settings @param {ParallelSettings} start @returns {ParallelSettings} */
export function usableSettings(grid, settings, start) {
  const wanted = { ...start, ...settings };
  return {
    model: grid.models.some(({ id }) => id === wanted.model) ? wanted.model : start.model,
    tp_size: grid.tp_sizes.includes(wanted.tp_size) ? wanted.tp_size : start.tp_size,
    stage: STAGES.includes(wanted.stage) ? wanted.stage : start.stage,
    sequence_parallel: wanted.sequence_parallel === true,
    recompute: grid.recompute.includes(wanted.recompute) ? wanted.recompute : start.recompute,
  };
}

/** The bars: for each TP degree its rows of states, then activations. @param {ParallelGrid} grid @param {ParallelSettings} settings */
export function parallelBars(grid, { model, tp_size: chosen, stage, sequence_parallel: sp, recompute }) {
  const at = grid.models.findIndex(({ id }) => id === model);
  return grid.tp_sizes.map((tp, index) => {
    const states = grid.states[at][index][stage];
    const activations = grid.activations[at][index][Number(sp)][grid.recompute.indexOf(recompute)];
    const held = states.reduce((sum, bytes) => sum + bytes, 0);
    return { tp, dp: grid.num_cards / tp, states: held, activations, total: held + activations, parts: [...states, activations], selected: tp === chosen };
  });
}

/** @param {ParallelGrid} grid @param {ParallelSettings} settings @param {Strings} strings @param {string} id */
export function parallelChartsHtml(grid, settings, strings, id) {
  const bars = parallelBars(grid, settings).map((bar) => ({ ...bar, label: `TP ${bar.tp}` }));
  const data = {
    title: caption(grid, settings, strings),
    description: bars.map(({ label, total }) => `${label}: ${formatBytes(total, UNIT)}`).join('; '),
    unit: UNIT,
    bars,
    categories: grid.categories.map((name) => ({ id: name, label: strings[`term.${name}`] })),
    cards: grid.cards,
    cardLabel: strings['page.explore.cards'],
  };
  return Object.entries(CHART_WIDTHS)
    .map(([name, width]) => `<div class="zl-chart-${name}">${chartSvg(data, { width, id: `${id}-${name}` })}</div>`).join('');
}

/** The same in numbers. @param {ParallelGrid} grid @param {ParallelSettings} settings @param {Strings} strings */
export function parallelTableHtml(grid, settings, strings) {
  const rows = parallelBars(grid, settings).map(({ tp, dp, states, activations, total, selected }) =>
    `<tr${selected ? ' class="zl-chosen"' : ''}><th scope="row">${tp} × ${dp}</th>${[states, activations, total].map((bytes) => `<td><b>${formatBytes(bytes, UNIT)}</b></td>`).join('')}</tr>`);
  const head = [strings['page.parallel.layout'], strings['term.model_states'], strings['term.activations'], strings['term.total']];
  return `<table class="zl-ledger"><caption>${escapeHtml(caption(grid, settings, strings))}</caption>`
    + `<thead><tr>${head.map((name) => `<th scope="col">${escapeHtml(name)}</th>`).join('')}</tr></thead><tbody>${rows.join('')}</tbody></table>`;
}

/** @param {ParallelGrid} grid @param {ParallelSettings} settings @param {Strings} strings */
function caption(grid, { model, stage, sequence_parallel: sp, recompute }, strings) {
  return fill(strings['page.parallel.caption'], {
    model: grid.models.find(({ id }) => id === model)?.title ?? model, cards: grid.num_cards, stage,
    sp: strings[`page.parallel.sp_${sp ? 'on' : 'off'}`], recompute: strings[`page.timeline.recompute.${recompute}`],
  });
}

/** What a screen reader hears after a change. @param {ParallelGrid} grid @param {ParallelSettings} settings @param {Strings} strings */
export function parallelAnnouncement(grid, settings, strings) {
  const chosen = parallelBars(grid, settings).find(({ selected }) => selected);
  return `${caption(grid, settings, strings)} TP ${settings.tp_size}: ${formatBytes(chosen?.total ?? 0, UNIT)}`;
}

/** The whole element for its first settings. @param {ParallelGrid} grid @param {ParallelSettings} settings @param {Strings} strings @param {string} id */
export function parallelHtml(grid, settings, strings, id) {
  const t = (/** @type {string} */ key) => escapeHtml(strings[key]);
  const options = grid.models.map((one) => `<option value="${one.id}"${one.id === settings.model ? ' selected' : ''}>${escapeHtml(one.title)}</option>`);
  const segments = (/** @type {string} */ name, /** @type {string} */ legend, /** @type {[string|number, string|number][]} */ choices, /** @type {string|number} */ chosen) =>
    `<fieldset class="zl-field zl-segments" data-control="${name}"><legend>${legend}</legend><div>${choices.map(([value, label]) =>
      `<label><input type="radio" name="${id}-${name}" value="${value}"${value === chosen ? ' checked' : ''}><span>${escapeHtml(label)}</span></label>`).join('')}</div></fieldset>`;
  const recompute = grid.recompute.map((name) => /** @type {[string, string]} */ ([name, strings[`page.timeline.recompute.${name}`]]));
  return `
<form class="zl-controls" aria-label="${t('page.parallel.controls')}" autocomplete="off">
  <div class="zl-field zl-field-model"><label for="${id}-model">${t('page.parallel.model')}</label>
    <select id="${id}-model" data-control="model">${options.join('')}</select></div>
  ${segments('stage', t('page.explore.stage'), STAGES.map((stage) => [stage, stage]), settings.stage)}
  ${segments('tp_size', t('page.parallel.tp'), grid.tp_sizes.map((tp) => [tp, tp]), settings.tp_size)}
  ${segments('recompute', t('page.timeline.recompute'), recompute, settings.recompute)}
  <label class="zl-zoom zl-custom"><span><input type="checkbox" data-control="sequence_parallel"${settings.sequence_parallel ? ' checked' : ''}> ${t('page.parallel.sp')}</span></label>
</form>
<figure class="zl-figure" data-part="chart">${parallelChartsHtml(grid, settings, strings, id)}</figure>
<p class="zl-floor">${escapeHtml(fill(strings['page.parallel.floor'], { tokens: grid.seq_length }))}</p>
<div class="zl-table" data-part="table" tabindex="0" role="group">${parallelTableHtml(grid, settings, strings)}</div>
<p class="zl-sr" aria-live="polite" data-part="announce"></p>`;
}
