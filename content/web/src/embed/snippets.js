// The snippets that put an item into a page, for each kind of host. Pure; no DOM.

const FIRST_HEIGHT_PX = /** @type {Record<string, number>} */ ({ live: 260, exercise: 420, chart: 720, timeline: 900, quiz: 900, question: 320 });

/**
 * @typedef {object} Choice
 * @property {string} site the site's address, with a slash at the end
 * @property {string} id
 * @property {string} kind of the item
 * @property {string} title
 * @property {Record<string, string>} parameters lang, theme, seed and inputs, those that differ from the default
 * @property {boolean} sandbox
 * @property {import('../cell/share-link.js').Shared} task an own cell's code, expected value, hints, solution
 * @property {string} hash of the task, or ''
 */

/** The address of the frame. @param {Choice} choice */
export function frameAddress({ site, id, parameters, hash }) {
  const search = new URLSearchParams({ id, ...parameters }).toString().replaceAll('%2F', '/');
  return `${site}cell/?${search}${hash}`;
}

/** @param {'iframe'|'element'|'markdown'|'myst'|'quarto'|'link'} form @param {Choice} choice @returns {string} */
export function snippet(form, choice) {
  if (form === 'element') return elementHtml(choice);
  if (form === 'link') return frameAddress(choice);
  const html = `${frameHtml(choice)}\n<script src="${quoted(choice.site)}static/zero/embed.js" defer></script>`;
  if (form === 'myst') return `\`\`\`{raw} html\n${html}\n\`\`\``;
  if (form === 'quarto') return `\`\`\`{=html}\n${html}\n\`\`\``;
  return html; // Markdown passes HTML on as it stands
}

/** @param {Choice} choice */
function frameHtml(choice) {
  const sandbox = choice.sandbox ? ' sandbox="allow-scripts"' : '';
  return `<iframe src="${quoted(frameAddress(choice))}" title="${quoted(choice.title)}" width="100%" height="${FIRST_HEIGHT_PX[choice.kind] ?? 400}" frameborder="0" loading="lazy" allow="clipboard-write"${sandbox}></iframe>`;
}

/** @param {Choice} choice */
function elementHtml({ site, id, parameters, sandbox, task }) {
  const attributes = Object.entries({ ...(id === 'code' ? {} : { item: id }), ...parameters, ...(task.expect ? { expect: task.expect } : {}) })
    .map(([name, value]) => ` ${name}="${quoted(value)}"`).join('') + (sandbox ? ' sandboxed' : '');
  const hints = (task.hints ?? []).map((hint) => `<details data-hint><summary>Hint</summary>${quoted(hint)}</details>\n`).join('');
  const solution = task.solution ? `<details data-solution><summary>Solution</summary><pre>${quoted(task.solution)}</pre></details>\n` : '';
  const code = id === 'code' ? `<pre>\n${quoted(task.code ?? '')}\n</pre>\n` : '';
  // In a <div>: Markdown takes an element that it does not know for text.
  return `<div>\n<script type="module" src="${quoted(site)}static/zero/zero-cell.js"></script>\n<zero-cell${attributes}>\n${code}${hints}${solution}</zero-cell>\n</div>`;
}

/** Escaped for HTML so that people can still read it. @param {string} text */
function quoted(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
