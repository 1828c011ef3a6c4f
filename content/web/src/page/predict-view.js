/** The comparison of a prediction with the result, as HTML text. Pure; no DOM. */
import { escapeHtml, formatBytes, formatQuotient, groupDigits } from './format.js';

const SCALE_DECADES = 2; // the scale reaches from 1/100 to 100 times the result

/**
 * @typedef {{value: number|null, text: string, reason: string, confidence: number|null, skipped: boolean}} Prediction
 * @typedef {(key: string, fields?: Record<string, string|number>) => string} Text
 */

/** An amount in both units, or a count. @param {number} value @param {string} unit */
export function amountHtml(value, unit) {
  if (unit !== 'bytes') return `<b>${Number.isInteger(value) ? groupDigits(value) : formatQuotient(value)}</b>`;
  const digits = value < 1e9 ? 3 : 2; // so that what is shown is near enough to be judged right itself
  return `<b>${formatBytes(value, 'GB', digits)}</b><span>${formatBytes(value, 'GiB', digits)}</span>`;
}

/**
 * @param {Prediction} prediction @param {number} answer @param {string} unit
 * @param {import('./judge.js').Judgement|null} judgement  null when skipped
 * @param {{text: Text, lang: string, tolerance: number}} options
 */
export function comparisonHtml(prediction, answer, unit, judgement, { text, lang, tolerance }) {
  const result = `<div><dt>${escapeHtml(text('kit.predict.result'))}</dt><dd>${amountHtml(answer, unit)}</dd></div>`;
  if (!judgement || prediction.value === null) {
    return `<p class="zl-verdict-line">${escapeHtml(text('kit.predict.skipped'))}</p><dl class="zl-compare">${result}</dl>`;
  }
  const size = formatQuotient(Math.abs(judgement.relativeError) * 100);
  const percent = size === '0' ? '0%' : `${judgement.relativeError > 0 ? '+' : '−'}${size}%`;
  return `<dl class="zl-compare"><div><dt>${escapeHtml(text('kit.predict.prediction'))}</dt><dd>${amountHtml(prediction.value, unit)}</dd></div>`
    + `${result}<div><dt>${escapeHtml(text('kit.predict.error'))}</dt><dd><b>${percent}</b></dd></div></dl>`
    + scaleSvg(prediction.value / answer, text)
    + verdictHtml(judgement, { text, lang, tolerance })
    + saidHtml(prediction, text);
}

/** @param {import('./judge.js').Judgement} judgement @param {{text: Text, lang: string, tolerance: number}} options */
function verdictHtml({ verdict, mistake }, { text, lang, tolerance }) {
  const percent = `${formatQuotient(tolerance * 100)}%`;
  const words = verdict === 'right' || verdict === 'near' ? text(`kit.predict.${verdict}`, { tolerance: percent }) : text(`kit.predict.${verdict}`);
  const named = mistake ? `<br><strong>${escapeHtml(mistake.text[lang])}</strong>` : '';
  return `<p class="zl-verdict-line zl-${verdict}">${escapeHtml(words)}${named}</p>`;
}

/** What the reader wrote beside the number. @param {Prediction} prediction @param {Text} text */
function saidHtml({ reason, confidence }, text) {
  const said = [];
  if (confidence) said.push(text('page.predict.confidence_said', { confidence: text(`kit.predict.confidence_${confidence}`) }));
  if (reason) said.push(text('page.predict.your_reason', { reason }));
  return said.length ? `<p class="zl-said">${said.map(escapeHtml).join('<br>')}</p>` : '';
}

/** Where the prediction lies from the result, each step of the scale a factor of ten. @param {number} ratio @param {Text} text */
export function scaleSvg(ratio, text) {
  const width = 320;
  const middle = width / 2;
  const decades = ratio > 0 ? Math.log10(ratio) : -SCALE_DECADES;
  const clamped = Math.max(-SCALE_DECADES, Math.min(SCALE_DECADES, decades));
  const at = middle + (clamped / SCALE_DECADES) * (middle - 24);
  const label = text('page.predict.scale', { ratio: formatQuotient(ratio) });
  const marks = [-2, -1, 0, 1, 2].map((decade) => {
    const x = middle + (decade / SCALE_DECADES) * (middle - 24);
    const name = decade === 0 ? '=' : decade < 0 ? `÷${10 ** -decade}` : `×${10 ** decade}`;
    return `<line class="zl-grid" x1="${x}" x2="${x}" y1="10" y2="22"/><text class="zl-muted" x="${x}" y="36" text-anchor="middle" font-size="11.5">${name}</text>`;
  });
  return `<svg class="zl-scale" viewBox="0 0 ${width} 40" width="${width}" height="40" role="img" aria-label="${escapeHtml(label)}">`
    + `<line class="zl-grid" x1="24" x2="${width - 24}" y1="16" y2="16"/>${marks.join('')}`
    + `<line class="zl-scale-error" x1="${middle}" x2="${at.toFixed(1)}" y1="16" y2="16"/><circle class="zl-scale-result" cx="${middle}" cy="16" r="5"/>`
    + `<path class="zl-scale-mark" d="M${at.toFixed(1)} 9l6 7-6 7-6-7z"/></svg>`;
}
