// A republished lesson in the lab: what the reader sees, and that nothing they edited is lost. The drive is a fake with
// JupyterLite's rule: what the browser stores outranks what the site serves.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { beforeEach, test } from 'node:test';
import { LessonDrive, oneAtATime } from '../../content/web/src/lab/lesson-drive.js';
import { fingerprint, isLesson } from '../../content/web/src/lab/published.js';

const PATH = 'en/01-ledger.ipynb';
const OPEN = { content: true, type: 'notebook', format: 'json' };
const DAY = '2026-11-29T12:00:00Z';

let stored, site, kept, drive, fetches;

const notebook = (text, metadata = {}) => ({ cells: [{ id: 'a', cell_type: 'code', source: text, outputs: [] }], metadata });
const publish = (text) => {
  const made = notebook(text);
  made.metadata.zero = { published: fingerprint(made) };
  return made;
};
/** The published notebook as the reader has changed it. */
const edited = (text, source) => ({ ...notebook(source), metadata: publish(text).metadata });
const model = (content) => ({ type: 'notebook', format: 'json', last_modified: DAY, content: structuredClone(content) });

beforeEach(() => {
  [stored, site, kept, fetches] = [new Map(), new Map([[PATH, publish('one')]]), [], 0];
  drive = {
    async get(path) {
      const found = stored.get(path) ?? (site.has(path) ? model(site.get(path)) : null);
      if (!found) throw new Error(`no ${path}`);
      return structuredClone(found);
    },
    async save(path, { content }) {
      await this.get(path).catch(() => null);
      stored.set(path, model(content));
      return stored.get(path);
    },
    async delete(path) {
      stored.delete(path);
    },
  };
  attach();
});

function attach(lock = oneAtATime) {
  new LessonDrive(drive, {
    fetchPublished: async (path) => (fetches += 1, site.get(path) ?? null),
    copyWords: (date, number) => ` (my copy ${number > 1 ? `${date} ${number}` : date})`,
    onKept: (path, copy) => kept.push(copy),
    lock,
  }).attach();
}

const shown = async (path = PATH) => (await drive.get(path, OPEN)).content.cells[0].source;
const COPY = 'en/01-ledger (my copy 2026-11-29).ipynb';

test('marks are those that the build computes', () => {
  for (const { notebook: one, mark } of JSON.parse(readFileSync(new URL('../data/fingerprints.json', import.meta.url), 'utf8'))) assert.equal(fingerprint(one), mark);
});

test('which files are lessons', () => {
  const paths = [PATH, '/zh/10-self-test.ipynb', 'en/01-ledger (my copy 2026-11-29).ipynb', 'Untitled.ipynb', 'en/notes.txt', 'x/en/01-ledger.ipynb'];
  assert.deepEqual(paths.map(isLesson), [true, true, false, false, false, false]);
});

test('without a new version the stored copy is what opens', async () => {
  await drive.save(PATH, { content: edited('one', 'mine') });
  assert.equal(await shown(), 'mine');
  assert.deepEqual(kept, []);
});

test('an edited copy goes beside the new text', async () => {
  await drive.save(PATH, { content: edited('one', 'mine') });
  site.set(PATH, publish('two'));
  assert.equal(await shown(), 'two');
  assert.deepEqual(kept, [COPY]);
  assert.equal(await shown(COPY), 'mine');
  assert.equal(await shown(), 'two'); // and once only
  assert.deepEqual(kept, [COPY]);
});

test('a copy that was only run is replaced', async () => {
  const run = publish('one');
  run.cells[0].outputs.push({ output_type: 'stream' });
  await drive.save(PATH, { content: run });
  site.set(PATH, publish('two'));
  assert.equal(await shown(), 'two');
  assert.deepEqual([kept, [...stored.keys()]], [[], []]);
});

test('a copy from before lessons had marks is kept', async () => {
  await drive.save(PATH, { content: notebook('old or mine, nobody knows') });
  assert.equal(await shown(), 'one');
  assert.deepEqual(kept, [COPY]);
});

test('two copies of one day have two names, equal ones share one', async () => {
  for (const [mine, next] of [['mine', 'two'], ['mine again', 'three'], ['mine', 'four']]) {
    await drive.save(PATH, { content: { ...notebook(mine), metadata: site.get(PATH).metadata } });
    site.set(PATH, publish(next));
    assert.equal(await shown(), next);
  }
  assert.deepEqual(kept, [COPY, 'en/01-ledger (my copy 2026-11-29 2).ipynb', COPY]);
  assert.equal(await shown(kept[1]), 'mine again');
});

test('opened twice at once, as by two tabs, it is kept once', async () => {
  for (const lock of [oneAtATime, (_name, work) => work()]) {
    await drive.save(PATH, { content: edited('one', 'mine') });
    attach(lock);
    site.set(PATH, publish('two'));
    assert.deepEqual(await Promise.all([shown(), shown()]), ['two', 'two']);
    assert.deepEqual([...stored.keys()], [COPY]);
    stored.clear();
    site.set(PATH, publish('one'));
  }
});

test('an old tab that saves is never overwritten unseen', async () => {
  await drive.save(PATH, { content: edited('one', 'from the old tab') });
  site.set(PATH, publish('two'));
  await drive.save(PATH, { content: edited('two', 'from the new tab') });
  assert.equal(await shown(COPY), 'from the old tab');
  assert.equal(await shown(), 'from the new tab');
  assert.deepEqual(kept, [COPY]);
});

test('an old tab goes on saving to its file, whatever has been published', async () => {
  await drive.save(PATH, { content: edited('one', 'mine') });
  site.set(PATH, publish('two'));
  assert.equal((await drive.get(PATH, { content: true })).content.cells[0].source, 'mine'); // its checkpoint
  await drive.save(PATH, { content: edited('one', 'mine, longer') });
  assert.deepEqual(kept, []);
  assert.equal(await shown(), 'two');
  assert.equal(await shown(COPY), 'mine, longer');
});

test('where the copy cannot be set aside, it stays', async () => {
  await drive.save(PATH, { content: edited('one', 'mine') });
  site.set(PATH, publish('two'));
  stored.set = () => {
    throw new Error('quota');
  };
  assert.equal(await shown(), 'mine');
  assert.equal(stored.size, 1);
});

test('offline the stored copy opens', async () => {
  await drive.save(PATH, { content: edited('one', 'mine') });
  site.delete(PATH);
  assert.equal(await shown(), 'mine');
});

test('a stale answer from the network cache is replaced by the new text', async () => {
  const stale = model(publish('one'));
  const { get } = drive;
  drive.get = async (path, options) => (path === PATH && !stored.has(path) ? structuredClone(stale) : get(path, options));
  attach();
  site.set(PATH, publish('two'));
  assert.equal(await shown(), 'two');
  assert.deepEqual(kept, []);
});

test('other files are left alone', async () => {
  await drive.save('notes.ipynb', { content: notebook('mine') });
  fetches = 0;
  assert.equal(await shown('notes.ipynb'), 'mine');
  assert.equal(fetches, 0);
});
