// The guard in a lab kernel: the site's own Pyodide and kernel wheels in Node, kernel-guard.js around them, cells run as
// JupyterLite runs them. The limit is one second. What kills the interpreter is tested in the browser (test_lab_guard.py).
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { importBundled } from './bundled.js';

const LIMIT_MS = 1000; // sleeps of 5 s outlast it; longer ones would keep Node waiting for their timers
const DISTRIBUTION = fileURLToPath(new URL('../../dist/static/pyodide/', import.meta.url));
const KERNEL_PACKAGES = ['micropip', 'piplite', 'ipykernel', 'comm', 'pyodide-kernel', 'jedi', 'ipython'];

const posted = [];
let isStopped = false;
let guard;
let kernel;

/** In the lab a raised flag is a revoked blob URL. */
class FakeRequest {
  open() {}

  send() {
    if (isStopped) throw new Error('revoked');
  }
}

before(async () => {
  assert.ok(existsSync(DISTRIBUTION), 'dist/ is not built: run ./build.sh first');
  Object.assign(globalThis, { self: globalThis, XMLHttpRequest: FakeRequest, postMessage: (message) => posted.push(message.zeroGuard) });
  const { KernelGuard } = await importBundled('lab/kernel-guard.js');
  const { loadPyodide } = await import(`${DISTRIBUTION}pyodide.mjs`);
  const pyodide = await loadPyodide({ lockFileURL: `${DISTRIBUTION}pyodide-lock.json`, packageBaseUrl: DISTRIBUTION, packages: KERNEL_PACKAGES });
  await pyodide.runPythonAsync('import pyodide_kernel');
  guard = new KernelGuard(pyodide);
  guard.receive({ type: 'setup', limitMs: LIMIT_MS, stopUrl: 'blob:stop' });
  guard.receive({ type: 'install' });
  kernel = pyodide.globals.get('pyodide_kernel').kernel_instance;
  await run('kept = 1');
});

/** Runs a cell; its status, its traceback without colours, and how long it took come back. */
async function run(source) {
  posted.length = 0;
  const started = performance.now();
  const reply = (await kernel.run(source)).toJs();
  const get = (name) => (reply instanceof Map ? reply.get(name) : reply[name]);
  const traceback = [...(get('traceback') ?? [])].join('\n').replace(/\x1b\[[0-9;]*m/g, '');
  return { status: get('status'), traceback, ms: performance.now() - started };
}

async function assertStateKept() {
  assert.equal((await run('assert kept >= 1')).status, 'ok');
}

const LOOP = 'while True: kept += 1';
const ENDED_SOFTLY = {
  'an endless loop': [LOOP, /Cell In\[\d+\], line 1\n----> 1 while True: kept \+= 1/],
  'one in a function': [`def f():\n    ${LOOP.replace('kept += 1', 'kept')}\nf()`, /line 2, in f\(\)/],
  'one that catches everything': [`while True:\n    try:\n        ${LOOP}\n    except BaseException: pass`, /----> 3/],
  'one that catches everything and goes on in finally': [`while True:\n    try:\n        ${LOOP}\n    except BaseException: continue\n    finally: kept -= 1`, /----> 3/],
  'one in finally': [`try:\n    ${LOOP}\nfinally:\n    ${LOOP}`, /----> 4/],
  'one in __repr__': ['class A:\n    def __repr__(self):\n        while True: pass\nA()', /in A\.__repr__/],
  'sleep': ['import time\ntime.sleep(1000)', /----> 2 time\.sleep/],
  'await': ['import asyncio\nawait asyncio.sleep(5)', /----> 2 await asyncio/],
  'a future that is never set': ['import asyncio\nawait asyncio.get_event_loop().create_future()', /----> 2 await/],
  'an await that catches everything': ['while True:\n    try:\n        await asyncio.sleep(1)\n    except BaseException: pass', /----> 3/],
  'a long calculation': ['10**10**8; 1', /----> 1 10\*\*10\*\*8/],
};

for (const [name, [source, place]] of Object.entries(ENDED_SOFTLY)) {
  test(`${name} ends at the limit, with its line and all variables`, async () => {
    const { status, traceback, ms } = await run(source);
    assert.equal(status, 'error');
    assert.match(traceback, /TimeLimitExceeded: the run reached its time limit/);
    assert.match(traceback, place);
    assert.doesNotMatch(traceback, /zero-guard/);
    assert.ok(ms >= LIMIT_MS - 50, `ended after ${ms} ms`);
    assert.deepEqual(posted.map(({ type }) => type).filter((type) => type !== 'report'), ['begin', 'end']);
    assert.equal(posted.at(-1).reason, 'limit');
    await assertStateKept();
  });
}

test('Stop ends a loop', async () => {
  setTimeout(() => (isStopped = true), 0); // raised before the loop begins, as seen from a worker without an event loop
  await new Promise((resolve) => setTimeout(resolve, 10));
  const { traceback, ms } = await run(LOOP);
  isStopped = false;
  assert.match(traceback, /StopRequested: the run was stopped/);
  assert.ok(ms < LIMIT_MS, `stopped after ${ms} ms`);
  assert.equal(posted.at(-1).reason, 'stop');
  await assertStateKept();
});

test('Stop ends an await', async () => {
  setTimeout(() => guard.receive({ type: 'stop', run: guard.run }), 200);
  const { traceback } = await run('import asyncio; await asyncio.sleep(5)');
  assert.match(traceback, /StopRequested: the run was stopped/);
  await assertStateKept();
});

test('a Stop for an earlier run does nothing', async () => {
  setTimeout(() => guard.receive({ type: 'stop', run: guard.run - 1 }), 50);
  assert.equal((await run('await asyncio.sleep(0.2)')).status, 'ok');
});

test('a task left behind is ended, and the next cell runs', async () => {
  assert.equal((await run('async def forever():\n    while True: pass\ntask = asyncio.ensure_future(forever())')).status, 'ok');
  assert.equal((await run('await asyncio.sleep(0.01)')).status, 'ok');
  assert.equal((await run('assert type(task.exception()).__name__ == "TimeLimitExceeded"')).status, 'ok');
});

test('a run that prints too much ends with a note, and what it printed stays', async () => {
  guard.receive({ type: 'setup', limitMs: 60_000, stopUrl: 'blob:stop' }); // it is not time that ends it
  const printed = { text: '' };
  const { stdout_stream: stdout } = guard.pyodide.pyimport('pyodide_kernel');
  stdout.publish_stream_callback = (name, text) => {
    printed.text += text;
  };
  for (const [source, chars] of [["while True: print('line')", 5 * 10_000], ["print('x' * 3_000_000); kept += 1", 1_000_000]]) {
    printed.text = '';
    const { status, traceback } = await run(source);
    assert.equal(status, 'error');
    assert.match(traceback, /OutputLimitExceeded: the run printed more than this page can show/);
    assert.match(traceback, /----> 1 /);
    assert.equal(printed.text.length, chars);
    assert.equal(posted.at(-1).reason, null); // the cell's own error says it
    await assertStateKept();
  }
  printed.text = '';
  assert.equal((await run("print('again')")).status, 'ok');
  assert.equal(printed.text, 'again\n');
  stdout.publish_stream_callback = undefined;
  guard.receive({ type: 'setup', limitMs: LIMIT_MS, stopUrl: 'blob:stop' });
});

test('a widget callback is ended, and said to be one', async () => {
  await run(`from comm import get_comm_manager
class Looping:
    comm_id = "looping"
    def handle_msg(self, message):
        global kept
        kept = 77
        while True: pass
get_comm_manager().register_comm(Looping())`);
  posted.length = 0;
  const message = guard.pyodide.toPy({ content: { comm_id: 'looping', data: {} } });
  kernel.comm_manager.comm_msg(null, null, message);
  assert.deepEqual(posted.at(-1), { ...posted.at(-1), type: 'end', kind: 'callback', reason: 'limit' });
  assert.equal((await run('assert kept == 77')).status, 'ok');
});

test('ordinary errors look as always', async () => {
  const { traceback } = await run('1/0');
  assert.match(traceback, /----> 1 1\/0\n\nZeroDivisionError: division by zero/);
  assert.equal(posted.at(-1).reason, null);
});

test('sleeping takes as long as asked', async () => {
  assert.equal((await run('import time; t = time.perf_counter(); time.sleep(0.3); assert 0.29 < time.perf_counter() - t < 0.6')).status, 'ok');
});

test('modules of the guard are not in the reader\'s way', async () => {
  assert.equal((await run('import sys; assert not {"guard", "harden", "kernel_guard"} & set(sys.modules)')).status, 'ok');
});
