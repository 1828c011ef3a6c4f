// Below an instructor's cell: a button that checks the result, hints one at a time, the solution.

import { escapeHtml } from '../page/format.js';
import { pageRunner, text } from '../page/page-data.js';
import { checkResult } from './expect.js';

const MISSES_BEFORE_SOLUTION = 3;

/** @typedef {Pick<import('../cell/share-link.js').Shared, 'expect'|'tolerance'|'hints'|'solution'>} Task */

/** @param {Task} task @returns {boolean} */
export function hasTask({ expect, hints, solution }) {
  return Boolean(expect || hints?.length || solution);
}

/**
 * @param {HTMLElement} place @param {any} cell the <zero-cell> @param {Task} task @param {import('./parameters.js').Inputs} inputs
 * @param {import('./reporter.js').Reporter} reporter
 */
export function showTask(place, cell, task, inputs, reporter) {
  const hints = task.hints ?? [];
  let [misses, shown] = [0, 0];
  place.className = 'zl-task';
  place.innerHTML = `<p class="zl-actions">${button('check', text('embed.check'), !task.expect)}${button('hint', text('quiz.hint'), !hints.length)}${button('solution', text('quiz.solution'), !task.solution)}</p>
    <div data-part="outcome" role="status"></div><div data-part="hints" role="status"></div><div data-part="solution" hidden></div>`;
  const part = (/** @type {string} */ name) => /** @type {HTMLElement} */ (place.querySelector(`[data-part=${name}]`));
  const on = (/** @type {string} */ name, /** @type {(button: HTMLButtonElement) => void} */ act) => {
    const found = /** @type {HTMLButtonElement} */ (place.querySelector(`[data-action=${name}]`));
    found.addEventListener('click', () => act(found));
  };
  const showSolution = () => {
    part('solution').hidden = false;
    part('solution').innerHTML = `<p><b>${escapeHtml(text('quiz.solution_heading'))}</b></p><pre class="zl-code" tabindex="0"><code>${escapeHtml(task.solution ?? '')}</code></pre>`;
  };
  on('hint', (hint) => {
    shown = Math.min(shown + 1, hints.length);
    part('hints').innerHTML = hints.slice(0, shown).map((one, at) => `<p><b>${escapeHtml(text('quiz.hint_number', { number: at + 1, count: hints.length }))}</b> ${escapeHtml(one)}</p>`).join('');
    hint.disabled = shown === hints.length;
  });
  on('solution', showSolution);
  on('check', async (check) => {
    check.disabled = true;
    part('outcome').innerHTML = `<p class="zl-status">${escapeHtml(text('embed.checking'))}</p>`;
    const outcome = await checkResult(await pageRunner(), cell.source, { expect: task.expect ?? '', tolerance: task.tolerance, inputs });
    check.disabled = false;
    part('outcome').innerHTML = outcomeHtml(outcome);
    place.dataset.verdict = outcome.verdict;
    if (outcome.verdict === 'failed') return;
    const right = outcome.verdict === 'right';
    reporter.tell({ type: 'checked', verdict: outcome.verdict, right });
    if (right) reporter.tell({ type: 'completed', success: true });
    else if (++misses >= MISSES_BEFORE_SOLUTION && task.solution) showSolution();
  });
}

/** @param {string} action @param {string} label @param {boolean} isHidden */
function button(action, label, isHidden) {
  return `<button type="button" class="zl-button${action === 'check' ? '' : ' zl-quiet'}" data-action="${action}"${isHidden ? ' hidden' : ''}>${escapeHtml(label)}</button> `;
}

/** @param {import('./expect.js').Outcome} outcome */
function outcomeHtml({ verdict, value, reason }) {
  if (verdict === 'right') return `<p class="zl-verdict-line zl-right">${escapeHtml(text('embed.result_right'))}</p>`;
  if (verdict === 'failed') return `<p class="zl-problem">${escapeHtml(text('embed.result_failed', { reason: reason ?? '' }))}</p>`;
  const key = value === null ? 'embed.result_none' : 'embed.result_wrong';
  return `<p class="zl-verdict-line">${escapeHtml(text(key, { value: JSON.stringify(value).slice(0, 200) }))}</p>`;
}
