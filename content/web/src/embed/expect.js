// An instructor's expected result. The reader's code runs in a fresh interpreter, the expectation in another, and this
// page compares the two values: code that spoils its interpreter gains nothing.

import { literal } from './inputs.js';

export const DEFAULT_TOLERANCE = 1e-9;
const EXPECT_LIMIT_MS = 20_000;

/** @typedef {{verdict: 'right'|'wrong'|'failed', value?: any, reason?: string}} Outcome */

/**
 * @param {Pick<import('../runner/client.js').Runner, 'run'>} runner @param {string} code the reader's
 * @param {{expect: string, tolerance?: number, inputs: import('./parameters.js').Inputs}} wanted @returns {Promise<Outcome>}
 */
export async function checkResult(runner, code, { expect, tolerance = DEFAULT_TOLERANCE, inputs }) {
  const theirs = await runner.run(code, { result: 'json', fresh: true });
  if (theirs.status !== 'ok') return { verdict: 'failed', reason: lastLine(theirs.error ?? theirs.status) };
  const ours = await runner.run(expectProgram(expect, inputs), { result: 'json', fresh: true, limitMs: EXPECT_LIMIT_MS });
  if (ours.status !== 'ok') return { verdict: 'failed', reason: `expect: ${lastLine(ours.error ?? ours.status)}` };
  return { verdict: isEqual(theirs.value, ours.value, tolerance) ? 'right' : 'wrong', value: theirs.value };
}

/** @param {string} expect @param {import('./parameters.js').Inputs} inputs */
export function expectProgram(expect, inputs) {
  const given = Object.entries(inputs).map(([name, value]) => `${name} = ${literal(value)}\n`).join('');
  return `from zeroledger import *\n${given}(${expect}\n)`;
}

/** Equal as data; numbers within the relative tolerance. @param {any} given @param {any} wanted @param {number} tolerance @returns {boolean} */
export function isEqual(given, wanted, tolerance) {
  if (typeof given === 'number' && typeof wanted === 'number') return Math.abs(given - wanted) <= tolerance * Math.abs(wanted);
  if (Array.isArray(given) && Array.isArray(wanted)) {
    return given.length === wanted.length && given.every((one, at) => isEqual(one, wanted[at], tolerance));
  }
  if (isObject(given) && isObject(wanted)) {
    const names = Object.keys(wanted);
    return Object.keys(given).length === names.length && names.every((name) => Object.hasOwn(given, name) && isEqual(given[name], wanted[name], tolerance));
  }
  return given === wanted;
}

/** @param {any} value */
function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** @param {string} message */
function lastLine(message) {
  return message.trim().split('\n').at(-1) ?? message;
}
