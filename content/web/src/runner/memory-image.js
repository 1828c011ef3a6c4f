// Python's memory as a Blob, and back. More than half of it is zero, most of that the unused stack: only pages that hold
// something are kept, and what a new interpreter has not touched is not written.

const PAGE_BYTES = 4096;
const HEADER_BYTES = 8;

/** @typedef {{heapBytes: number, runs: [start: number, end: number][], objects: any}} Layout `objects`: Pyodide's list of the JavaScript objects that memory refers to */

/** @param {any} pyodide one that was started to be kept @returns {Blob} */
export function imageOf(pyodide) {
  /** @type {Uint8Array<ArrayBuffer>} */
  const heap = pyodide._module.HEAPU8;
  /** @type {Layout} */
  const layout = { heapBytes: heap.length, runs: usedRuns(heap), objects: pyodide._api.serializeHiwireState() };
  const text = new TextEncoder().encode(JSON.stringify(layout));
  const header = new Uint32Array([text.length, 0]);
  return new Blob([header, text, ...layout.runs.map(([start, end]) => heap.subarray(start, end))]);
}

/** @param {Uint8Array<ArrayBuffer>} heap @returns {[number, number][]} where it is not zero, in whole pages */
export function usedRuns(heap) {
  const words = new Uint32Array(heap.buffer, heap.byteOffset, heap.length / 4);
  /** @type {[number, number][]} */
  const runs = [];
  for (let start = 0; start < heap.length; start += PAGE_BYTES) {
    if (isZero(words, start / 4, (start + PAGE_BYTES) / 4)) continue;
    const last = runs.at(-1);
    if (last?.[1] === start) last[1] += PAGE_BYTES;
    else runs.push([start, start + PAGE_BYTES]);
  }
  return runs;
}

/** @param {Uint32Array} words @param {number} from @param {number} to */
function isZero(words, from, to) {
  for (let at = from; at < to; at += 1) if (words[at] !== 0) return false;
  return true;
}

export class MemoryImage {
  /** @param {ArrayBuffer} bytes of an image; throws if it is damaged */
  constructor(bytes) {
    const [textLength] = new Uint32Array(bytes, 0, 1);
    const at = HEADER_BYTES + textLength;
    /** @type {Layout} */
    this.layout = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, HEADER_BYTES, textLength)));
    this.pages = new Uint8Array(bytes, at);
    const kept = this.layout.runs.reduce((sum, [start, end]) => sum + end - start, 0);
    if (kept !== this.pages.length) throw new RangeError('the memory image is not whole');
  }

  /** @param {any} module Emscripten's, with a memory of the image's size that nothing has run in */
  writeTo(module) {
    /** @type {Uint8Array} */
    const heap = module.HEAPU8;
    const untouchedFrom = module._sbrk(0);
    const freeStack = [module._emscripten_stack_get_end(), module._emscripten_stack_get_current()];
    let at = 0;
    let zeroFrom = 0;
    for (const [start, end] of [...this.layout.runs, [untouchedFrom, untouchedFrom]]) {
      const zeroTo = Math.min(start, untouchedFrom);
      heap.fill(0, zeroFrom, Math.min(zeroTo, freeStack[0]));
      heap.fill(0, Math.max(zeroFrom, freeStack[1]), zeroTo);
      heap.set(this.pages.subarray(at, at + end - start), start);
      at += end - start;
      zeroFrom = end;
    }
  }
}
