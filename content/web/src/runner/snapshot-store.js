// Python as it is just after its start, made in this browser by an interpreter that ran no reader's code, and kept for the
// next visit. The page keeps it, because the sandbox has no storage. It is only ever used with the build and the browser
// that it was made with.

/** @typedef {import('./kept-python.js').KeptPython} KeptPython */

const CACHE = 'zero-python';
const SIZES = 'Zero-Sizes';
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

  /** @returns {Promise<KeptPython|'refused'|null>} refused: this browser could not start from its own */
  async read() {
    if (!this.isUsable) return null;
    /** @type {Promise<null>} */
    const tooLate = new Promise((resolve) => setTimeout(resolve, READ_WITHIN_MS, null));
    return Promise.race([this.find(), tooLate]);
  }

  /** @returns {Promise<KeptPython|'refused'|null>} */
  async find() {
    try {
      const found = await caches.match(this.url, { cacheName: CACHE });
      if (!found) return null;
      const blob = await found.blob();
      const sizes = (found.headers.get(SIZES) ?? '').split(',').map(Number);
      return blob.size === 0 ? 'refused' : { blob, sizes };
    } catch {
      return null; // storage is blocked
    }
  }

  /** Keep this one and no other. @param {KeptPython} kept */
  async write({ blob, sizes }) {
    try {
      await caches.delete(CACHE);
      const cache = await caches.open(CACHE);
      await cache.put(this.url, new Response(blob, { headers: { [SIZES]: sizes.join() } }));
    } catch {
      // No room, or storage is blocked: the next visit starts without.
    }
  }

  /** Python did not start from it: make no other until Python or the browser is a new one. */
  async refuse() {
    await this.write({ blob: new Blob([]), sizes: [] });
  }

  async drop() {
    try {
      await caches.delete(CACHE);
    } catch {
      // Then there is none.
    }
  }
}
