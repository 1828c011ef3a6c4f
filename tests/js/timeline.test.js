// The timeline's pure parts, on runs that the package makes here and now.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = new URL('../../', import.meta.url);
const src = new URL('content/web/src/page/', root);
const { Timeline } = await import(new URL('timeline-data.js', src));
const { frameOf, outline, timelineSvg } = await import(new URL('timeline.js', src));
const { clipText, textWidth } = await import(new URL('timeline-text.js', src));
const view = await import(new URL('timeline-view.js', src));
const table = JSON.parse(await readFile(new URL('content/lessonkit/strings.json', root), 'utf8'));
const strings = (lang) => Object.fromEntries(Object.entries(table).map(([key, texts]) => [key, texts[lang]]));

/** Runs made in one start of Python: {name: {data, peak, live: {index: {category: bytes}}}}. */
const program = `
import json, sys
from zeroledger.simulate import simulate
from zeroledger.simulate.picture import page_data
found = {}
for name, settings in json.loads(sys.argv[1]).items():
    run = simulate(**settings)
    peak = run.peak(0)
    found[name] = {"data": page_data(run), "peak": [peak.num_bytes, peak.instant, sorted(map(list, peak.buffers))]}
print(json.dumps(found))`;
const wanted = {
  plain: {}, stage0: { stage: 0 }, offload: { offload: 'params', recompute: 'full' }, block: { model: 'transformer', recompute: 'selective', num_layers: 1 },
  tight: { device_bytes: '60 MB', dp_size: 2 }, early: { device_bytes: '1 MiB' }, many: { dp_size: 1, num_layers: 24, gradient_accumulation_steps: 8, num_steps: 6 },
};
const runs = JSON.parse(execFileSync(process.env.PYTHON ?? fileURLToPath(new URL('.build/venv/bin/python', root)), ['-c', program, JSON.stringify(wanted)], {
  env: { ...process.env, PYTHONPATH: fileURLToPath(new URL('content', root)) }, encoding: 'utf8', maxBuffer: 1e8,
}));
const timelines = Object.fromEntries(Object.entries(runs).map(([name, { data }]) => [name, new Timeline(data)]));
const layout = (timeline, { lang = 'en', width = 680, step = 'all' } = {}) => view.layoutOf(timeline, strings(lang), { id: 't', width, step });

test('the curve that is drawn has the peak that the package found', () => {
  for (const [name, timeline] of Object.entries(timelines)) {
    const [bytes, instant] = runs[name].peak;
    assert.equal(timeline.sum(timeline.peak), bytes, name);
    const event = timeline.moments[timeline.peak];
    if (event.step >= 0) assert.equal(`${event.phase} of ${event.at}`, instant, name);
  }
});

test('the buffers live at the peak are those of the package, stacked without a gap', () => {
  for (const [name, timeline] of Object.entries(timelines)) {
    const buffers = timeline.stackedAt(timeline.peak);
    assert.deepEqual(buffers.map(({ category, tensor, bytes }) => [category, tensor, bytes]).sort(), runs[name].peak[2].sort());
    let below = 0;
    for (const buffer of buffers) {
      assert.equal(timeline.bufferAt(timeline.peak, below + 1).made, buffer.made);
      below += buffer.bytes;
    }
    assert.equal(timeline.bufferAt(timeline.peak, below + 1), undefined);
  }
});

test('every number in the picture is a number and lies inside it', () => {
  for (const [name, timeline] of Object.entries(timelines)) {
    for (const lang of ['en', 'zh-CN']) {
      for (const width of [320, 680]) {
        for (const step of ['all', 0, 1]) {
          const here = layout(timeline, { lang, width, step });
          const svg = timelineSvg(timeline, here);
          const { height } = frameOf(timeline, here);
          assert.doesNotMatch(svg, /NaN|undefined|Infinity/, name);
          for (const [, x, y] of svg.matchAll(/<text[^>]* x="([-\d.]+)" y="([-\d.]+)"/g)) {
            assert.ok(Number(x) >= 0 && Number(x) <= width && Number(y) >= 0 && Number(y) <= height, `${name}: text at ${x} ${y}`);
          }
        }
      }
    }
  }
});

test('areas stack: the top of the highest area is the peak', () => {
  const timeline = timelines.plain;
  const here = layout(timeline);
  const frame = frameOf(timeline, here);
  const svg = timelineSvg(timeline, here);
  const tops = [...svg.matchAll(/class="zl-[a-z_]+ zl-area" d="([^"]+)"/g)].flatMap(([, path]) => [...path.matchAll(/[MV](?:[-\d.]+ )?([-\d.]+)/g)].map(([, y]) => Number(y)));
  assert.ok(Math.abs(Math.min(...tops) - frame.y(runs.plain.peak[0])) < 0.06);
  assert.ok(Math.max(...tops) <= frame.bottom + 0.05);
});

test('the peak, the static line, the reserved curve and the lanes are named in both languages', () => {
  for (const lang of ['en', 'zh-CN']) {
    const svg = timelineSvg(timelines.offload, layout(timelines.offload, { lang }));
    for (const key of ['lane.compute', 'lane.communication', 'lane.host']) assert.ok(svg.includes(table[`page.timeline.${key}`][lang]));
    assert.match(svg, lang === 'en' ? /peak [\d.]+ MB: (forward|backward) of/ : /峰值 [\d.]+ MB：.* 的(前|反)向/);
    assert.match(svg, /class="zl-reserved"/);
    assert.match(svg, /class="zl-static"/);
  }
});

test('twenty thousand events make a small picture, quickly', () => {
  const timeline = timelines.many;
  assert.ok(timeline.events.length > 20_000);
  const here = layout(timeline);
  const started = performance.now();
  const svg = timelineSvg(timeline, here);
  assert.ok(performance.now() - started < 400); // measured: 60 ms
  assert.ok(svg.length < 400_000, `${svg.length} characters`);
  assert.ok(svg.match(/<path/g).length < 30);
  const first = performance.now();
  for (let index = 0; index < 100; index += 1) timeline.bufferAt((index * 157) % timeline.moments.length, 1e6);
  assert.ok(performance.now() - first < 600); // a pointer's move: measured 0.1 ms
});

test('the drawn curve of many events keeps its peak', () => {
  const timeline = timelines.many;
  const here = layout(timeline);
  const frame = frameOf(timeline, here);
  const ys = [...timelineSvg(timeline, here).matchAll(/zl-area" d="([^"]+)"/g)].flatMap(([, path]) => [...path.matchAll(/[MV](?:[-\d.]+ )?([-\d.]+)/g)].map(([, y]) => Number(y)));
  assert.ok(Math.abs(Math.min(...ys) - frame.y(timeline.sum(timeline.peak))) < 0.06);
});

test('an outline spans a buffer from its first to its last moment', () => {
  const timeline = timelines.plain;
  const here = layout(timeline);
  const frame = frameOf(timeline, here);
  const buffer = timeline.stackedAt(timeline.peak).find(({ category }) => category === 'gathered_params');
  const path = outline(timeline, buffer, frame, here);
  const made = timeline.events[buffer.made];
  const gone = timeline.moments[timeline.endOf(buffer)];
  assert.ok(path.startsWith(`M${Math.round(10 * frame.x(made.start)) / 10} `));
  assert.ok(path.includes(`H${Math.round(10 * frame.x(gone.start)) / 10}`));
  assert.equal(gone.event, 'release');
  const edge = timeline.lowerEdge(buffer, timeline.momentOfEvent(buffer.made), timeline.endOf(buffer));
  edge.forEach((bytes, offset) => {
    assert.equal(timeline.bufferAt(timeline.momentOfEvent(buffer.made) + offset, bytes + 1).made, buffer.made);
  });
});

test('event and buffer say what they are, with the line of the loop', () => {
  const timeline = timelines.plain;
  const buffer = timeline.stackedAt(timeline.peak).find(({ category }) => category === 'gathered_params');
  const said = view.bufferText(timeline, strings('en'), buffer);
  assert.match(said, /gathered weights · layers\.\d · 2\.29 MB · line \d+: ranks\.all_gather/);
  for (const [name, one] of Object.entries(timelines)) {
    for (const event of one.events.slice(0, 400)) {
      for (const lang of ['en', 'zh-CN']) assert.ok(view.eventText(event, strings(lang)).length > 4, name);
    }
  }
});

test('the table has one row an instant and marks the highest', () => {
  const html = view.tableHtml(timelines.plain, strings('en'), 0);
  const rows = html.match(/<tr/g).length - 1;
  assert.equal(rows, 2 * 2 * 6); // micro-batches, forward and backward, layers with embedding and head; the update allocates nothing
  assert.match(view.tableHtml(timelines.plain, strings('en'), 1), /class="zl-highest"/);
});

test('the whole element is complete HTML in both languages, and out of memory is said', () => {
  for (const [name, timeline] of Object.entries(timelines)) {
    for (const lang of ['en', 'zh-CN']) {
      const html = view.timelineHtml(timeline, strings(lang), 't');
      assert.doesNotMatch(html, /undefined|NaN|\[object/, name);
      assert.equal(html.includes(table['page.timeline.out_of_memory'][lang]), ['tight', 'early'].includes(name));
    }
  }
});

test('settings that do not go together are put right', () => {
  const fit = (changes) => view.fitting({ ...view.START, ...changes });
  assert.equal(fit({ stage: 0, offload: 'params' }).offload, 'none');
  assert.equal(fit({ stage: 2, offload: 'params' }).offload, 'optimizer');
  assert.equal(fit({ stage: 3, offload: 'params' }).offload, 'params');
  assert.equal(fit({ recompute: 'selective' }).recompute, 'full');
  assert.equal(fit({ model: 'transformer', recompute: 'selective' }).recompute, 'selective');
});

test('text is cut to its width', () => {
  assert.equal(clipText('short', 200, 12), 'short');
  const cut = clipText('峰值 37.1 MB：layers.2 的反向', 100, 12);
  assert.ok(cut.endsWith('…') && textWidth(cut, 12) <= 100);
});

test('the effect of a mistake is told in both languages, numbers that are not finite included', () => {
  const program = `
import json
from zeroledger.simulate import BREAKS, simulate
from zeroledger.simulate.effect import effect
print(json.dumps([effect(simulate(breaks=name), num_steps=4) for name in [(), *BREAKS]]))`;
  const effects = JSON.parse(execFileSync(process.env.PYTHON ?? fileURLToPath(new URL('.build/venv/bin/python', root)), ['-c', program], {
    env: { ...process.env, PYTHONPATH: fileURLToPath(new URL('content', root)) }, encoding: 'utf8',
  }));
  for (const lang of ['en', 'zh-CN']) {
    effects.forEach((effect, index) => {
      const html = view.effectHtml(effect, strings(lang), 't');
      assert.doesNotMatch(html, /undefined|NaN|null|Infinity/);
      assert.ok(html.includes(index ? table[`page.timeline.breaks.${view.BREAKS[index - 1]}`][lang] : table['page.timeline.effect.same'][lang]));
    });
    const lost = structuredClone(effects[1]);
    lost.losses[3] = null;
    lost.check.worst_difference = null;
    assert.doesNotMatch(view.effectHtml(lost, strings(lang), 't'), /undefined|NaN|Infinity/);
  }
});
