// Says what is wrong with the address of an embedded page: the field, what was given, what is accepted, and every id.

import { escapeHtml } from '../page/format.js';
import { hasText, pageLanguage, text } from '../page/page-data.js';

/** @param {import('./parameters.js').Problem[]} problems @param {import('./parameters.js').Listed[]} index @returns {string} HTML */
export function problemsHtml(problems, index) {
  const lines = problems.map(({ field, value, accepted }) => {
    const words = typeof accepted === 'string' ? (hasText(accepted) ? text(accepted) : accepted) : accepted.join(', ');
    return `<li>${escapeHtml(text('embed.problem', { field, value, accepted: words }))}</li>`;
  });
  const ids = index.map(({ id, title }) => `<li><code>${escapeHtml(id)}</code> ${escapeHtml(title[pageLanguage()])}</li>`);
  const list = problems.some(({ field }) => field === 'id') && ids.length
    ? `<details open><summary>${escapeHtml(text('embed.ids'))}</summary><ul class="zl-ids">${ids.join('')}</ul></details>` : '';
  return `<div class="zl-note" role="alert"><p><b>${escapeHtml(text('embed.cannot_show'))}</b></p><ul>${lines.join('')}</ul></div>${list}`;
}
