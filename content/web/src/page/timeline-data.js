/**
 * A simulated run as the package sends it (zeroledger.simulate.picture.page_data), unpacked for drawing and for looking
 * things up: what is live at a moment, which buffer lies at a height. Pure; no DOM.
 */
import { lastNotAfter } from './last-not-after.js';

/**
 * @typedef {{settings: Record<string, any>, num_params: number, losses: number[], rank: number, categories: string[], names: string[],
 *   fields: string[], events: number[][], static_bytes: number, static_device_bytes: number, host_bytes: number, loop: string[],
 *   out_of_memory: string|null}} PageData
 * @typedef {{index: number, event: string, phase: string, at: string, tensor: string, category: string, lane: string, numel: number,
 *   bytes: number, start: number, end: number, line: number, step: number, microBatch: number, reserved: number}} TimelineEvent  times in ns
 * @typedef {{category: string, tensor: string, bytes: number, made: number}} Buffer  `made`: index of the event that allocated it
 */

const PERSISTENT = new Set(['params', 'grads', 'main_grads', 'master_params', 'exp_avg', 'exp_avg_sq']);
const SNAPSHOT_EVERY = 128;
const OUT_OF_MEMORY = 'out_of_memory';

/** Whether a category stays for the whole run. @param {string} category */
export function isPersistent(category) {
  return PERSISTENT.has(category);
}

export class Timeline {
  /** @param {PageData} data */
  constructor(data) {
    this.data = data;
    this.categories = data.categories;
    /** @type {TimelineEvent[]} */
    this.events = unpack(data);
    /** Events of memory, in order: after each other bytes are live (running out of memory changes nothing). @type {TimelineEvent[]} */
    this.moments = this.events.filter((event) => !event.lane);
    this.stack();
    this.duration = Math.max(...this.steps().map(([, end]) => end), 1);
  }

  /** Live bytes by category after each moment, their sum, and the highest. */
  stack() {
    const live = new Map(this.categories.map((category) => [category, 0]));
    this.live = new Map(this.categories.map((category) => [category, new Float64Array(this.moments.length)]));
    this.total = new Float64Array(this.moments.length);
    this.peak = 0;
    /** @type {Map<string, Buffer>[]} every 128th state of the buffers */
    this.snapshots = [];
    /** @type {Map<string, Buffer>} */
    const buffers = new Map();
    this.moments.forEach((event, at) => {
      if (at % SNAPSHOT_EVERY === 0) this.snapshots.push(new Map(buffers));
      apply(buffers, event);
      if (event.event !== OUT_OF_MEMORY) live.set(event.category, (live.get(event.category) ?? 0) + event.bytes);
      let total = 0;
      for (const [category, bytes] of live) {
        /** @type {Float64Array} */ (this.live?.get(category))[at] = bytes;
        total += bytes;
      }
      /** @type {Float64Array} */ (this.total)[at] = total;
      if (total > /** @type {Float64Array} */ (this.total)[this.peak ?? 0]) this.peak = at;
    });
  }

  /** First and last time of every step, [start, end][]; the layout before the first belongs to it. */
  steps() {
    /** @type {[number, number][]} */
    const found = [];
    for (const event of this.events) {
      const step = Math.max(event.step, 0);
      found[step] ??= [event.start, event.end];
      found[step][1] = Math.max(found[step][1], event.end);
    }
    return found;
  }

  /** Number of the first and last event of a step (the layout belongs to the first), or of all. @param {number|'all'} step @returns {[number, number]} */
  eventsOf(step) {
    if (step === 'all') return [0, this.events.length - 1];
    const own = this.events.filter((event) => Math.max(event.step, 0) === step);
    return [own[0]?.index ?? 0, own.at(-1)?.index ?? 0];
  }

  /** The last moment at or before `time`; 0 if there is none. @param {number} time */
  momentAt(time) {
    return lastNotAfter(this.moments, 'start', time);
  }

  /** The last moment not after event number `index`. @param {number} index */
  momentOfEvent(index) {
    return lastNotAfter(this.moments, 'index', index);
  }

  /** Buffers live after moment `at`, oldest first. @param {number} at @returns {Buffer[]} */
  buffersAt(at) {
    const first = Math.floor(at / SNAPSHOT_EVERY);
    const buffers = new Map(/** @type {Map<string, Buffer>[]} */ (this.snapshots)[first]);
    for (let moment = first * SNAPSHOT_EVERY; moment <= at; moment += 1) apply(buffers, this.moments[moment]);
    return [...buffers.values()];
  }

  /** The buffer drawn `bytes` above the axis after moment `at`, or undefined. @param {number} at @param {number} bytes */
  bufferAt(at, bytes) {
    let below = 0;
    for (const buffer of this.stackedAt(at)) {
      below += buffer.bytes;
      if (bytes < below) return buffer;
    }
    return undefined;
  }

  /** Buffers from the bottom of the picture to its top. @param {number} at */
  stackedAt(at) {
    const order = new Map(this.categories.map((category, index) => [category, index]));
    return this.buffersAt(at).sort((one, other) => (order.get(one.category) ?? 0) - (order.get(other.category) ?? 0) || one.made - other.made);
  }

  /** When `buffer` goes: index into `moments`, or their number if it stays. @param {Buffer} buffer */
  endOf(buffer) {
    const first = this.momentOfEvent(buffer.made);
    for (let at = first + 1; at < this.moments.length; at += 1) {
      const event = this.moments[at];
      if (event.bytes < 0 && event.category === buffer.category && event.tensor === buffer.tensor) return at;
    }
    return this.moments.length;
  }

  /**
   * Where `buffer` lies from moment `first` to before `last`: its lower edge after each, in bytes.
   * @param {Buffer} buffer @param {number} first @param {number} last @returns {number[]}
   */
  lowerEdge(buffer, first, last) {
    const order = this.categories.indexOf(buffer.category);
    const older = new Map(this.buffersAt(first).filter((one) => one.category === buffer.category && one.made < buffer.made).map((one) => [one.tensor, one.bytes]));
    const edge = [];
    let own = [...older.values()].reduce((sum, bytes) => sum + bytes, 0);
    for (let at = first; at < last; at += 1) {
      const event = this.moments[at];
      if (at > first && event.bytes < 0 && event.category === buffer.category && older.has(event.tensor)) {
        own -= older.get(event.tensor) ?? 0;
        older.delete(event.tensor);
      }
      let below = own;
      for (let category = 0; category < order; category += 1) below += this.live?.get(this.categories[category])?.[at] ?? 0;
      edge.push(below);
    }
    return edge;
  }

  /**
   * The highest moment of each instant (a layer in a phase of a micro-batch) of a step or of all, in order.
   * @param {number|'all'} step @returns {number[]} indices into `moments`
   */
  instants(step) {
    /** @type {Map<string, number>} */
    const highest = new Map();
    this.moments.forEach((event, at) => {
      if (event.step < 0 || (step !== 'all' && event.step !== step)) return;
      const name = `${event.step} ${event.phase === 'step' ? '' : event.microBatch} ${event.phase} ${event.at}`;
      const best = highest.get(name);
      if (best === undefined || this.sum(at) > this.sum(best)) highest.set(name, at);
    });
    return [...highest.values()];
  }

  /** Live bytes after moment `at`. @param {number} at */
  sum(at) {
    return /** @type {Float64Array} */ (this.total)[at];
  }
}

/** @param {Map<string, Buffer>} buffers @param {TimelineEvent} event */
function apply(buffers, event) {
  const key = `${event.category} ${event.tensor}`;
  if (event.bytes < 0) buffers.delete(key);
  else if (event.event !== OUT_OF_MEMORY) buffers.set(key, { category: event.category, tensor: event.tensor, bytes: event.bytes, made: event.index });
}

/** @param {PageData} data @returns {TimelineEvent[]} */
function unpack({ events, names }) {
  let reserved = 0;
  return events.map((row, index) => {
    const [event, phase, at, tensor, category, lane] = row.slice(0, 6).map((name) => names[name]);
    const [numel, bytes, start, duration, line, step, microBatch, reservedChange] = row.slice(6);
    reserved += reservedChange;
    return { index, event, phase, at, tensor, category, lane, numel, bytes, start, end: start + duration, line, step, microBatch, reserved };
  });
}
