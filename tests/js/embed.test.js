// Embeds: addresses, inputs, links, messages, statements, snippets. All pure.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importBundled } from './bundled.js';

const { readParameters, unfitting } = await importBundled('embed/parameters.js');
const { assignments, chooseVariant, withInputs } = await importBundled('embed/inputs.js');
const { decodeShared, encodeShared, isShareFragment } = await importBundled('cell/share-link.js');
const { EVENTS, PROTOCOL, eventsWanted, problemWith } = await importBundled('embed/messages.js');
const { statementOf } = await importBundled('embed/xapi.js');
const { isEqual } = await importBundled('embed/expect.js');
const { snippet } = await importBundled('embed/snippets.js');
const { storageScope } = await importBundled('embed/scope.js');

test('a sound address is read', () => {
  const { values, problems } = readParameters('?id=ledger/live-rows&lang=zh&theme=dark&P=7B&N=64&stage=3&model=llama-2-7b&card=80+GB&seed=may&autorun=1&report=https://lms.example.edu');
  assert.deepEqual(problems, []);
  assert.deepEqual(values.inputs, { P: 7e9, N: 64, stage: 3, model: 'llama-2-7b', card: '80 GB' });
  assert.deepEqual([values.id, values.lang, values.theme, values.seed, values.autorun, values.report], ['ledger/live-rows', 'zh-CN', 'dark', 'may', true, 'https://lms.example.edu']);
});

for (const [search, field] of [
  ['id=a&P=-7', 'P'], ['id=a&P=0', 'P'], ['id=a&P=many', 'P'], ['id=a&P=1e99', 'P'], ['id=a&N=0', 'N'], ['id=a&N=2.5', 'N'], ['id=a&stage=4', 'stage'],
  ['id=a&model=../x', 'model'], ['id=a&card=big', 'card'], ['id=a&theme=blue', 'theme'], ['id=a&lang=fr', 'lang'], ['id=a&autorun=yes', 'autorun'],
  ['id=a&report=https://lms.example.edu/path', 'report'], ['id=a&report=javascript:1', 'report'], ['id=a&n=8', 'n'], ['id=../x', 'id'], ['', 'id'],
  [`id=a&seed=${'x'.repeat(41)}`, 'seed'], ['id=a&state=a b', 'state'],
]) {
  test(`a bad address names its field: ${search.slice(0, 40)}`, () => assert.deepEqual(readParameters(search).problems.map((one) => one.field), [field]));
}

test('inputs that an item does not take, and values outside its list', () => {
  const item = { inputs: { P: null, N: [4, 8] } };
  assert.deepEqual(unfitting(item, { P: 5, N: 8 }), []);
  assert.deepEqual(unfitting(item, { N: 5, stage: 1 }).map(({ field, accepted }) => [field, accepted]), [['N', ['4', '8']], ['stage', ['P', 'N']]]);
});

test('inputs go where the literals are', () => {
  const code = 'P, N = 7, 8\nf(P, stage=2)';
  const spans = { P: [[7, 8]], N: [[10, 11]], stage: [[23, 24]] };
  assert.equal(withInputs(code, spans, { P: 13e9, stage: 3 }), 'P, N = 13_000_000_000, 8\nf(P, stage=3)');
  assert.equal(assignments({ P: 1e15, card: '80 "GB"' }), 'P = 1_000_000_000_000_000\ncard = "80 \\"GB\\""\n');
});

test('a variant by its inputs, by the seed, or none', () => {
  const variants = [7, 13].flatMap((P) => [4, 8].map((N) => ({ inputs: { P, N }, prompt: '' })));
  assert.equal(chooseVariant('a', variants, {}, ''), null);
  assert.equal(chooseVariant('a', variants, { P: 13, N: 8 }, 'seed'), 3);
  assert.equal(chooseVariant('a', variants, { P: 13 }, ''), 2);
  const drawn = chooseVariant('a', variants, { N: 8 }, 'monday');
  assert.ok([1, 3].includes(drawn));
  assert.equal(chooseVariant('a', variants, { N: 8 }, 'monday'), drawn);
});

test('a link brings back what went in, in any script', async () => {
  const shared = { cell: 'live-rows', code: 'print("显存", "🙂")\n'.repeat(40), inputs: { P: 7e9 }, seed: 's', prediction: { text: '112 GB', confidence: 3 } };
  const hash = await encodeShared(shared);
  assert.ok(hash.startsWith('#z1.') && isShareFragment(hash) && hash.length < 400, hash);
  assert.deepEqual(await decodeShared(hash), shared);
});

test('links that are damaged, too large, bombs or from a later version are told apart', async () => {
  const reason = (promise) => promise.then(() => 'none', (error) => error.reason);
  const hash = await encodeShared({ code: 'x' });
  assert.equal(await reason(decodeShared(hash.slice(0, -4))), 'damaged');
  assert.equal(await reason(decodeShared('#z1.!!!')), 'damaged');
  assert.equal(await reason(decodeShared('#z2.abc')), 'newer');
  assert.equal(await reason(decodeShared(`#z1.${'A'.repeat(9000)}`)), 'too-large');
  const noise = Array.from({ length: 9000 }, (_, at) => Math.imul(at + 1, 2654435761).toString(36)).join('');
  assert.equal(await reason(encodeShared({ code: noise })), 'too-large');
  assert.equal(await reason(encodeShared({ code: ' '.repeat(10 ** 6) })), 'too-large');
  const bytes = new Uint8Array(await new Response(new Blob([`{"code":"${'x'.repeat(10 ** 6)}"}`]).stream().pipeThrough(new CompressionStream('deflate-raw'))).arrayBuffer());
  assert.equal(await reason(decodeShared(`#z1.${Buffer.from(bytes).toString('base64url')}`)), 'too-large');
});

for (const data of [[], 5, null, { code: 5 }, { hints: 'a' }, { inputs: { P: {} } }, { tolerance: -1 }, { prediction: [] }]) {
  test(`a link with wrong types is damaged: ${JSON.stringify(data)}`, async () => {
    await assert.rejects(async () => decodeShared(await encodeShared(data)), { reason: 'damaged' });
  });
}

test('unknown fields of a link are dropped', async () => {
  assert.deepEqual(await decodeShared(await encodeShared({ code: 'x', autorun: true })), { code: 'x' });
});

test('messages are validated', () => {
  const common = { zero: PROTOCOL, item: 'a', name: '', seq: 1 };
  const sound = [
    { type: 'height', height: 200 }, { type: 'ready', kind: 'live', lang: 'en' }, { type: 'ran', status: 'ok', elapsedMs: 3 },
    { type: 'predicted', value: null, unit: 'bytes', confidence: null, skipped: true }, { type: 'checked', verdict: 'near', right: false },
    { type: 'completed', success: true }, { type: 'statement', statement: { verb: { id: 'urn:x' } } },
  ];
  assert.deepEqual(sound.map((one) => problemWith({ ...common, ...one })), sound.map(() => ''));
  assert.deepEqual(sound.map(({ type }) => type).sort(), [...EVENTS].sort());
  const bad = [
    null, 5, { ...common, type: 'height', height: '9' }, { ...common, type: 'height', height: 1e9 }, { ...common, type: 'toString' }, { ...common, type: 'checked', verdict: 'fine', right: true },
    { ...common, zero: 'zero-ledger/2', type: 'completed', success: true }, { zero: PROTOCOL, type: 'completed', success: true },
  ];
  for (const one of bad) assert.notEqual(problemWith(one), '', JSON.stringify(one));
});

test('a greeting names the events it wants; others are left out', () => {
  assert.deepEqual(eventsWanted({ zero: PROTOCOL, type: 'hello', wants: ['height', 'ran', 'cookies'] }), ['height', 'ran']);
  for (const one of [null, {}, { zero: PROTOCOL, type: 'hello' }, { zero: 'x', type: 'hello', wants: [] }]) assert.equal(eventsWanted(one), null);
});

test('a statement has an anonymous actor and names verb and activity', () => {
  const about = { site: 'https://site.example/', title: 'T', lang: 'en', id: 'u', time: '2026-01-01T00:00:00Z' };
  const made = statementOf({ type: 'checked', item: 'quiz/a', verdict: 'wrong', right: false }, about);
  assert.deepEqual(made.actor, { objectType: 'Agent', account: { homePage: 'https://site.example/', name: 'anonymous' } });
  assert.equal(made.object.id, 'https://site.example/cell/?id=quiz/a');
  assert.deepEqual(made.result, { success: false, response: 'wrong' });
  for (const type of ['predicted', 'ran', 'checked', 'completed']) assert.match(statementOf({ type, item: 'a', elapsedMs: 1500 }, about).verb.id, /^(urn|http):/);
});

test('expected values compare as data, numbers within the tolerance', () => {
  assert.ok(isEqual(28.0000001, 28, 1e-6) && isEqual([1, { a: 2 }], [1, { a: 2 }], 0) && isEqual('x', 'x', 0));
  for (const [given, wanted] of [[29, 28], [null, 28], ['28', 28], [[1], [1, 2]], [{ a: 1, b: 2 }, { a: 1 }], [{}, { toString: 1 }], [true, 1]]) assert.ok(!isEqual(given, wanted, 1e-3), JSON.stringify([given, wanted]));
});

test('snippets quote what they hold', () => {
  const choice = { site: 'https://s.example/', id: 'code', kind: 'live', title: 'a "b"', parameters: { lang: 'en' }, sandbox: true, hash: '#z1.x', task: { code: 'a < b', expect: '"x" < "y"', hints: ['<i>'], solution: 'c & d' } };
  assert.match(snippet('iframe', choice), /^<iframe src="https:\/\/s\.example\/cell\/\?id=code&amp;lang=en#z1\.x" title="a &quot;b&quot;".* sandbox="allow-scripts"><\/iframe>/);
  const element = snippet('element', choice);
  for (const part of ['expect="&quot;x&quot; &lt; &quot;y&quot;"', 'a &lt; b', '&lt;i&gt;', 'c &amp; d', ' sandboxed']) assert.ok(element.includes(part), part);
  assert.match(snippet('myst', choice), /^```\{raw\} html\n/);
  assert.match(snippet('quarto', choice), /^```\{=html\}\n/);
});

test('each embed has a scope of its own, unless it is told a name to share', () => {
  const parent = { length: 0 };
  const frames = ['?id=a', '?id=a', '?id=b'].map((search) => ({ parent, location: { ancestorOrigins: ['https://h.example'], search } }));
  frames.forEach((frame, at) => Object.assign(parent, { [at]: frame, length: at + 1 }));
  const scopes = frames.map((frame) => storageScope(frame, '', frame.location.search));
  assert.equal(new Set(scopes).size, 3);
  assert.equal(storageScope(frames[0], 'team', '?id=a'), storageScope(frames[2], 'team', '?id=b'));
  assert.equal(storageScope(frames[0], '', '?id=a&theme=dark'), scopes[0]);
});
