/**
 * A simulated training step as a picture: data in, SVG text out. Pure, without DOM, so that the build (node) and the page
 * draw the same thing; colours come from the style sheet by class name.
 *
 * Above, live bytes of one rank over time, stacked by category, with the reserved bytes, the static line and the peak;
 * below, what computes, communicates and copies. A path a category and a kind of work, so that 20,000 events draw as
 * quickly as 500: within half a pixel only the highest and the last moment are kept.
 */
import { clipText, textWidth } from './timeline-text.js';
import { escapeHtml, formatBytes } from './format.js';
import { ticks } from './chart.js';

/**
 * @typedef {import('./timeline-data.js').Timeline} Timeline
 * @typedef {{id: string, width: number, from: number, to: number, unit: string, title: string, description: string,
 *   peak: string, static: string, reserved: string, capacity: string, lanes: Record<string, string>, axis?: string}} Layout
 *   times in ns, or what `axis` names; texts are in the reader's language, `peak` … `capacity` name the lines ("": no such line)
 */

export const LANES = ['compute', 'communication', 'host'];
export const WORK = ['forward', 'recompute', 'backward', 'adam', 'all_gather', 'reduce_scatter', 'all_reduce', 'upload', 'offload'];
const FONT = 12.5;
const SMALL = 11.5;
const BOLD = 1.1; // how much wider than textWidth says
const PLOT = { wide: 250, narrow: 210 };
const NARROW_BELOW = 520;
const LANE_HEIGHT = 15;
const LANE_GAP = 21; // room for the lane's name above it
const TOP = 40; // room for the peak's name
const AXIS = 20;

/** Where things lie in the picture of `layout.width`. @param {Timeline} timeline @param {Layout} layout */
export function frameOf(timeline, { width, from, to, unit }) {
  const narrow = width < NARROW_BELOW;
  const highest = highestBytes(timeline);
  const left = Math.ceil(textWidth(formatBytes(highest, unit), SMALL)) + 8;
  const right = width - 8;
  const bottom = TOP + (narrow ? PLOT.narrow : PLOT.wide);
  const lanes = LANES.filter((lane) => timeline.events.some((event) => event.lane === lane));
  const laneTop = (/** @type {number} */ index) => bottom + AXIS + LANE_GAP + index * (LANE_HEIGHT + LANE_GAP);
  return {
    narrow, left, right, bottom, lanes, laneTop, highest, top: TOP,
    height: laneTop(lanes.length - 1) + LANE_HEIGHT + 6,
    x: (/** @type {number} */ time) => left + ((right - left) * (time - from)) / Math.max(to - from, 1),
    y: (/** @type {number} */ bytes) => bottom - ((bottom - TOP) * bytes) / highest,
    timeAt: (/** @type {number} */ x) => from + ((to - from) * (x - left)) / (right - left),
    bytesAt: (/** @type {number} */ y) => ((bottom - y) * highest) / (bottom - TOP),
  };
}

/** @typedef {ReturnType<typeof frameOf>} Frame */

/** The whole picture. @param {Timeline} timeline @param {Layout} layout */
export function timelineSvg(timeline, layout) {
  const frame = frameOf(timeline, layout);
  const { id, width } = layout;
  return [
    `<svg class="zl-chart zl-timeline" viewBox="0 0 ${width} ${frame.height}" width="${width}" height="${frame.height}" role="img" aria-labelledby="${id}-t ${id}-d" font-size="${FONT}">`,
    `<title id="${id}-t">${escapeHtml(layout.title)}</title><desc id="${id}-d">${escapeHtml(layout.description)}</desc>`,
    `<defs><clipPath id="${id}-clip"><rect x="${frame.left}" y="0" width="${frame.right - frame.left}" height="${frame.height}"/></clipPath></defs>`,
    axes(frame, layout),
    `<g clip-path="url(#${id}-clip)">`,
    areas(timeline, frame, layout),
    layout.reserved ? line('zl-reserved', timeline, frame, layout, (at) => timeline.moments[at].reserved) : '',
    work(timeline, frame, layout),
    '</g>',
    layout.static ? level(frame, 'zl-static', timeline.data.static_device_bytes, layout.static, layout.width, 14) : '',
    timeline.data.settings.device_bytes ? level(frame, 'zl-capacity', timeline.data.settings.device_bytes, layout.capacity, layout.width, -5) : '',
    laneNames(frame, layout),
    peakMark(timeline, frame, layout),
    `<g clip-path="url(#${id}-clip)"><path class="zl-highlight" data-part="highlight"/><rect class="zl-veil" data-part="veil" x="${frame.right}" y="${TOP}" width="0" height="${frame.height - TOP}"/></g>`,
    `<line class="zl-cursor" data-part="cursor" x1="${frame.left}" x2="${frame.left}" y1="${TOP - 4}" y2="${frame.height - 4}"/>`,
    '</svg>',
  ].join('');
}

/** The end of the vertical axis in bytes: above the peak, the reserved bytes and the static line. @param {Timeline} timeline */
function highestBytes(timeline) {
  const reserved = timeline.events.reduce((most, event) => Math.max(most, event.reserved), 0);
  return Math.max(timeline.sum(timeline.peak ?? 0), reserved, timeline.data.static_device_bytes, 1) * 1.04;
}

/** The moments to draw: of those within half a pixel, the highest and the last. @param {Timeline} timeline @param {Frame} frame @param {Layout} layout */
function drawnMoments(timeline, frame, { from, to }) {
  const first = timeline.momentAt(from);
  const last = timeline.momentAt(to);
  /** @type {number[]} */
  const kept = [];
  let column = -Infinity;
  let highest = first;
  for (let at = first; at <= last; at += 1) {
    const here = Math.floor(2 * frame.x(timeline.moments[at].start));
    if (here !== column) {
      if (column !== -Infinity) kept.push(...(highest < at - 1 ? [highest, at - 1] : [at - 1]));
      column = here;
      highest = at;
    } else if (timeline.sum(at) > timeline.sum(highest)) highest = at;
  }
  kept.push(...(highest < last ? [highest, last] : [last]));
  return kept;
}

/** One area a category, stacked. @param {Timeline} timeline @param {Frame} frame @param {Layout} layout */
function areas(timeline, frame, layout) {
  const moments = drawnMoments(timeline, frame, layout);
  const lower = new Float64Array(moments.length);
  const paths = timeline.categories.map((category) => {
    const live = /** @type {Float64Array} */ (timeline.live?.get(category));
    const upper = lower.map((below, index) => below + live[moments[index]]);
    const path = band(timeline, moments, lower, upper, frame, layout);
    lower.set(upper);
    return path && `<path class="zl-${category} zl-area" d="${path}"/>`;
  });
  return `<g aria-hidden="true">${paths.join('')}</g>`;
}

/**
 * The band between two step curves as path text; stretches where it is empty are left out.
 * @param {Timeline} timeline @param {number[]} moments @param {Float64Array} lower @param {Float64Array} upper @param {Frame} frame @param {Layout} layout
 */
function band(timeline, moments, lower, upper, frame, layout) {
  const end = (/** @type {number} */ index) => (index + 1 < moments.length ? frame.x(timeline.moments[moments[index + 1]].start) : frame.x(layout.to));
  let path = '';
  for (let index = 0; index < moments.length; index += 1) {
    if (upper[index] === lower[index]) continue;
    let last = index;
    while (last + 1 < moments.length && upper[last + 1] > lower[last + 1]) last += 1;
    path += ring(frame, index, last, (at) => Math.max(frame.x(timeline.moments[moments[at]].start), frame.left), end, lower, upper);
    index = last;
  }
  return path;
}

/**
 * @param {Frame} frame @param {number} first @param {number} last @param {(index: number) => number} start @param {(index: number) => number} end
 * @param {ArrayLike<number>} lower @param {ArrayLike<number>} upper
 */
function ring(frame, first, last, start, end, lower, upper) {
  let path = `M${round(start(first))} ${round(frame.y(upper[first]))}`;
  for (let at = first + 1; at <= last; at += 1) if (upper[at] !== upper[at - 1]) path += `H${round(start(at))}V${round(frame.y(upper[at]))}`;
  path += `H${round(end(last))}V${round(frame.y(lower[last]))}`;
  for (let at = last; at > first; at -= 1) if (lower[at] !== lower[at - 1]) path += `H${round(start(at))}V${round(frame.y(lower[at - 1]))}`;
  return `${path}H${round(start(first))}Z`;
}

/** @param {string} name @param {Timeline} timeline @param {Frame} frame @param {Layout} layout @param {(at: number) => number} value */
function line(name, timeline, frame, layout, value) {
  let path = '';
  let previous = NaN;
  for (const at of drawnMoments(timeline, frame, layout)) {
    if (value(at) === previous) continue;
    const x = round(Math.max(frame.x(timeline.moments[at].start), frame.left));
    path += path ? `H${x}V${round(frame.y(value(at)))}` : `M${x} ${round(frame.y(value(at)))}`;
    previous = value(at);
  }
  return `<path class="${name}" aria-hidden="true" d="${path}H${round(frame.right)}"/>`;
}

/** Bars of work in their lanes, one path a kind; bars closer than a third of a pixel become one. @param {Timeline} timeline @param {Frame} frame @param {Layout} layout */
function work(timeline, frame, { from, to }) {
  /** @type {Map<string, {path: string, start: number, end: number, top: number}>} */
  const kinds = new Map();
  for (const event of timeline.events) {
    if (!event.lane || event.end < from || event.start >= to) continue;
    const kind = kinds.get(event.event) ?? { path: '', start: NaN, end: NaN, top: frame.laneTop(frame.lanes.indexOf(event.lane)) };
    const [start, end] = [frame.x(event.start), frame.x(event.end)];
    if (start - kind.end < 0.33) kind.end = Math.max(end, kind.end);
    else {
      kind.path += bar(kind);
      [kind.start, kind.end] = [start, end];
    }
    kinds.set(event.event, kind);
  }
  const paths = WORK.filter((name) => kinds.has(name)).map((name) => {
    const kind = /** @type {{path: string, start: number, end: number, top: number}} */ (kinds.get(name));
    return `<path class="zl-work zl-work-${name}" d="${kind.path}${bar(kind)}"/>`;
  });
  return `<g aria-hidden="true">${paths.join('')}</g>`;
}

/** @param {{start: number, end: number, top: number}} kind */
function bar({ start, end, top }) {
  if (Number.isNaN(start)) return '';
  return `M${round(start)} ${top}H${round(Math.max(end - 0.4, start + 0.4))}V${top + LANE_HEIGHT}H${round(start)}Z`;
}

/** @param {Frame} frame @param {Layout} layout */
function axes(frame, { unit, from, to, axis }) {
  const size = bytesPer(unit);
  const levels = ticks(frame.highest / size, 4).map((value) => {
    const y = round(frame.y(value * size));
    return `<line class="zl-grid" x1="${frame.left}" x2="${frame.right}" y1="${y}" y2="${y}"/><text class="zl-muted" text-anchor="end" font-size="${SMALL}" x="${frame.left - 5}" y="${y + 4}">${escapeHtml(value === 0 ? '0' : formatBytes(value * size, unit))}</text>`;
  });
  const [scale, name] = axis ? [1, axis] : to - from >= 2e6 ? [1e6, 'ms'] : [1e3, 'µs'];
  const times = ticks((to - from) / scale, frame.narrow ? 3 : 6).map((value) => {
    const x = round(frame.x(from + value * scale));
    const number = Number((from / scale + value).toPrecision(4));
    const label = value !== 0 ? `${number}` : axis ? `${name} ${number}` : `${number} ${name}`;
    const anchor = value === 0 ? 'start' : x > frame.right - 20 ? 'end' : 'middle';
    return `<text class="zl-muted" text-anchor="${anchor}" font-size="${SMALL}" x="${x}" y="${frame.bottom + 15}">${label}</text>`;
  });
  return `<g aria-hidden="true">${levels.join('')}${times.join('')}</g>`;
}

/** @param {string} unit */
function bytesPer(unit) {
  return unit === 'GB' ? 1e9 : unit === 'MB' ? 1e6 : unit === 'MiB' ? 2 ** 20 : 1e3;
}

/** @param {Frame} frame @param {string} name @param {number} bytes @param {string} label @param {number} width @param {number} drop */
function level(frame, name, bytes, label, width, drop) {
  if (bytes > frame.highest) return '';
  const y = round(frame.y(bytes));
  const text = clipText(label, frame.right - frame.left - 8, SMALL);
  return `<g aria-hidden="true"><line class="${name}-under" x1="${frame.left}" x2="${frame.right}" y1="${y}" y2="${y}"/><line class="${name}" x1="${frame.left}" x2="${frame.right}" y1="${y}" y2="${y}"/><text class="zl-halo zl-text" font-size="${SMALL}" x="${frame.left + 4}" y="${round(Math.min(y + drop, frame.bottom - 4))}">${escapeHtml(text)}</text></g>`;
}

/** @param {Frame} frame @param {Layout} layout */
function laneNames(frame, { lanes }) {
  const names = frame.lanes.map((lane, index) => `<text class="zl-muted" font-size="${SMALL}" x="${frame.left}" y="${frame.laneTop(index) - 5}">${escapeHtml(lanes[lane])}</text>`);
  return `<g aria-hidden="true">${names.join('')}</g>`;
}

/** The peak's line, dot and name; nothing where it lies outside the times shown. @param {Timeline} timeline @param {Frame} frame @param {Layout} layout */
function peakMark(timeline, frame, { from, to, peak, width }) {
  const at = timeline.peak ?? 0;
  const time = timeline.moments[at]?.start ?? 0;
  if (!timeline.moments.length || time < from || time > to) return '';
  const x = round(frame.x(time));
  const y = round(frame.y(timeline.sum(at)));
  const label = clipText(peak, (width - 12) / BOLD, FONT);
  const half = (textWidth(label, FONT) * BOLD) / 2;
  const center = round(Math.min(Math.max(x, half + 4), width - half - 4));
  return `<g aria-hidden="true"><line class="zl-peak" x1="${x}" x2="${x}" y1="22" y2="${y}"/><circle class="zl-peak-dot" cx="${x}" cy="${y}" r="4.5"/><text class="zl-text zl-strong" text-anchor="middle" x="${center}" y="16">${escapeHtml(label)}</text></g>`;
}

/**
 * The outline of one buffer over its life, as path text. @param {Timeline} timeline @param {import('./timeline-data.js').Buffer} buffer
 * @param {Frame} frame @param {Layout} layout
 */
export function outline(timeline, buffer, frame, layout) {
  const first = timeline.momentOfEvent(buffer.made);
  const last = timeline.endOf(buffer);
  const edge = timeline.lowerEdge(buffer, first, last);
  const upper = edge.map((bytes) => bytes + buffer.bytes);
  const start = (/** @type {number} */ index) => frame.x(timeline.moments[first + index].start);
  const end = (/** @type {number} */ index) => (first + index + 1 < timeline.moments.length ? frame.x(timeline.moments[first + index + 1].start) : frame.x(layout.to));
  return ring(frame, 0, edge.length - 1, start, end, edge, upper);
}

/** @param {number} value */
function round(value) {
  return Math.round(value * 10) / 10;
}
