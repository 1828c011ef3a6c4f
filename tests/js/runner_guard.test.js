// The soft guard's clock and the bounds on output, without a browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GuardClock, InterpreterBroken } from '../../content/web/src/runner/guard.js';
import { OutputBatcher, OutputBudget } from '../../content/web/src/runner/output.js';
import { BREAK_AFTER_MS, KILL_AFTER_MS, SIGNALS } from '../../content/web/src/runner/protocol.js';

function fakeClock() {
  const time = { ms: 1000 };
  const clock = new GuardClock({ now: () => time.ms, dateNow: () => Math.floor(time.ms) + 5_000_000 });
  return { time, clock };
}

/** Poll each millisecond until `untilMs`; return [ms since start, signal] of each signal, 'broken' if that came. */
function poll({ time, clock }, untilMs) {
  const signals = [];
  const start = time.ms;
  while (time.ms < start + untilMs) {
    try {
      const signal = clock.poll();
      if (signal !== 0) signals.push([time.ms - start, signal]);
    } catch (error) {
      assert.ok(error instanceof InterpreterBroken);
      return [...signals, [time.ms - start, 'broken']];
    }
    time.ms += 1;
  }
  return signals;
}

test('quiet before the limit, then a signal each 100 ms, then it breaks the interpreter', () => {
  const fake = fakeClock();
  fake.clock.start(500, () => false);
  const signals = poll(fake, 5000);
  assert.equal(signals[0][0], 500);
  assert.deepEqual([...new Set(signals.slice(0, -1).map(([, value]) => value))], [SIGNALS.limit]);
  assert.equal(signals[1][0] - signals[0][0], 100);
  assert.deepEqual(signals.at(-1), [500 + BREAK_AFTER_MS.limit, 'broken']);
  assert.ok(fake.clock.broken);
});

test('a loop in C that takes no signal is broken at the same moment, and by Stop', () => {
  for (const [limitMs, stopAtMs, brokenAtMs] of [[500, Infinity, 500 + BREAK_AFTER_MS.limit], [60_000, 2000, 2000 + BREAK_AFTER_MS.stop]]) {
    const { time, clock } = fakeClock();
    const start = time.ms;
    clock.start(limitMs, () => time.ms - start >= stopAtMs);
    assert.throws(() => {
      for (; time.ms - start < 10_000; time.ms += 1) clock.breakIfDue();
    }, InterpreterBroken);
    assert.equal(time.ms - start, brokenAtMs);
    assert.ok(clock.broken);
  }
});

test('Stop is seen within a fifth of a second, and its signal is SIGINT', () => {
  const fake = fakeClock();
  fake.clock.start(60_000, () => fake.time.ms >= 3000);
  const [[at, value]] = poll(fake, 10_000);
  assert.ok(at >= 2000 && at <= 2200, `${at}`);
  assert.equal(value, SIGNALS.stop);
});

test('the first reason counts', () => {
  const fake = fakeClock();
  fake.clock.start(500, () => false);
  fake.clock.end('output');
  assert.equal(poll(fake, 700)[0][1], SIGNALS.output);
  assert.equal(fake.clock.reason, 'output');
});

test('no signals when no run is on', () => {
  const fake = fakeClock();
  assert.deepEqual(poll(fake, 1000), []);
  fake.clock.start(100, () => true);
  fake.clock.clear();
  assert.deepEqual(poll(fake, 1000), []);
  fake.clock.end('output');
  assert.deepEqual(poll(fake, 1000), []);
});

test('the supervisor waits until the interpreter could have been broken, and no longer than promised', () => {
  assert.ok(KILL_AFTER_MS.limit > BREAK_AFTER_MS.limit && KILL_AFTER_MS.limit < 2000);
  assert.ok(KILL_AFTER_MS.stop > BREAK_AFTER_MS.stop && KILL_AFTER_MS.stop < 1000);
});

const bytes = (text) => new TextEncoder().encode(text);

test('output ends at the byte limit', () => {
  const budget = new OutputBudget(10, 100);
  assert.equal(budget.take(bytes('123456')).length, 6);
  assert.equal(budget.exceeded, false);
  assert.equal(budget.take(bytes('789abc')).length, 4);
  assert.equal(budget.exceeded, true);
  assert.equal(budget.take(bytes('x')).length, 0);
});

test('output ends with the last whole line at the line limit', () => {
  const budget = new OutputBudget(1000, 2);
  assert.equal(budget.take(bytes('a\nb\nc\n')).length, 4);
  assert.equal(budget.exceeded, true);
  assert.equal(budget.take(bytes('d')).length, 0);
});

test('exactly as much as fits is not too much', () => {
  const budget = new OutputBudget(4, 2);
  budget.take(bytes('a\nb\n'));
  assert.equal(budget.exceeded, false);
});

test('streams stay apart and in order, and characters whole', () => {
  const sent = [];
  const batcher = new OutputBatcher((pieces) => sent.push(...pieces), () => 0);
  const [first, ...rest] = bytes('显');
  batcher.write('out', new Uint8Array([first]));
  batcher.write('out', new Uint8Array(rest));
  batcher.write('err', bytes('oops'));
  batcher.write('out', bytes('存\n'));
  batcher.flush();
  assert.deepEqual(sent, [['out', '显'], ['err', 'oops'], ['out', '存\n']]);
});

test('a lot of output is sent in few pieces', () => {
  const sent = [];
  const batcher = new OutputBatcher((pieces) => sent.push(pieces), () => 0);
  for (let i = 0; i < 10_000; i += 1) batcher.write('out', bytes('line\n'));
  batcher.flush();
  assert.ok(sent.length < 70, `${sent.length}`);
  assert.equal(sent.flat().map(([, text]) => text).join('').length, 50_000);
});
