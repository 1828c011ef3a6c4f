// The store of Python's memory: what it answers when the browser's own store has one, has none, is blocked, or never answers.
import assert from 'node:assert/strict';
import { afterEach, mock, test } from 'node:test';

globalThis.SNAPSHOT_KEY = 'key';
globalThis.navigator ??= { userAgent: 'test' };
const { SnapshotStore } = await import('../../content/web/src/runner/snapshot-store.js');
const store = () => new SnapshotStore(new URL('https://example.org/course/'));

afterEach(() => {
  delete globalThis.caches;
  mock.timers.reset();
});

test('what was kept comes back', async () => {
  globalThis.caches = { match: async () => new Response(new Uint8Array([1, 2, 3]), { headers: { 'Zero-Sizes': '1,2' } }) };
  const { blob, sizes } = await store().read();
  assert.deepEqual([blob.size, sizes], [3, [1, 2]]);
  globalThis.caches = { match: async () => new Response('') };
  assert.equal(await store().read(), 'refused');
});

test('nothing kept, storage blocked, no storage: none', async () => {
  globalThis.caches = { match: async () => undefined };
  assert.equal(await store().read(), null);
  globalThis.caches = { match: async () => { throw new Error('blocked'); } };
  assert.equal(await store().read(), null);
  delete globalThis.caches;
  assert.equal(await store().read(), null);
});

test('a store that never answers does not hold Python up', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  globalThis.caches = { match: () => new Promise(() => {}) };
  const reading = store().read();
  mock.timers.tick(10_000);
  assert.equal(await reading, null);
});
