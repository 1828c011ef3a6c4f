/**
 * Opens a share link on a lesson page: shows its code in the cell it is for, and fills in its prediction where the reader
 * has none. Nothing runs, and nothing of the reader's is overwritten.
 */
import { LinkError, MAX_FRAGMENT_CHARS, decodeShared, isShareFragment } from '../cell/share-link.js';
import { text } from './page-data.js';

/** What is wrong with a link, for the reader. @param {unknown} error */
export function linkProblem(error) {
  if (!(error instanceof LinkError)) throw error;
  if (error.reason === 'too-large') return text('cell.link.too_large', { size: error.size, limit: MAX_FRAGMENT_CHARS });
  return text(error.reason === 'newer' ? 'cell.link.newer' : 'cell.link.damaged');
}

/** @param {import('../cell/share-link.js').Shared} shared @param {ParentNode} root */
export async function openShared(shared, root) {
  const cell = shared.cell === undefined ? null : /** @type {any} */ (root.querySelector(`zero-cell[cell-id="${CSS.escape(shared.cell)}"]`));
  if (shared.code !== undefined && !cell) return text('cell.link.no_cell', { cell: shared.cell ?? '' });
  const asked = shared.exercise === undefined ? null : root.querySelector(`zero-predict[exercise="${CSS.escape(shared.exercise)}"]`);
  if (asked && shared.prediction) {
    await customElements.whenDefined('zero-predict');
    /** @type {any} */ (asked).offerPrediction(shared.prediction);
  }
  if (cell && shared.code !== undefined) {
    await customElements.whenDefined('zero-cell');
    cell.showFromLink(shared.code);
  }
  (cell ?? asked)?.scrollIntoView({ block: 'center' });
  return '';
}

async function openFragment() {
  if (!isShareFragment(location.hash)) return;
  const main = document.querySelector('main');
  let problem;
  try {
    problem = await openShared(await decodeShared(location.hash), document);
  } catch (error) {
    problem = linkProblem(error);
  }
  document.querySelector('[data-part=link-problem]')?.remove();
  if (!problem || !main) return;
  const place = document.createElement('p');
  place.className = 'zl-note zl-problem';
  place.dataset.part = 'link-problem';
  place.setAttribute('role', 'alert');
  place.textContent = problem;
  (main.querySelector('.zl-title') ?? main).append(place);
}

if (!document.body.classList.contains('zl-embed')) {
  addEventListener('hashchange', openFragment);
  openFragment();
}
