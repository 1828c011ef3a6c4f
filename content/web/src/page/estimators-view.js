/**
 * DeepSpeed's and accelerate's estimators beside ours, as HTML text from zeroledger.peers_reasons. Pure: the build calls it
 * in node for the table that is there before any script runs.
 */
import { amount } from './amount.js';
import { escapeHtml, fill, groupDigits } from './format.js';

const GIB = 2 ** 30;
const COLUMNS = ['per_gpu', 'prints', 'difference', 'why'];

/**
 * @typedef {{key: string, words: string, bytes: number}} Term
 * @typedef {{who: string, bytes: number|null, difference_bytes: number|null, terms: Term[]}} Estimator
 * @typedef {{num_params: number, states_bytes: number, estimators: Estimator[],
 *   peak: {bytes: number, low_bytes: number, high_bytes: number, instant: string, on_top: Record<string, number>}}} Comparison
 */

/** @param {Comparison} told @param {Record<string, string>} strings @param {{dp_size: number, stage: number, seq_length: number, micro_batch_size: number}} asked */
export function estimatorsHtml(told, strings, asked) {
  const t = (/** @type {string} */ key, /** @type {Record<string, string|number>} */ fields = {}) => fill(strings[`page.estimators.${key}`], fields);
  const row = (/** @type {string} */ who, /** @type {string[]} */ cells, kind = '') => rowHtml(t, who, cells, kind);
  const ours = row(t('ours'), [amount(told.states_bytes), '–', '–', escapeHtml(t('ours_counts'))]);
  const rows = told.estimators.map((one) => row(t(`who.${one.who}`), [
    amount(one.bytes), one.bytes === null ? '–' : `<span class="zl-quantity">${(one.bytes / GIB).toFixed(2)} GB</span>`, amount(one.difference_bytes, true), why(one, strings, t)]));
  const onTop = Object.entries(told.peak.on_top).map(([name, bytes]) => `${escapeHtml(strings[`page.measured.kind.${name}`] ?? name)} ${amount(bytes)}`).join(escapeHtml(t('separator')));
  const peak = row(t('peak'), [amount(told.peak.bytes), '–', amount(told.peak.bytes - told.states_bytes, true), `${escapeHtml(t('peak_counts'))} ${onTop}`], 'zl-highest');
  const heads = ['who', ...COLUMNS].map((name) => `<th scope="col" role="columnheader">${escapeHtml(t(`column.${name}`))}</th>`);
  return `<p class="zl-note-small">${escapeHtml(t('asked', { num_params: groupDigits(told.num_params), ...asked }))}</p>`
    + `<div class="zl-table" tabindex="0" role="group" aria-label="${escapeHtml(t('title'))}"><table class="zl-measured zl-estimators" role="table"><thead><tr role="row">${heads.join('')}</tr></thead><tbody>${ours}${rows.join('')}${peak}</tbody></table></div>`;
}

/**
 * A row whose cells say which column they are in: on a narrow screen they stand below each other. There the roles, which
 * the changed layout would take away, keep it a table.
 * @param {(key: string) => string} t @param {string} who @param {string[]} cells HTML @param {string} kind
 */
function rowHtml(t, who, cells, kind) {
  const all = cells.map((cell, at) => `<td role="cell" data-column="${escapeHtml(t(`column.${COLUMNS[at]}`))}"${COLUMNS[at] === 'why' ? '' : ' class="zl-amount"'}>${cell}</td>`);
  return `<tr role="row"${kind && ` class="${kind}"`}><th scope="row" role="rowheader">${escapeHtml(who)}</th>${all.join('')}</tr>`;
}

/** @param {Estimator} estimator @param {Record<string, string>} strings @param {(key: string, fields?: Record<string, string|number>) => string} t */
function why({ bytes, terms }, strings, t) {
  if (bytes === null) return escapeHtml(t('no_answer'));
  return `<ul>${terms.map(({ key, words, bytes: size }) => `<li>${amount(size, true)} ${escapeHtml(strings[`page.estimators.reason.${key}`] ?? words)}</li>`).join('')}</ul>`;
}
