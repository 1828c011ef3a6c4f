// "Your own run" and the estimators' table as HTML text, from what the package says here and now.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = new URL('../../', import.meta.url);
const src = new URL('content/web/src/page/', root);
const { reportHtml } = await import(new URL('measured-view.js', src));
const { amount } = await import(new URL('amount.js', src));
const { Curve } = await import(new URL('curve.js', src));
const { estimatorsHtml } = await import(new URL('estimators-view.js', src));
const table = JSON.parse(await readFile(new URL('content/lessonkit/strings.json', root), 'utf8'));
const strings = (lang) => Object.fromEntries(Object.entries(table).map(([key, texts]) => [key, texts[lang]]));

const program = `
import json, sys
from zeroledger import compare_estimators
from zeroledger.snapshot_report import report
hostile = "<img src=x onerror=alert(1)>"
run = {"format": "zeroledger-run", "version": 1, "source": hostile, "versions": {hostile: "1"},
       "config": {"model": "llama-2-13b", "dp": 8, "stage": 3, "engine": "deepspeed", "micro_batch_size": 4, "recompute": "full"},
       "ranks": [{"rank": 0, "instants": [{"name": "after_step", "allocated_bytes": 27_178_000_000},
                                          {"name": "peak", "allocated_bytes": 60_257_000_000, "reserved_bytes": 70_000_000_000}]}]}
snapshot = json.load(open(sys.argv[1]))
snapshot["events"][3]["where"] = hostile
bare = {key: value for key, value in snapshot.items() if key not in ("config", "held", "segments")}
print(json.dumps({"run": report(run), "snapshot": report(snapshot), "bare": report(bare),
                  "told": [compare_estimators("llama-2-7b", 8, stage).as_dict() for stage in range(4)]}))`;
const example = fileURLToPath(new URL('content/measurements/examples/cpu-step-snapshot.json', root));
const made = JSON.parse(execFileSync(process.env.PYTHON ?? fileURLToPath(new URL('.build/venv/bin/python', root)), ['-c', program, example], {
  env: { ...process.env, PYTHONPATH: fileURLToPath(new URL('content', root)) }, encoding: 'utf8', maxBuffer: 1e8,
}));

for (const lang of ['en', 'zh-CN']) {
  test(`a run: readings, differences, candidates in words, nothing of the file as markup (${lang})`, () => {
    const html = reportHtml(made.run, strings(lang), 'x');
    assert.ok(!html.includes('<img'));
    assert.equal(html.match(/<tr><th scope="row">/g).length >= 2, true);
    assert.ok(html.includes(table['page.measured.candidate.whole_gradients'][lang].replaceAll("'", '&#39;')) || html.includes(table['page.measured.candidate.whole_weights'][lang].replaceAll("'", '&#39;')));
    assert.ok(html.includes(table['page.measured.consistent'][lang]));
    assert.ok(html.includes('60.26 GB'));
    assert.equal((html.match(/<svg/g) ?? []).length, 2, 'the prediction in both widths');
  });

  test(`a snapshot: picture, peak, blocks, the prediction beneath (${lang})`, () => {
    const html = reportHtml(made.snapshot, strings(lang), 'x');
    assert.ok(!html.includes('<img'));
    assert.equal((html.match(/<svg/g) ?? []).length, 4);
    assert.ok(html.includes(table['page.measured.kind.optimizer'][lang]));
    assert.ok(!html.includes('NaN') && !html.includes('undefined'));
  });

  test(`a snapshot without segments and configuration says what is missing (${lang})`, () => {
    const html = reportHtml(made.bare, strings(lang), 'x');
    assert.ok(html.includes(table['page.measured.no_config'][lang].slice(0, 20)));
    assert.ok(html.includes(table['page.measured.no_reserved'][lang].slice(0, 12)));
    assert.ok(!html.includes('class="zl-reserved"') && !html.includes('NaN'));
  });

  test(`estimators: a reason for every difference (${lang})`, () => {
    for (const [stage, told] of made.told.entries()) {
      const html = estimatorsHtml(told, strings(lang), { dp_size: 8, stage, seq_length: 2048, micro_batch_size: 1 });
      assert.equal(html.includes(table['page.estimators.no_answer'][lang]), stage < 2);
      const terms = told.estimators.flatMap((one) => one.terms).length;
      assert.equal((html.match(/<li>/g) ?? []).length, terms);
    }
  });
}

test('the curve has the peak that the package found', () => {
  const curve = new Curve(made.snapshot.curve, null);
  assert.equal(curve.sum(curve.peak), made.snapshot.peak.allocated_bytes);
  assert.equal(curve.moments[curve.peak].start, made.snapshot.peak.moment);
});

test('amounts keep sign and unit', () => {
  const plain = (bytes, signed) => amount(bytes, signed).replace(/<[^>]+>/g, '');
  assert.deepEqual([plain(null), plain(0), plain(999), plain(-20_480, true), plain(5e6, true), plain(2.5e9)], ['–', '0 B', '999 B', '−20.5 kB', '+5 MB', '2.5 GB']);
});
