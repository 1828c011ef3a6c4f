// The cap on Python's memory.
import assert from 'node:assert/strict';
import { test } from 'node:test';

const { MemoryCap } = await import('../../content/web/src/runner/memory-cap.js');
const { MAX_MEMORY_BYTES } = await import('../../content/web/src/runner/protocol.js');
const MB = 2 ** 20;

/** Grows like Emscripten: by a fifth more than there was, if that works. @param {WebAssembly.Memory} memory */
function resizing(memory) {
  return (wanted) => {
    const bytes = Math.max(wanted, memory.buffer.byteLength * 1.2);
    try {
      memory.grow(Math.ceil((bytes - memory.buffer.byteLength) / 65536));
      return true;
    } catch {
      return false;
    }
  };
}

test('memory grows up to the cap and not beyond, and a refusal is remembered', () => {
  const cap = new MemoryCap();
  const memory = new WebAssembly.Memory({ initial: 16 });
  const env = { emscripten_resize_heap: resizing(memory) };
  cap.watch(env);
  for (const wanted of [2 * MB, 450 * MB, 500 * MB]) assert.equal(env.emscripten_resize_heap(wanted), 1);
  assert.equal(memory.buffer.byteLength, MAX_MEMORY_BYTES);
  assert.equal(cap.ranOut, false);
  assert.equal(cap.explains(new WebAssembly.RuntimeError('unreachable')), false);
  assert.equal(env.emscripten_resize_heap(MAX_MEMORY_BYTES + 1), 0);
  assert.equal(env.emscripten_resize_heap(-1), 0); // as WebAssembly hands over 2**32 - 1
  assert.equal(memory.buffer.byteLength, MAX_MEMORY_BYTES);
  assert.equal(cap.ranOut, true);
  assert.equal(cap.explains(new WebAssembly.RuntimeError('table index is out of bounds')), true);
});

test("an engine's own lack of memory is told from a stack that overflows", () => {
  const cap = new MemoryCap();
  for (const message of ['WebAssembly.Memory.grow(): Unable to grow instance memory', 'Array buffer allocation failed', 'Out of memory']) {
    assert.equal(cap.explains(new RangeError(message)), true, message);
  }
  assert.equal(cap.explains(new RangeError('Maximum call stack size exceeded')), false);
});

test('a Pyodide that asks in another way is refused', () => {
  assert.throws(() => new MemoryCap().watch({}), /memory limit would not work/);
});
