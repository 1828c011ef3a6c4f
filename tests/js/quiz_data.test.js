import assert from 'node:assert/strict';
import { test } from 'node:test';
import { afterAnswer, asFirstAnswer, toReview, UNTOUCHED } from '../../content/web/src/page/quiz-data.js';

const answer = (right, confidence) => ({ right, confidence, given: 'x', error: null, prompt: null });

test('the first answer stays, the surest error is remembered, misses add up', () => {
  let state = afterAnswer(UNTOUCHED, 'a', answer(false, 2));
  state = afterAnswer(state, 'b', answer(false, 3));
  state = afterAnswer(state, 'c', answer(true, 1));
  assert.deepEqual({ ...state, first: state.first.confidence }, { misses: 2, hints: 0, solved: true, shown: false, given: 'c', confidence: 1, sure: 3, first: 2 });
  assert.equal(UNTOUCHED.misses, 0);
});

test('confident errors first, then what is open, then what took most tries; right at once is not listed', () => {
  const entry = (name, change) => ({ name, state: { ...UNTOUCHED, ...change } });
  const entries = [
    entry('right', { solved: true, first: answer(true, 3) }), entry('untouched', {}), entry('hint', { hints: 1 }),
    entry('guessed', { misses: 3, sure: 1 }), entry('sure-solved', { misses: 1, sure: 3, solved: true }), entry('sure-open', { misses: 1, sure: 3 }),
    entry('looked-up', { shown: true }), entry('missed', { misses: 2 }), entry('right-then-looked', { shown: true, solved: true, first: answer(true, 1) }),
  ];
  assert.deepEqual(toReview(entries).map(({ name }) => name), ['sure-open', 'sure-solved', 'guessed', 'missed', 'looked-up']);
});

test('a first answer is read only when it is one', () => {
  assert.deepEqual(asFirstAnswer(answer(true, null)), answer(true, null));
  for (const bad of [null, {}, { ...answer(true, 4) }, { ...answer(true, 1), given: 3 }, { ...answer(true, 1), error: 'x' }, { ...answer('yes', 1) }]) assert.equal(asFirstAnswer(bad), null);
});
