/** What was typed but not yet sent, carried over a reload in this tab. Code in cells is saved as it is typed. */

/** @typedef {{value: string, checked: boolean}} Field */

const KEY = `zero:drafts:${location.pathname}`;
const FIELDS = 'main form :is(input, textarea, select)';

/** @param {any} field @param {number} index @returns {string} */
const nameOf = (field, index) => field.id || `${field.name}=${field.type === 'radio' || field.type === 'checkbox' ? field.value : ''}#${index}`;

/** @returns {any[]} */
const fields = () => [...document.querySelectorAll(FIELDS)].filter((/** @type {any} */ field) => field.type !== 'file');

/** Remember all fields, and write cells that are waiting to be saved. */
export function keepDrafts() {
  for (const cell of /** @type {NodeListOf<any>} */ (document.querySelectorAll('zero-cell'))) cell.saved?.write(cell.code);
  const drafts = Object.fromEntries(fields().map((field, index) => [nameOf(field, index), { value: field.value, checked: field.checked === true }]));
  try {
    sessionStorage.setItem(KEY, JSON.stringify(drafts));
  } catch {
    // storage is refused: the reader still chose to reload
  }
}

/** Put them back, once. */
export function restoreDrafts() {
  const drafts = takeDrafts();
  if (!drafts) return;
  for (const [index, field] of fields().entries()) {
    const draft = drafts[nameOf(field, index)];
    if (!draft) continue;
    if (field.type === 'radio' || field.type === 'checkbox') field.checked = draft.checked;
    else field.value = draft.value;
    field.dispatchEvent(new Event('input', { bubbles: true }));
  }
}

/** @returns {Record<string, Field>|null} */
function takeDrafts() {
  try {
    const drafts = JSON.parse(sessionStorage.getItem(KEY) ?? 'null');
    sessionStorage.removeItem(KEY);
    return drafts;
  } catch {
    return null;
  }
}
