/**
 * On a lesson: says how much is done, keeps the place where the reader is, and offers the one where they stopped. It
 * never moves the page by itself, and offers nothing to a reader who came by a link to a place. Where nothing can be kept
 * it says so.
 */
import { escapeHtml } from './format.js';
import { cellAtTop, cellsOf } from './language.js';
import { lessonSlug, text } from './page-data.js';
import { shareSeen } from './progress-data.js';
import { placeIn, progressLine } from './progress-text.js';
import { remember, storageLasts } from './store.js';

const line = document.querySelector('[data-part=progress]');
const exercises = [...document.querySelectorAll('zero-predict')].map((one) => one.getAttribute('exercise') ?? '');
const slug = lessonSlug();
/** @type {HTMLElement|null} */
let offer = null;
let hasMoved = false;
let isDue = false;

function showProgress() {
  if (line) line.textContent = progressLine(slug, exercises) || line.textContent;
}

/** Remembers where the reader is; while the older place is still on offer, only how far they have been. */
function keepPlace() {
  isDue = false;
  const cells = cellsOf(document);
  const here = cellAtTop(cells);
  const before = placeIn(slug);
  const share = Math.max(before?.share ?? 0, shareSeen(cells.map(({ top }) => top), innerHeight));
  if (offer && cells.findIndex(({ id }) => id === here) >= cells.findIndex(({ id }) => id === before?.cell)) closeOffer();
  const cell = offer ? before?.cell : here;
  if (cell) remember(`place:${slug}`, { cell, share, at: Date.now() });
  showProgress();
}

/** The heading that the cell `id` stands under. @param {string} id */
function headingOf(id) {
  let heading = '';
  for (const cell of document.querySelectorAll('.zl-cell[id]')) {
    heading = cell.querySelector('h2')?.textContent ?? heading;
    if (cell.id === id) break;
  }
  return heading;
}

function offerPlace() {
  const place = placeIn(slug);
  const cell = place && document.getElementById(place.cell);
  const isAtTop = scrollY < innerHeight / 2; // a browser that reloads restores the place itself
  if (!cell || location.hash || !isAtTop || cell.getBoundingClientRect().top < innerHeight) return;
  offer = document.createElement('section');
  offer.className = 'zl-resume';
  offer.setAttribute('aria-label', text('page.resume.region'));
  const section = headingOf(cell.id);
  offer.innerHTML = `${section ? `<p>${escapeHtml(text('page.resume.stopped', { section }))}</p>` : ''}`
    + `<button type="button" class="zl-button" data-action="resume">${escapeHtml(text('page.resume.go'))}</button>`
    + `<button type="button" class="zl-button zl-quiet" data-action="stay">${escapeHtml(text('page.resume.dismiss'))}</button>`;
  document.querySelector('.zl-title')?.append(offer);
  offer.querySelector('[data-action=resume]')?.addEventListener('click', () => goTo(cell));
  offer.querySelector('[data-action=stay]')?.addEventListener('click', () => {
    closeOffer();
    const heading = /** @type {HTMLElement|null} */ (document.querySelector('h1'));
    if (heading) heading.tabIndex = -1;
    heading?.focus({ preventScroll: true });
  });
}

/** @param {HTMLElement} cell */
function goTo(cell) {
  closeOffer();
  cell.scrollIntoView({ behavior: 'instant', block: 'start' });
  cell.tabIndex = -1;
  cell.focus({ preventScroll: true });
}

function closeOffer() {
  offer?.remove();
  offer = null;
}

if (line) {
  if (!storageLasts()) line.insertAdjacentHTML('afterend', `<p class="zl-note">${escapeHtml(`${text('page.not_kept')} ${text('page.notebook_needs_storage')}`)}</p>`);
  showProgress();
  document.addEventListener('zero-predict', showProgress);
  // Only what the reader does counts as reading: not a jump to a link's place, nor a browser restoring one.
  for (const kind of ['wheel', 'touchmove', 'keydown', 'pointerdown']) addEventListener(kind, () => { hasMoved = true; }, { passive: true });
  addEventListener('scroll', () => {
    if (!hasMoved || isDue) return;
    isDue = true;
    setTimeout(keepPlace, 250);
  }, { passive: true });
  addEventListener('pagehide', () => hasMoved && isDue && keepPlace());
  if (document.readyState === 'complete') offerPlace();
  else addEventListener('load', () => requestAnimationFrame(offerPlace));
}
