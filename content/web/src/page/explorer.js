/**
 * <zero-explorer>: brings the controls that the build wrote to life. Every listed setting is a look-up in the page's
 * grid; only a count or config of the reader's own asks Python. The selection survives a reload.
 */
import { announcement, chartsHtml, formulaHtml, tableHtml, verdictHtml } from './ledger-view.js';
import { groupDigits } from './format.js';
import { lessonSlug, pageGrid, pageRunner, pageStrings, text } from './page-data.js';
import { selectionFrom, storedFrom } from './selection.js';
import { recallData, remember } from './store.js';

const CONFIG_LIMIT_CHARS = 200_000;
const ANNOUNCE_AFTER_MS = 400;

class ZeroExplorer extends HTMLElement {
  connectedCallback() {
    const grid = pageGrid();
    if (!grid || this.grid) return;
    this.grid = grid;
    this.storeKey = `explorer:${lessonSlug()}`;
    const stored = recallData(this.storeKey);
    /** @type {import('./ledger-view.js').GridModel|null} */
    this.custom = isModel(stored?.custom, grid) ? stored.custom : null;
    this.selection = selectionFrom(grid, stored ?? this.startFromControls(), this.custom);
    this.addEventListener('input', (event) => this.onInput(event));
    this.addEventListener('submit', (event) => event.preventDefault());
    this.querySelector('[data-action=apply]')?.addEventListener('click', () => this.applyCustom());
    this.wireCustom();
    this.showControls();
    this.showOptionOfCustom();
    if (stored) this.render();
  }

  /** The selection that the lesson asked for, as the build wrote it into the controls. */
  startFromControls() {
    const checked = (/** @type {string} */ name) =>
      /** @type {HTMLInputElement|null} */ (this.querySelector(`[data-control=${name}] input:checked`))?.value;
    return {
      model: this.control('model').value,
      dp_size: this.grid?.dp_sizes[Number(this.control('n').value)],
      stage: Number(checked('stage')),
      unit: checked('unit'),
    };
  }

  /** @param {string} name @returns {HTMLInputElement} */
  control(name) {
    return /** @type {HTMLInputElement} */ (this.querySelector(`[data-control=${name}]`));
  }

  /** @param {string} name @returns {HTMLElement} */
  piece(name) {
    return /** @type {HTMLElement} */ (this.querySelector(`[data-part=${name}]`));
  }

  get textarea() {
    return /** @type {HTMLTextAreaElement} */ (this.querySelector('textarea'));
  }

  /** @param {Event} event */
  onInput(event) {
    const target = /** @type {HTMLInputElement} */ (event.target);
    const name = target.closest('[data-control]')?.getAttribute('data-control');
    if (!name || !this.grid) return;
    if (name === 'model') this.chooseModel(target.value);
    if (name === 'n') this.change({ dpIndex: Number(target.value) });
    if (name === 'stage') this.change({ stage: Number(target.value) });
    if (name === 'unit') this.change({ unit: target.value });
    if (name === 'zoom') this.change({ zoom: target.checked });
  }

  /** @param {string} id */
  chooseModel(id) {
    this.piece('custom').hidden = id !== 'custom';
    this.say('');
    const model = id === 'custom' ? this.custom : this.grid?.models.find((one) => one.id === id);
    if (model) this.change({ model });
    if (id === 'custom') this.textarea.focus();
  }

  /** @param {Partial<import('./ledger-view.js').Selection>} changes */
  change(changes) {
    this.selection = { .../** @type {any} */ (this.selection), ...changes };
    this.render();
    remember(this.storeKey ?? '', { ...storedFrom(/** @type {any} */ (this.grid), /** @type {any} */ (this.selection)), custom: this.custom ?? undefined });
  }

  render() {
    const grid = /** @type {import('./ledger-view.js').Grid} */ (this.grid);
    const selection = /** @type {import('./ledger-view.js').Selection} */ (this.selection);
    const strings = pageStrings();
    const dpSize = grid.dp_sizes[selection.dpIndex];
    this.piece('n').textContent = String(dpSize);
    this.control('n').setAttribute('aria-valuetext', `N = ${dpSize}`);
    this.piece('chart').innerHTML = chartsHtml(grid, selection, strings, this.id);
    this.piece('table').innerHTML = tableHtml(grid, selection, strings);
    this.piece('formula').innerHTML = formulaHtml(grid, selection);
    this.piece('verdict').innerHTML = verdictHtml(grid, selection, strings);
    clearTimeout(this.announceTimer);
    this.announceTimer = setTimeout(() => { this.piece('announce').textContent = announcement(grid, selection, strings); }, ANNOUNCE_AFTER_MS);
  }

  /** Sets the controls to the selection. */
  showControls() {
    const { model, dpIndex, stage, unit, zoom } = /** @type {import('./ledger-view.js').Selection} */ (this.selection);
    this.control('model').value = model.id;
    this.control('n').value = String(dpIndex);
    this.control('zoom').checked = zoom;
    for (const [name, value] of /** @type {[string, string|number][]} */ ([['stage', stage], ['unit', unit]])) {
      const input = this.querySelector(`[data-control=${name}] input[value="${value}"]`);
      if (input) /** @type {HTMLInputElement} */ (input).checked = true;
    }
    this.piece('custom').hidden = model.id !== 'custom';
  }

  showOptionOfCustom() {
    const option = this.querySelector('option[value=custom]');
    if (option && this.custom) option.textContent = `${text('page.explore.custom_title')} (${groupDigits(this.custom.num_params)})`;
  }

  wireCustom() {
    const area = this.textarea;
    area.addEventListener('keydown', (event) => {
      const isConfig = area.value.trimStart().startsWith('{');
      if (event.key !== 'Enter' || event.shiftKey || (isConfig && !event.ctrlKey && !event.metaKey)) return;
      event.preventDefault();
      this.applyCustom();
    });
    area.addEventListener('paste', () => setTimeout(() => area.value.trimStart().startsWith('{') && this.applyCustom()));
    this.addEventListener('dragover', (event) => {
      if (event.dataTransfer?.types.includes('Files')) event.preventDefault();
    });
    this.addEventListener('drop', async (event) => {
      const file = event.dataTransfer?.files[0];
      if (!file) return;
      event.preventDefault();
      this.control('model').value = 'custom';
      this.piece('custom').hidden = false;
      if (file.size > CONFIG_LIMIT_CHARS) {
        this.say(text('page.explore.too_large', { name: file.name }), true);
        return;
      }
      area.value = await file.text();
      this.applyCustom();
    });
  }

  /** Has Python count what the reader wrote, and shows that model. */
  async applyCustom() {
    const grid = /** @type {import('./ledger-view.js').Grid} */ (this.grid);
    const given = this.textarea.value.trim();
    if (!given) {
      this.say(text('page.explore.empty'), true);
      return;
    }
    const request = (this.request = (this.request ?? 0) + 1); // only the newest answer counts
    this.say(text('page.explore.loading'));
    const result = await countInPython(grid, given, (message) => request === this.request && this.say(message));
    if (request !== this.request) return;
    if ('failure' in result) {
      this.say(text(result.loaded ? 'page.explore.failed' : 'page.explore.no_python', { reason: result.failure }), true);
      return;
    }
    this.custom = result.model;
    this.say(text('page.explore.counted', { num_params: groupDigits(result.model.num_params) }));
    this.showOptionOfCustom();
    this.change({ model: result.model });
  }

  /** @param {string} message @param {boolean} [isProblem] */
  say(message, isProblem = false) {
    const status = this.piece('status');
    status.textContent = message;
    status.classList.toggle('zl-problem', isProblem);
    this.textarea.setAttribute('aria-invalid', String(isProblem));
  }
}

/**
 * @param {import('./ledger-view.js').Grid} grid @param {string} given @param {(message: string) => void} say
 * @returns {Promise<{model: import('./ledger-view.js').GridModel} | {failure: string, loaded: boolean}>}
 */
async function countInPython(grid, given, say) {
  let run;
  try {
    const runner = await pageRunner();
    run = await runner.run(workerProgram(grid, given), {
      result: 'json', session: 'explorer', limitMs: 20_000, onStart: () => say(text('page.explore.counting')),
    });
  } catch (error) {
    return { failure: String(error), loaded: false };
  }
  if (run.status !== 'ok') return { failure: lastLine(run.error ?? run.status), loaded: run.errorType !== 'LoadError' };
  if (run.value.error) return { failure: run.value.error, loaded: true };
  return isModel(run.value, grid) ? { model: run.value } : { failure: 'unexpected answer', loaded: true };
}

/** The build's own functions, called on the reader's text. @param {import('./ledger-view.js').Grid} grid @param {string} given */
function workerProgram(grid, given) {
  const title = JSON.stringify(text('page.explore.custom_title'));
  return `${grid.worker_source}
_model = read_model(${JSON.stringify(given)}, ${title})
_model if "error" in _model else model_entry(_model, ${JSON.stringify(grid.dp_sizes)}, ${JSON.stringify(grid.recipe)})
`;
}

/** Whether `value`, from storage or the worker, has the grid's shape. @param {any} value @param {import('./ledger-view.js').Grid} grid */
function isModel(value, grid) {
  const isRow = (/** @type {any} */ row) => Array.isArray(row) && row.length === grid.stages.length;
  return Number.isSafeInteger(value?.num_params) && [value.totals, value.bytes].every(
    (table) => Array.isArray(table) && table.length === grid.dp_sizes.length && table.every(isRow));
}

/** @param {string} message */
function lastLine(message) {
  return message.trim().split('\n').at(-1) ?? message;
}

customElements.define('zero-explorer', ZeroExplorer);
