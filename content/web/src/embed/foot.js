// Under an embedded item: where it comes from, a link to share it, and the record of this visit.

import { LinkError, MAX_FRAGMENT_CHARS } from '../cell/share-link.js';
import { copyText, shareAddress } from '../cell/sharing.js';
import { escapeHtml } from '../page/format.js';
import { pageLanguage, siteBase, text } from '../page/page-data.js';
import { storageLasts } from '../page/store.js';

const KEEPS_SOMETHING = ['exercise', 'live'];

/** @param {HTMLElement} foot @param {{kind: string, lesson: string}} item @param {import('./reporter.js').Reporter} reporter */
export function showFoot(foot, item, reporter) {
  const home = new URL(`${pageLanguage() === 'en' ? 'en' : 'zh'}/${item.lesson ? `${item.lesson}/` : ''}`, siteBase());
  foot.innerHTML = `<a href="${escapeHtml(home.href)}" target="_blank" rel="noopener">${escapeHtml(text('page.site'))}</a>
    <button type="button" class="zl-link" data-action="share">${escapeHtml(text('embed.share'))}</button>
    <button type="button" class="zl-link" data-action="record">${escapeHtml(text('embed.record'))}</button>
    <span data-part="foot-status" role="status"></span><input class="zl-share-field" readonly hidden aria-label="${escapeHtml(text('cell.link.label'))}">`;
  const status = /** @type {HTMLElement} */ (foot.querySelector('[data-part=foot-status]'));
  const field = /** @type {HTMLInputElement} */ (foot.querySelector('input'));
  foot.querySelector('[data-action=share]')?.addEventListener('click', async () => {
    try {
      field.value = await shareAddress({});
    } catch (error) {
      if (!(error instanceof LinkError)) throw error;
      status.textContent = text('cell.link.too_large', { size: error.size, limit: MAX_FRAGMENT_CHARS });
      return;
    }
    field.hidden = false;
    const copied = await copyText(field.value);
    status.textContent = text(copied ? 'cell.link.copied' : 'cell.link.select');
    if (!copied) field.select();
  });
  foot.querySelector('[data-action=record]')?.addEventListener('click', () => {
    const { statements } = reporter;
    status.textContent = statements.length ? text('embed.record_saved', { count: statements.length }) : text('embed.record_empty');
    if (statements.length) download('zero-ledger-xapi.json', JSON.stringify(statements, null, 2));
  });
  if (KEEPS_SOMETHING.includes(item.kind) && !storageLasts()) {
    foot.insertAdjacentHTML('beforeend', `<span data-part="not-kept">${escapeHtml(text('page.not_kept'))}</span>`);
  }
  foot.hidden = false;
}

/** @param {string} name @param {string} content */
function download(name, content) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([content], { type: 'application/json' }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
