// The supervisor's end of what the page fetches: pieces come in, and are compiled or unpacked while more is on its way.

/** @typedef {import('./protocol.js').PartName} PartName */
/** @typedef {import('./protocol.js').InterpreterParts} InterpreterParts */
/** @typedef {ReadableStream<Uint8Array<ArrayBuffer>>} ByteStream */

const GZIP_MAGIC = [0x1f, 0x8b];

export class PartsInbox {
  constructor() {
    /** @type {Map<PartName, ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>>} */
    this.inputs = new Map();
    const wasm = new Response(this.open('wasm'), { headers: { 'Content-Type': 'application/wasm' } });
    this.module = WebAssembly.compileStreaming(wasm);
    /** @type {(text: string) => void} */
    this.setAsm = () => {};
    /** @type {Promise<string>} */
    this.asm = new Promise((resolve) => (this.setAsm = resolve));
    this.asmText = '';
    this.decoder = new TextDecoder();
    this.stdlib = unpacked(this.open('stdlib'));
    this.zeroledger = unpacked(this.open('zeroledger'));
    /** @type {(snapshot: ArrayBuffer|null) => void} */
    this.setSnapshot = () => {};
    /** @type {Promise<ArrayBuffer|null>} */
    this.snapshot = new Promise((resolve) => (this.setSnapshot = resolve));
  }

  /** @param {PartName} name @returns {ByteStream} what `take` puts in */
  open(name) {
    return new ReadableStream({ start: (input) => void this.inputs.set(name, input) });
  }

  /** @param {PartName} name @param {Uint8Array<ArrayBuffer>|null} chunk null ends the part */
  take(name, chunk) {
    if (name === 'asm') this.takeAsm(chunk);
    else if (chunk) this.inputs.get(name)?.enqueue(chunk);
    else this.inputs.get(name)?.close();
  }

  /** Not through a stream: its text goes on to the interpreter at once, which else would wait for the compiler. @param {Uint8Array|null} chunk */
  takeAsm(chunk) {
    if (chunk) this.asmText += this.decoder.decode(chunk, { stream: true });
    else this.setAsm(this.asmText + this.decoder.decode());
  }

  /** @returns {Promise<InterpreterParts>} rejects if a part is damaged */
  async complete() {
    const [module, asm, stdlib, zeroledger, snapshot] = await Promise.all([
      this.module, this.asm, this.stdlib, this.zeroledger, this.snapshot,
    ]);
    return { module, asm, stdlib, zeroledger, snapshot };
  }
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
