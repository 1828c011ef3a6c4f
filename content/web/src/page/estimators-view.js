/**
 * DeepSpeed's and accelerate's estimators beside ours, as HTML text from zeroledger.peers_reasons. Pure: the build calls it
 * in node for the table that is there before any script runs.
 */
import { amount } from './amount.js';
import { escapeHtml, fill, groupDigits } from './format.js';

const GIB = 2 ** 30;

/**
 * @typedef {{key: string, words: string, bytes: number}} Term
 * @typedef {{who: string, bytes: number|null, difference_bytes: number|null, terms: Term[]}} Estimator
 * @typedef {{num_params: number, states_bytes: number, estimators: Estimator[],
 *   peak: {bytes: number, low_bytes: number, high_bytes: number, instant: string, on_top: Record<string, number>}}} Comparison
 */

/** @param {Comparison} told @param {Record<string, string>} strings @param {{dp_size: number, stage: number, seq_length: number, micro_batch_size: number}} asked */
export function estimatorsHtml(told, strings, asked) {
  const t = (/** @type {string} */ key, /** @type {Record<string, string|number>} */ fields = {}) => fill(strings[`page.estimators.${key}`], fields);
  const heads = ['who', 'per_gpu', 'prints', 'difference', 'why'].map((name) => `<th scope="col">${escapeHtml(t(`column.${name}`))}</th>`);
  const ours = `<tr><th scope="row">${escapeHtml(t('ours'))}</th><td class="zl-amount">${amount(told.states_bytes)}</td><td class="zl-amount">–</td><td class="zl-amount">–</td><td>${escapeHtml(t('ours_counts'))}</td></tr>`;
  const rows = told.estimators.map((one) => `<tr><th scope="row">${escapeHtml(t(`who.${one.who}`))}</th><td class="zl-amount">${amount(one.bytes)}</td>`
    + `<td class="zl-amount">${one.bytes === null ? '–' : `<span class="zl-quantity">${(one.bytes / GIB).toFixed(2)} GB</span>`}</td><td class="zl-amount">${amount(one.difference_bytes, true)}</td><td>${why(one, strings, t)}</td></tr>`);
  const onTop = Object.entries(told.peak.on_top).map(([name, bytes]) => `${escapeHtml(strings[`page.measured.kind.${name}`] ?? name)} ${amount(bytes)}`).join(escapeHtml(t('separator')));
  const peak = `<tr class="zl-highest"><th scope="row">${escapeHtml(t('peak'))}</th><td class="zl-amount">${amount(told.peak.bytes)}</td><td class="zl-amount">–</td><td class="zl-amount">${amount(told.peak.bytes - told.states_bytes, true)}</td><td>${escapeHtml(t('peak_counts'))} ${onTop}</td></tr>`;
  return `<p class="zl-note-small">${escapeHtml(t('asked', { num_params: groupDigits(told.num_params), ...asked }))}</p>`
    + `<div class="zl-table" tabindex="0" role="group" aria-label="${escapeHtml(t('title'))}"><table class="zl-measured zl-estimators"><thead><tr>${heads.join('')}</tr></thead><tbody>${ours}${rows.join('')}${peak}</tbody></table></div>`;
}

/** @param {Estimator} estimator @param {Record<string, string>} strings @param {(key: string, fields?: Record<string, string|number>) => string} t */
function why({ bytes, terms }, strings, t) {
  if (bytes === null) return escapeHtml(t('no_answer'));
  return `<ul>${terms.map(({ key, words, bytes: size }) => `<li>${amount(size, true)} ${escapeHtml(strings[`page.estimators.reason.${key}`] ?? words)}</li>`).join('')}</ul>`;
}
