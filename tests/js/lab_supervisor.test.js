// The page's side of a lab kernel's guard, with a clock of the test's own and no browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KILL_AFTER_MS, REPORT_MS } from '../../content/web/src/lab/protocol.js';
import { KernelSupervisor } from '../../content/web/src/lab/supervisor.js';

const LIMIT_MS = 60_000;

/** A supervisor whose guard is installed; `tell` is the worker speaking, `wait` lets time pass in ticks of 250 ms. */
function installed() {
  const time = { ms: 5000 };
  const said = { posted: [], flags: [], restarts: [], ended: [] };
  const supervisor = new KernelSupervisor({
    limitMs: LIMIT_MS,
    now: () => time.ms,
    post: (message) => said.posted.push(message),
    makeFlag: () => {
      const flag = { url: `blob:${said.flags.length}`, raised: false, raise: () => (flag.raised = true) };
      said.flags.push(flag);
      return flag;
    },
    restart: (reason) => said.restarts.push(reason),
    onEnded: (kind, reason) => said.ended.push([kind, reason]),
  });
  supervisor.install();
  const tell = (message) => supervisor.receive(message);
  tell({ type: 'installed' });
  /** @param {number} ms @param {boolean} answers whether the worker's event loop answers pings meanwhile */
  const wait = (ms, answers = false) => {
    let shown = null;
    for (const end = time.ms + ms; time.ms < end; ) {
      time.ms += 250;
      shown = supervisor.tick();
      if (answers) tell({ type: 'pong' });
    }
    return shown;
  };
  return { supervisor, said, tell, wait };
}

test('the kernel is ready only when the guard is around it', async () => {
  const { supervisor, said } = installed();
  assert.deepEqual(said.posted.slice(0, 2), [{ type: 'setup', limitMs: LIMIT_MS, stopUrl: 'blob:0' }, { type: 'install' }]);
  await supervisor.installed;
});

test('a run that ends in time, and an idle kernel, are left alone', () => {
  const { said, tell, wait } = installed();
  tell({ type: 'begin', run: 1, kind: 'cell' });
  assert.equal(wait(9000), null);
  tell({ type: 'end', run: 1, kind: 'cell', reason: null });
  wait(10 * LIMIT_MS, true);
  assert.deepEqual(said, { ...said, restarts: [], ended: [] });
});

test('the countdown appears after 10 s', () => {
  const { tell, wait } = installed();
  tell({ type: 'begin', run: 1, kind: 'cell' });
  assert.equal(wait(9750), null);
  assert.deepEqual(wait(250), { busyMs: 10_000, leftMs: 50_000 });
  assert.deepEqual(wait(20_000), { busyMs: 30_000, leftMs: 30_000 });
});

test('a run that the soft guard cannot end is restarted once, shortly after the limit', () => {
  const { said, tell, wait } = installed();
  tell({ type: 'begin', run: 1, kind: 'cell' });
  wait(LIMIT_MS + KILL_AFTER_MS.limit - 250);
  assert.deepEqual(said.restarts, []);
  wait(500);
  assert.deepEqual(said.restarts, ['limit']);
  assert.ok(KILL_AFTER_MS.limit + 250 < 2250);
  wait(LIMIT_MS * 2);
  assert.deepEqual(said.restarts, ['limit']);
});

test('so is a worker that is busy with something that is neither cell nor callback', () => {
  const { said, wait } = installed();
  assert.notEqual(wait(20_000), null);
  wait(LIMIT_MS);
  assert.deepEqual(said.restarts, ['limit']);
});

test('a cell that awaits answers pings and is restarted all the same when it outlives its end', () => {
  const { said, tell, wait } = installed();
  tell({ type: 'begin', run: 1, kind: 'cell' });
  wait(LIMIT_MS + KILL_AFTER_MS.limit + 250, true);
  assert.deepEqual(said.restarts, ['limit']);
});

test('writing the traceback has its own time', () => {
  const { said, tell, wait } = installed();
  tell({ type: 'begin', run: 1, kind: 'cell' });
  wait(LIMIT_MS);
  tell({ type: 'report', run: 1 });
  wait(REPORT_MS);
  assert.deepEqual(said.restarts, []);
  wait(KILL_AFTER_MS.limit + 250);
  assert.deepEqual(said.restarts, ['limit']);
});

test('the time that input() waits for the reader does not count', () => {
  const { said, tell, wait } = installed();
  tell({ type: 'begin', run: 1, kind: 'cell' });
  tell({ type: 'wait', run: 1 });
  assert.equal(wait(10 * LIMIT_MS), null);
  tell({ type: 'begin', run: 1, kind: 'cell' });
  wait(LIMIT_MS);
  assert.deepEqual(said.restarts, []);
});

test('Stop raises the flag, tells a run that waits, and hands out a new flag', () => {
  const { supervisor, said, tell, wait } = installed();
  tell({ type: 'begin', run: 7, kind: 'cell' });
  supervisor.stop();
  assert.equal(said.flags[0].raised, true);
  assert.equal(said.flags[1].raised, false);
  assert.deepEqual(said.posted.slice(-2), [{ type: 'stop', run: 7 }, { type: 'setup', limitMs: LIMIT_MS, stopUrl: 'blob:1' }]);
  tell({ type: 'report', run: 7 });
  tell({ type: 'end', run: 7, kind: 'cell', reason: 'stop' });
  wait(5000, true);
  assert.deepEqual(said.restarts, []);
  assert.deepEqual(said.ended, [['cell', 'stop']]);
});

test('Stop restarts after a second what does not end', () => {
  const { supervisor, said, tell, wait } = installed();
  tell({ type: 'begin', run: 1, kind: 'cell' });
  supervisor.stop();
  wait(750);
  supervisor.stop(); // clicking again does not buy time
  assert.deepEqual(said.restarts, []);
  wait(250);
  assert.deepEqual(said.restarts, ['stop']);
});

test('Stop also ends a request that is not running Python, such as one that waits for a download', async () => {
  const { supervisor, said, wait } = installed();
  supervisor.follow(new Promise(() => {}));
  supervisor.stop();
  wait(1000, true);
  assert.deepEqual(said.restarts, ['stop']);
});

test('Stop does nothing to an idle kernel', () => {
  const { supervisor, said, wait } = installed();
  supervisor.stop();
  wait(5000, true);
  assert.deepEqual(said.restarts, []);
  assert.equal(said.flags[0].raised, false);
});

for (const type of ['broken', 'crashed']) {
  test(`an interpreter that is ${type} is replaced at once`, () => {
    const { said, tell } = installed();
    tell({ type });
    tell({ type: 'broken' });
    assert.deepEqual(said.restarts, [type]);
  });
}

test('after the page itself was held up, the worker is heard before the kernel is restarted', () => {
  const { supervisor, said, tell, wait } = installed();
  tell({ type: 'begin', run: 1, kind: 'cell' });
  wait(LIMIT_MS);
  const { now } = supervisor.surroundings;
  supervisor.surroundings.now = () => now() + 5000; // no tick for five seconds
  supervisor.tick();
  tell({ type: 'end', run: 1, kind: 'cell', reason: 'limit' });
  wait(1000);
  assert.deepEqual(said.restarts, []);
  tell({ type: 'begin', run: 2, kind: 'cell' });
  supervisor.surroundings.now = () => now() + 5000 + LIMIT_MS + 5000;
  supervisor.tick();
  assert.deepEqual(said.restarts, []);
  supervisor.tick(); // and nothing was heard
  assert.deepEqual(said.restarts, ['limit']);
});
