// What a later visit starts from: one blob of parts, and the image of Python's memory.
import assert from 'node:assert/strict';
import { test } from 'node:test';

const { joined, partsOf } = await import('../../content/web/src/runner/kept-python.js');
const { imageOf, MemoryImage } = await import('../../content/web/src/runner/memory-image.js');

const PAGE = 4096;
const parts = { wasm: new Blob(['wasm']), asm: new Blob(['asm']), stdlib: new Uint8Array([1]).buffer, zeroledger: new Blob([]), memory: new Blob(['memory']) };

test('parts come back from the blob they were joined in', async () => {
  const { wasm, asm, stdlib, zeroledger, memory } = partsOf(joined(parts));
  assert.deepEqual([await wasm.text(), await asm.text(), stdlib.size, zeroledger.size, await memory.text()], ['wasm', 'asm', 1, 0, 'memory']);
  assert.deepEqual([wasm.type, asm.type], ['application/wasm', 'text/javascript']);
});

test('a blob of another length is refused', () => {
  const { blob, sizes } = joined(parts);
  assert.throws(() => partsOf({ blob: blob.slice(1), sizes }), /bytes are kept/);
  assert.throws(() => partsOf({ blob, sizes: sizes.slice(1) }), /bytes are kept/);
  assert.throws(() => partsOf({ blob, sizes: [0] }), /bytes are kept/);
});

/** Stands for Emscripten's module: data in page 0, the free stack in pages 3 to 5, memory that was never used from page 8 on. */
function moduleWith(heap) {
  return { HEAPU8: heap, _sbrk: () => 8 * PAGE, _emscripten_stack_get_end: () => 3 * PAGE, _emscripten_stack_get_current: () => 6 * PAGE };
}

const pyodideWith = (heap) => ({ _module: { HEAPU8: heap }, _api: { serializeHiwireState: () => ({ keys: ['é'] }) } });

test('memory comes back, whatever a new interpreter had written there', async () => {
  const memory = new Uint8Array(12 * PAGE);
  for (const at of [5, 2 * PAGE, 6 * PAGE + 1, 7 * PAGE, 9 * PAGE + 100, 12 * PAGE - 1]) memory[at] = at % 251 || 1;
  const image = new MemoryImage(await (imageOf(pyodideWith(memory))).arrayBuffer());
  assert.deepEqual([image.layout.heapBytes, image.layout.objects], [12 * PAGE, { keys: ['é'] }]);
  const heap = new Uint8Array(12 * PAGE);
  heap.fill(7, 0, 3 * PAGE);
  heap.fill(7, 6 * PAGE, 8 * PAGE);
  image.writeTo(moduleWith(heap));
  assert.deepEqual(heap, memory);
});

test('only pages that hold something are kept, and a damaged image is refused', async () => {
  const memory = new Uint8Array(100 * PAGE);
  memory[50 * PAGE] = 1;
  const image = imageOf(pyodideWith(memory));
  assert.ok(image.size < 2 * PAGE);
  const bytes = await image.arrayBuffer();
  assert.throws(() => new MemoryImage(bytes.slice(0, -1)), /not whole/);
});
