// Fetch what Python is made of, in parallel, and pass each piece on as it comes.

import { bundledFile } from '../site-files.js';

/** @typedef {import('./protocol.js').PartName} PartName */
/** @typedef {{loadedBytes: number, totalBytes: number}} LoadProgress */

/** Pyodide's own files lie under the site for JupyterLite too; the version tells a cache which one this build needs. */
const pyodideFile = (/** @type {string} */ name, /** @type {URL} */ siteBase) =>
  new URL(`static/pyodide/${name}?v=${PYODIDE_LOCK_INFO.version}`, siteBase);

/** The parts, and how big they are (measured at build). @type {{name: PartName, url: (base: URL) => URL, bytes: number}[]} */
const PARTS = [
  { name: 'wasm', url: (base) => pyodideFile('pyodide.asm.wasm', base), bytes: PART_BYTES.wasm },
  { name: 'asm', url: (base) => pyodideFile('pyodide.asm.mjs', base), bytes: PART_BYTES.asm },
  { name: 'stdlib', url: () => bundledFile('stdlib.zip.gz'), bytes: PART_BYTES.stdlib },
  { name: 'zeroledger', url: () => bundledFile('zeroledger.zip.gz'), bytes: PART_BYTES.zeroledger },
];

/** A part could not be had; the message names the file and why. */
export class LoadError extends Error {
  name = 'LoadError';
}

/**
 * Starts the downloads at once; `deliverTo` says where the pieces go.
 */
export class PartsLoader {
  /** @param {URL} siteBase @param {(progress: LoadProgress) => void} onProgress @param {typeof fetch} [fetchPart] */
  constructor(siteBase, onProgress, fetchPart = fetch) {
    this.fetchPart = (/** @type {URL} */ url, /** @type {RequestInit} */ init) => fetchPart(url, init);
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
   * @param {(name: PartName, chunk: Uint8Array<ArrayBuffer>|null) => void} send null ends a part
   * @returns {Promise<boolean>} whether all parts are as long as at build; rejects with LoadError
   */
  async deliverTo(send) {
    const lengths = await Promise.all(
      PARTS.map(({ name }, index) => this.stream(this.responses[index], (chunk) => send(name, chunk))),
    );
    return PARTS.every(({ bytes }, index) => bytes === lengths[index]);
  }

  /** @param {URL} url @returns {Promise<Response>} */
  async request(url) {
    let response;
    try {
      response = await this.fetchPart(url, { signal: this.aborter.signal });
    } catch {
      throw new LoadError(`${url.pathname}: no connection`);
    }
    if (!response.ok || !response.body) throw new LoadError(`${url.pathname}: HTTP ${response.status}`);
    return response;
  }

  /**
   * @param {Promise<Response>} request
   * @param {(chunk: Uint8Array<ArrayBuffer>|null) => void} onChunk null at the end
   * @returns {Promise<number>} bytes
   */
  async stream(request, onChunk) {
    const response = await request;
    const reader = /** @type {ReadableStream<Uint8Array<ArrayBuffer>>} */ (response.body).getReader();
    let length = 0;
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        length += value.byteLength;
        this.count(value.byteLength);
        onChunk(value);
      }
    } catch {
      throw new LoadError(`${new URL(response.url).pathname}: the connection broke off`);
    }
    onChunk(null);
    return length;
  }

  /** @param {number} bytes */
  count(bytes) {
    this.loadedBytes += bytes;
    this.totalBytes = Math.max(this.totalBytes, this.loadedBytes);
    this.onProgress({ loadedBytes: this.loadedBytes, totalBytes: this.totalBytes });
  }
}
