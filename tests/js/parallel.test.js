import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parallelBars, parallelTableHtml, usableSettings } from '../../content/web/src/page/parallel-view.js';

const START = { model: 'a', tp_size: 2, stage: 1, sequence_parallel: false, recompute: 'none' };
const grid = {
  models: [{ id: 'a', title: 'A' }, { id: 'b', title: 'B' }], tp_sizes: [1, 2], num_cards: 4, recompute: ['none', 'full'], seq_length: 8,
  categories: ['params', 'grads', 'activations'], cards: [],
  states: [[[[8, 4], [8, 2], [8, 1], [2, 1]], [[4, 2], [4, 1], [4, 1], [1, 1]]], [[[80, 40], [80, 20], [80, 10], [20, 10]], [[40, 20], [40, 10], [40, 10], [10, 10]]]],
  activations: [[[[100, 10], [100, 10]], [[60, 10], [50, 5]]], [[[1000, 100], [1000, 100]], [[600, 100], [500, 50]]]],
};

test('each bar stacks the states of its degree and the activations of the switches', () => {
  const bars = parallelBars(grid, { ...START, stage: 3, sequence_parallel: true, recompute: 'full' });
  assert.deepEqual(bars.map(({ tp, dp, parts, total, selected }) => ({ tp, dp, parts, total, selected })), [
    { tp: 1, dp: 4, parts: [2, 1, 10], total: 13, selected: false }, { tp: 2, dp: 2, parts: [1, 1, 5], total: 7, selected: true },
  ]);
  assert.equal(parallelBars(grid, { ...START, model: 'b' })[1].total, 650);
});

test('settings from storage are used where the grid has them', () => {
  assert.deepEqual(usableSettings(grid, { model: 'b', tp_size: 3, stage: 2, sequence_parallel: 'yes', recompute: 'full' }, START),
    { model: 'b', tp_size: 2, stage: 2, sequence_parallel: false, recompute: 'full' });
  assert.deepEqual(usableSettings(grid, null, START), START);
});

test('the table marks the chosen arrangement', () => {
  const strings = new Proxy({}, { get: () => '' });
  const html = parallelTableHtml(grid, START, strings);
  assert.match(html, /<tr class="zl-chosen"><th scope="row">2 × 2/);
  assert.equal(html.match(/<tr/g).length, 3);
});
