// The parts of the cell that need no document: saved code, and what is said about a run.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importBundled } from './bundled.js';

const { SavedCode, digest } = await importBundled('cell/saved-code.js');
const { UnfinishedRun } = await importBundled('cell/unfinished-run.js');
const { noticeOf } = await importBundled('cell/notice.js');
const { text, hasText } = await importBundled('cell/strings.js');

/** Like localStorage, whose keys are its properties. */
class FakeStorage {
  getItem(key) { return this[key] ?? null; }
  setItem(key, value) { this[key] = value; }
  removeItem(key) { delete this[key]; }
}

test('edited code comes back, the original is not kept', () => {
  const storage = new FakeStorage();
  const saved = new SavedCode('/en/ledger/', 'live', 'print(1)', storage);
  assert.equal(saved.read(), 'print(1)');
  saved.write('print(2)');
  assert.equal(new SavedCode('/en/ledger/', 'live', 'print(1)', storage).read(), 'print(2)');
  saved.write('print(1)');
  assert.equal(Object.keys(storage).length, 0);
});

test('code of another cell, page or version is another', () => {
  const storage = new FakeStorage();
  new SavedCode('/en/ledger/', 'live', 'print(1)', storage).write('mine');
  for (const other of [['/zh/ledger/', 'live', 'print(1)'], ['/en/ledger/', 'two', 'print(1)'], ['/en/ledger/', 'live', 'print(3)']]) {
    assert.equal(new SavedCode(...other, storage).read(), other[2]);
  }
  assert.notEqual(digest('ab'), digest('ba'));
});

test('an edit of an older original is offered until it is forgotten or there is a newer one', () => {
  const storage = new FakeStorage();
  const made = (original, cell = 'live') => new SavedCode('/en/ledger/', cell, original, storage);
  made('old').write('my edit');
  made('link', 'live:link:01234567').write('of a link');
  assert.equal(made('old').earlier(), null);
  assert.equal(made('new', 'other').earlier(), null);
  assert.equal(made('new').earlier().code, 'my edit');
  made('new').write('newer edit');
  assert.equal(made('new').earlier(), null);
  made('new').write('new');
  made('new').earlier().forget();
  assert.equal(made('new').earlier(), null);
  assert.equal(made('old').read(), 'old');
});

test('storage that refuses is no error', () => {
  const refusing = { getItem() { throw new Error(); }, setItem() { throw new Error(); }, removeItem() { throw new Error(); } };
  const saved = new SavedCode('/', 'a', 'x', refusing);
  saved.write('y');
  assert.equal(saved.read(), 'x');
  assert.equal(saved.earlier(), null);
});

const result = (fields) => ({ status: 'ok', value: null, error: null, errorType: null, elapsedMs: 1, stateKept: true, truncated: false, ...fields });
const run = { limitSeconds: 60, stopClicked: false, fresh: false };
const say = (key, fields) => {
  assert.ok(hasText(key), `no string ${key}`);
  return text('en', key, fields);
};

test('nothing is said of a run that went well', () => {
  assert.equal(noticeOf(result({}), run, say), null);
});

for (const [fields, stopClicked, title, kept] of [
  [{ status: 'error', errorType: 'NameError' }, false, /NameError/, true],
  [{ status: 'error', errorType: 'SomethingElse' }, false, /SomethingElse/, true],
  [{ status: 'error', errorType: 'MemoryError', stateKept: false }, false, /memory/i, false],
  [{ status: 'error', errorType: 'OutputLimitExceeded' }, false, /output/i, true],
  [{ status: 'error', errorType: 'SystemExit' }, false, /ended itself/, true],
  [{ status: 'timeout', errorType: 'TimeLimitExceeded' }, false, /60 s/, true],
  [{ status: 'stopped', errorType: 'StopRequested' }, true, /Stopped/, true],
  [{ status: 'killed', stateKept: false }, false, /60 s/, false],
  [{ status: 'killed', stateKept: false }, true, /Stopped/, false],
  [{ status: 'crashed', stateKept: false }, false, /crashed/, false],
]) {
  test(`what is said of ${fields.status} ${fields.errorType ?? ''}${stopClicked ? ' after Stop' : ''}`, () => {
    const notice = noticeOf(result(fields), { ...run, stopClicked }, say);
    assert.match(notice.title, title);
    assert.match(notice.lines[0], kept ? /kept/ : /gone/);
    assert.ok(notice.lines[1].length > 20);
  });
}

test('a failed load can be tried again', () => {
  const notice = noticeOf(result({ status: 'crashed', errorType: 'LoadError', error: '/x.wasm: HTTP 404' }), run, say);
  assert.ok(notice.canRetry);
  assert.match(notice.lines[0], /HTTP 404/);
});

test('a sandbox that the browser ended is another thing than one that did not load', () => {
  const notice = noticeOf(result({ status: 'crashed', errorType: 'SandboxLost', error: 'gone' }), run, say);
  assert.ok(notice.canRetry);
  assert.match(notice.lines[0], /memory/);
});

test('a run that never ended is told once, one that did is not', () => {
  const storage = new FakeStorage();
  const made = (cell = 'live') => new UnfinishedRun('/en/ledger/', cell, storage);
  made().begin();
  made('other').begin();
  made('other').end();
  assert.equal(made('other').take(), false);
  assert.equal(made().take(), true);
  assert.equal(made().take(), false);
  assert.equal(new UnfinishedRun('/en/ledger/', 'live', null).take(), false);
});
