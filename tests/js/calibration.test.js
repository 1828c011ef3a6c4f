import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byConcern, byConfidence, itemOf, readExport, seedOf } from '../../content/web/src/page/calibration-data.js';

const row = (name, right, error, confidence) => ({ name, right, error, confidence });

test('confident errors first, right ones last', () => {
  const rows = [row('right', true, 0, 3), row('guess', false, 5, 1), row('sure-small', false, 0.05, 3), row('sure-large', false, -0.9, 3),
    row('choice', false, null, 3), row('none', false, 9, null)];
  assert.deepEqual(byConcern(rows).map(({ name }) => name), ['sure-large', 'sure-small', 'choice', 'guess', 'none', 'right']);
});

test('how often right at each confidence, certain first', () => {
  const rows = [row('a', true, 0, 3), row('b', false, 1, 3), row('c', true, 0, null)];
  assert.deepEqual(byConfidence(rows), [{ confidence: 3, count: 2, right: 1 }, { confidence: null, count: 1, right: 1 }]);
});

test('an export is read back, what is unknown or unfit left out', () => {
  const good = { value: 5, text: '5 B', reason: '', confidence: 2, skipped: false };
  const answered = { misses: 1, hints: 0, solved: false, shown: false, first: { right: false, confidence: 3, given: '5 B', error: 1, prompt: null } };
  const file = JSON.stringify({ zero: 'predictions', predictions: { a: good, b: good, c: { value: 'x' }, d: { ...good, value: -1 }, e: { ...good, value: null } },
    quiz: { a: answered, 'autumn:a': answered, b: answered, c: { ...answered, first: { right: 1 } }, d: { misses: 'x' } } });
  assert.deepEqual(readExport(file, ['a', 'c', 'd', 'e']), { predictions: { a: good, e: { ...good, value: null } }, quiz: { a: answered, 'autumn:a': answered } });
  assert.deepEqual(readExport('{"zero": "predictions", "predictions": {}}', ['a']), { predictions: {}, quiz: {} });
});

test('other files are refused', () => {
  for (const text of ['', '{', '[]', 'null', '{"predictions": {}}', '{"zero": "predictions"}', '{"zero": "predictions", "predictions": 3}']) assert.equal(readExport(text, ['a']), null);
});

test('a key names its exercise and its seed', () => {
  assert.deepEqual(['a-b', 'autumn:a-b', 'x:y:a-b'].map((key) => [itemOf(key), seedOf(key)]), [['a-b', ''], ['a-b', 'autumn'], ['a-b', 'x:y']]);
});
