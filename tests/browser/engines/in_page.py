"""Bodies of async functions that tests run inside a page of the site, in whichever engine."""

HELPERS = """
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const until = async (what, condition, ms = 30000) => {
  const end = performance.now() + ms;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (performance.now() > end) throw new Error(`waited ${ms / 1000} s for ${what}`);
    await pause(50);
  }
};
const defined = (...names) => Promise.all(names.map((name) => customElements.whenDefined(name)));
const fill = (field, value) => { field.value = value; field.dispatchEvent(new Event('input', { bubbles: true })); };
const runCell = async (cell) => {
  cell.scrollIntoView();
  const over = new Promise((resolve) => cell.addEventListener('zero-run', (event) => resolve(event.detail), { once: true }));
  cell.shadowRoot.querySelector('.run').click();
  return over;
};
"""

# args: [{exercise: {wrong, right}}] → {exercise: [verdicts]}: each exercise of the page skipped, missed, got right
WALK = HELPERS + """
await defined('zero-predict');
const verdicts = {};
for (const question of document.querySelectorAll('zero-predict')) {
  const name = question.getAttribute('exercise'), { wrong, right } = args[0][name], seen = verdicts[name] = [];
  question.scrollIntoView();
  const settle = async () => seen.push(await until(`the verdict on ${name}`, () => question.getAttribute('data-verdict')));
  const commit = (number) => {
    fill(question.querySelector('[name=number]'), number);
    question.querySelector('form [type=submit]').click();
    return settle();
  };
  const forget = () => {
    question.querySelector('[data-part=result] > .zl-link').click();
    return until('the empty form', () => !question.querySelector('form').hidden && !question.hasAttribute('data-verdict'));
  };
  question.querySelector('[data-action=skip]').click();
  await settle();
  await forget();
  if (wrong) { await commit(wrong); await forget(); }
  await commit(right);
}
return verdicts;
"""

# args: [{item: {wrong, right}}] → {item: [verdict, what it says, verdict, what it says]}: each item missed, then got right
ANSWER = HELPERS + """
await defined('zero-question');
const give = (item, given) => {
  const kind = item.getAttribute('kind');
  if (kind === 'number') return fill(item.querySelector('[name=number]'), given);
  if (kind !== 'ordering') return item.querySelectorAll('[name=option]').forEach((one) => { if (one.checked !== given.includes(one.value)) one.click(); });
  for (const [at, id] of given.entries()) {
    const row = item.querySelector(`[data-option="${id}"]`);
    while ([...row.parentElement.children].indexOf(row) > at) row.querySelector('[data-move="-1"]').click();
  }
};
const seen = {};
for (const item of document.querySelectorAll('zero-question')) {
  const name = item.getAttribute('exercise');
  seen[name] = [];
  for (const [kind, verdict] of [['wrong', 'open'], ['right', 'right']]) {
    give(item, args[0][name][kind]);
    item.querySelector('form [type=submit]').click();
    await until(`${name}, ${kind}`, () => item.getAttribute('data-verdict') === verdict);
    seen[name].push(verdict, item.querySelector('[data-part=feedback]').textContent);
  }
}
return seen;
"""

# → {kept, said}: how many exercises and items show that they were got right before, and the page's remarks
KEPT = HELPERS + """
await Promise.race([defined('zero-predict'), defined('zero-question')]);
await document.fonts.ready;
await pause(500);
const count = (selector) => document.querySelectorAll(selector).length;
return { kept: count('zero-predict[data-verdict=right], zero-question[data-verdict=right]'), said: [...document.querySelectorAll('.zl-note')].map((note) => note.textContent) };
"""

# → [{code, status, error}] of each live cell of the page, run one after the other
RUN_CELLS = HELPERS + """
await defined('zero-cell');
const results = [];
for (const cell of document.querySelectorAll('zero-cell')) {
  if (cell.closest('[hidden]')) continue;
  const { status, error } = await runCell(cell);
  results.push({ code: cell.source, status, error });
}
return results;
"""

# → {before, after}: the explorer's chart before and after its first slider is moved to its end
MOVE_SLIDER = HELPERS + """
await defined('zero-explorer');
const explorer = document.querySelector('zero-explorer');
const chart = () => explorer.querySelector('svg').outerHTML;
const before = chart();
const slider = explorer.querySelector('input[type=range]');
fill(slider, slider.value === slider.max ? slider.min : slider.max);
slider.dispatchEvent(new Event('change', { bubbles: true }));
await until('another chart', () => chart() !== before, 5000);
return { before, after: chart() };
"""

# → {width, overflow}: how far the page is wider than its window at 360 px, in a frame of that width
NARROW = HELPERS + """
const frame = document.createElement('iframe');
frame.style.cssText = 'width: 360px; height: 640px; border: 0';
frame.src = location.href;
document.body.append(frame);
await new Promise((resolve) => frame.addEventListener('load', resolve));
await frame.contentDocument.fonts.ready;
const root = frame.contentDocument.documentElement;
return { width: root.clientWidth, overflow: root.scrollWidth - root.clientWidth };
"""

# args: [source, options] → RunResult with out, err; where ../runner_page.py's script has run
GO = "return go(args[0], args[1]);"

# args: [second origin]: storage of the site's own origin gets a canary, what reaches the page is recorded
PLANT_CANARIES = """
localStorage.setItem('canary', args[0]);
document.cookie = `canary=${args[0]}`;
await (await caches.open('site')).put('/canary', new Response(args[0]));
window.heard = [];
addEventListener('message', (event) => window.heard.push(String(event.data)));
new BroadcastChannel('site').onmessage = (event) => window.heard.push(String(event.data));
"""

# args: [id of a frame of the embedding page] → its events, once it is ready and as high as its content
EMBEDDED = HELPERS + """
const frame = document.getElementById(args[0]);
frame.scrollIntoView();
const heard = () => got.filter((one) => one.id === args[0]);
await until(`${args[0]} to be as high as it says`, () => {
  const sent = heard().filter((one) => one.type === 'height').at(-1);
  return sent && Math.abs(frame.clientHeight - sent.height) <= 1;
});
return heard();
"""

# → {text, overflow}: what an embed shows, and by how much it is higher than its frame
SHOWN = HELPERS + """
const root = document.documentElement;
await until('something to see', () => document.querySelector('main svg, zero-cell, zero-predict, zero-question'));
await until('the right height', () => root.scrollHeight <= innerHeight + 1, 20000).catch(() => {});
return { text: document.body.innerText, overflow: root.scrollHeight - innerHeight };
"""

# → the word in which an English cell with a task judges the reader's code
CHECK = HELPERS + """
await until('the button', () => document.querySelector('[data-action=check]'));
document.querySelector('[data-action=check]').click();
return until('the outcome', () => /Right|Not yet/.exec(document.querySelector('[data-part=outcome]')?.textContent)?.[0]);
"""

LAB_HELPERS = HELPERS + """
// The lab opens again what was open on an earlier visit, behind what is asked for.
const inFront = () => document.querySelector('.jp-NotebookPanel:not(.lm-mod-hidden)');
const all = (selector) => [...(inFront()?.querySelectorAll(selector) ?? [])];
const press = (node) => {
  const { x, y, width, height } = node.getBoundingClientRect();
  const options = { bubbles: true, cancelable: true, button: 0, clientX: x + width / 2, clientY: y + height / 2, view: window };
  for (const type of ['mousemove', 'mousedown', 'mouseup', 'click']) node.dispatchEvent(new MouseEvent(type, options));
};
const prompts = () => all('.jp-Notebook .jp-CodeCell .jp-InputPrompt').map((prompt) => prompt.textContent.trim());
const runAndAdvance = () => press(all('[data-jp-item-name="run"] jp-button')[0]);
// Before the notebook has its kernel the indicator says idle too.
const idle = () => until('the kernel', () => prompts().length > 2 && all('.jp-Toolbar-kernelName')[0]?.textContent.includes('Pyodide')
  && all('.jp-Notebook-ExecutionIndicator[data-status=idle]')[0], 120000);
"""

# → {cells, errors, text}: after every cell of the open notebook was run with the button for it; menus take no events made by a script
RUN_ALL = LAB_HELPERS + """
await idle();
const count = prompts().length;
press(all('.jp-Notebook .jp-Cell')[0]);
for (const _ of all('.jp-Notebook .jp-Cell')) { runAndAdvance(); await pause(20); }
await until('every cell', () => prompts().slice(0, count).every((prompt) => /^\\[\\d+\\]:$/.test(prompt)), 120000).catch((error) => { throw new Error(`${error.message}, which are ${prompts()}`); });
const errors = '.jp-OutputArea-output:is([data-mime-type="application/vnd.jupyter.error"], [data-mime-type="application/vnd.jupyter.stderr"])';
return { cells: count, errors: all(errors).map((one) => one.innerText), text: all('.jp-OutputArea-output').map((one) => one.innerText).join('\\n') };
"""

# → {before, after, width}: the total under the chart before and after its slider went one step, and the picture's width
MOVE_NOTEBOOK_SLIDER = LAB_HELPERS + """
const handle = await until('the slider', () => all('.jp-OutputArea .noUi-handle')[0]);
const output = handle.closest('.jp-OutputArea-output');
output.scrollIntoView();
const picture = await until('the chart', () => output.querySelector('img.widget-image'));
const total = () => [...output.querySelectorAll('table tr')].at(-1)?.textContent;
const undivided = total();
[...output.querySelectorAll('.widget-toggle-button')].find((button) => button.textContent.trim() === '3').click(); // stage 3 divides all
await until('the total of stage 3', () => total() !== undivided);
const before = total(), shown = picture.src;
handle.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true }));
await until('another total', () => total() !== before);
await until('another chart', () => picture.src !== shown && picture.complete);
return { before, after: total(), width: picture.naturalWidth };
"""

# args: [source] → the output, some, of the empty last cell after it has run this; running it adds the next empty one
RUN_IN_LAST_CELL = LAB_HELPERS + """
const cell = all('.jp-Notebook .jp-CodeCell').at(-1);
press(cell.querySelector('.jp-InputPrompt'));
const content = await until('the editor', () => cell.querySelector('.cm-content'));
const { view } = content.cmTile ?? content.cmView;
view.dispatch({ changes: { from: 0, insert: args[0] } });
runAndAdvance();
await until('its end', () => /\\d/.test(cell.querySelector('.jp-InputPrompt').textContent));
await idle();
return until('its output', () => cell.querySelector('.jp-OutputArea').innerText.trim());
"""
