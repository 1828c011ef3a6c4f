/** The list at the end of the self-test: what to look at again, confident errors first. */
import { escapeHtml } from './format.js';
import { text } from './page-data.js';
import { quizKey } from './quiz-address.js';
import { toReview, UNTOUCHED } from './quiz-data.js';
import { recallData } from './store.js';

const room = /** @type {HTMLElement} */ (document.querySelector('[data-part=quiz-review]'));

export function showReview() {
  const items = /** @type {HTMLElement[]} */ ([...document.querySelectorAll('zero-question')]);
  const entries = items.map((item) => ({ item, state: { ...UNTOUCHED, ...recallData(quizKey(item.getAttribute('exercise') ?? '')) } }));
  const rows = toReview(entries);
  room.innerHTML = rows.length
    ? `<p>${escapeHtml(text('quiz.review_intro'))}</p><ol class="zl-review">${rows.map(rowHtml).join('')}</ol>`
    : `<p>${escapeHtml(text('quiz.review_none'))}</p>`;
}

/** @param {{item: HTMLElement, state: import('./quiz-data.js').QuizState}} entry */
function rowHtml({ item, state }) {
  const said = [
    ...(state.sure ? [text(`kit.predict.confidence_${state.sure}`)] : []),
    ...(state.misses ? [text('quiz.review_misses', { count: state.misses })] : []),
    text(state.solved ? 'quiz.review_solved' : state.shown ? 'quiz.review_shown' : 'quiz.review_open'),
  ];
  return `<li><a href="#q-${escapeHtml(item.getAttribute('exercise') ?? '')}">${escapeHtml(item.querySelector('legend')?.textContent ?? '')}</a>`
    + `<p class="zl-note-small">${escapeHtml(said.join(' · '))}</p><p class="zl-note-small">${sectionHtml(item)}</p></li>`;
}

/** The way to the section of the lesson that an item belongs to. @param {HTMLElement} item */
export function sectionHtml({ dataset }) {
  const words = text('quiz.read_section', { number: dataset.lessonNumber ?? '', section: dataset.section ?? '' });
  return `<a href="${escapeHtml(dataset.sectionUrl ?? '')}">${escapeHtml(words)}</a>`;
}
