import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byConcern, readExport } from '../../content/web/src/page/calibration-data.js';

const row = (name, verdict, relativeError, confidence) => ({ name, verdict, relativeError, prediction: { confidence } });

test('confident errors first, right ones last', () => {
  const rows = [row('right', 'right', 0, 3), row('guess', 'wrong', 5, 1), row('sure-small', 'near', 0.05, 3), row('sure-large', 'mistake', -0.9, 3), row('none', 'wrong', 9, null)];
  assert.deepEqual(byConcern(rows).map(({ name }) => name), ['sure-large', 'sure-small', 'guess', 'none', 'right']);
});

test('an export is read back, what is unknown or unfit left out', () => {
  const good = { value: 5, text: '5 B', reason: '', confidence: 2, skipped: false };
  const file = JSON.stringify({ zero: 'predictions', predictions: { a: good, b: good, c: { value: 'x' }, d: { ...good, value: -1 }, e: { ...good, value: null } } });
  assert.deepEqual(readExport(file, ['a', 'c', 'd', 'e']), { a: good, e: { ...good, value: null } });
});

test('other files are refused', () => {
  for (const text of ['', '{', '[]', 'null', '{"predictions": {}}', '{"zero": "predictions"}', '{"zero": "predictions", "predictions": 3}']) assert.equal(readExport(text, ['a']), null);
});
