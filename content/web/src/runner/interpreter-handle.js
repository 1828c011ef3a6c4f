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
    /** @type {((memory: Blob) => void)|undefined} */
    this.onSnapshot = undefined;
    this.isPrepared = false;
    this.awake = new Promise((resolve) => {
      this.worker.onmessage = resolve;
      this.worker.addEventListener('error', resolve);
    });
    this.ready = new Promise((resolve, reject) => {
      this.worker.onerror = (event) => reject(new Error(`the Python worker failed: ${event.message ?? 'no details'}`));
      this.port.onmessage = (event) => this.receive(event.data, () => resolve(this), reject);
    });
    this.ready.catch(() => {}); // whoever waits for it is told
  }

  /** @param {any} message @param {() => void} resolve @param {(error: Error) => void} reject */
  receive(message, resolve, reject) {
    if (message.type === 'snapshot') this.takeSnapshot(message.memory);
    else if (message.type === 'ready') this.becomeReady(resolve);
    else if (message.type === 'failed') reject(new Error(message.message));
    else this.onmessage(message);
  }

  /** What takes it long to read, ahead of the other parts. @param {Pick<InterpreterParts, 'asm'|'memory'>} parts */
  prepare({ asm, memory }) {
    this.worker.postMessage({ type: 'prepare', asm, memory });
    this.isPrepared = true;
  }

  /** @param {InterpreterParts} parts @param {(memory: Blob) => void} [onSnapshot] wants its memory before anything runs */
  boot(parts, onSnapshot) {
    if (!this.isPrepared) this.prepare(parts);
    this.onSnapshot = onSnapshot;
    const { module, stdlib, zeroledger } = parts;
    const makeSnapshot = Boolean(onSnapshot);
    this.worker.postMessage({ type: 'boot', parts: { module, stdlib, zeroledger }, makeSnapshot }, [this.innerPort]);
  }

  /** @param {() => void} resolve */
  becomeReady(resolve) {
    this.onSnapshot = undefined; // reader's code may run from here on
    resolve();
  }

  /** @param {unknown} memory */
  takeSnapshot(memory) {
    if (memory instanceof Blob) this.onSnapshot?.(memory);
  }

  terminate() {
    this.onmessage = () => {};
    this.worker.terminate();
    this.port.close();
  }
}
