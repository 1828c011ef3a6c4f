/**
 * The ledger as a picture: data in, SVG text out. Pure, without DOM, so that the build (node) and the page
 * draw the same thing. Colours come from the style sheet by class name, hence light and dark for free.
 *
 * One horizontal stacked bar per ZeRO stage; dashed lines are cards; the axis is in GB with GiB below it.
 */
import { BYTES_PER_UNIT, escapeHtml, formatBytes, groupDigits } from './format.js';

/**
 * @typedef {{label: string, parts: number[], total: number, selected: boolean}} Bar  bytes per category, and their sum
 * @typedef {{id: string, label: string}} Category
 * @typedef {{name: string, memory_bytes: number}} Card
 * @typedef {{title: string, description: string, unit: string, bars: Bar[], categories: Category[], cards: Card[],
 *   cardLabel: string, domainBytes?: number}} ChartData  domainBytes: end of the axis, if not the widest bar
 */

const WIDE = { labelWidth: 74, valueWidth: 158, barHeight: 30, rowGap: 14, font: 13.5, small: 12 };
const NARROW = { labelWidth: 0, valueWidth: 0, barHeight: 24, rowGap: 32, font: 13.5, small: 12 };
const NARROW_BELOW = 520; // px: labels move above their bars
const LEGEND_LINE = 22;
const TICK_LINE = 17;
const CARD_LINE = 22;
const PAD = 1;

/**
 * The chart as one <svg> element. `width` is that of its viewBox; draw it at about that many CSS pixels.
 * @param {ChartData} data @param {{width: number, id: string}} layout  `id` makes the title's and description's ids
 */
export function chartSvg(data, { width, id }) {
  const style = width < NARROW_BELOW ? NARROW : WIDE;
  const narrow = style === NARROW;
  const left = style.labelWidth + PAD;
  const right = width - style.valueWidth - PAD;
  const endBytes = data.domainBytes ?? axisEnd(data.bars, data.cards);
  const x = (/** @type {number} */ bytes) => left + ((right - left) * Math.min(bytes, endBytes)) / endBytes;

  const legend = legendRows(data, style, width);
  const plotTop = legend.height + CARD_LINE + (narrow ? 26 : 8);
  const rowHeight = style.barHeight + style.rowGap;
  const plotBottom = plotTop + data.bars.length * rowHeight - style.rowGap + 6;
  const height = Math.ceil(plotBottom + 2 * TICK_LINE + 8);
  const otherUnit = data.unit === 'GB' ? 'GiB' : 'GB';
  const spans = data.bars.map((_, row) => /** @type {[number, number]} */ ([plotTop + row * rowHeight - 3, plotTop + row * rowHeight + style.barHeight + 3]));

  return [
    `<svg class="zl-chart" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="${id}-t ${id}-d" font-size="${style.font}">`,
    `<title id="${id}-t">${escapeHtml(data.title)}</title><desc id="${id}-d">${escapeHtml(data.description)}</desc>`,
    legend.svg,
    axis(data.unit, endBytes, x, plotBottom, style, { gridFrom: plotTop - 8, right }),
    axis(otherUnit, endBytes, x, plotBottom + TICK_LINE, style, { right }),
    ...data.bars.map((bar, row) => barSvg(bar, plotTop + row * rowHeight, { data, style, narrow, x, endBytes, width, right })),
    cardLines(data, endBytes, x, { top: legend.height + CARD_LINE - 4, bottom: plotBottom, spans, style, width }),
    '</svg>',
  ].join('');
}

/** End of the axis in bytes: the widest bar, or the next card above it, whichever is more. @param {Bar[]} bars @param {Card[]} cards */
export function axisEnd(bars, cards) {
  const widest = Math.max(...bars.map((bar) => bar.total));
  const next = cards.map((card) => card.memory_bytes).filter((bytes) => bytes > widest);
  return Math.max(widest, next.length ? Math.min(...next) : 0) * 1.03;
}

/** About `count` round tick values from 0 to `end`. @param {number} end @param {number} count */
export function ticks(end, count) {
  const rough = end / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough) ?? 10 * power;
  const values = [];
  for (let index = 0; index * step <= end; index += 1) values.push(Number((index * step).toPrecision(12)));
  return values;
}

/**
 * Card sizes by where their lines fall: "16", "24", "40", "80 GB". The unit stands once, at the last of a run of
 * neighbours; lines too close for their numbers share one label, "16–40 GB".
 * @param {{x: number, name: string}[]} lines  in ascending order @param {(text: string) => number} widthOf
 */
export function cardLabels(lines, widthOf) {
  const gap = 6;
  /** @type {{x: number, end: number, first: string, last: string}[]} */
  const groups = [];
  for (const { x, name } of lines) {
    const previous = groups.at(-1);
    if (previous && x - widthOf(name) / 2 < previous.end + gap) previous.last = name;
    else groups.push({ x, end: 0, first: name, last: name });
    const current = /** @type {{x: number, end: number, first: string, last: string}} */ (groups.at(-1));
    current.end = current.x + widthOf(rangeText(current)) / 2;
  }
  return groups.map((group) => ({ x: group.x, text: rangeText(group) }));
}

/** @param {{first: string, last: string}} range */
function rangeText({ first, last }) {
  return first === last ? first : `${first.replace(/\s*\D+$/, '')}–${last}`;
}

/** Rough width of `text` in px: a CJK character is as wide as the font, a Latin one about 0.56 of it. @param {string} text @param {number} font */
function textWidth(text, font) {
  let width = 0;
  for (const character of text) width += /[⺀-鿿＀-￯　-〿]/.test(character) ? font : font * 0.56;
  return width;
}

/** Swatches in as many lines as the width asks for. @param {ChartData} data @param {typeof WIDE} style @param {number} width */
function legendRows({ categories, cardLabel }, style, width) {
  let x = 0;
  let y = 0;
  const swatches = categories.map(({ id, label }) => ({ label, mark: (/** @type {number} */ left, /** @type {number} */ top) =>
    `<rect class="zl-${id}" x="${left}" y="${top}" width="13" height="13" rx="2.5"/>` }));
  const dashes = { label: cardLabel, mark: (/** @type {number} */ left, /** @type {number} */ top) =>
    `<line class="zl-card" x1="${left + 6}" x2="${left + 6}" y1="${top - 1}" y2="${top + 14}"/>` };
  const items = [...swatches, dashes].map(({ label, mark }) => {
    const itemWidth = 20 + textWidth(label, style.font) + 16;
    if (x > 0 && x + itemWidth - 16 > width) {
      x = 0;
      y += LEGEND_LINE;
    }
    const item = `${mark(round(x + 0.5), y + 4)}<text class="zl-text" x="${round(x + 20)}" y="${y + 15}">${escapeHtml(label)}</text>`;
    x += itemWidth;
    return item;
  });
  return { svg: `<g aria-hidden="true">${items.join('')}</g>`, height: y + LEGEND_LINE };
}

/**
 * @param {string} unit @param {number} endBytes @param {(bytes: number) => number} x @param {number} y
 * @param {typeof WIDE} style @param {{gridFrom?: number, right: number}} options
 */
function axis(unit, endBytes, x, y, style, { gridFrom, right }) {
  const size = BYTES_PER_UNIT[unit];
  const count = right - x(0) < 400 ? 4 : 6;
  const parts = ticks(endBytes / size, count).map((value, index, all) => {
    const at = round(x(value * size));
    const text = groupDigits(value) + (index === all.length - 1 ? ` ${unit}` : '');
    const clamp = Math.min(at, right - textWidth(text, style.small) / 2 + (right < 360 ? 0 : 60));
    const anchor = index === 0 ? 'start' : 'middle';
    const line = gridFrom === undefined ? '' : `<line class="zl-grid" x1="${at}" x2="${at}" y1="${gridFrom}" y2="${y}"/>`;
    return `${line}<text class="zl-muted" text-anchor="${anchor}" font-size="${style.small}" x="${round(clamp)}" y="${round(y + 14)}">${text}</text>`;
  });
  return `<g aria-hidden="true">${parts.join('')}</g>`;
}

/**
 * @param {Bar} bar @param {number} y
 * @param {{data: ChartData, style: typeof WIDE, narrow: boolean, x: (bytes: number) => number, endBytes: number, width: number, right: number}} plot
 */
function barSvg(bar, y, { data, style, narrow, x, endBytes, width, right }) {
  const otherUnit = data.unit === 'GB' ? 'GiB' : 'GB';
  let before = 0;
  const segments = bar.parts.map((bytes, index) => {
    const from = x(before);
    before += bytes;
    const to = x(before);
    if (to <= from) return '';
    const gap = to - from > 3 ? 1 : 0; // neighbours are told apart by a gap where there is room for one
    return `<rect class="zl-${data.categories[index].id}" x="${round(from)}" y="${round(y)}" width="${round(to - from - gap)}" height="${style.barHeight}"/>`;
  });
  const cut = bar.total > endBytes
    ? `<path class="zl-cut" d="M${round(right - 9)} ${y - 2}l6 ${style.barHeight / 4 + 1}l-6 ${style.barHeight / 4 + 1}l6 ${style.barHeight / 4 + 1}l-6 ${style.barHeight / 4 + 1}"/>`
    : '';
  const main = formatBytes(bar.total, data.unit);
  const other = formatBytes(bar.total, otherUnit);
  const weight = bar.selected ? ' class="zl-text zl-strong"' : ' class="zl-text"';
  const middle = round(y + style.barHeight / 2 + style.font * 0.35);
  const band = bar.selected
    ? narrow
      ? `<rect class="zl-band" x="0" y="${round(y - 21)}" width="${width}" height="${style.barHeight + 27}" rx="5"/>`
      : `<rect class="zl-band" x="0" y="${round(y - 5)}" width="${width}" height="${style.barHeight + 10}" rx="5"/>`
    : '';
  const labels = narrow
    ? `<text${weight} x="4" y="${round(y - 7)}">${escapeHtml(bar.label)}</text><text${weight} text-anchor="end" x="${width - 4}" y="${round(y - 7)}">${main} <tspan class="zl-muted">= ${other}</tspan></text>`
    : `<text${weight} x="8" y="${middle}">${escapeHtml(bar.label)}</text><text${weight} x="${right + 10}" y="${middle}">${main}<tspan class="zl-muted" font-size="${style.small}" dx="6">${other}</tspan></text>`;
  return `<g aria-hidden="true">${band}${segments.join('')}${cut}${labels}</g>`;
}

/**
 * Dashed lines at the cards' memory. On narrow charts they stop at each bar, so as not to cross its label.
 * @param {ChartData} data @param {number} endBytes @param {(bytes: number) => number} x
 * @param {{top: number, bottom: number, spans: [number, number][], style: typeof WIDE, width: number}} frame
 */
function cardLines(data, endBytes, x, { top, bottom, spans, style, width }) {
  const lines = data.cards.filter((card) => card.memory_bytes <= endBytes).map((card) => ({ x: x(card.memory_bytes), name: card.name }));
  const stretches = style === NARROW ? [[top, top + 5], ...spans] : [[top, bottom]];
  const marks = lines.flatMap((line) => stretches.map(([from, to]) =>
    `<line class="zl-card" x1="${round(line.x)}" x2="${round(line.x)}" y1="${round(from)}" y2="${round(to)}"/>`));
  const widthOf = (/** @type {string} */ text) => textWidth(text, style.small);
  const labels = cardLabels(lines, widthOf).map(({ x: at, text }) => {
    const half = widthOf(text) / 2;
    return `<text class="zl-muted" text-anchor="middle" font-size="${style.small}" x="${round(Math.min(Math.max(at, half), width - half))}" y="${round(top - 4)}">${escapeHtml(text)}</text>`;
  });
  return `<g aria-hidden="true">${marks.join('')}${labels.join('')}</g>`;
}

/** @param {number} value */
function round(value) {
  return Math.round(value * 100) / 100;
}
