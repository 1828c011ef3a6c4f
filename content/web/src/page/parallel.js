/** <zero-parallel>: lesson 6's chart brought to life. Every setting is a look-up; the settings survive a reload. */
import { lessonSlug, pageStrings } from './page-data.js';
import { parallelAnnouncement, parallelChartsHtml, parallelTableHtml, usableSettings } from './parallel-view.js';
import { recallData, remember } from './store.js';

const ANNOUNCE_AFTER_MS = 400;

class ZeroParallel extends HTMLElement {
  connectedCallback() {
    if (this.storeKey) return;
    /** @type {import('./parallel-view.js').ParallelGrid} */
    this.grid = JSON.parse(this.querySelector('script')?.textContent ?? 'null');
    this.storeKey = `parallel:${lessonSlug()}`;
    const stored = recallData(this.storeKey);
    this.settings = usableSettings(this.grid, stored, this.read());
    this.addEventListener('input', () => this.change());
    this.addEventListener('submit', (event) => event.preventDefault());
    if (stored) this.write();
    if (stored) this.render();
  }

  /** The settings as the controls have them. @returns {import('./parallel-view.js').ParallelSettings} */
  read() {
    const checked = (/** @type {string} */ name) => /** @type {HTMLInputElement} */ (this.querySelector(`[data-control=${name}] input:checked`)).value;
    return {
      model: /** @type {HTMLSelectElement} */ (this.querySelector('[data-control=model]')).value,
      tp_size: Number(checked('tp_size')),
      stage: Number(checked('stage')),
      recompute: checked('recompute'),
      sequence_parallel: /** @type {HTMLInputElement} */ (this.querySelector('[data-control=sequence_parallel]')).checked,
    };
  }

  /** Sets the controls to the settings. */
  write() {
    const { model, sequence_parallel: sp, ...choices } = /** @type {import('./parallel-view.js').ParallelSettings} */ (this.settings);
    /** @type {HTMLSelectElement} */ (this.querySelector('[data-control=model]')).value = model;
    /** @type {HTMLInputElement} */ (this.querySelector('[data-control=sequence_parallel]')).checked = sp;
    for (const [name, value] of Object.entries(choices)) {
      /** @type {HTMLInputElement} */ (this.querySelector(`[data-control=${name}] input[value="${value}"]`)).checked = true;
    }
  }

  change() {
    this.settings = this.read();
    this.render();
    remember(this.storeKey ?? '', this.settings);
  }

  render() {
    const grid = /** @type {import('./parallel-view.js').ParallelGrid} */ (this.grid);
    const settings = /** @type {import('./parallel-view.js').ParallelSettings} */ (this.settings);
    const strings = pageStrings();
    const part = (/** @type {string} */ name) => /** @type {HTMLElement} */ (this.querySelector(`[data-part=${name}]`));
    part('chart').innerHTML = parallelChartsHtml(grid, settings, strings, this.id);
    part('table').innerHTML = parallelTableHtml(grid, settings, strings);
    clearTimeout(this.announceTimer);
    this.announceTimer = setTimeout(() => { part('announce').textContent = parallelAnnouncement(grid, settings, strings); }, ANNOUNCE_AFTER_MS);
  }
}

customElements.define('zero-parallel', ZeroParallel);
