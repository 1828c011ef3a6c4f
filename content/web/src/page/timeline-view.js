/**
 * The timeline around its picture: controls, what happens at the cursor, the loop's text, tables. HTML as text from a
 * Timeline and the reader's choices. Pure: the build calls it in node for the page as it is before any script runs.
 */
import { escapeHtml, fill, formatBytes, groupDigits } from './format.js';
import { isPersistent } from './timeline-data.js';
import { WORK, timelineSvg } from './timeline.js';

/**
 * @typedef {import('./timeline-data.js').Timeline} Timeline
 * @typedef {import('./timeline-data.js').TimelineEvent} TimelineEvent
 * @typedef {Record<string, string>} Strings
 * @typedef {{model: string, stage: number, dp_size: number, micro_batch_size: number, gradient_accumulation_steps: number,
 *   prefetch_depth: number, reduce_bucket_numel: number, recompute: string, offload: string, overlap: boolean, breaks: string}} Choice
 */

export const UNIT = 'MB';
export const WIDTHS = { wide: 680, narrow: 320 };
export const BUCKETS = [1, 1_000_000, 2_000_000, 4_000_000, 1_000_000_000];
export const DP_SIZES = [1, 2, 3, 4, 6, 8];
const OFFLOAD_FROM_STAGE = /** @type {Record<string, number>} */ ({ none: 0, optimizer: 1, params: 3 });
export const BREAKS = ['mean_of_means', 'no_accumulation_division', 'schedule_per_rank', 'extra_adam_step', 'skip_reduce'];
const LARGEST_TABLE = 240; // rows
const LISTED_BUFFERS = 14;

/** @type {Choice} */
export const START = {
  model: 'mlp', stage: 3, dp_size: 4, micro_batch_size: 1, gradient_accumulation_steps: 2, prefetch_depth: 1,
  reduce_bucket_numel: 2_000_000, recompute: 'none', offload: 'none', overlap: true, breaks: 'none',
};

/**
 * `choice` with what does not go together put right: offloading needs a stage, selective recomputation attention.
 * @param {Choice} choice @returns {Choice}
 */
export function fitting(choice) {
  const offload = choice.stage >= OFFLOAD_FROM_STAGE[choice.offload] ? choice.offload : choice.stage >= 1 ? 'optimizer' : 'none';
  const recompute = choice.model === 'mlp' && choice.recompute === 'selective' ? 'full' : choice.recompute;
  return { ...choice, offload, recompute };
}

/** The choice in a run's settings. @param {Record<string, any>} settings @returns {Choice} */
export function choiceOf(settings) {
  const found = Object.fromEntries(Object.keys(START).map((name) => [name, settings[name] ?? START[/** @type {keyof Choice} */ (name)]]));
  return /** @type {Choice} */ ({ ...found, breaks: settings.breaks?.[0] ?? 'none' });
}

/** Texts of a page of one language. @param {Strings} strings */
function texts(strings) {
  return (/** @type {string} */ key, /** @type {Record<string, string|number>} */ fields = {}) => {
    if (strings[`page.timeline.${key}`] === undefined) throw new Error(`no interface string page.timeline.${key}`);
    return fill(strings[`page.timeline.${key}`], fields);
  };
}

/** @param {Strings} strings @param {string} category */
export function categoryName(strings, category) {
  return strings[`term.${category}`] ?? category;
}

/** Times shown: a step (from 0) or all. @param {Timeline} timeline @param {number|'all'} step @returns {[number, number]} */
export function windowOf(timeline, step) {
  const steps = timeline.steps();
  if (step === 'all' || !steps[step]) return [0, timeline.duration];
  return [steps[step][0], Math.max(steps[step][1], steps[step][0] + 1)];
}

/** @param {Timeline} timeline @param {Strings} strings @param {{id: string, width: number, step: number|'all'}} view */
export function layoutOf(timeline, strings, { id, width, step }) {
  const t = texts(strings);
  const [from, to] = windowOf(timeline, step);
  const settings = timeline.data.settings;
  const peak = peakText(timeline, strings);
  const fields = { stage: settings.stage, dp_size: settings.dp_size, rank: timeline.data.rank };
  const lanes = Object.fromEntries(['compute', 'communication', 'host'].map((lane) => [lane, t(`lane.${lane}`)]));
  return {
    id, width, from, to, unit: UNIT, title: t('picture_title', fields), peak, lanes,
    description: `${peak}. ${t('static', { bytes: formatBytes(timeline.data.static_device_bytes, UNIT) })}. ${t('reserved')}: ${formatBytes(timeline.events.at(-1)?.reserved ?? 0, UNIT)}.`,
    static: t('static', { bytes: formatBytes(timeline.data.static_device_bytes, UNIT) }),
    reserved: t('reserved'), capacity: t('capacity'),
  };
}

/** "peak 37.1 MB: backward of layers.2". @param {Timeline} timeline @param {Strings} strings */
export function peakText(timeline, strings) {
  const event = timeline.moments[timeline.peak ?? 0];
  return texts(strings)('peak', { bytes: formatBytes(timeline.sum(timeline.peak ?? 0), UNIT), instant: instantText(event, strings) });
}

/** "backward of layers.2". @param {TimelineEvent} event @param {Strings} strings */
export function instantText(event, strings) {
  const t = texts(strings);
  return event.step < 0 ? t('phase.start') : t(`phase.${event.phase}`, { layer: event.at });
}

/** One event in words. @param {TimelineEvent} event @param {Strings} strings */
export function eventText(event, strings) {
  const fields = {
    tensor: event.tensor, bytes: formatBytes(Math.abs(event.bytes), UNIT), numel: groupDigits(event.numel),
    category: event.category && categoryName(strings, event.category),
  };
  return texts(strings)(`event.${event.event}`, fields);
}

/** Both sizes of the picture; the style sheet shows one. @param {Timeline} timeline @param {Strings} strings @param {{id: string, step: number|'all'}} view */
export function picturesHtml(timeline, strings, { id, step }) {
  const draw = (/** @type {'wide'|'narrow'} */ kind) =>
    `<div class="zl-chart-${kind}" data-picture="${kind}">${timelineSvg(timeline, layoutOf(timeline, strings, { id: `${id}-${kind}`, width: WIDTHS[kind], step }))}</div>`;
  return legendHtml(timeline, strings) + draw('wide') + draw('narrow');
}

/** @param {Timeline} timeline @param {Strings} strings */
function legendHtml(timeline, strings) {
  const t = texts(strings);
  const areas = [...timeline.categories].reverse().map((category) => `<li><span class="zl-swatch zl-${category}"></span>${escapeHtml(categoryName(strings, category))}</li>`);
  const lines = [['reserved', t('reserved')], ['static', t('static_short')]].map(([name, label]) => `<li><span class="zl-swatch-line zl-swatch-${name}"></span>${escapeHtml(label)}</li>`);
  const kinds = WORK.filter((name) => timeline.events.some((event) => event.event === name)).map((name) => `<li><span class="zl-swatch zl-swatch-work zl-work-${name}"></span>${escapeHtml(t(`work.${name}`))}</li>`);
  return `<ul class="zl-legend" role="list">${[...areas, ...lines, ...kinds].join('')}</ul>`;
}

/** What happens at event number `index`: where the run is, what was done, how much is live. @param {Timeline} timeline @param {Strings} strings @param {number} index */
export function nowHtml(timeline, strings, index) {
  const t = texts(strings);
  const event = timeline.events[index];
  const at = timeline.momentOfEvent(index);
  const where = event.step < 0 ? t('phase.start') : t('where', { step: event.step + 1, micro_batch: event.microBatch + 1, instant: instantText(event, strings) });
  const line = timeline.data.loop[event.line - 1];
  const code = line === undefined ? '' : `<p class="zl-now-line"><span>${escapeHtml(t('line', { line: event.line }))}</span> <code>${escapeHtml(line.trim())}</code></p>`;
  const meters = [[t('live'), timeline.sum(at)], [t('reserved'), event.reserved], [t('static_short'), timeline.data.static_device_bytes]];
  if (timeline.data.host_bytes) meters.push([t('host'), timeline.data.host_bytes]);
  return `<p class="zl-now-where">${escapeHtml(where)}</p><p class="zl-now-event">${escapeHtml(eventText(event, strings))}</p>${code}`
    + `<dl class="zl-meters">${meters.map(([name, bytes]) => `<div><dt>${escapeHtml(name)}</dt><dd>${formatBytes(Number(bytes), UNIT)}</dd></div>`).join('')}</dl>`;
}

/** A sentence for the slider and for screen readers. @param {Timeline} timeline @param {Strings} strings @param {number} index */
export function nowText(timeline, strings, index) {
  const event = timeline.events[index];
  return `${instantText(event, strings)}. ${eventText(event, strings)}. ${texts(strings)('live')}: ${formatBytes(timeline.sum(timeline.momentOfEvent(index)), UNIT)}`;
}

/** A buffer in words, with its line of the loop. @param {Timeline} timeline @param {Strings} strings @param {import('./timeline-data.js').Buffer} buffer */
export function bufferText(timeline, strings, buffer) {
  const made = timeline.events[buffer.made];
  const line = timeline.data.loop[made.line - 1];
  const where = line === undefined ? '' : texts(strings)('made_by', { line: made.line, code: line.trim() });
  return `${categoryName(strings, buffer.category)} · ${buffer.tensor} · ${formatBytes(buffer.bytes, UNIT)}${where}`;
}

/** What is kept all the time, summed by category. @param {Timeline} timeline @param {Strings} strings @param {number} index */
export function statesHtml(timeline, strings, index) {
  const at = timeline.momentOfEvent(index);
  const kept = timeline.categories.filter(isPersistent).map((category) => ({ category, bytes: timeline.live?.get(category)?.[at] ?? 0 })).filter(({ bytes }) => bytes)
    .map(({ category, bytes }) => `<li><span class="zl-swatch zl-${category}"></span>${escapeHtml(categoryName(strings, category))} <b>${formatBytes(bytes, UNIT)}</b></li>`);
  return `<p class="zl-buffers-title">${escapeHtml(texts(strings)('states'))}</p><ul class="zl-buffers" role="list">${kept.reverse().join('')}</ul>`;
}

/** The buffers live at event number `index` that come and go, newest category first, as buttons. @param {Timeline} timeline @param {Strings} strings @param {number} index */
export function buffersHtml(timeline, strings, index) {
  const t = texts(strings);
  const at = timeline.momentOfEvent(index);
  const passing = timeline.stackedAt(at).filter((buffer) => !isPersistent(buffer.category)).reverse();
  const shown = passing.slice(0, LISTED_BUFFERS).map((buffer) =>
    `<li><button type="button" data-buffer="${buffer.made}"><span class="zl-swatch zl-${buffer.category}"></span>${escapeHtml(categoryName(strings, buffer.category))} · ${escapeHtml(buffer.tensor)} <b>${formatBytes(buffer.bytes, UNIT)}</b></button></li>`);
  if (passing.length > shown.length) shown.push(`<li>${escapeHtml(t('more', { count: passing.length - shown.length }))}</li>`);
  return `<p class="zl-buffers-title">${escapeHtml(t('buffers'))}</p><ul class="zl-buffers" role="list">${shown.join('') || `<li>${escapeHtml(t('no_buffers'))}</li>`}</ul>`;
}

/** The training loop's text, each line an element of its own. @param {Timeline} timeline */
export function loopHtml(timeline) {
  return timeline.data.loop.map((line, index) => `<span class="zl-loop-line" data-line="${index + 1}">${escapeHtml(line) || ' '}</span>`).join('');
}

/** The table behind the picture: each instant at its highest. @param {Timeline} timeline @param {Strings} strings @param {number|'all'} step */
export function tableHtml(timeline, strings, step) {
  const t = texts(strings);
  const moments = timeline.instants(step);
  const rows = moments.slice(0, LARGEST_TABLE).map((at) => {
    const event = timeline.moments[at];
    const passing = timeline.categories.filter((category) => !isPersistent(category) && timeline.live?.get(category)?.[at]);
    const parts = passing.map((category) => `${categoryName(strings, category)} ${formatBytes(/** @type {number} */ (timeline.live?.get(category)?.[at]), UNIT)}`).join(strings['page.timeline.separator']);
    const highest = timeline.sum(at) === timeline.sum(timeline.peak ?? 0);
    return `<tr${highest ? ' class="zl-highest"' : ''}><td>${event.step + 1}</td><td>${event.phase === 'step' ? '' : event.microBatch + 1}</td><th scope="row">${escapeHtml(instantText(event, strings))}</th><td>${formatBytes(timeline.sum(at), UNIT)}</td><td>${escapeHtml(parts)}</td></tr>`;
  });
  const more = moments.length > LARGEST_TABLE ? `<p>${escapeHtml(t('table_cut', { shown: LARGEST_TABLE, count: moments.length }))}</p>` : '';
  const heads = ['step', 'micro_batch', 'instant', 'highest', 'besides'].map((name) => `<th scope="col">${escapeHtml(t(`column.${name}`))}</th>`);
  return `<div class="zl-table" tabindex="0" role="group" aria-label="${escapeHtml(t('table_title'))}"><table class="zl-instants"><caption>${escapeHtml(t('table_caption', { rank: timeline.data.rank }))}</caption><thead><tr>${heads.join('')}</tr></thead><tbody>${rows.join('')}</tbody></table></div>${more}`;
}

/** The result of the training beside the picture. @param {Timeline} timeline @param {Strings} strings */
export function summaryHtml(timeline, strings) {
  const t = texts(strings);
  const { losses, out_of_memory: ended, num_params: count } = timeline.data;
  if (ended) return `<p class="zl-problem"><strong>${escapeHtml(t('out_of_memory'))}</strong> <span lang="en">${escapeHtml(ended)}</span></p>`;
  const loss = losses.map((value) => (value === null ? '∞' : value.toFixed(4))).join(' → ');
  return `<p class="zl-floor">${escapeHtml(t('summary', { num_params: groupDigits(count), losses: loss, events: groupDigits(timeline.events.length) }))}</p>`;
}

/**
 * @typedef {{check: {ok: boolean, name: string|null, worst_difference: number, largest_gradient: number, ratio: number|null, flipped: number,
 *   first_update: number, disagreement: number, learning_rates: number[], expected_learning_rates: number[]}, losses: number[], expected_losses: number[]}} Effect
 */

/** The check's verdict, its figures, and the loss beside what it should be. @param {Effect} effect @param {Strings} strings @param {string} id */
export function effectHtml({ check, losses, expected_losses: expected }, strings, id) {
  const t = texts(strings);
  const short = (/** @type {number|null} */ value) => (value === null ? '∞' : String(Number(value.toPrecision(4))));
  const lines = [t('effect.gradient', { difference: short(check.worst_difference), largest: short(check.largest_gradient) })];
  if (check.ratio !== null && Math.abs(check.ratio - 1) > 1e-9) lines.push(t('effect.ratio', { ratio: short(check.ratio) }));
  if (check.flipped) lines.push(t('effect.flipped', { count: check.flipped }));
  if (check.disagreement) lines.push(t('effect.disagreement', { difference: short(check.disagreement) }));
  lines.push(t('effect.update', { ratio: short(check.first_update) }));
  const [rate, rightRate] = [check.learning_rates.at(-1) ?? 0, check.expected_learning_rates.at(-1) ?? 0];
  if (rate !== rightRate) lines.push(t('effect.rates', { rate: short(rate), expected: short(rightRate) }));
  const verdict = check.ok ? t('effect.same') : t('effect.differs', { name: t(`breaks.${check.name}`) });
  return `<p class="zl-buffers-title">${escapeHtml(t('effect.title'))}</p><p class="zl-verdict-line${check.ok ? ' zl-right' : ''}"><strong>${escapeHtml(verdict)}</strong></p>`
    + `<ul class="zl-effect">${lines.map((line) => `<li>${escapeHtml(line)}</li>`).join('')}</ul>${lossSvg(losses, expected, strings, id)}`;
}

/** Two loss curves. @param {number[]} losses @param {number[]} expected @param {Strings} strings @param {string} id */
function lossSvg(losses, expected, strings, id) {
  const t = texts(strings);
  const [width, height, left, bottom] = [320, 150, 34, 128];
  const all = [...losses, ...expected].filter(Number.isFinite);
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const x = (/** @type {number} */ step) => left + ((width - left - 6) * step) / Math.max(expected.length - 1, 1);
  const y = (/** @type {number} */ loss) => 12 + ((bottom - 12) * (high - loss)) / Math.max(high - low, 1e-9);
  const points = (/** @type {number[]} */ curve) => curve.map((loss, step) => (Number.isFinite(loss) ? `${x(step).toFixed(1)},${y(loss).toFixed(1)}` : '')).join(' ').trim();
  const name = t('effect.chart', { steps: expected.length, loss: losses.at(-1)?.toFixed(3) ?? '∞', expected: expected.at(-1)?.toFixed(3) ?? '' });
  const scale = [high, low].map((loss) => `<text class="zl-muted" text-anchor="end" font-size="11" x="${left - 5}" y="${(y(loss) + 4).toFixed(1)}">${loss.toFixed(2)}</text>`);
  return `<figure class="zl-figure zl-loss"><svg class="zl-chart" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="${id}-loss"><title id="${id}-loss">${escapeHtml(name)}</title>`
    + `<line class="zl-grid" x1="${left}" x2="${width}" y1="${bottom}" y2="${bottom}"/>${scale.join('')}<polyline class="zl-loss-right" points="${points(expected)}"/><polyline class="zl-loss-run" points="${points(losses)}"/></svg>`
    + `<figcaption><span class="zl-swatch-line zl-loss-run"></span>${escapeHtml(t('effect.this_run'))} <span class="zl-swatch-line zl-loss-right"></span>${escapeHtml(t('effect.one_rank'))}</figcaption></figure>`;
}

/** @param {string} id @param {Choice} choice @param {Strings} strings @param {{rank: number, steps: number}} view */
export function controlsHtml(id, choice, strings, { rank, steps }) {
  const t = texts(strings);
  const e = (/** @type {string} */ key) => escapeHtml(t(key));
  const segments = (/** @type {string} */ name, /** @type {(string|number)[]} */ values, /** @type {string|number} */ chosen, /** @type {(value: string|number) => string} */ label) =>
    `<fieldset class="zl-field zl-segments" data-control="${name}"><legend>${e(name)}</legend><div>${values.map((value) =>
      `<label><input type="radio" name="${id}-${name}" value="${value}"${value === chosen ? ' checked' : ''}><span>${escapeHtml(label(value))}</span></label>`).join('')}</div></fieldset>`;
  const slider = (/** @type {string} */ name, /** @type {number} */ max, /** @type {number} */ value, /** @type {string} */ shown, min = 0) =>
    `<div class="zl-field zl-field-${name}"><label for="${id}-${name}">${e(name)}${t(name).endsWith('：') ? '' : ' '}<output for="${id}-${name}" data-part="${name}">${escapeHtml(shown)}</output></label><input type="range" id="${id}-${name}" data-control="${name}" min="${min}" max="${max}" step="1" value="${value}" aria-valuetext="${escapeHtml(shown)}"></div>`;
  const ranks = Array.from({ length: choice.dp_size }, (_, index) => `<option value="${index}"${index === rank ? ' selected' : ''}>${index}</option>`);
  const windows = [`<option value="all">${e('all_steps')}</option>`, ...Array.from({ length: steps }, (_, index) => `<option value="${index}"${index === 0 ? ' selected' : ''}>${escapeHtml(t('one_step', { step: index + 1 }))}</option>`)];
  const breaks = ['none', ...BREAKS].map((name) => `<option value="${name}"${name === choice.breaks ? ' selected' : ''}>${e(`breaks.${name}`)}</option>`);
  const named = (/** @type {string} */ name) => (/** @type {string|number} */ value) => t(`${name}.${value}`);
  return `<form class="zl-controls zl-timeline-controls" aria-label="${e('controls')}" autocomplete="off">`
    + segments('stage', [0, 1, 2, 3], choice.stage, String)
    + slider('dp_size', DP_SIZES.length - 1, Math.max(DP_SIZES.indexOf(choice.dp_size), 0), String(choice.dp_size))
    + slider('prefetch_depth', 4, choice.prefetch_depth, sliderText('prefetch_depth', choice, strings))
    + slider('reduce_bucket_numel', BUCKETS.length - 1, Math.max(BUCKETS.indexOf(choice.reduce_bucket_numel), 0), sliderText('reduce_bucket_numel', choice, strings))
    + slider('micro_batch_size', 8, choice.micro_batch_size, String(choice.micro_batch_size), 1)
    + slider('gradient_accumulation_steps', 4, choice.gradient_accumulation_steps, String(choice.gradient_accumulation_steps), 1)
    + segments('model', ['mlp', 'transformer'], choice.model, named('model'))
    + segments('recompute', choice.model === 'mlp' ? ['none', 'full'] : ['none', 'selective', 'full'], choice.recompute, named('recompute'))
    + segments('offload', Object.keys(OFFLOAD_FROM_STAGE).filter((name) => choice.stage >= OFFLOAD_FROM_STAGE[name]), choice.offload, named('offload'))
    + `<div class="zl-field zl-timeline-selects"><label>${e('rank')} <select data-control="rank">${ranks.join('')}</select></label> <label>${e('shown')} <select data-control="step">${windows.join('')}</select></label> <label>${e('breaks')} <select data-control="breaks">${breaks.join('')}</select></label> <label><input type="checkbox" data-control="overlap"${choice.overlap ? ' checked' : ''}> ${e('overlap')}</label></div>`
    + `<p class="zl-status" role="status" data-part="status"></p></form>`;
}

/** What a slider says beside its name. @param {string} name @param {Choice} choice @param {Strings} strings */
export function sliderText(name, choice, strings) {
  const t = texts(strings);
  if (name === 'prefetch_depth') return t('layers', { count: choice.prefetch_depth });
  if (name !== 'reduce_bucket_numel') return String(choice[/** @type {keyof Choice} */ (name)]);
  if (choice.reduce_bucket_numel <= 1) return t('bucket.each');
  return choice.reduce_bucket_numel >= 1e9 ? t('bucket.all') : t('bucket.some', { count: groupDigits(choice.reduce_bucket_numel) });
}

/**
 * The whole element for its first run. @param {Timeline} timeline @param {Strings} strings @param {string} id
 */
export function timelineHtml(timeline, strings, id) {
  const t = texts(strings);
  const e = (/** @type {string} */ key) => escapeHtml(t(key));
  const choice = choiceOf(timeline.data.settings);
  const index = timeline.moments[timeline.peak ?? 0].index;
  const step = Math.max(timeline.events[index].step, 0);
  return `<div data-part="controls">${controlsHtml(id, choice, strings, { rank: timeline.data.rank, steps: timeline.data.settings.num_steps })}</div>
<figure class="zl-figure" data-part="pictures">${picturesHtml(timeline, strings, { id, step })}</figure>
<p class="zl-pointed" data-part="pointed" aria-hidden="true">${e('hint')}</p>
<div class="zl-player" role="group" aria-label="${e('player')}"><button type="button" class="zl-button" data-action="play">${e('play')}</button><button type="button" class="zl-button zl-quiet" data-action="back" aria-label="${e('back')}">◀</button><button type="button" class="zl-button zl-quiet" data-action="forward" aria-label="${e('forward')}">▶</button><button type="button" class="zl-button zl-quiet" data-action="peak">${e('to_peak')}</button><input type="range" data-control="cursor" min="0" max="${timeline.events.length - 1}" value="${index}" aria-label="${e('cursor')}"></div>
<div class="zl-moment"><div><div class="zl-now" data-part="now">${nowHtml(timeline, strings, index)}</div><div data-part="states">${statesHtml(timeline, strings, index)}</div></div><div data-part="buffers">${buffersHtml(timeline, strings, index)}</div></div>
<div data-part="summary">${summaryHtml(timeline, strings)}</div>
<div data-part="effect"></div>
<details class="zl-timeline-details"><summary>${e('loop_title')}</summary><p class="zl-floor zl-live-only">${e('loop.try')}</p><pre class="zl-code zl-loop" tabindex="0" data-part="loop">${loopHtml(timeline)}</pre>
<textarea class="zl-loop-editor" data-part="editor" rows="24" spellcheck="false" wrap="off" autocapitalize="off" aria-label="${e('loop.label')}" hidden></textarea>
<p class="zl-problem" role="alert" data-part="loop-problem"></p>
<p class="zl-actions zl-live-only"><button type="button" class="zl-button" data-action="change-loop">${e('loop.change')}</button><button type="button" class="zl-button" data-action="run-loop" hidden>${e('loop.run')}</button><button type="button" class="zl-button zl-quiet" data-action="original-loop" hidden>${e('loop.original')}</button></p></details>
<details class="zl-timeline-details"><summary>${e('table_title')}</summary><div data-part="table">${tableHtml(timeline, strings, step)}</div></details>
<p class="zl-sr" aria-live="polite" data-part="announce"></p>`;
}
