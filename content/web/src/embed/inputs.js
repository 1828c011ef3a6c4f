// An embedder's inputs, put where they belong: into code, or as the choice of an exercise's variant. Pure; no DOM.

import { variantFor } from '../page/seed.js';

/** @typedef {import('./parameters.js').Inputs} Inputs */
/** @typedef {{inputs: Record<string, string|number>, prompt: string}} Variant */

/** A Python literal. @param {string|number} value */
export function literal(value) {
  if (typeof value === 'string') return JSON.stringify(value);
  return Number.isInteger(value) ? BigInt(value).toString().replace(/\B(?=(\d{3})+$)/g, '_') : String(value);
}

const COUNT_UNITS = /** @type {[string, number][]} */ ([['T', 1e12], ['B', 1e9], ['M', 1e6]]);

/** An input for people to read: 7B rather than 7000000000. @param {string} name @param {string|number} value */
export function shown(name, value) {
  const unit = name === 'P' && COUNT_UNITS.find(([, size]) => Number(value) >= size);
  return unit ? `${Number(value) / unit[1]}${unit[0]}` : String(value);
}

/**
 * `code` with the literals at `spans` replaced.
 * @param {string} code @param {Record<string, number[][]>} spans  input → [start, end] of each place @param {Inputs} inputs
 */
export function withInputs(code, spans, inputs) {
  const places = Object.entries(inputs).flatMap(([name, value]) => (spans[name] ?? []).map(([start, end]) => ({ start, end, value })));
  places.sort((one, other) => other.start - one.start);
  return places.reduce((text, { start, end, value }) => text.slice(0, start) + literal(value) + text.slice(end), code);
}

/** Lines that give the inputs their values, before code of the embedder's own. @param {Inputs} inputs */
export function assignments(inputs) {
  return Object.entries(inputs).map(([name, value]) => `${name} = ${literal(value)}\n`).join('');
}

/**
 * Which variant of an exercise is asked: that with the inputs, else the one that the seed draws, else none (null).
 * Several may fit when not every input is given: the seed, or the first.
 * @param {string} id @param {Variant[]} variants @param {Inputs} inputs @param {string} seed @returns {number|null}
 */
export function chooseVariant(id, variants, inputs, seed) {
  const wanted = Object.entries(inputs);
  if (!variants.length || (!wanted.length && !seed)) return null;
  const fitting = variants.map((_, at) => at).filter((at) => wanted.every(([name, value]) => variants[at].inputs[name] === value));
  if (!fitting.length) return null;
  return fitting[seed ? variantFor(seed, id, fitting.length) : 0];
}
