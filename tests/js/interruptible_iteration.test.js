// Which browsers need it; and the relay that it puts before a C function.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeIterationInterruptible, terminatesNoLoops } from '../../content/web/src/runner/interruptible-iteration.js';

test('WebKit is told from those that name it', () => {
  const named = {
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15': true,
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/140.0 Mobile/15E148 Safari/604.1': true,
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36': false,
    'Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0': false,
  };
  for (const [userAgent, isWebKit] of Object.entries(named)) assert.equal(terminatesNoLoops(userAgent), isWebKit, userAgent);
});

/** Two types whose iterators are one C function, which doubles its argument, number 1 of the table. */
function fakePython() {
  const double = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 6, 1, 96, 1, 127, 1, 127, 3, 2, 1, 0, 7, 5, 1, 1, 102, 0, 0, 10, 9, 1, 7, 0, 32, 0, 32, 0, 106, 11]);
  const wasmTable = new WebAssembly.Table({ element: 'anyfunc', initial: 2 });
  wasmTable.set(1, new WebAssembly.Instance(new WebAssembly.Module(double)).exports.f);
  const HEAP32 = new Int32Array(100);
  HEAP32[(8 + 112) / 4] = 1;
  HEAP32[(16 + 112) / 4] = 1;
  const addFunction = (added) => {
    wasmTable.grow(1);
    wasmTable.set(wasmTable.length - 1, added);
    return wasmTable.length - 1;
  };
  return { runPython: () => '8 16', toPy: () => ({ destroy() {} }), _module: { HEAP32, wasmTable, addFunction } };
}

test('the relay looks each 1024th time and passes on what the function says', () => {
  const python = fakePython();
  const { HEAP32, wasmTable } = python._module;
  let looks = 0;
  makeIterationInterruptible(python, () => (looks += 1));
  assert.deepEqual([HEAP32[(8 + 112) / 4], HEAP32[(16 + 112) / 4]], [2, 2]);
  const relay = wasmTable.get(2);
  for (let count = 0; count < 5000; count += 1) assert.equal(relay(count), 2 * count);
  assert.equal(looks, 4);
});

test('what looks may throw through it; a type laid out otherwise is left as it is', () => {
  const python = fakePython();
  makeIterationInterruptible(python, () => { throw new Error('ended'); });
  assert.throws(() => { for (let count = 0; count < 1024; count += 1) python._module.wasmTable.get(2)(1); }, /ended/);
  const other = fakePython();
  other._module.HEAP32[(8 + 112) / 4] = 99;
  assert.throws(() => makeIterationInterruptible(other, () => {}), /another way/);
});
