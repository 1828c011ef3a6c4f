/**
 * <zero-predict exercise="id">: a number first, the result after. Until the reader commits or skips, the answer is
 * neither in the page nor fetched. What they wrote is kept in their browser and is there again after a reload.
 */
import { againProgram } from './again-program.js';
import { escapeHtml, groupDigits } from './format.js';
import { judge } from './judge.js';
import { hasText, pageLanguage, pageRunner, text } from './page-data.js';
import { comparisonHtml } from './predict-view.js';
import { readNumber } from './read-number.js';
import { siteData } from './site-data.js';
import { recallData, remember, storageLasts } from './store.js';

/** @typedef {import('./predict-view.js').Prediction} Prediction */
/** @typedef {import('./judge.js').Answer} Answer */

class ZeroPredict extends HTMLElement {
  connectedCallback() {
    if (this.exercise) return;
    this.exercise = this.getAttribute('exercise') ?? '';
    this.unit = this.getAttribute('unit') ?? 'bytes';
    this.variant = this.getAttribute('variant'); // an embedding page may ask with other numbers
    this.form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.commit();
    });
    this.querySelector('[data-action=skip]')?.addEventListener('click', () => this.settle(this.predictionFrom(null, true), true));
    this.form.addEventListener('input', () => this.saveDraft());
    const stored = recallData(this.storeKey);
    if (stored?.draft) this.fillForm(stored);
    else if (stored) this.settle(stored, false);
  }

  get storeKey() {
    return `predict:${this.exercise}${this.variant === null ? '' : `[${this.variant}]`}`;
  }

  get form() {
    return /** @type {HTMLFormElement} */ (this.querySelector('form'));
  }

  get result() {
    return /** @type {HTMLElement} */ (this.querySelector('[data-part=result]'));
  }

  /** @param {string} name @returns {string} */
  field(name) {
    return String(new FormData(this.form).get(name) ?? '').trim();
  }

  /** @param {number|null} value @param {boolean} skipped @returns {Prediction} */
  predictionFrom(value, skipped) {
    return { value, text: this.field('number'), reason: this.field('reason'), confidence: Number(this.field('confidence')) || null, skipped };
  }

  /** Half-written forms are kept too. */
  saveDraft() {
    remember(this.storeKey, { ...this.predictionFrom(null, false), draft: true });
  }

  /** @param {Prediction} draft */
  fillForm(draft) {
    const elements = /** @type {any} */ (this.form.elements);
    elements.number.value = draft.text ?? '';
    elements.reason.value = draft.reason ?? '';
    if (draft.confidence) elements.confidence.value = String(draft.confidence);
  }

  /**
   * A prediction that came by a link: into the empty form, not committed and not kept; beside what the reader has already.
   * @param {import('../cell/share-link.js').SharedPrediction} prediction
   */
  offerPrediction(prediction) {
    const isTaken = Boolean(recallData(this.storeKey));
    if (!isTaken) this.fillForm(/** @type {any} */ ({ text: '', reason: '', ...prediction }));
    const said = [prediction.text, prediction.reason].filter(Boolean).join(' · ');
    this.querySelector('.zl-linked')?.remove();
    this.form.insertAdjacentHTML('beforebegin', `<p class="zl-note zl-linked">${escapeHtml(text(isTaken ? 'page.predict.linked_beside' : 'page.predict.linked', { prediction: said }))}</p>`);
  }

  commit() {
    const parsed = readNumber(this.field('number'), this.unit ?? 'bytes');
    if ('problem' in parsed) {
      this.complain(parsed.problem);
      return;
    }
    this.complain('');
    this.settle(this.predictionFrom(parsed.value, false), true);
  }

  /** @param {string} problem  '' when there is none */
  complain(problem) {
    const place = /** @type {HTMLElement} */ (this.form.querySelector('[role=alert]'));
    const input = /** @type {HTMLInputElement} */ (/** @type {any} */ (this.form.elements).number);
    place.textContent = problem;
    input.setAttribute('aria-invalid', String(problem !== ''));
    if (problem) input.focus();
  }

  /** Tells the rest of the page that this exercise was committed, skipped or forgotten. */
  announce() {
    this.dispatchEvent(new CustomEvent('zero-predict', { bubbles: true, detail: { exercise: this.exercise } }));
  }

  /** Keeps the prediction and shows it beside the result. @param {Prediction} prediction @param {boolean} now  just committed, not remembered */
  async settle(prediction, now) {
    remember(this.storeKey, prediction);
    this.form.hidden = true;
    this.result.hidden = false;
    this.result.innerHTML = `<p class="zl-status" role="status">${escapeHtml(text('page.predict.loading'))}</p>`;
    if (now) this.result.focus({ preventScroll: true });
    this.announce();
    try {
      this.showResult(prediction, await fetchAnswer(this.exercise ?? '', this.variant ?? null), now);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.result.innerHTML = `<p class="zl-problem" role="alert">${escapeHtml(text(storageLasts() ? 'page.predict.unavailable' : 'page.predict.unavailable_not_kept', { reason }))}</p>`;
    }
  }

  /** @param {Prediction} prediction @param {Answer} answer @param {boolean} now */
  showResult(prediction, answer, now) {
    const judgement = prediction.value === null ? null : judge(answer, prediction.value);
    const options = { text, lang: pageLanguage(), tolerance: answer.tolerance };
    this.dataset.verdict = judgement?.verdict ?? 'skipped';
    this.dispatchEvent(new CustomEvent('zero-judged', { bubbles: true, detail: { prediction, verdict: this.dataset.verdict, unit: answer.unit, now } }));
    this.result.innerHTML = comparisonHtml(prediction, answer.answer, answer.unit, judgement, options)
      + `<p class="zl-ran">${escapeHtml(text('kit.predict.ran'))}</p>`;
    const cell = codeCell(`${this.exercise}-run${this.variant === null ? '' : `-${this.variant}`}`, answer.code);
    this.result.append(cell, this.againElement(answer), this.restartButton());
    if (now) this.runCell(cell);
  }

  /** Runs the exercise's code where the reader can see and change it; says so when Python does not come. @param {any} cell */
  async runCell(cell) {
    const sayComputed = () => {
      if (!cell.isConnected || this.querySelector('.zl-computed')) return; // forgotten meanwhile, or said before
      cell.insertAdjacentHTML('beforebegin', `<p class="zl-note zl-computed">${escapeHtml(text('page.predict.computed'))}</p>`);
    };
    try {
      const runner = await pageRunner();
      runner.addEventListener('state', () => runner.state === 'failed' && sayComputed());
      await customElements.whenDefined('zero-cell');
      if (cell.isConnected) cell.run();
    } catch {
      sayComputed(); // the runner's own script did not arrive
    }
  }

  restartButton() {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'zl-link';
    button.textContent = text('page.predict.restart');
    button.addEventListener('click', () => {
      remember(this.storeKey, undefined);
      delete this.dataset.verdict;
      this.result.replaceChildren();
      this.result.hidden = true;
      this.form.reset();
      this.form.hidden = false;
      this.announce();
      /** @type {any} */ (this.form.elements).number.focus();
    });
    return button;
  }

  /** The same question with inputs of the reader's own. @param {Answer} answer */
  againElement(answer) {
    const details = document.createElement('details');
    details.className = 'zl-again';
    const id = `${this.exercise}-again`;
    const fields = Object.entries(answer.inputs).filter(([, value]) => typeof value === 'number').map(([name, value]) =>
      `<div class="zl-field"><label for="${id}-${name}">${inputLabel(name)}</label><input id="${id}-${name}" name="input-${name}" value="${escapeHtml(groupDigits(value))}" spellcheck="false"></div>`);
    details.innerHTML = `<summary>${escapeHtml(text('page.predict.again'))}</summary><form autocomplete="off" novalidate>
      <div class="zl-again-fields">${fields.join('')}
      <div class="zl-field"><label for="${id}-number">${escapeHtml(text('kit.predict.number'))}</label><input id="${id}-number" name="number" spellcheck="false"></div></div>
      <p class="zl-problem" role="alert"></p><p class="zl-actions"><button class="zl-button" type="submit">${escapeHtml(text('kit.predict.commit'))}</button></p></form>
      <div data-part="again-result" tabindex="-1"></div>`;
    const form = /** @type {HTMLFormElement} */ (details.querySelector('form'));
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      tryAgain(answer, details, form);
    });
    return details;
  }
}

/** @param {Answer} answer @param {HTMLElement} place @param {HTMLFormElement} form */
async function tryAgain(answer, place, form) {
  const data = new FormData(form);
  const problem = /** @type {HTMLElement} */ (form.querySelector('[role=alert]'));
  const room = /** @type {HTMLElement} */ (place.querySelector('[data-part=again-result]'));
  const written = String(data.get('number') ?? '').trim();
  const parsed = readNumber(written, answer.unit);
  problem.textContent = 'problem' in parsed ? parsed.problem : '';
  if ('problem' in parsed) return;
  const inputs = Object.entries(answer.inputs).map(([name, value]) => [name, data.has(`input-${name}`) ? String(data.get(`input-${name}`)).trim() : value]);
  room.innerHTML = `<p class="zl-status" role="status">${escapeHtml(text('page.explore.loading'))}</p>`;
  const runner = await pageRunner();
  const run = await runner.run(againProgram(answer, inputs), { result: 'json', session: 'predict', limitMs: 20_000 });
  const failure = run.status !== 'ok' ? run.error ?? run.status : run.value.error;
  if (failure) {
    room.replaceChildren();
    problem.textContent = text('page.explore.failed', { reason: failure.trim().split('\n').at(-1) });
    return;
  }
  const values = { ...answer, answer: run.value.answer, mistakes: answer.mistakes.map((one, index) => ({ ...one, value: run.value.mistakes[index] })) };
  const prediction = { value: parsed.value, text: written, reason: '', confidence: null, skipped: false };
  room.innerHTML = comparisonHtml(prediction, values.answer, values.unit, judge(values, parsed.value), { text, lang: pageLanguage(), tolerance: answer.tolerance });
  room.focus({ preventScroll: true });
}

/** An input's name for the reader: its term, or its name in the code. @param {string} name */
function inputLabel(name) {
  const key = `term.${name}`;
  return hasText(key) ? escapeHtml(text(key)) : `<code>${escapeHtml(name)}</code>`;
}

/** @param {string} id @param {string|null} variant its number, or null @returns {Promise<Answer>} */
async function fetchAnswer(id, variant) {
  return variant === null ? siteData(`exercises/${encodeURIComponent(id)}`) : (await siteData(`variants/${encodeURIComponent(id)}`))[Number(variant)];
}

/** A live cell that holds `code`. @param {string} id @param {string} code @returns {any} */
function codeCell(id, code) {
  const cell = document.createElement('zero-cell');
  cell.setAttribute('cell-id', id);
  cell.setAttribute('session', 'predict');
  const pre = document.createElement('pre');
  pre.className = 'zl-code';
  pre.tabIndex = 0; // it may scroll sideways until the editor replaces it
  const inner = document.createElement('code');
  inner.textContent = code;
  pre.append(inner);
  cell.append(pre);
  return cell;
}

customElements.define('zero-predict', ZeroPredict);
