// Which interpreter a run gets.
import assert from 'node:assert/strict';
import { test } from 'node:test';

globalThis.Worker = class {
  postMessage() {}
  addEventListener() {}
  terminate() {
    this.ended = true;
  }
};
globalThis.MessageChannel = class {
  port1 = { close() {} };
  port2 = {};
};
const { InterpreterPool } = await import('../../content/web/src/runner/interpreter-pool.js');

/** A pool that has its parts. */
function poolWithParts() {
  const pool = new InterpreterPool('blob:', true, () => {});
  pool.boot({ asm: new Blob(), module: null, stdlib: new Blob(), zeroledger: new Blob(), memory: null });
  return pool;
}

test('a run that wants an unused interpreter does not wait for a second one to start', () => {
  const pool = poolWithParts();
  const unused = pool.takeUnused();
  assert.equal(unused, pool.first);
  const current = pool.useCurrent();
  assert.notEqual(current, unused);
  assert.equal(pool.useCurrent(), current);
});

test('an interpreter that ran something is never handed out as unused', () => {
  const pool = poolWithParts();
  const current = pool.useCurrent();
  assert.equal(current, pool.first);
  const unused = pool.takeUnused();
  assert.notEqual(unused, current);
  assert.equal(pool.useCurrent(), current);
});

test('the spare goes first, and takes over', () => {
  const pool = poolWithParts();
  const first = pool.useCurrent();
  pool.makeSpare();
  const { spare } = pool;
  pool.replaceCurrent();
  assert.equal(first.worker.ended, true);
  assert.equal(pool.useCurrent(), spare);
  assert.equal(pool.spare, null);
  pool.makeSpare();
  assert.notEqual(pool.takeUnused(), spare);
  assert.equal(pool.useCurrent(), spare);
});
