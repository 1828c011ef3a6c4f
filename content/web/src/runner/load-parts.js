// Fetch what Python is made of, in parallel, and hand each piece on as it comes.

import { bundledFile } from '../site-files.js';

/** @typedef {{loadedBytes: number, totalBytes: number}} LoadProgress */

/** Pyodide's own files lie under the site for JupyterLite too; the version tells a cache which one this build needs. */
const pyodideFile = (/** @type {string} */ name, /** @type {URL} */ siteBase) =>
  new URL(`static/pyodide/${name}?v=${PYODIDE_LOCK_INFO.version}`, siteBase);

/** The parts, and about how big they are (for the progress bar; measured at build). */
const PARTS = [
  { url: (/** @type {URL} */ base) => pyodideFile('pyodide.asm.wasm', base), bytes: PART_BYTES.wasm },
  { url: (/** @type {URL} */ base) => pyodideFile('pyodide.asm.mjs', base), bytes: PART_BYTES.asm },
  { url: () => bundledFile('stdlib-pyc.zip'), bytes: PART_BYTES.stdlib },
  { url: () => bundledFile('zeroledger.zip'), bytes: 50_000 },
];

/** A part could not be had; the message names the file and why. */
export class LoadError extends Error {
  name = 'LoadError';
}

/**
 * Starts the downloads at once; `deliverTo` says where the pieces go.
 */
export class PartsLoader {
  /** @param {URL} siteBase @param {(progress: LoadProgress) => void} onProgress */
  constructor(siteBase, onProgress) {
    this.onProgress = onProgress;
    this.loadedBytes = 0;
    this.totalBytes = PARTS.reduce((sum, part) => sum + part.bytes, 0);
    this.aborter = new AbortController();
    this.responses = PARTS.map((part) => this.request(part.url(siteBase)));
    for (const response of this.responses) response.catch(() => {});
  }

  abort() {
    this.aborter.abort();
  }

  /**
   * @param {(message: import('./protocol.js').PageMessage, transfer: Transferable[]) => void} send
   * @returns {Promise<void>} rejects with LoadError
   */
  async deliverTo(send) {
    const [wasm, asm, stdlib, zeroledger] = this.responses;
    await Promise.all([
      this.stream(wasm, (chunk) => send({ type: 'wasm', chunk }, chunk ? [chunk.buffer] : [])),
      this.whole(asm).then((bytes) => send({ type: 'part', name: 'asm', text: new TextDecoder().decode(bytes) }, [])),
      this.whole(stdlib).then((bytes) => send({ type: 'part', name: 'stdlib', bytes }, [bytes])),
      this.whole(zeroledger).then((bytes) => send({ type: 'part', name: 'zeroledger', bytes }, [bytes])),
    ]);
  }

  /** @param {URL} url @returns {Promise<Response>} */
  async request(url) {
    let response;
    try {
      response = await fetch(url, { signal: this.aborter.signal });
    } catch {
      throw new LoadError(`${url.pathname}: no connection`);
    }
    if (!response.ok || !response.body) throw new LoadError(`${url.pathname}: HTTP ${response.status}`);
    return response;
  }

  /**
   * @param {Promise<Response>} request
   * @param {(chunk: Uint8Array<ArrayBuffer>|null) => void} onChunk null at the end
   */
  async stream(request, onChunk) {
    const response = await request;
    const reader = /** @type {ReadableStream<Uint8Array<ArrayBuffer>>} */ (response.body).getReader();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        this.count(value.byteLength);
        onChunk(value);
      }
    } catch {
      throw new LoadError(`${new URL(response.url).pathname}: the connection broke off`);
    }
    onChunk(null);
  }

  /** @param {Promise<Response>} request @returns {Promise<ArrayBuffer>} */
  async whole(request) {
    /** @type {Uint8Array<ArrayBuffer>[]} */
    const chunks = [];
    await this.stream(request, (chunk) => chunk && chunks.push(chunk));
    return new Blob(chunks).arrayBuffer();
  }

  /** @param {number} bytes */
  count(bytes) {
    this.loadedBytes += bytes;
    this.totalBytes = Math.max(this.totalBytes, this.loadedBytes);
    this.onProgress({ loadedBytes: this.loadedBytes, totalBytes: this.totalBytes });
  }
}
