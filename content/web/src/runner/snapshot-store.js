// A picture of Python's memory just after its start, made in this browser by an interpreter that ran no reader's code, and
// kept for the next visit. The page keeps it, because the sandbox has no storage. It is only ever used with the very files
// and the browser that it was made with.

const CACHE = 'zero-python';
const READ_WITHIN_MS = 2000; // a store that does not answer must not hold Python up, and Python can start without

export class SnapshotStore {
  /** @param {URL} siteBase */
  constructor(siteBase) {
    const query = new URLSearchParams({ made: SNAPSHOT_KEY, by: navigator.userAgent });
    this.url = new URL(`static/zero/snapshot?${query}`, siteBase).href;
  }

  /** @returns {boolean} false where there is no storage, or the reader saves data */
  get isUsable() {
    const { connection } = /** @type {any} */ (navigator);
    return 'caches' in globalThis && !connection?.saveData;
  }

  /** @returns {Promise<ArrayBuffer|null>} empty if this browser could not start from its own */
  async read() {
    if (!this.isUsable) return null;
    /** @type {Promise<null>} */
    const tooLate = new Promise((resolve) => setTimeout(resolve, READ_WITHIN_MS, null));
    return Promise.race([this.find(), tooLate]);
  }

  /** @returns {Promise<ArrayBuffer|null>} */
  async find() {
    try {
      const found = await caches.match(this.url, { cacheName: CACHE });
      return found ? await found.arrayBuffer() : null;
    } catch {
      return null; // storage is blocked
    }
  }

  /** Keep this one and no other. @param {ArrayBuffer} bytes */
  async write(bytes) {
    try {
      await caches.delete(CACHE);
      const cache = await caches.open(CACHE);
      await cache.put(this.url, new Response(bytes));
    } catch {
      // No room, or storage is blocked: the next visit starts without.
    }
  }

  /** Python did not start from it: make no other until Python or the browser is a new one. */
  async refuse() {
    await this.write(new ArrayBuffer(0));
  }

  async drop() {
    try {
      await caches.delete(CACHE);
    } catch {
      // Then there is none.
    }
  }
}
