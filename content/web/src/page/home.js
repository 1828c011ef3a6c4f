/** On the course home: how much of each lesson is done, and the way back to where the reader stopped. */
import { text } from './page-data.js';
import { newestPlace } from './progress-data.js';
import { placeIn, progressLine } from './progress-text.js';
import { recallData } from './store.js';

/** @typedef {import('./progress-data.js').Place} Place */

const lessons = /** @type {HTMLElement[]} */ ([...document.querySelectorAll('[data-progress-of]')]);

function show() {
  const places = new Map(lessons.map(({ dataset }) => [dataset.progressOf ?? '', placeIn(dataset.progressOf ?? '')]));
  for (const lesson of lessons) showLesson(lesson, places.get(lesson.dataset.progressOf ?? '') ?? null);
  showWayBack(places);
  showQuiz();
}

/** @param {HTMLElement} lesson @param {Place|null} place */
function showLesson(lesson, place) {
  const line = /** @type {HTMLElement} */ (lesson.querySelector('[data-part=lesson-progress]'));
  line.textContent = progressLine(lesson.dataset.progressOf ?? '', (lesson.dataset.exercises ?? '').split(' ').filter(Boolean));
  line.hidden = !line.textContent;
  const start = /** @type {HTMLAnchorElement} */ (lesson.querySelector('[data-part=start]'));
  if (!place) return;
  start.hash = `#${place.cell}`;
  /** @type {Text} */ (start.firstChild).data = text('page.continue');
}

/** @param {Map<string, Place|null>} places */
function showWayBack(places) {
  const newest = newestPlace(places);
  const link = /** @type {HTMLAnchorElement|null} */ (document.querySelector('[data-part=continue]'));
  if (!newest || !link) return;
  const lesson = lessons.find(({ dataset }) => dataset.progressOf === newest);
  link.textContent = text('page.continue_at', { number: lesson?.dataset.number ?? '', title: lesson?.querySelector('strong')?.textContent ?? '' });
  link.href = `${newest}/#${places.get(newest)?.cell}`;
  /** @type {HTMLElement} */ (link.closest('p')).hidden = false;
}

function showQuiz() {
  const quiz = /** @type {HTMLElement|null} */ (document.querySelector('[data-items]'));
  if (!quiz) return;
  const items = (quiz.dataset.items ?? '').split(' ');
  const solved = items.filter((id) => recallData(`quiz:${id}`)?.solved).length;
  quiz.textContent = text('quiz.progress', { solved, count: items.length });
  quiz.hidden = solved === 0;
}

show();
addEventListener('pageshow', (event) => /** @type {PageTransitionEvent} */ (event).persisted && show()); // back from a lesson, the page as it was left
