/**
 * <zero-question exercise="id" kind="…">: one item of the self-test. The answer is fetched when the reader has answered
 * or asks for a hint or the solution. State is kept in the reader's browser under "quiz:<id>".
 */
import { escapeHtml } from './format.js';
import { judge } from './judge.js';
import { pageLanguage, text } from './page-data.js';
import { amountHtml } from './predict-view.js';
import { readNumber } from './read-number.js';
import { gradeChoice } from './grade.js';
import { isSheet, quizKey, seed } from './quiz-address.js';
import { afterAnswer, UNTOUCHED } from './quiz-data.js';
import { sectionHtml, showReview } from './quiz-review.js';
import { variantFor } from './seed.js';
import { siteData } from './site-data.js';
import { recallData, remember, storageLasts } from './store.js';

const MISSES_BEFORE_SOLUTION = 3;

/**
 * @typedef {import('./quiz-data.js').QuizState} QuizState
 * @typedef {{right: boolean, html: string, error?: number}} Grade
 */

class ZeroQuestion extends HTMLElement {
  connectedCallback() {
    if (this.exercise) return;
    this.exercise = this.getAttribute('exercise') ?? '';
    this.kind = this.getAttribute('kind') ?? 'number';
    this.drawVariant();
    /** @type {QuizState} */
    this.state = { ...UNTOUCHED, ...recallData(this.storeKey) };
    this.form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.check();
    });
    this.form.addEventListener('input', () => this.saveDraft());
    this.querySelector('[data-action=hint]')?.addEventListener('click', () => this.hint());
    this.querySelector('[data-action=solution]')?.addEventListener('click', () => this.solution(true));
    for (const button of this.querySelectorAll('[data-move]')) button.addEventListener('click', () => this.move(/** @type {HTMLElement} */ (button)));
    this.restore();
  }

  get storeKey() {
    return quizKey(this.exercise ?? '');
  }

  /** Asks the variant that the seed draws, if there is a seed and the item has variants. */
  drawVariant() {
    const prompts = JSON.parse(this.dataset.variants ?? '[]');
    this.variant = seed && prompts.length ? variantFor(seed, this.exercise ?? '', prompts.length) : null;
    if (this.variant !== null) /** @type {HTMLElement} */ (this.querySelector('legend')).textContent = prompts[this.variant];
  }

  get form() {
    return /** @type {HTMLFormElement} */ (this.querySelector('form'));
  }

  /** @param {string} name @returns {HTMLElement} */
  place(name) {
    return /** @type {HTMLElement} */ (this.querySelector(`[data-part=${name}]`));
  }

  /** @param {Partial<QuizState>} change */
  save(change) {
    this.state = { .../** @type {QuizState} */ (this.state), ...change };
    remember(this.storeKey, this.state);
    this.dispatchEvent(new CustomEvent('zero-quiz', { bubbles: true }));
  }

  /** What the reader has entered: a text, or the ids of options in order. */
  given() {
    if (this.kind === 'number') return String(new FormData(this.form).get('number') ?? '').trim();
    if (this.kind === 'ordering') return [...this.querySelectorAll('[data-option]')].map((item) => item.getAttribute('data-option'));
    return new FormData(this.form).getAll('option').map(String);
  }

  /** How sure the reader says to be, 1 to 3, or null. */
  confidence() {
    return Number(new FormData(this.form).get('confidence')) || null;
  }

  /** An answer that is not checked yet is kept too. */
  saveDraft() {
    this.state = { .../** @type {QuizState} */ (this.state), draft: this.given(), confidence: this.confidence() };
    remember(this.storeKey, this.state);
  }

  /** Puts back what was entered and shown before a reload. */
  async restore() {
    if (isSheet) {
      const key = await this.answer();
      if (key) this.showSolution(key);
      return;
    }
    const { given, draft = given, confidence, hints, shown, solved } = /** @type {QuizState} */ (this.state);
    if (draft !== undefined) this.fill(draft);
    if (confidence) /** @type {any} */ (this.form.elements).confidence.value = String(confidence);
    if (given !== undefined || hints || shown) this.dataset.verdict = solved ? 'right' : 'open';
    if (!hints && !shown && !solved) return;
    const answer = await this.answer();
    if (!answer) return;
    if (solved) this.place('feedback').innerHTML = this.grade(answer, given).html;
    if (hints) this.showHints(answer);
    if (shown) this.showSolution(answer);
  }

  /** @param {any} given */
  fill(given) {
    if (this.kind === 'number') /** @type {any} */ (this.form.elements).number.value = given;
    else if (this.kind === 'ordering') {
      const list = this.querySelector('.zl-order');
      for (const id of given) {
        const item = this.querySelector(`[data-option="${CSS.escape(id)}"]`);
        if (item) list?.append(item);
      }
    } else for (const input of /** @type {NodeListOf<HTMLInputElement>} */ (this.querySelectorAll('[name=option]'))) input.checked = given.includes(input.value);
  }

  /** @param {HTMLElement} button */
  move(button) {
    const item = /** @type {HTMLElement} */ (button.closest('[data-option]'));
    const other = button.dataset.move === '-1' ? item.previousElementSibling : item.nextElementSibling;
    if (!other) return;
    if (button.dataset.move === '-1') other.before(item);
    else other.after(item);
    button.focus();
    const place = [...(item.parentElement?.children ?? [])].indexOf(item) + 1;
    this.saveDraft();
    this.place('feedback').textContent = text('quiz.moved', { option: item.querySelector('span')?.textContent ?? '', place });
  }

  /** @param {string} problem */
  complain(problem) {
    /** @type {HTMLElement} */ (this.form.querySelector('[role=alert]')).textContent = problem;
    const input = /** @type {HTMLElement|null} */ (this.form.querySelector('[name]'));
    if (this.kind === 'number') input?.setAttribute('aria-invalid', String(problem !== ''));
    if (problem) input?.focus();
  }

  async check() {
    const given = this.given();
    const problem = this.problemWith(given);
    this.complain(problem);
    if (problem) return;
    const answer = await this.answer();
    if (!answer) return;
    const grade = this.grade(answer, given);
    const state = afterAnswer(/** @type {QuizState} */ (this.state), given, this.answerKept(given, grade));
    this.save({ ...state, draft: undefined });
    this.dataset.verdict = grade.right ? 'right' : 'open';
    const isSolutionDue = !grade.right && state.misses >= MISSES_BEFORE_SOLUTION;
    this.place('feedback').innerHTML = grade.html + (grade.right ? '' : `<p>${sectionHtml(this)}</p>`)
      + (isSolutionDue ? `<p>${escapeHtml(text('quiz.solution_below'))}</p>` : '');
    if (isSolutionDue) this.solution(false);
  }

  /** This answer as the review and the calibration page need it. @param {any} given @param {Grade} grade */
  answerKept(given, grade) {
    const said = this.kind === 'number' ? given : given.map((/** @type {string} */ id) => this.optionText(id)).join(' · ');
    const prompt = this.variant === null ? null : this.querySelector('legend')?.textContent ?? null; // a variant's own numbers
    return { right: grade.right, confidence: this.confidence(), given: said, error: grade.error ?? null, prompt };
  }

  /** Why `given` cannot be judged yet; '' when it can. @param {any} given */
  problemWith(given) {
    if (this.kind !== 'number') return given.length ? '' : text('quiz.choose');
    const parsed = readNumber(given, this.getAttribute('unit') ?? 'bytes');
    return 'problem' in parsed ? parsed.problem : '';
  }

  /** @param {any} answer @param {any} given @returns {Grade} */
  grade(answer, given) {
    return this.kind === 'number' ? gradeNumber(answer, given) : choiceHtml(gradeChoice(answer, given), answer);
  }

  /** The item's answer file; null, and said so, when it does not come. @returns {Promise<any>} */
  async answer() {
    const variant = this.variant ?? null;
    const folder = variant !== null ? 'variants' : this.kind === 'number' ? 'exercises' : 'questions';
    try {
      const data = await siteData(`${folder}/${encodeURIComponent(this.exercise ?? '')}`);
      return variant === null ? data : data[variant];
    } catch (error) {
      this.complain(text('page.predict.unavailable', { reason: error instanceof Error ? error.message : String(error) }));
      return null;
    }
  }

  async hint() {
    const answer = await this.answer();
    if (!answer) return;
    this.save({ hints: Math.min(hintsOf(answer).length, /** @type {QuizState} */ (this.state).hints + 1) });
    this.showHints(answer);
    this.place('hints').focus({ preventScroll: true });
  }

  /** @param {any} answer */
  showHints(answer) {
    const hints = hintsOf(answer);
    const { hints: count } = /** @type {QuizState} */ (this.state);
    const room = this.place('hints');
    room.hidden = false;
    room.innerHTML = hints.slice(0, count).map((hint, at) => `<p><b>${escapeHtml(text('quiz.hint_number', { number: at + 1, count: hints.length }))}</b> ${escapeHtml(hint)}</p>`).join('');
    /** @type {HTMLButtonElement} */ (this.querySelector('[data-action=hint]')).disabled = count >= hints.length;
  }

  /** @param {boolean} asked */
  async solution(asked) {
    const answer = await this.answer();
    if (!answer) return;
    this.save({ shown: true });
    this.showSolution(answer);
    if (asked) this.place('solution').focus({ preventScroll: true });
  }

  /** @param {any} answer */
  showSolution(answer) {
    const room = this.place('solution');
    room.hidden = false;
    room.innerHTML = `<p><b>${escapeHtml(text('quiz.solution_heading'))}</b></p>${this.kind === 'number' ? numberSolution(answer) : this.choiceSolution(answer)}`;
  }

  /** @param {any} answer */
  choiceSolution(answer) {
    const list = this.kind === 'ordering' ? 'ol' : 'ul';
    const items = answer.answer.map((/** @type {string} */ id) => `<li>${escapeHtml(this.optionText(id))}</li>`).join('');
    return `<${list}>${items}</${list}><p>${escapeHtml(answer.solution[pageLanguage()])}</p>`;
  }

  /** @param {string} id */
  optionText(id) {
    const label = this.querySelector(`[data-option="${CSS.escape(id)}"] > span, .zl-option:has([value="${CSS.escape(id)}"]) > span`);
    return label?.textContent ?? id;
  }
}

/** @param {import('./judge.js').Answer} answer @param {string} given @returns {Grade} */
function gradeNumber(answer, given) {
  const parsed = readNumber(given, answer.unit);
  if ('problem' in parsed) return { right: false, html: escapeHtml(parsed.problem) };
  const { verdict, mistake, relativeError } = judge(answer, parsed.value);
  const tolerance = `${answer.tolerance * 100}%`;
  const words = verdict === 'wrong' ? text('quiz.wrong') : verdict === 'mistake' ? text('kit.predict.mistake') : text(`kit.predict.${verdict}`, { tolerance });
  const named = mistake ? ` <strong>${escapeHtml(mistake.text[pageLanguage()])}</strong>` : '';
  return { right: verdict === 'right', error: relativeError, html: `<p class="zl-verdict-line zl-${verdict}">${escapeHtml(words)}${named}</p>` };
}

/** @param {import('./grade.js').ChoiceGrade} grade @param {any} answer @returns {Grade} */
function choiceHtml({ right, partly, explain }, answer) {
  const reasons = explain.map((id) => answer.because[id]?.[pageLanguage()]).filter(Boolean).map((reason) => ` ${escapeHtml(reason)}`).join('');
  const words = right ? text('quiz.right') : partly ? text('quiz.partly', partly) : text('quiz.wrong');
  return { right, html: `<p class="zl-verdict-line${right ? ' zl-right' : ''}">${escapeHtml(words)}${reasons}</p>` };
}

/** The hints of an item in the page's language; numbers have two that hold for all of them. @param {any} answer @returns {string[]} */
function hintsOf(answer) {
  if (answer.hints?.length) return answer.hints.map((/** @type {Record<string, string>} */ hint) => hint[pageLanguage()]);
  const [first] = answer.mistakes;
  return first ? [text('quiz.hint_rows'), text('quiz.hint_trap', { mistake: first.text[pageLanguage()] })] : [text('quiz.hint_rows')];
}

/** The import that a cell needs and a sheet of answers does not repeat. */
const IMPORT = 'from zeroledger import *\n\n';

/** @param {import('./judge.js').Answer} answer */
function numberSolution(answer) {
  const code = isSheet && answer.code.startsWith(IMPORT) ? answer.code.slice(IMPORT.length) : answer.code;
  return `<p class="zl-amount">${amountHtml(answer.answer, answer.unit)}</p><p>${escapeHtml(text('quiz.code'))}</p><pre class="zl-code" tabindex="0"><code>${escapeHtml(code)}</code></pre>`;
}

/** Says which seed the page was opened with, and whether it is the instructor's sheet. */
function announceSeed() {
  const place = /** @type {HTMLElement} */ (document.querySelector('[data-part=quiz-seed]'));
  place.hidden = !seed && !isSheet;
  place.textContent = text(isSheet ? 'quiz.sheet_note' : 'quiz.seed_note', { seed: seed || '–' });
  document.querySelector('main')?.classList.toggle('zl-sheet', isSheet);
  for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll('[data-language]'))) link.search = location.search;
}

announceSeed();
customElements.define('zero-question', ZeroQuestion);

const items = [...document.querySelectorAll('zero-question')];
const progress = /** @type {HTMLElement} */ (document.querySelector('[data-part=quiz-progress]'));
const keys = items.map((item) => quizKey(item.getAttribute('exercise') ?? ''));

function showProgress() {
  const solved = keys.filter((key) => recallData(key)?.solved).length;
  const words = text('quiz.progress', { solved, count: items.length });
  if (progress.textContent !== words) progress.textContent = words; // or a screen reader would hear it again
  showReview();
}

document.addEventListener('zero-quiz', showProgress);
if (!storageLasts()) progress.insertAdjacentHTML('afterend', `<p class="zl-note">${escapeHtml(text('page.not_kept'))}</p>`);
document.querySelector('[data-action=forget-quiz]')?.addEventListener('click', () => {
  if (!confirm(text('quiz.forget_sure'))) return;
  keys.forEach((key) => remember(key, undefined));
  location.reload();
});
showProgress();
