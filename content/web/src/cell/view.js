// The cell's DOM, built once: code, buttons, status, output, result, traceback, notice.

import { styles } from './styles.js';

/** @typedef {import('./notice.js').Say} Say */

let cellCount = 0;

/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag @param {string} className @param {Record<string, string>} [attributes]
 * @returns {HTMLElementTagNameMap[T]}
 */
function make(tag, className, attributes = {}) {
  const element = document.createElement(tag);
  element.className = className;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

/** @param {string} label @param {string} className */
function makeButton(label, className) {
  const button = make('button', className, { type: 'button' });
  button.textContent = label;
  return button;
}

/** @param {ShadowRoot} root @param {Say} say */
export function buildView(root, say) {
  const style = document.createElement('style');
  style.textContent = styles;
  const view = {
    cell: make('section', 'cell', { 'aria-label': say('cell.label', { n: ++cellCount }) }),
    code: make('div', 'code'),
    run: makeButton(say('cell.run'), 'run'),
    stop: makeButton(say('cell.stop'), 'stop'),
    reset: makeButton(say('cell.reset'), 'quiet reset'),
    copy: makeButton(say('cell.copy'), 'quiet copy'),
    share: makeButton(say('cell.share'), 'quiet share'),
    aside: make('div', 'aside', { role: 'note' }),
    link: make('input', 'link', { readonly: '', 'aria-label': say('cell.link.label') }),
    status: make('div', 'status'),
    announcer: make('div', 'visually-hidden', { role: 'status' }),
    progress: make('progress', '', { 'aria-label': say('cell.loading_label') }),
    output: make('div', 'output', { role: 'log', 'aria-label': say('cell.output_label'), tabindex: '0' }),
    value: make('pre', 'value', { tabindex: '0', role: 'group', 'aria-label': say('cell.value_label') }),
    picture: make('img', 'picture'),
    traceback: make('pre', 'traceback', { tabindex: '0', role: 'group', 'aria-label': say('cell.traceback_label') }),
    notice: make('div', 'notice'),
  };
  view.run.title = say('cell.run_keys');
  const bar = make('div', 'bar');
  bar.append(view.run, view.stop, view.reset, view.copy, view.share, view.status);
  view.cell.append(view.aside, view.code, view.progress, bar, view.link, view.output, view.picture, view.value, view.traceback, view.notice, view.announcer);
  for (const part of [view.aside, view.link, view.stop, view.progress, view.output, view.picture, view.value, view.traceback, view.notice]) part.hidden = true;
  root.append(style, view.cell);
  return view;
}

/** @param {HTMLElement} box @param {import('./notice.js').Notice} notice @param {Say} say @param {() => void} onRetry */
export function showNotice(box, notice, say, onRetry) {
  const title = document.createElement('strong');
  title.textContent = notice.title;
  const lines = notice.lines.map((line) => {
    const paragraph = document.createElement('p');
    paragraph.textContent = line;
    return paragraph;
  });
  box.className = `notice ${notice.tone}`;
  box.replaceChildren(title, ...lines);
  if (notice.canRetry) {
    const button = makeButton(say('cell.retry'), 'retry');
    button.addEventListener('click', onRetry);
    box.append(button);
  }
  box.hidden = false;
}

/**
 * What is to be known of the code that stands below, and what can be done about it.
 * @param {HTMLElement} box @param {string} words @param {[string, () => void][]} choices label and what a click does
 */
export function showCodeNotice(box, words, choices) {
  const paragraph = document.createElement('p');
  paragraph.textContent = words;
  const buttons = choices.map(([label, onClick]) => {
    const button = makeButton(label, 'choice');
    button.addEventListener('click', onClick);
    return button;
  });
  box.replaceChildren(paragraph, ...buttons);
  box.hidden = false;
}
