/**
 * Curves as the package sends them (zeroledger.snapshot_report): stacked bytes at numbered moments, drawn by the same
 * code as a simulated step. Pure; no DOM.
 */
import { lastNotAfter } from './last-not-after.js';
import { timelineSvg } from './timeline.js';

/**
 * @typedef {{at?: number[], names?: string[], live: Record<string, number[]>, reserved?: number[]|null}} CurveData
 * @typedef {{id: string, width: number, unit: string, title: string, description: string, peak: string, level: number|null,
 *   levelText: string, reserved: string, axis: string}} CurveLayout  `level`: bytes of a dashed line across
 */

/** Kind or category → the palette's colour, one each within a picture. @type {Record<string, string>} */
export const COLOURS = {
  params: 'params', grads: 'grads', optimizer: 'exp_avg', buffers: 'gathered_params', activations: 'activations', temporary: 'activation_grads',
  before: 'staging', step: 'exp_avg_sq', other: 'main_grads', no_stack: 'unreduced_grads', forward: 'activations', backward: 'activation_grads',
};

/** What timelineSvg asks of a timeline, for lists instead of events. */
export class Curve {
  /** @param {CurveData} data @param {number|null} level */
  constructor({ at, live, reserved }, level) {
    const lists = Object.values(live);
    const numbers = at ?? (lists[0] ?? []).map((_, index) => index);
    this.kinds = Object.keys(live);
    this.categories = this.kinds.map((kind) => COLOURS[kind]);
    this.live = new Map(this.kinds.map((kind) => [COLOURS[kind], Float64Array.from(live[kind])]));
    this.total = Float64Array.from(numbers, (_, index) => lists.reduce((sum, list) => sum + list[index], 0));
    this.moments = numbers.map((start, index) => ({ start, index, reserved: reserved?.[index] ?? 0 }));
    this.events = this.moments;
    this.peak = this.total.reduce((best, bytes, index) => (bytes > this.total[best] ? index : best), 0);
    this.data = { static_device_bytes: level ?? 0, settings: {} };
  }

  /** The last drawn moment not after number `time`. @param {number} time */
  momentAt(time) {
    return lastNotAfter(this.moments, 'start', time);
  }

  /** Bytes in all at drawn moment `at`. @param {number} at */
  sum(at) {
    return this.total[at];
  }
}

/** The picture as SVG text. @param {Curve} curve @param {CurveLayout} layout */
export function curveSvg(curve, { level, levelText, ...layout }) {
  const last = curve.moments.at(-1)?.start ?? 0;
  return timelineSvg(/** @type {any} */ (curve), { ...layout, from: 0, to: last + 1, static: level === null ? '' : levelText, capacity: '', lanes: {} });
}

/** The unit in which `bytes` reads well: MB below 1 GB. @param {number} bytes */
export function unitFor(bytes) {
  return bytes < 1e9 ? 'MB' : 'GB';
}
