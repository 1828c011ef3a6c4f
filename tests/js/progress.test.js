import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asPlace, lessonProgress, newestPlace, shareSeen } from '../../content/web/src/page/progress-data.js';

const made = { value: 5, text: '5 B' };
const skipped = { value: null, skipped: true };

test('what is done counts predictions apart from skips, and the part read', () => {
  assert.deepEqual(lessonProgress([made, skipped, null], { cell: 'a', share: 0.456, at: 1 }), { made: 1, skipped: 1, count: 3, percent: 45, begun: true });
  assert.equal(lessonProgress([null, null], null).begun, false);
  assert.equal(lessonProgress([skipped], null).begun, true);
});

test('a stored place is read only when it is one', () => {
  assert.deepEqual(asPlace({ cell: 'stage-1', share: 7, at: 3 }), { cell: 'stage-1', share: 1, at: 3 });
  for (const bad of [null, {}, 'x', { cell: '"><b>', share: 0, at: 0 }, { cell: 'a', share: null, at: 0 }, { cell: 'a', share: 0 }]) assert.equal(asPlace(bad), null);
});

test('the part of a page that has come into view', () => {
  assert.equal(shareSeen([-900, -100, 500, 1200], 900), 0.75);
  assert.equal(shareSeen([], 900), 0);
});

test('the newest place leads back', () => {
  const places = new Map([['one', { cell: 'a', share: 1, at: 5 }], ['two', { cell: 'b', share: 0.1, at: 9 }], ['three', null]]);
  assert.equal(newestPlace(places), 'two');
  assert.equal(newestPlace(new Map([['three', null]])), null);
});
