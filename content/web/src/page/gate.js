/**
 * Holds back what tells an exercise's answer until the reader has committed a prediction or skipped it. The build marks
 * such parts `data-after="exercise-id …"`; their content is taken out of the page, not merely hidden. The element itself
 * stays with its id, so that links to it and the table of contents keep their place.
 */
import { escapeHtml } from './format.js';
import { text } from './page-data.js';
import { settledPrediction } from './settled.js';

class Gate {
  /** @param {HTMLElement} element */
  constructor(element) {
    this.element = element;
    this.exercises = (element.dataset.after ?? '').split(' ');
    this.kept = document.createDocumentFragment();
    this.open = true;
    this.update();
  }

  get waitingFor() {
    return this.exercises.filter((id) => !settledPrediction(id));
  }

  update() {
    const open = this.waitingFor.length === 0;
    if (open !== this.open) {
      if (open) this.element.replaceChildren(this.kept);
      else this.close();
      this.open = open;
    }
    this.element.dataset.gate = open ? 'open' : 'closed';
  }

  close() {
    const heading = this.element.querySelector('h2, h3')?.cloneNode(true);
    this.kept.append(...this.element.childNodes);
    if (heading) this.element.append(heading);
    this.element.insertAdjacentHTML('beforeend', `<p class="zl-gate">${escapeHtml(text('page.gate.waiting'))} `
      + `<button type="button" class="zl-link">${escapeHtml(text('page.gate.skip'))}</button></p>`);
    this.element.querySelector('.zl-gate button')?.addEventListener('click', () => this.skip());
  }

  /** Skips what is still open, then puts the reader where the text now stands. */
  skip() {
    for (const id of this.waitingFor) {
      /** @type {HTMLElement|null} */ (document.querySelector(`zero-predict[exercise="${CSS.escape(id)}"] [data-action=skip]`))?.click();
    }
    this.element.tabIndex = -1;
    this.element.focus({ preventScroll: true });
  }
}

/** @type {Gate[]} */
const gates = [...document.querySelectorAll('[data-after]')].map((element) => new Gate(/** @type {HTMLElement} */ (element)));
document.addEventListener('zero-predict', () => gates.forEach((gate) => gate.update()));
