/** Live cells: once one has run, the output that the build recorded below it makes room for the reader's own. */
import '../cell/element.js';

document.addEventListener('zero-run', (event) => {
  const cell = /** @type {Element} */ (event.target).getAttribute('cell-id');
  const recorded = cell && document.querySelector(`[data-output-of="${CSS.escape(cell)}"]`);
  if (recorded) /** @type {HTMLElement} */ (recorded).hidden = true;
});
