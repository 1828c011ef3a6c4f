// What the address of /cell/ asks for, checked. Pure; no DOM.

import { NotAQuantity, parseBytes, parseCount } from '../cell/quantity.js';
import { shown } from './inputs.js';

export const INPUTS = ['P', 'N', 'stage', 'model', 'card'];
const LARGEST_P = 1e15;
const LARGEST_N = 1_000_000;
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,59}$/;
const ID = /^[a-z0-9]+(-[a-z0-9]+)*(\/[a-z0-9]+(-[a-z0-9]+)*)?$/;

/**
 * `accepted` is a list of values, or the key of a string that describes them.
 * @typedef {{field: string, value: string, accepted: string[]|string}} Problem
 * @typedef {{P?: number, N?: number, stage?: number, model?: string, card?: string}} Inputs
 * @typedef {{id: string, lang: 'en'|'zh-CN', theme: 'auto'|'light'|'dark', seed: string, autorun: boolean, state: string,
 *   name: string, report: string, inputs: Inputs}} Parameters
 * @typedef {{id: string, kind: string, inputs: Record<string, (string|number)[]|null>, lesson: string, title: Record<string, string>}} Listed
 */

/** @type {Record<string, (written: string) => string|number>} Each throws where it cannot read what is written. */
const READ_INPUT = {
  P: (written) => inRange(Number(parseCount(written)), 1, LARGEST_P),
  N: (written) => inRange(wholeNumber(written), 1, LARGEST_N),
  stage: (written) => inRange(wholeNumber(written), 0, 3),
  model: (written) => matching(written, NAME),
  card: (written) => (parseBytes(written), written.trim()),
};

/**
 * @param {string} search of the address, with or without "?"
 * @returns {{values: Parameters, problems: Problem[]}}
 */
export function readParameters(search) {
  const given = new URLSearchParams(search);
  /** @type {Problem[]} */
  const problems = [];
  const oneOf = (/** @type {string} */ field, /** @type {string[]} */ accepted) => {
    const value = given.get(field) ?? '';
    if (value && !accepted.includes(value)) problems.push({ field, value, accepted });
    return value && accepted.includes(value) ? value : accepted[0];
  };
  const text = (/** @type {string} */ field, /** @type {string} */ accepted, /** @type {(value: string) => boolean} */ isGood) => {
    const value = given.get(field) ?? '';
    if (value && !isGood(value)) problems.push({ field, value, accepted });
    return value && isGood(value) ? value : '';
  };
  const id = given.get('id') ?? '';
  if (!ID.test(id)) problems.push({ field: 'id', value: id, accepted: 'embed.accepted.id' });
  const lang = oneOf('lang', ['en', 'zh', 'zh-CN']);
  /** @type {any} */
  const inputs = {};
  for (const field of INPUTS) {
    const written = given.get(field);
    if (written === null) continue;
    try {
      inputs[field] = READ_INPUT[field](written);
    } catch (error) {
      if (!(error instanceof NotAQuantity || error instanceof RangeError)) throw error;
      problems.push({ field, value: written, accepted: `embed.accepted.${field}` });
    }
  }
  const known = ['id', 'lang', 'theme', 'seed', 'autorun', 'state', 'name', 'report', ...INPUTS];
  for (const field of given.keys()) {
    const meant = known.find((one) => one.toLowerCase() === field.toLowerCase());
    if (meant && meant !== field) problems.push({ field, value: given.get(field) ?? '', accepted: [meant] });
  }
  return {
    values: {
      id,
      lang: lang === 'en' ? 'en' : 'zh-CN',
      theme: /** @type {any} */ (oneOf('theme', ['auto', 'light', 'dark'])),
      seed: text('seed', 'embed.accepted.seed', (value) => value.length <= 40).trim(),
      autorun: oneOf('autorun', ['0', '1']) === '1',
      state: text('state', 'embed.accepted.name', (value) => NAME.test(value)),
      name: text('name', 'embed.accepted.name', (value) => NAME.test(value)),
      report: text('report', 'embed.accepted.report', isOrigin),
      inputs,
    },
    problems,
  };
}

/**
 * What of `inputs` the item does not take.
 * @param {Pick<Listed, 'inputs'>} item @param {Inputs} inputs @returns {Problem[]}
 */
export function unfitting(item, inputs) {
  /** @type {Problem[]} */
  const problems = [];
  for (const [field, value] of Object.entries(inputs)) {
    const accepted = item.inputs[field];
    if (accepted === undefined) {
      const names = Object.keys(item.inputs);
      problems.push({ field, value: shown(field, value), accepted: names.length ? names : 'embed.accepted.no_input' });
    } else if (accepted && !accepted.includes(value)) {
      problems.push({ field, value: shown(field, value), accepted: accepted.map((one) => shown(field, one)) });
    }
  }
  return problems;
}

/** @param {string} written */
function wholeNumber(written) {
  if (!/^\d{1,9}$/.test(written)) throw new RangeError(written);
  return Number(written);
}

/** @param {number} value @param {number} least @param {number} most */
function inRange(value, least, most) {
  if (!(value >= least && value <= most)) throw new RangeError(String(value));
  return value;
}

/** @param {string} written @param {RegExp} pattern */
function matching(written, pattern) {
  if (!pattern.test(written)) throw new RangeError(written);
  return written;
}

/** @param {string} value @returns {boolean} whether it is exactly an http(s) origin */
export function isOrigin(value) {
  try {
    const { origin, protocol } = new URL(value);
    return origin === value && /^https?:$/.test(protocol);
  } catch {
    return false;
  }
}
