// The table that tests/test_units_shared.py tries on the Python side.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { importBundled } from './bundled.js';

const { parseBytes, parseCount, parseQuantity } = await importBundled('cell/quantity.js');
const table = JSON.parse(await readFile(new URL('../data/quantities.json', import.meta.url), 'utf8'));

for (const [written, expected] of table.bytes) {
  test(`bytes: ${written}`, () => assert.equal(parseBytes(written), BigInt(expected)));
}
for (const [written, expected] of table.count) {
  test(`count: ${written}`, () => assert.equal(parseCount(written), BigInt(expected)));
}
for (const written of table.unreadable_bytes) {
  test(`unreadable: ${JSON.stringify(written).slice(0, 40)}`, () => assert.throws(() => parseBytes(written)));
}

test('what is wrong is said in the reader’s language', () => {
  assert.deepEqual(parseQuantity('14 GB', 'bytes', 'en'), { value: 14e9 });
  assert.match(parseQuantity('112 G', 'bytes', 'en').problem, /GiB/);
  assert.match(parseQuantity('-5 GB', 'bytes', 'zh-CN').problem, /不能为负/);
  assert.match(parseQuantity('seven', 'count', 'en').problem, /7B/);
});

test('a prediction of a ratio keeps its fraction', () => {
  assert.deepEqual(parseQuantity('5.5', 'count', 'en'), { value: 5.5 });
  assert.deepEqual(parseQuantity('９.18', 'count', 'zh-CN'), { value: 9.18 });
  assert.deepEqual(parseQuantity('1.5B', 'count', 'en'), { value: 1.5e9 });
});
