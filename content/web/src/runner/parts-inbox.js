// The supervisor's end of what the page fetches: pieces come in, and are compiled or unpacked while more is on its way.

/** @typedef {import('./protocol.js').PartName} PartName */
/** @typedef {import('./protocol.js').InterpreterParts} InterpreterParts */
/** @typedef {ReadableStream<Uint8Array<ArrayBuffer>>} ByteStream */

const GZIP_MAGIC = [0x1f, 0x8b];
// build.mjs makes sure that Pyodide's module is one function and this.
const ASM_END = 'export default _createPyodideModule;\n';

export class PartsInbox {
  constructor() {
    /** @type {Map<PartName, ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>>} */
    this.inputs = new Map();
    /** The pieces of the module, for as long as it may have to be kept for a later visit. @type {Uint8Array<ArrayBuffer>[]} */
    this.wasm = [];
    this.module = WebAssembly.compileStreaming(wasmResponse(this.open('wasm')));
    /** @type {Uint8Array<ArrayBuffer>[]} */
    this.asmChunks = [];
    /** @type {(asm: Blob) => void} */
    this.setAsm = () => {};
    /** Not through a stream, which would wait for the compiler. @type {Promise<Blob>} */
    this.asm = new Promise((resolve) => (this.setAsm = resolve));
    this.stdlib = unpacked(this.open('stdlib'));
    this.zeroledger = unpacked(this.open('zeroledger'));
  }

  /** @param {PartName} name @returns {ByteStream} what `take` puts in */
  open(name) {
    return new ReadableStream({ start: (input) => void this.inputs.set(name, input) });
  }

  /** @param {PartName} name @param {Uint8Array<ArrayBuffer>|null} chunk null ends the part */
  take(name, chunk) {
    if (name === 'wasm' && chunk) this.wasm.push(chunk);
    if (name === 'asm' && chunk) this.asmChunks.push(chunk);
    else if (name === 'asm') this.setAsm(eager(new Blob(this.asmChunks)));
    else if (chunk) this.inputs.get(name)?.enqueue(chunk);
    else this.inputs.get(name)?.close();
  }

  /** @returns {Promise<InterpreterParts>} rejects if a part is damaged */
  async complete() {
    const [module, asm, stdlib, zeroledger] = await Promise.all([this.module, this.asm, this.stdlib, this.zeroledger]);
    return { module, asm, stdlib, zeroledger, memory: null };
  }
}

/** @param {BodyInit} body */
export function wasmResponse(body) {
  return new Response(body, { headers: { 'Content-Type': 'application/wasm' } });
}

/** The same module, its one function in parentheses: engines then read it once and not twice. @param {Blob} asm @returns {Blob} */
function eager(asm) {
  return new Blob(['export default(', asm.slice(0, asm.size - ASM_END.length), ')'], { type: 'text/javascript' });
}

/**
 * Some servers say that a .gz file is an encoding, and then the browser has unpacked it already.
 * @param {ByteStream} stream @returns {Promise<ArrayBuffer>}
 */
export async function unpacked(stream) {
  const [peeked, whole] = stream.tee();
  const reader = peeked.getReader();
  const { value } = await reader.read();
  reader.cancel();
  const isPacked = GZIP_MAGIC.every((byte, at) => value?.[at] === byte);
  return new Response(isPacked ? whole.pipeThrough(new DecompressionStream('gzip')) : whole).arrayBuffer();
}
