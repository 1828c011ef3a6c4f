// The page /cell/: shows the one item that its address names. README.md lists the parameters.

import '../cell/element.js';
import '../page/predict.js';
import './cell-page.css';
import { decodeShared, isShareFragment } from '../cell/share-link.js';
import { setShareContext } from '../cell/sharing.js';
import { setStorageScope } from '../cell/storage-scope.js';
import { linkProblem, openShared } from '../page/linked.js';
import { siteBase, text } from '../page/page-data.js';
import { escapeHtml } from '../page/format.js';
import { hasOrigin, scriptData } from '../page/site-data.js';
import { recallData } from '../page/store.js';
import { useRunner } from '../runner/client.js';
import { showFoot } from './foot.js';
import { placeItem } from './items.js';
import { INPUTS, readParameters, unfitting } from './parameters.js';
import { problemsHtml } from './problems-view.js';
import { reportProgress } from './progress.js';
import { Reporter } from './reporter.js';
import { storageScope } from './scope.js';
import { fetchPart } from './script-parts.js';
import { SharedRunner } from './shared-runner.js';
import { submitWithoutSending } from './submit.js';
import { hasTask, showTask } from './task-view.js';

/** @typedef {import('../cell/share-link.js').Shared} Shared */

const root = /** @type {HTMLElement} */ (document.querySelector('[data-part=item]'));
const { values, problems } = readParameters(location.search);
const isFramed = window.parent !== window;

/** @param {Reporter} reporter */
async function show(reporter) {
  /** @type {import('./parameters.js').Listed[]} */
  let index;
  try {
    index = await scriptData('items/index');
  } catch (error) {
    root.innerHTML = notice(text('page.predict.unavailable', { reason: error instanceof Error ? error.message : String(error) }));
    return;
  }
  const listed = index.find(({ id }) => id === values.id);
  if (!listed && !problems.some(({ field }) => field === 'id')) problems.unshift({ field: 'id', value: values.id, accepted: 'embed.accepted.listed_id' });
  if (listed) problems.push(...unfitting(listed, values.inputs));
  if (!listed || problems.length) {
    root.innerHTML = problemsHtml(problems, index);
    return;
  }
  const item = await scriptData(`items/${values.lang}/${values.id}`);
  document.title = `${item.title} · ZeRO Ledger`;
  const { shared, problem } = await readFragment();
  const inputs = { ...shared.inputs, ...values.inputs }; // those of a link are in its code already
  await placeItem(root, item, values, isFramed ? shared.code : undefined);
  const isChecked = Boolean(shared.expect);
  reportProgress(reporter, root, { kind: item.kind, isChecked });
  if (problem) root.insertAdjacentHTML('afterbegin', notice(problem));
  const isOwnCode = values.id === 'code' && isFramed; // an instructor's, given with the frame
  await openShared(isOwnCode ? { ...shared, code: undefined } : { cell: root.querySelector('zero-cell')?.getAttribute('cell-id') ?? undefined, ...shared }, root);
  const cell = /** @type {any} */ (root.querySelector('zero-cell'));
  if (cell && hasTask(shared)) showTask(root.appendChild(document.createElement('div')), cell, shared, inputs, reporter);
  setShareContext(() => ({ page: publicAddress(), more: sharedNow(shared) }));
  showFoot(/** @type {HTMLElement} */ (document.querySelector('[data-part=foot]')), item, reporter);
  reporter.ready(item);
  if (values.autorun && cell && (isFramed || !isShareFragment(location.hash))) cell.run();
}

/** @returns {Promise<{shared: Shared, problem: string}>} */
async function readFragment() {
  if (!isShareFragment(location.hash)) return { shared: {}, problem: '' };
  try {
    return { shared: await decodeShared(location.hash), problem: '' };
  } catch (error) {
    return { shared: {}, problem: linkProblem(error) };
  }
}

/** What a link from here carries: the task that came with this one, the code as it stands, the prediction. @param {Shared} shared @returns {Shared} */
function sharedNow(shared) {
  const cell = /** @type {any} */ (root.querySelector(':scope > zero-cell'));
  const asked = /** @type {any} */ (root.querySelector('zero-predict'));
  const prediction = asked && recallData(asked.storeKey);
  const { text: written, reason, confidence } = prediction ?? {};
  return {
    ...shared,
    ...(cell ? { cell: cell.cellId, code: cell.source } : {}),
    ...(values.id === 'code' ? { inputs: { ...shared.inputs, ...values.inputs } } : {}),
    ...(asked && written ? { exercise: asked.getAttribute('exercise'), prediction: { text: written, ...(reason ? { reason } : {}), ...(confidence ? { confidence } : {}) } } : {}),
  };
}

/** This page's address for another reader: nothing of the page that embeds it. */
function publicAddress() {
  const address = new URL(location.href);
  for (const field of ['theme', 'state', 'name', 'report', 'autorun', ...(values.id === 'code' ? INPUTS : [])]) address.searchParams.delete(field);
  address.hash = '';
  return address.href;
}

/** @param {string} words */
function notice(words) {
  return `<p class="zl-note zl-problem" role="alert">${escapeHtml(words)}</p>`;
}

/** What leads away from this page opens beside the embedding page, not in its frame. */
document.addEventListener('click', ({ target }) => {
  const link = target instanceof Element ? target.closest('a[href]') : null;
  if (!link || link.getAttribute('href')?.startsWith('#')) return;
  link.setAttribute('target', '_blank');
  link.setAttribute('rel', 'noopener');
}, true);

submitWithoutSending(document);
document.documentElement.lang = values.lang;
setStorageScope(storageScope(window, values.state, location.search));
useRunner(siteBase(), new SharedRunner(siteBase(), window, {
  session: values.state || `frame-${crypto.getRandomValues(new Uint32Array(2)).join('-')}`,
  sharesVariables: values.state !== '',
  isLazy: !hasOrigin,
  ...(hasOrigin ? {} : { fetch: fetchPart }),
}));
const reporter = new Reporter(values, window, siteBase());
show(reporter).finally(() => reporter.shown());
