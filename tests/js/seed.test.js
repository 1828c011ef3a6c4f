import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { variantFor } from '../../content/web/src/page/seed.js';

test('a seed always draws the same variant', () => {
  assert.equal(variantFor('autumn', 'zero1', 12), variantFor('autumn', 'zero1', 12));
});

test('seeds reach every variant, about as often', () => {
  const drawn = new Array(12).fill(0);
  for (let seed = 0; seed < 1200; seed += 1) drawn[variantFor(String(seed), 'zero1', 12)] += 1;
  assert.ok(Math.min(...drawn) > 50 && Math.max(...drawn) < 150, drawn.join(' '));
});

test('one seed does not draw the same place for every item', () => {
  const places = new Set(Array.from({ length: 20 }, (_, item) => variantFor('autumn', `item-${item}`, 12)));
  assert.ok(places.size > 5);
});

test('a seed may be any text', () => {
  for (const seed of ['', '秋', ' ', '-1', 'x'.repeat(40)]) assert.ok([0, 1, 2].includes(variantFor(seed, 'item', 3)));
});

test('a notebook draws the same', () => {
  const cases = JSON.parse(readFileSync(new URL('../data/seeds.json', import.meta.url), 'utf8')); // tests/test_lessonkit_quiz.py reads it too
  for (const [seed, id, count, drawn] of cases) assert.equal(variantFor(seed, id, count), drawn);
});
