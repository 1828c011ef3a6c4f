// The page's pure parts: chart, explorer view, selection, judgement, formats. Data as the package writes it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = new URL('../../', import.meta.url);
const src = new URL('content/web/src/page/', root);
const { axisEnd, cardLabels, chartSvg, ticks } = await import(new URL('chart.js', src));
const { fill, escapeHtml, formatBytes, formatQuotient, groupDigits } = await import(new URL('format.js', src));
const { judge } = await import(new URL('judge.js', src));
const { amountHtml, comparisonHtml, scaleSvg } = await import(new URL('predict-view.js', src));
const { selectionFrom, storedFrom, START } = await import(new URL('selection.js', src));
const { cellAtTop } = await import(new URL('language.js', src));
const { againProgram } = await import(new URL('again-program.js', src));
const view = await import(new URL('ledger-view.js', src));

const python = (program) => execFileSync(process.env.PYTHON ?? fileURLToPath(new URL('.build/venv/bin/python', root)), ['-c', program], {
  env: { ...process.env, PYTHONPATH: fileURLToPath(new URL('content', root)) }, encoding: 'utf8', maxBuffer: 1e8,
});
const grid = JSON.parse(python('import json; from publish.explorer_grid import explorer_grid; print(json.dumps(explorer_grid()))'));
const table = JSON.parse(await readFile(new URL('content/lessonkit/strings.json', root), 'utf8'));
const strings = (lang) => Object.fromEntries(Object.entries(table).map(([key, texts]) => [key, texts[lang]]));
const at = (changes = {}) => selectionFrom(grid, { ...START, ...changes });
const draw = (changes, lang = 'en', width = 680) => chartSvg(view.chartData(grid, at(changes), strings(lang)), { width, id: 'c' });

/** Rectangles of the SVG with a category's class. */
function rects(svg, category) {
  return [...svg.matchAll(new RegExp(`<rect class="zl-${category}" x="([\\d.]+)" y="([\\d.]+)" width="([\\d.]+)" height="(\\d+)"`, 'g'))]
    .map(([, ...numbers]) => numbers.map(Number))
    .filter(([, , , height]) => height > 13); // legend swatches are 13 high
}

test('every text and every number lies inside the picture', () => {
  for (const width of [304, 680]) {
    for (const lang of ['en', 'zh-CN']) {
      for (const model of grid.models) {
        const svg = draw({ model: model.id, dp_size: 64, stage: 3 }, lang, width);
        const height = Number(/height="(\d+)" role/.exec(svg)[1]);
        for (const [, x, y] of svg.matchAll(/ x="([-\d.]+)" y="([-\d.]+)"/g)) {
          assert.ok(Number(x) >= 0 && Number(x) <= width, `x ${x} of ${width}`);
          assert.ok(Number(y) >= 0 && Number(y) <= height, `y ${y} of ${height}`);
        }
        assert.doesNotMatch(svg, /NaN|undefined|Infinity/);
      }
    }
  }
});

test('segments are as long as the bytes they stand for, and follow each other', () => {
  const svg = draw({ model: '7b', dp_size: 8, stage: 0 });
  const perByte = rects(svg, 'params')[0][2] / 14e9;
  const lengths = ['params', 'grads', 'master_params', 'exp_avg', 'exp_avg_sq'].map((id) => rects(svg, id)[0]);
  lengths.forEach(([x, , width], index) => {
    const bytes = grid.models[0].bytes[3][0][index];
    assert.ok(Math.abs((width + 1) / bytes / perByte - 1) < 0.02, `segment ${index}`);
    if (index) assert.ok(Math.abs(x - (lengths[index - 1][0] + lengths[index - 1][2] + 1)) < 0.05);
  });
});

test('a bar shrinks when its stage divides more', () => {
  const svg = draw({ model: '7b', dp_size: 64 });
  const ends = rects(svg, 'exp_avg_sq').map(([x, , width]) => x + width);
  assert.equal(ends.length, 4);
  assert.deepEqual([...ends].sort((a, b) => b - a), ends);
});

test('the drawing says what it shows, in words', () => {
  const english = draw({ stage: 2 });
  assert.match(english, /<title id="c-t">[^<]*7,000,000,000 parameters on 8 ranks/);
  assert.match(english, /<desc id="c-d">Stage 0: 112 GB; Stage 1: 38\.5 GB; Stage 2: 26\.3 GB; Stage 3: 14 GB/);
  assert.match(draw({}, 'zh-CN'), /阶段 0: 112 GB/);
});

test('both units are on the axis, the chosen one first', () => {
  const last = (svg) => [...svg.matchAll(/>[\d,]+ (Gi?B)<\/text>/g)].map(([, unit]) => unit).filter(Boolean);
  assert.deepEqual(last(draw({ unit: 'GB' })).slice(0, 2), ['GB', 'GiB']);
  assert.deepEqual(last(draw({ unit: 'GiB' })).slice(0, 2), ['GiB', 'GB']);
});

test('cards are lines where their memory lies', () => {
  const svg = draw({ model: '7b', dp_size: 8 });
  const [, ...drawn] = [...svg.matchAll(/class="zl-card" x1="([\d.]+)"/g)].map(([, x]) => Number(x)); // the first is the legend's
  const lines = new Set(drawn);
  assert.equal(lines.size, 4);
  const [x, , width] = rects(svg, 'params')[0];
  const bytesAt = (position) => ((position - x) / (width + 1)) * 14e9;
  [...lines].forEach((position, index) => assert.ok(Math.abs(bytesAt(position) / grid.cards[index].memory_bytes - 1) < 0.01));
});

test('the axis ends at the widest bar or at the next card above it', () => {
  const cards = [{ name: '16 GB', memory_bytes: 16 }, { name: '80 GB', memory_bytes: 80 }];
  assert.equal(axisEnd([{ total: 20 }], cards), 80 * 1.03);
  assert.equal(axisEnd([{ total: 200 }], cards), 200 * 1.03);
});

test('scaled to the selected stage, longer bars are cut at the axis and marked', () => {
  const svg = draw({ model: '7b', dp_size: 64, stage: 3, zoom: true });
  assert.equal(svg.match(/class="zl-cut"/g).length, 3);
  assert.doesNotMatch(draw({ model: '7b', dp_size: 64, stage: 3 }), /zl-cut/);
});

test('ticks are round and few', () => {
  assert.deepEqual(ticks(115, 6), [0, 20, 40, 60, 80, 100]);
  assert.deepEqual(ticks(0.35, 4), [0, 0.1, 0.2, 0.3]);
  for (const end of [0.01, 3, 77, 999, 6494, 1e5]) assert.ok(ticks(end, 6).length <= 7, String(end));
});

test('card labels that would touch are joined', () => {
  const width = () => 34;
  const lines = (...xs) => xs.map((x, index) => ({ x, name: ['16 GB', '24 GB', '40 GB', '80 GB'][index] }));
  assert.deepEqual(cardLabels(lines(0, 100, 200, 300), width).map(({ text }) => text), ['16 GB', '24 GB', '40 GB', '80 GB']);
  assert.deepEqual(cardLabels(lines(0, 20, 200, 300), width).map(({ text }) => text), ['16–24 GB', '40 GB', '80 GB']);
  assert.deepEqual(cardLabels(lines(0, 2, 5, 9), width).map(({ text }) => text), ['16–80 GB']);
});

test('the table has each category with its exact bytes', () => {
  const html = view.tableHtml(grid, at({ model: 'llama-2-7b', dp_size: 8, stage: 2 }), strings('en'));
  assert.match(html, /Master weights <small>fp32<\/small><\/th><td>4<\/td><td>yes <small>÷ 8<\/small>/);
  assert.match(html, /3,369,207,808 B/); // 4 × 6,738,415,616 / 8
  assert.match(html, /<tfoot>.*25,269,058,560 B/);
});

test('the formula has the numbers in it, and rounds up where N does not divide P', () => {
  const words = (changes) => view.formulaHtml(grid, at(changes)).replace(/<\/span><span>/g, ' = ').replace(/<[^>]+>/g, '');
  assert.equal(words({ stage: 0 }), '16P = 16 × 7,000,000,000 = 112 GB');
  assert.equal(words({ stage: 1 }), '4P + 12P/N = 4 × 7,000,000,000 + 12 × 7,000,000,000 / 8 = 38.5 GB');
  assert.equal(words({ stage: 3, dp_size: 1024 }), '16 ⌈P/N⌉ = 16 × ⌈7,000,000,000 / 1024⌉ = 0.11 GB');
});

test('the verdict names the cards and says that it is a floor', () => {
  const html = view.verdictHtml(grid, at({ stage: 1 }), strings('en'));
  assert.deepEqual([...html.matchAll(/class="zl-(fits|too-big)"/g)].map(([, kind]) => kind), ['too-big', 'too-big', 'fits', 'fits']);
  assert.match(html, /lower bound/);
});

test('a stored selection comes back; nonsense becomes the start', () => {
  const selection = at({ model: 'llama-2-13b', dp_size: 256, stage: 3, unit: 'GiB', zoom: true });
  assert.deepEqual(selectionFrom(grid, storedFrom(grid, selection)), selection);
  assert.deepEqual(selectionFrom(grid, { model: 'x', dp_size: 3, stage: 9, unit: 'kg' }), at());
  assert.deepEqual(selectionFrom(grid, { model: 'custom' }, null), at());
});

test('a prediction is judged as the package judges it', async () => {
  const { values, cases } = JSON.parse(await readFile(new URL('tests/data/judge_cases.json', root), 'utf8'));
  for (const { prediction, verdict, mistake, relative_error: error } of cases) {
    const judgement = judge(values, prediction);
    assert.equal(judgement.verdict, verdict, String(prediction));
    assert.equal(judgement.mistake?.id ?? null, mistake);
    assert.ok(Math.abs(judgement.relativeError - error) < 1e-9);
  }
});

test('prediction and result stand side by side in both units', () => {
  const text = (key, fields) => fill(table[key].en, fields);
  const prediction = { value: 14e9, text: '14 GB', reason: '16P/N <b>', confidence: 3, skipped: false };
  const mistake = { id: 'x', value: 14e9, text: { en: 'that is stage 3', 'zh-CN': '那是阶段 3' } };
  const html = comparisonHtml(prediction, 26.25e9, 'bytes', { verdict: 'mistake', relativeError: -0.4667, mistake }, { text, lang: 'en', tolerance: 0.02 });
  assert.match(html, /14 GB<\/b><span>13\.04 GiB/);
  assert.match(html, /26\.25 GB<\/b><span>24\.45 GiB/);
  assert.match(html, /−46\.7%/);
  assert.match(html, /that is stage 3/);
  assert.match(html, /certain/);
  assert.ok(!html.includes('<b>&#60;') && !html.includes('16P/N <b>'));
  const skipped = comparisonHtml({ ...prediction, value: null, skipped: true }, 26.25e9, 'bytes', null, { text, lang: 'en', tolerance: 0.02 });
  assert.match(skipped, /26\.25 GB/);
  assert.doesNotMatch(skipped, /zl-scale/);
  assert.equal(amountHtml(7e9, 'count'), '<b>7,000,000,000</b>');
});

test('the scale is logarithmic and stays inside its picture', () => {
  const text = (key, fields) => fill(table[key].en, fields);
  const position = (ratio) => Number(/zl-scale-mark" d="M([\d.]+)/.exec(scaleSvg(ratio, text))[1]);
  assert.equal(position(1), 160);
  assert.ok(Math.abs((position(10) - 160) - (160 - position(0.1))) < 0.2);
  assert.ok(Math.abs((position(100) - 160) - 2 * (position(10) - 160)) < 0.2);
  for (const ratio of [0, 1e-9, 1e9]) assert.ok(position(ratio) > 6 && position(ratio) < 314);
});

test('bytes are written as the package writes them', () => {
  const amounts = [0, 1, 999e6, 1.005e9, 9.994e9, 9.996e9, 14e9, 26.25e9, 104.3e9, 999.94e9, 112e9, 101463347200, 6.5e12, 2 ** 40];
  const expected = JSON.parse(python(`import json; from zeroledger import format_bytes; print(json.dumps([format_bytes(int(n), u) for n in ${JSON.stringify(amounts)} for u in ("GB", "GiB")]))`));
  const written = amounts.flatMap((bytes) => ['GB', 'GiB'].map((unit) => formatBytes(bytes, unit).replaceAll(',', '')));
  assert.deepEqual(written, expected);
  assert.equal(formatBytes(26.25e9, 'GB', 2), '26.25 GB');
  assert.equal(formatQuotient(1234.6), '1,235');
  assert.equal(groupDigits(6738415616), '6,738,415,616');
});

test('what readers and configs say is shown as text', () => {
  assert.equal(escapeHtml('<img src="x" onerror=\'y\'>&'), '&#60;img src=&#34;x&#34; onerror=&#39;y&#39;&#62;&#38;');
  const hostile = { ...grid.models[0], title: '</title><script>' };
  const html = view.explorerHtml({ ...grid, models: [hostile] }, { ...at(), model: hostile }, strings('en'), 'x');
  assert.ok(!html.includes('<script'));
  assert.throws(() => fill('{a} {b}', { a: 1 }), /needs the field b/);
});

test('the whole explorer is HTML before any script, in both languages', () => {
  for (const lang of ['en', 'zh-CN']) {
    const html = view.explorerHtml(grid, at(), strings(lang), 'x');
    assert.equal(html.match(/<svg /g).length, 2);
    assert.equal(html.match(/<option /g).length, grid.models.length + 1);
    assert.doesNotMatch(html, /undefined|\{\w+\}/);
    const ids = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    assert.equal(new Set(ids).size, ids.length);
  }
});

test('the language switch goes to the cell at the top of the window', () => {
  const cells = (...tops) => tops.map((top, index) => ({ id: `c${index}`, top }));
  assert.equal(cellAtTop(cells(300, 900)), '');
  assert.equal(cellAtTop(cells(-500, 68, 700)), 'c1');
  assert.equal(cellAtTop(cells(-500, -68, 700)), 'c1');
  assert.equal(cellAtTop([]), '');
});

test('every exercise can be asked again, and gives the bank’s own answers for the bank’s own inputs', () => {
  const answers = JSON.parse(python(`import json, pathlib, tempfile
from publish import pages
folder = pathlib.Path(tempfile.mkdtemp())
pages.write_answers(folder)
print(json.dumps([json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.iterdir())]))`));
  assert.ok(answers.length >= 4);
  const programs = answers.map((answer) => againProgram(answer, Object.entries(answer.inputs).map(([name, value]) => [name, String(value)])));
  const results = JSON.parse(python(`import ast, json
def value(source):
    tree = ast.parse(source)
    scope = {}
    exec(compile(ast.Module(tree.body[:-1], []), "again", "exec"), scope)
    return eval(compile(ast.Expression(tree.body[-1].value), "again", "eval"), scope)
print(json.dumps([value(source) for source in json.loads(${JSON.stringify(JSON.stringify(programs))})]))`));
  results.forEach((result, index) => {
    assert.equal(result.answer, answers[index].answer, answers[index].id);
    assert.deepEqual(result.mistakes, answers[index].mistakes.map(({ value }) => value), answers[index].id);
  });
});

test('an input that cannot be read is named', () => {
  const answer = { answer_expression: 'ledger(num_params, dp_size)', mistake_expressions: [], inputs: { num_params: 1, dp_size: 8 } };
  assert.match(errorOf(againProgram(answer, [['num_params', '7B'], ['dp_size', 'eight']])), /dp_size/);
  const share = { ...answer, answer_expression: 'share', inputs: { share: 0.9 } };
  assert.match(errorOf(againProgram(share, [['share', 'most']])), /share/);
});

/** @param {string} source a program of againProgram's */
function errorOf(source) {
  return python(`import ast
tree = ast.parse(${JSON.stringify(source)})
scope = {}
exec(compile(ast.Module(tree.body[:-1], []), "again", "exec"), scope)
print(eval(compile(ast.Expression(tree.body[-1].value), "again", "eval"), scope)["error"])`);
}
