/**
 * The explorer's picture of one selection: chart data, table, formula, verdict. Looks figures up in the grid that the
 * package computed and turns them into HTML text; computes no bytes itself. Pure: the build calls it in node for the
 * page as it is before JavaScript, the page calls it again on every change.
 */
import { chartSvg } from './chart.js';
import { escapeHtml, fill, formatBytes, groupDigits } from './format.js';

/**
 * @typedef {{id: string, dtype: string, bytes_per_param: number, sharded_from_stage: number|null}} GridCategory
 * @typedef {{id: string, title: string, num_params: number, source: string, totals: number[][], bytes: number[][][]}} GridModel
 * @typedef {{recipe: string, categories: GridCategory[], stages: {whole_bytes_per_param: number, sharded_bytes_per_param: number}[],
 *   cards: {name: string, memory_bytes: number}[], dp_sizes: number[], models: GridModel[], worker_source: string}} Grid
 * @typedef {{model: GridModel, dpIndex: number, stage: number, unit: string, zoom: boolean}} Selection
 * @typedef {Record<string, string>} Strings  interface strings of the page's language
 */

export const CHART_WIDTHS = { wide: 680, narrow: 304 };
const OTHER_UNIT = /** @type {Record<string, string>} */ ({ GB: 'GiB', GiB: 'GB' });

/** @param {Grid} grid @param {Selection} selection @param {Strings} strings */
export function chartData(grid, selection, strings) {
  const { model, dpIndex, stage, unit, zoom } = selection;
  const fields = { num_params: groupDigits(model.num_params), dp_size: grid.dp_sizes[dpIndex] };
  const bars = grid.stages.map((_, index) => ({
    label: fill(strings['page.explore.bar'], { stage: index }),
    parts: model.bytes[dpIndex][index],
    total: model.totals[dpIndex][index],
    selected: index === stage,
  }));
  const totals = bars.map((bar) => `${bar.label}: ${formatBytes(bar.total, unit)}`).join('; ');
  return {
    title: fill(strings['page.explore.chart_title'], fields),
    description: `${totals}. ${fill(strings['page.explore.chart_cards'], { cards: grid.cards.map((card) => card.name).join(', ') })}`,
    unit,
    bars,
    categories: grid.categories.map(({ id }) => ({ id, label: strings[`term.${id}`] })),
    cards: grid.cards,
    cardLabel: strings['page.explore.cards'],
    domainBytes: zoom ? model.totals[dpIndex][stage] * 1.03 : undefined,
  };
}

/** Both drawings, for wide and narrow screens; the style sheet shows one. @param {Grid} grid @param {Selection} selection @param {Strings} strings @param {string} id */
export function chartsHtml(grid, selection, strings, id) {
  const data = chartData(grid, selection, strings);
  return Object.entries(CHART_WIDTHS)
    .map(([name, width]) => `<div class="zl-chart-${name}">${chartSvg(data, { width, id: `${id}-${name}` })}</div>`)
    .join('');
}

/** @param {Grid} grid @param {Selection} selection @param {Strings} strings */
export function tableHtml(grid, { model, dpIndex, stage, unit }, strings) {
  const dpSize = grid.dp_sizes[dpIndex];
  const rows = grid.categories.map((category, index) => {
    const bytes = model.bytes[dpIndex][stage][index];
    const sharded = category.sharded_from_stage !== null && stage >= category.sharded_from_stage;
    return `<tr><th scope="row"><span class="zl-swatch zl-${category.id}"></span>${escapeHtml(sentence(strings[`term.${category.id}`]))} <small>${category.dtype}</small></th>`
      + `<td>${category.bytes_per_param}</td><td>${sharded ? `${escapeHtml(strings['term.yes'])} <small>÷ ${dpSize}</small>` : escapeHtml(strings['term.no'])}</td>`
      + `<td>${bytesCell(bytes, unit)}</td></tr>`;
  });
  return `<table class="zl-ledger"><caption>${escapeHtml(tableCaption(grid, { model, dpIndex, stage }, strings))}</caption>`
    + `<thead><tr><th scope="col">${escapeHtml(sentence(strings['term.category']))}</th><th scope="col">${escapeHtml(strings['page.explore.per_param'])}</th>`
    + `<th scope="col">${escapeHtml(strings['page.explore.sharded'])}</th><th scope="col">${escapeHtml(strings['page.explore.per_rank'])}</th></tr></thead>`
    + `<tbody>${rows.join('')}</tbody>`
    + `<tfoot><tr><th scope="row">${escapeHtml(sentence(strings['term.total']))}</th><td>${grid.stages[0].whole_bytes_per_param}</td><td></td><td>${bytesCell(model.totals[dpIndex][stage], unit)}</td></tr></tfoot></table>`;
}

/** @param {string} term  a term at the start of its line */
function sentence(term) {
  return term.charAt(0).toUpperCase() + term.slice(1);
}

/** @param {number} bytes @param {string} unit */
function bytesCell(bytes, unit) {
  return `<b>${formatBytes(bytes, unit)}</b> <small>${formatBytes(bytes, OTHER_UNIT[unit])}</small><small class="zl-exact">${groupDigits(bytes)} B</small>`;
}

/** @param {Grid} grid @param {{model: GridModel, dpIndex: number, stage: number}} selection @param {Strings} strings */
function tableCaption(grid, { model, dpIndex, stage }, strings) {
  return fill(strings['page.explore.table_caption'], { stage, num_params: groupDigits(model.num_params), dp_size: grid.dp_sizes[dpIndex] });
}

/** The stage's formula, then with the numbers in it. @param {Grid} grid @param {Selection} selection */
export function formulaHtml(grid, { model, dpIndex, stage, unit }) {
  const dpSize = grid.dp_sizes[dpIndex];
  const { whole_bytes_per_param: whole, sharded_bytes_per_param: sharded } = grid.stages[stage];
  const rounded = model.num_params % dpSize !== 0; // the fullest rank holds ⌈P/N⌉
  const count = groupDigits(model.num_params);
  const share = rounded ? '⌈<var>P</var>/<var>N</var>⌉' : '<var>P</var>/<var>N</var>';
  const shareFilled = rounded ? `⌈${count} / ${dpSize}⌉` : `${count} / ${dpSize}`;
  const terms = [whole ? `${whole}<var>P</var>` : '', sharded ? `${sharded}${rounded ? ' ' : ''}${share}` : ''];
  const filled = [whole ? `${whole} × ${count}` : '', sharded ? `${sharded} × ${shareFilled}` : ''];
  const total = model.totals[dpIndex][stage];
  const parts = [terms, filled].map((side) => `<span>${side.filter(Boolean).join(' + ')}</span>`);
  return `${parts.join('')}<span><b>${formatBytes(total, unit)}</b></span>`;
}

/** Which cards the bytes alone would fit on, and that this is a floor. @param {Grid} grid @param {Selection} selection @param {Strings} strings */
export function verdictHtml(grid, { model, dpIndex, stage }, strings) {
  const total = model.totals[dpIndex][stage];
  const cards = grid.cards.map((card) => {
    const fits = total <= card.memory_bytes;
    const text = strings[fits ? 'page.explore.fits' : 'page.explore.too_big'];
    return `<li class="${fits ? 'zl-fits' : 'zl-too-big'}"><span aria-hidden="true">${fits ? '✓' : '✕'}</span> ${escapeHtml(card.name)} <small>${escapeHtml(text)}</small></li>`;
  });
  return `<p>${escapeHtml(strings['page.explore.verdict'])}</p><ul class="zl-cards" role="list">${cards.join('')}</ul><p class="zl-floor">${escapeHtml(strings['page.explore.floor'])}</p>`;
}

/** One sentence for a screen reader when something changed. @param {Grid} grid @param {Selection} selection @param {Strings} strings */
export function announcement(grid, selection, strings) {
  const { model, dpIndex, stage, unit } = selection;
  return `${tableCaption(grid, selection, strings)}: ${formatBytes(model.totals[dpIndex][stage], unit)}`;
}

/**
 * The whole explorer for its first selection, controls included; they come alive when the page's script arrives.
 * @param {Grid} grid @param {Selection} selection @param {Strings} strings @param {string} id
 */
export function explorerHtml(grid, selection, strings, id) {
  const s = (/** @type {string} */ key) => escapeHtml(strings[`page.explore.${key}`]);
  const { model, dpIndex, stage, unit } = selection;
  const options = grid.models.map((one) => `<option value="${one.id}"${one.id === model.id ? ' selected' : ''}>${escapeHtml(one.title)} (${groupDigits(one.num_params)})</option>`);
  const radio = (/** @type {string} */ name, /** @type {string|number} */ value, /** @type {boolean} */ checked) =>
    `<label><input type="radio" name="${id}-${name}" value="${value}"${checked ? ' checked' : ''}><span>${value}</span></label>`;
  return `
<form class="zl-controls" aria-label="${s('controls')}" autocomplete="off">
  <div class="zl-field zl-field-model"><label for="${id}-model">${s('model')} <var>P</var></label>
    <select id="${id}-model" data-control="model">${options.join('')}<option value="custom">${s('custom')}</option></select></div>
  <div class="zl-field zl-field-n"><label for="${id}-n">${s('dp_size')} <var>N</var> = <b data-part="n">${grid.dp_sizes[dpIndex]}</b></label>
    <input id="${id}-n" data-control="n" type="range" min="0" max="${grid.dp_sizes.length - 1}" step="1" value="${dpIndex}" aria-valuetext="N = ${grid.dp_sizes[dpIndex]}"></div>
  <fieldset class="zl-field zl-segments" data-control="stage"><legend>${s('stage')}</legend><div>${grid.stages.map((_, index) => radio('stage', index, index === stage)).join('')}</div></fieldset>
  <fieldset class="zl-field zl-segments" data-control="unit"><legend>${s('unit')}</legend><div>${['GB', 'GiB'].map((one) => radio('unit', one, one === unit)).join('')}</div></fieldset>
  <div class="zl-custom" data-part="custom" hidden>
    <label for="${id}-custom">${s('custom_label')}</label>
    <textarea id="${id}-custom" rows="2" spellcheck="false" placeholder="${s('custom_hint')}" aria-describedby="${id}-status"></textarea>
    <button type="button" data-action="apply">${s('apply')}</button>
  </div>
  <p class="zl-status" id="${id}-status" role="status" data-part="status"></p>
</form>
<figure class="zl-figure"><div data-part="chart">${chartsHtml(grid, selection, strings, id)}</div>
<label class="zl-zoom"><input type="checkbox" data-control="zoom"> ${s('zoom')}</label></figure>
<p class="zl-formula" data-part="formula">${formulaHtml(grid, selection)}</p>
<div class="zl-verdict" data-part="verdict">${verdictHtml(grid, selection, strings)}</div>
<div class="zl-table" data-part="table">${tableHtml(grid, selection, strings)}</div>
<p class="zl-sr" aria-live="polite" data-part="announce"></p>`;
}
