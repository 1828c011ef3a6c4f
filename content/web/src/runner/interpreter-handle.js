// The supervisor's view of one interpreter worker.

/** @typedef {import('./protocol.js').InterpreterParts} InterpreterParts */

export class InterpreterHandle {
  /** @param {string} url blob URL of the interpreter's script; the worker starts now and boots when it has its parts */
  constructor(url) {
    this.worker = new Worker(url);
    const { port1, port2 } = new MessageChannel();
    this.port = port1;
    this.innerPort = port2;
    /** @type {(message: any) => void} */
    this.onmessage = () => {};
    /** @type {((bytes: ArrayBuffer) => void)|undefined} */
    this.onSnapshot = undefined;
    this.ready = new Promise((resolve, reject) => {
      this.worker.onerror = (event) => reject(new Error(`the Python worker failed: ${event.message ?? 'no details'}`));
      this.port.onmessage = (event) => this.receive(event.data, () => resolve(this), reject);
    });
    this.ready.catch(() => {}); // whoever waits for it is told
  }

  /** @param {any} message @param {() => void} resolve @param {(error: Error) => void} reject */
  receive(message, resolve, reject) {
    if (message.type === 'snapshot') this.takeSnapshot(message.bytes);
    else if (message.type === 'ready') this.becomeReady(resolve);
    else if (message.type === 'failed') reject(new Error(message.message));
    else this.onmessage(message);
  }

  /** @param {string} text source of pyodide.asm.mjs, ahead of the other parts */
  sendAsm(text) {
    this.worker.postMessage({ type: 'asm', text });
  }

  /** @param {InterpreterParts} parts @param {(bytes: ArrayBuffer) => void} [onSnapshot] wants its memory before anything runs */
  boot(parts, onSnapshot) {
    this.onSnapshot = onSnapshot;
    this.worker.postMessage({ type: 'boot', parts, makeSnapshot: Boolean(onSnapshot) }, [this.innerPort]);
  }

  /** @param {() => void} resolve */
  becomeReady(resolve) {
    this.onSnapshot = undefined; // reader's code may run from here on
    resolve();
  }

  /** @param {unknown} bytes */
  takeSnapshot(bytes) {
    if (bytes instanceof ArrayBuffer) this.onSnapshot?.(bytes);
  }

  terminate() {
    this.onmessage = () => {};
    this.worker.terminate();
    this.port.close();
  }
}
