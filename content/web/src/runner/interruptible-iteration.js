// WebKit cannot terminate a worker that is in a WebAssembly loop which calls no JavaScript: sum(range(10**12)) would keep a
// processor core busy until the tab is closed, and beyond Stop. There, let the iterators that such loops go round with
// call the guard each thousandth time. An iterator's C function is named in its type; a small function takes its place.

const ITERNEXT_OFFSET = 112; // of tp_iternext in a type object of 32-bit CPython
// (func (param i32) (result i32)): adds one to a counter; each 1024th time calls import e.p; then calls number e.i of table e.t.
const RELAY = new Uint8Array([
  0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00,
  0x01, 0x09, 0x02, 0x60, 0x01, 0x7f, 0x01, 0x7f, 0x60, 0x00, 0x00,
  0x02, 0x16, 0x03, 0x01, 0x65, 0x01, 0x70, 0x00, 0x01, 0x01, 0x65, 0x01, 0x74, 0x01, 0x70, 0x00, 0x00, 0x01, 0x65, 0x01, 0x69, 0x03, 0x7f, 0x00,
  0x03, 0x02, 0x01, 0x00,
  0x06, 0x06, 0x01, 0x7f, 0x01, 0x41, 0x00, 0x0b,
  0x07, 0x05, 0x01, 0x01, 0x66, 0x00, 0x01,
  0x0a, 0x1e, 0x01, 0x1c, 0x00,
  0x23, 0x01, 0x41, 0x01, 0x6a, 0x24, 0x01,
  0x23, 0x01, 0x41, 0xff, 0x07, 0x71, 0x45, 0x04, 0x40, 0x10, 0x00, 0x0b,
  0x20, 0x00, 0x23, 0x00, 0x11, 0x00, 0x00, 0x0b,
]);
const ITERATORS = `
def addresses():
    import itertools
    kinds, known = [object], {object}
    for kind in kinds:
        new = set(type.__subclasses__(kind)) - known
        known |= new
        kinds += new
    return ' '.join(str(id(kind)) for kind in kinds if hasattr(kind, '__next__') and kind.__module__ in ('builtins', 'itertools'))
addresses()`;

/** Whether this browser is one of those, by the only mark that a worker has. @param {string} [userAgent] */
export function terminatesNoLoops(userAgent = globalThis.navigator?.userAgent ?? '') {
  return userAgent.includes('AppleWebKit') && !/Chrom(e|ium)\//.test(userAgent);
}

/**
 * @param {any} pyodide
 * @param {() => void} look may throw, which ends the run and the interpreter
 */
export function makeIterationInterruptible(pyodide, look) {
  const globals = pyodide.toPy({});
  const addresses = pyodide.runPython(ITERATORS, { globals, filename: '<zero-runner iterators>' }).split(' ').map(Number);
  globals.destroy();
  const { HEAP32, wasmTable, addFunction } = pyodide._module;
  const module = new WebAssembly.Module(RELAY);
  /** @type {Map<number, number>} number of a function in the table → its relay's */
  const relays = new Map();
  for (const address of addresses) {
    const slot = (address + ITERNEXT_OFFSET) / HEAP32.BYTES_PER_ELEMENT;
    const number = HEAP32[slot];
    if (!relays.has(number)) {
      if (number <= 0 || number >= wasmTable.length || typeof wasmTable.get(number) !== 'function') throw new Error('Python lays out its types in another way');
      const { exports } = new WebAssembly.Instance(module, { e: { p: look, t: wasmTable, i: number } });
      relays.set(number, addFunction(exports.f));
    }
    HEAP32[slot] = /** @type {number} */ (relays.get(number));
  }
}
