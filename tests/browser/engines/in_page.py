"""Bodies of async functions that tests run inside a page of the site, in whichever engine."""

HELPERS = """
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const until = async (what, condition, ms = 120000) => {
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
const settled = (question) => until(`the verdict on ${question.getAttribute('exercise')}`, () => question.getAttribute('data-verdict'));
const runCell = async (cell) => {
  cell.scrollIntoView();
  const over = new Promise((resolve) => cell.addEventListener('zero-run', (event) => resolve(event.detail), { once: true }));
  cell.shadowRoot.querySelector('.run').click();
  return over;
};
"""

# args: [{exercise: value with unit}] → {exercise: verdict}, by committing each prediction of the page
COMMIT = HELPERS + """
await defined('zero-predict');
const verdicts = {};
for (const question of document.querySelectorAll('zero-predict')) {
  const name = question.getAttribute('exercise');
  question.scrollIntoView();
  fill(question.querySelector('[name=number]'), args[0][name]);
  question.querySelector('form').requestSubmit();
  await settled(question);
  verdicts[name] = question.getAttribute('data-verdict');
}
return verdicts;
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
