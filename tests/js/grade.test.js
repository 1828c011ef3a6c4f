import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gradeChoice } from '../../content/web/src/page/grade.js';

const CASES = [
  ['choice', ['b'], ['b'], true, null, ['b']],
  ['choice', ['b'], ['a'], false, null, ['a']],
  ['account', ['host'], ['host'], true, null, ['host']],
  ['many-choice', ['a', 'b'], ['b', 'a'], true, null, ['b', 'a']],
  ['many-choice', ['a', 'b'], ['a', 'c'], false, { right: 1, wrong: 1, missing: 1 }, ['c']],
  ['many-choice', ['a', 'b'], ['a'], false, { right: 1, wrong: 0, missing: 1 }, []],
  ['many-choice', ['a'], ['a', 'b', 'c'], false, { right: 1, wrong: 2, missing: 0 }, ['b', 'c']],
  ['ordering', ['a', 'b', 'c'], ['a', 'b', 'c'], true, null, []],
  ['ordering', ['a', 'b', 'c'], ['a', 'c', 'b'], false, null, []],
];

for (const [kind, answer, given, right, partly, explain] of CASES) {
  test(`${kind}: ${given} for ${answer}`, () => assert.deepEqual(gradeChoice({ kind, answer }, given), { right, partly, explain }));
}
