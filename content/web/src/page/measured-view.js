/**
 * "Your own run" as HTML text: a measured run or a memory snapshot that the package has read and explained
 * (zeroledger.snapshot_report.report). Pure; node tests call it.
 */
import { amount } from './amount.js';
import { COLOURS, Curve, curveSvg, unitFor } from './curve.js';
import { escapeHtml, fill, formatBytes, groupDigits } from './format.js';
import { instantWords } from './instant-words.js';

/**
 * @typedef {Record<string, string>} Strings
 * @typedef {{account: string, predicted_bytes: number, measured_bytes: number|null, difference_bytes: number|null}} Row
 * @typedef {{key: string, words: string, num_bytes: number, remainder_bytes: number, is_consistent: boolean}} Candidate
 * @typedef {{rank: number, name: string, meter: string, measured_bytes: number, predicted_bytes: number, low_bytes: number, high_bytes: number,
 *   difference_bytes: number, is_within_range: boolean, remainder_bytes: number, reserve_bytes: number|null, outside_bytes: number|null,
 *   predicted_instant: string, rows: Row[], candidates: Candidate[]}} Told
 */

const WIDTHS = { wide: 680, narrow: 320 };
const MOST_CANDIDATES = 4;
const OPEN_DETAILS = 2; // of the readings that lie outside their range
const NEAR = 0.001; // of the reading: some bytes of rounding, not worth a search

/** @param {Strings} strings */
function texts(strings) {
  return (/** @type {string} */ key, /** @type {Record<string, string|number>} */ fields = {}) => {
    if (strings[`page.measured.${key}`] === undefined) throw new Error(`no interface string page.measured.${key}`);
    return fill(strings[`page.measured.${key}`], fields);
  };
}

/** The whole result. @param {any} report @param {Strings} strings @param {string} id */
export function reportHtml(report, strings, id) {
  return headHtml(report, strings) + (report.kind === 'snapshot' ? snapshotHtml(report, strings, id) : runHtml(report, strings, id));
}

/** What was measured, with what, when. @param {any} report @param {Strings} strings */
function headHtml({ source, date, device, versions, config, kind, num_events: events }, strings) {
  const t = texts(strings);
  const found = Object.entries(versions ?? {}).map(([name, version]) => `${name} ${version}`).join(', ');
  const rows = [[t('source'), source], [t('device'), device], [t('date'), date], [t('versions'), found], [t('configuration'), config && configText(config, t)]];
  if (kind === 'snapshot') rows.push([t('events'), groupDigits(events)]);
  return `<dl class="zl-facts">${rows.filter(([, value]) => value).map(([name, value]) => `<div><dt>${escapeHtml(name)}</dt><dd>${escapeHtml(value)}</dd></div>`).join('')}</dl>`;
}

/** @param {any} config @param {ReturnType<typeof texts>} t */
function configText(config, t) {
  const degrees = ['dp', 'tp', 'pp', 'cp', 'ep'].filter((name) => name === 'dp' || config.mesh[name] > 1).map((name) => `${name} ${config.mesh[name]}`).join(' × ');
  return t('config_line', {
    num_params: groupDigits(config.num_params), degrees, stage: config.stage, engine: config.engine, recipe: config.recipe,
    batch: config.micro_batch_size, seq: config.seq_length, recompute: config.recompute,
  });
}

/** @param {any} report @param {Strings} strings @param {string} id */
function runHtml(report, strings, id) {
  const t = texts(strings);
  return `<h2 class="zl-part">${escapeHtml(t('summary_title'))}</h2>${summaryHtml(report, strings)}${predictedHtml(report, strings, id)}`
    + `<h2 class="zl-part">${escapeHtml(t('details_title'))}</h2>${detailsHtml(report.explained, strings)}`;
}

/** A line a reading: predicted, measured, the difference, and whether the prediction's own range holds it. @param {any} report @param {Strings} strings */
function summaryHtml({ explained, num_readings: count }, strings) {
  const t = texts(strings);
  const heads = ['instant', 'rank', 'meter', 'predicted', 'measured', 'difference', 'verdict'].map((name) => `<th scope="col">${escapeHtml(t(`column.${name}`))}</th>`);
  const rows = explained.map((/** @type {Told} */ told) => `<tr><th scope="row">${escapeHtml(instantName(told.name, strings))}</th><td>${told.rank}</td><td>${escapeHtml(t(`meter.${told.meter}`))}</td>`
    + `<td class="zl-amount">${amount(told.predicted_bytes)}</td><td class="zl-amount">${amount(told.measured_bytes)}</td><td class="zl-amount">${amount(told.difference_bytes, true)} ${percent(told)}</td>`
    + `<td>${escapeHtml(t(verdict(told)))}</td></tr>`);
  const more = count > explained.length ? `<p>${escapeHtml(t('readings_cut', { shown: explained.length, count }))}</p>` : '';
  return `<div class="zl-table" tabindex="0" role="group" aria-label="${escapeHtml(t('summary_title'))}"><table class="zl-measured"><thead><tr>${heads.join('')}</tr></thead><tbody>${rows.join('')}</tbody></table></div>${more}`;
}

/** @param {Told} told @returns {'within'|'near'|'outside'} */
function verdict({ is_within_range: isWithin, difference_bytes: difference, measured_bytes: measured }) {
  if (isWithin) return 'within';
  return Math.abs(difference) <= NEAR * measured ? 'near' : 'outside';
}

/** @param {Told} told */
function percent({ difference_bytes: difference, measured_bytes: measured }) {
  return measured ? `<small>(${difference > 0 ? '+' : difference < 0 ? '−' : ''}${Math.abs((100 * difference) / measured).toFixed(1)}%)</small>` : '';
}

/** A measured instant's name, or a predicted one's. @param {string} name @param {Strings} strings */
function instantName(name, strings) {
  return strings[`page.measured.instant.${name}`] ?? instantWords(name, strings) ?? name;
}

/** Each reading with its rows, what is left, and candidates. @param {Told[]} explained @param {Strings} strings */
function detailsHtml(explained, strings) {
  let open = OPEN_DETAILS;
  return explained.map((told) => {
    const isOpen = (verdict(told) === 'outside' || explained.length === 1) && open > 0;
    if (isOpen) open -= 1;
    return detailHtml(told, strings, isOpen);
  }).join('');
}

/** @param {Told} told @param {Strings} strings @param {boolean} isOpen */
function detailHtml(told, strings, isOpen) {
  const t = texts(strings);
  const heads = ['account', 'predicted', 'measured', 'difference'].map((name) => `<th scope="col">${escapeHtml(t(`column.${name}`))}</th>`);
  const rows = told.rows.map((row) => `<tr><th scope="row">${swatch(row.account)}${escapeHtml(kindName(row.account, strings))}</th><td class="zl-amount">${amount(row.predicted_bytes)}</td><td class="zl-amount">${amount(row.measured_bytes)}</td><td class="zl-amount">${amount(row.difference_bytes, true)}</td></tr>`);
  rows.push(`<tr class="zl-highest"><th scope="row">${escapeHtml(t('all'))}</th><td class="zl-amount">${amount(told.predicted_bytes)}</td><td class="zl-amount">${amount(told.measured_bytes)}</td><td class="zl-amount">${amount(told.difference_bytes, true)}</td></tr>`);
  return `<details class="zl-told"${isOpen ? ' open' : ''}><summary>${escapeHtml(t('reading_title', { instant: instantName(told.name, strings), rank: told.rank }))}: ${amount(told.difference_bytes, true)}</summary>`
    + `<p class="zl-note-small">${escapeHtml(t('predicted_instant'))} ${escapeHtml(instantName(told.predicted_instant, strings))}</p>`
    + `<div class="zl-table" tabindex="0" role="group"><table class="zl-measured"><thead><tr>${heads.join('')}</tr></thead><tbody>${rows.join('')}</tbody></table></div>`
    + `<p>${fillHtml(t, 'left', { remainder: amount(told.remainder_bytes, true) })} ${fillHtml(t, told.is_within_range ? 'range_within' : 'range_outside', { low: amount(told.low_bytes), high: amount(told.high_bytes) })}`
    + `${told.reserve_bytes === null ? '' : ` ${fillHtml(t, 'reserve', { reserve: amount(told.reserve_bytes) })}`}${told.outside_bytes === null ? '' : ` ${fillHtml(t, 'outside_allocator', { outside: amount(told.outside_bytes) })}`}</p>`
    + `${told.is_within_range ? '' : candidatesHtml(told, strings)}</details>`;
}

/** A string whose fields are HTML of our own. @param {ReturnType<typeof texts>} t @param {string} key @param {Record<string, string>} fields */
function fillHtml(t, key, fields) {
  const marked = escapeHtml(t(key, Object.fromEntries(Object.keys(fields).map((name) => [name, `\u0001${name}\u0002`]))));
  return marked.replace(/\u0001(\w+)\u0002/g, (_, name) => fields[name]);
}

/** @param {Told} told @param {Strings} strings */
function candidatesHtml({ candidates, rows }, strings) {
  const t = texts(strings);
  if (!candidates.length) return `<p>${escapeHtml(t('no_candidates'))}</p>`;
  const items = candidates.slice(0, MOST_CANDIDATES).map(({ key, words, num_bytes: bytes, remainder_bytes: left, is_consistent: fits }) => {
    const known = strings[`page.measured.candidate.${key.replaceAll('-', '_')}`];
    const name = known ? escapeHtml(known) : `<span lang="en">${escapeHtml(words)}</span>`;
    return `<li>${name} <span class="zl-muted-text">${fillHtml(t, 'candidate_bytes', { bytes: amount(bytes, true), left: amount(left, true) })}</span>${fits ? ` <strong>${escapeHtml(t('consistent'))}</strong>` : ''}</li>`;
  });
  const isApart = rows.some((row) => row.measured_bytes !== null);
  return `<p>${escapeHtml(t(isApart ? 'candidates_rows' : 'candidates'))}</p><ul class="zl-candidates">${items.join('')}</ul>`;
}

/** The prediction's instants as a picture, for each pipeline stage that was measured; the dashed line is the highest reading. @param {any} report @param {Strings} strings @param {string} id */
function predictedHtml({ explained, predicted, stage_of_rank: stages }, strings, id) {
  const t = texts(strings);
  return Object.entries(predicted).map(([stage, data]) => {
    const own = explained.filter((/** @type {Told} */ told) => String(stages[told.rank]) === stage && told.meter === 'allocated');
    const level = own.length ? Math.max(...own.map((/** @type {Told} */ told) => told.measured_bytes)) : null;
    const curve = new Curve(data, level);
    const unit = unitFor(curve.sum(curve.peak));
    const peak = t('predicted_peak', { bytes: formatBytes(curve.sum(curve.peak), unit), instant: instantName(data.names[curve.peak], strings) });
    const levelText = level === null ? '' : t('measured_level', { bytes: formatBytes(level, unit) });
    const title = Object.keys(predicted).length > 1 ? t('predicted_title_stage', { stage }) : t('predicted_title');
    return figureHtml(curve, strings, `${id}-p${stage}`, { unit, title, peak, level, levelText, reserved: '', axis: t('axis_instants') });
  }).join('');
}

/** A picture in both widths with its legend. @param {Curve} curve @param {Strings} strings @param {string} id @param {any} layout */
function figureHtml(curve, strings, id, layout) {
  const draw = (/** @type {'wide'|'narrow'} */ kind) => `<div class="zl-chart-${kind}">${curveSvg(curve, { ...layout, id: `${id}-${kind}`, width: WIDTHS[kind], description: `${layout.peak}. ${layout.levelText}` })}</div>`;
  const areas = [...curve.kinds].reverse().map((kind) => `<li>${swatch(kind)}${escapeHtml(kindName(kind, strings))}</li>`);
  const lines = [layout.reserved && ['reserved', layout.reserved], layout.levelText && ['static', layout.levelText]].filter(Boolean)
    .map(([name, label]) => `<li><span class="zl-swatch-line zl-swatch-${name}"></span>${escapeHtml(label)}</li>`);
  return `<figure class="zl-figure zl-curve"><figcaption>${escapeHtml(layout.title)}</figcaption><ul class="zl-legend" role="list">${[...areas, ...lines].join('')}</ul>${draw('wide')}${draw('narrow')}</figure>`;
}

/** @param {string} kind */
function swatch(kind) {
  return `<span class="zl-swatch zl-${COLOURS[kind]}"></span>`;
}

/** @param {string} kind @param {Strings} strings */
function kindName(kind, strings) {
  return strings[`page.measured.kind.${kind}`] ?? kind;
}

/** @param {any} report @param {Strings} strings @param {string} id */
function snapshotHtml(report, strings, id) {
  const t = texts(strings);
  const curve = new Curve(report.curve, report.explained[0]?.predicted_bytes ?? null);
  const unit = unitFor(curve.sum(curve.peak));
  const level = report.explained[0]?.predicted_bytes ?? null;
  const layout = {
    unit, title: t('snapshot_title'), level, axis: t('axis_events'), reserved: report.curve.reserved ? t('reserved') : '',
    peak: t('snapshot_peak', { bytes: formatBytes(report.peak.allocated_bytes, unit), event: groupDigits(report.peak.moment) }),
    levelText: level === null ? '' : t('predicted_level', { bytes: formatBytes(level, unit) }),
  };
  const rows = report.groups.map((/** @type {any} */ group) => `<tr><th scope="row">${swatch(group.kind)}${escapeHtml(kindName(group.kind, strings))}</th><td><code>${escapeHtml(group.where || '–')}</code></td><td>${groupDigits(group.count)}</td><td class="zl-amount">${amount(group.bytes)}</td></tr>`);
  const heads = ['kind', 'where', 'blocks', 'bytes'].map((name) => `<th scope="col">${escapeHtml(t(`column.${name}`))}</th>`);
  const more = report.num_groups > report.groups.length ? `<p>${escapeHtml(t('groups_cut', { shown: report.groups.length, count: report.num_groups }))}</p>` : '';
  const notes = [report.unmatched_bytes ? fillHtml(t, 'unmatched', { bytes: amount(report.unmatched_bytes) }) : '', report.curve.reserved ? '' : escapeHtml(t('no_reserved')),
    ...report.out_of_memory.map((/** @type {any} */ oom) => fillHtml(t, 'oom', { bytes: amount(oom.asked_bytes), event: groupDigits(oom.moment) }))].filter(Boolean);
  return `${figureHtml(curve, strings, `${id}-s`, layout)}${notes.map((note) => `<p>${note}</p>`).join('')}<h2 class="zl-part">${escapeHtml(t('groups_title'))}</h2>`
    + `<div class="zl-table" tabindex="0" role="group" aria-label="${escapeHtml(t('groups_title'))}"><table class="zl-measured"><thead><tr>${heads.join('')}</tr></thead><tbody>${rows.join('')}</tbody></table></div>${more}`
    + (report.config ? `<h2 class="zl-part">${escapeHtml(t('beneath_title'))}</h2>${predictedHtml(report, strings, id)}${detailsHtml(report.explained, strings)}` : `<p>${escapeHtml(t('no_config'))}</p>`);
}
