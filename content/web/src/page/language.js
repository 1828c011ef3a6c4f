/**
 * The language switch: remembers the choice and keeps the reader's place. Cells have the same ids in both languages,
 * so the link gets the id of the cell that is at the top of the window. Plain links without a script.
 */
import { remember } from './store.js';

const BELOW_BAR_PX = 90; // a cell counts as being read once its top has passed this line

/** The id of the cell at the top of the window; '' above the first. @param {{id: string, top: number}[]} cells in order */
export function cellAtTop(cells) {
  let current = '';
  for (const cell of cells) if (cell.top <= BELOW_BAR_PX) current = cell.id;
  return current;
}

/** The cells with an id and where they lie in the window. @param {ParentNode} root */
export function cellsOf(root) {
  return [...root.querySelectorAll('.zl-cell[id]')].map((cell) => ({ id: cell.id, top: cell.getBoundingClientRect().top }));
}

if (typeof document !== 'undefined') {
  const links = /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll('[data-language]'));
  for (const link of links) {
    link.addEventListener('click', () => {
      remember('lang', link.dataset.language);
      const id = cellAtTop(cellsOf(document));
      link.hash = id ? `#${id}` : '';
    });
  }
}
