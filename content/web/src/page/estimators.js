/** <zero-estimators>: the table of other estimators for a model, N and stage of the reader's own, computed by the package. */
import { estimatorsHtml } from './estimators-view.js';
import { pageRunner, pageStrings, text } from './page-data.js';

const NUMBERS = ['dp_size', 'stage', 'seq_length', 'micro_batch_size'];
const CONFIG_LIMIT_CHARS = 200_000;

class ZeroEstimators extends HTMLElement {
  connectedCallback() {
    this.addEventListener('submit', (event) => {
      event.preventDefault();
      this.compute();
    });
    this.addEventListener('change', (event) => {
      const name = /** @type {HTMLElement} */ (event.target).getAttribute('name');
      if (name === 'model') this.chooseModel();
      if (name !== 'config' && !this.isOwnEmpty()) this.compute();
    });
    this.chooseModel();
    /** @type {HTMLFieldSetElement} */ (this.querySelector('fieldset')).disabled = false; // before this, a choice would have been lost
  }

  /** @param {string} name @returns {HTMLInputElement} */
  field(name) {
    return /** @type {HTMLInputElement} */ (this.querySelector(`[name=${name}]`));
  }

  isOwnEmpty() {
    return this.field('model').value === 'own' && !this.field('config').value.trim();
  }

  chooseModel() {
    const isOwn = this.field('model').value === 'own';
    /** @type {HTMLElement} */ (this.querySelector('[data-part=own]')).hidden = !isOwn;
  }

  async compute() {
    const request = (this.request = (this.request ?? 0) + 1);
    const asked = Object.fromEntries(NUMBERS.map((name) => [name, Number(this.field(name).value)]));
    const config = this.field('config').value.slice(0, CONFIG_LIMIT_CHARS);
    this.say(text('page.estimators.computing'));
    let answer;
    try {
      const runner = await pageRunner();
      const done = await runner.run(program(this.field('model').value, config, asked), { result: 'json', session: 'estimators', limitMs: 30_000 });
      answer = done.status === 'ok' ? done.value : { error: (done.error ?? done.status).trim().split('\n').at(-1) };
    } catch (error) {
      answer = { error: error instanceof Error ? error.message : String(error) };
    }
    if (request !== this.request) return;
    if (answer.error) {
      this.say(text('page.estimators.failed', { reason: answer.error }), true);
      return;
    }
    const table = /** @type {HTMLElement} */ (this.querySelector('[data-part=table]'));
    table.innerHTML = estimatorsHtml(answer, pageStrings(), /** @type {any} */ ({ ...asked, seq_length: answer.seq_length }));
    this.say(text('page.estimators.done'));
  }

  /** @param {string} message @param {boolean} [isProblem] */
  say(message, isProblem = false) {
    const status = /** @type {HTMLElement} */ (this.querySelector('[data-part=status]'));
    status.textContent = message;
    status.classList.toggle('zl-problem', isProblem);
  }
}

/** @param {string} model @param {string} config @param {Record<string, number>} asked */
function program(model, config, asked) {
  const chosen = model === 'own' ? `model_from_hf_config(${JSON.stringify(config)})` : JSON.stringify(model);
  const numbers = NUMBERS.map((name) => `${name}=float(${JSON.stringify(String(asked[name]))})`).join(', ');
  return `
from zeroledger import compare_estimators, model_from_hf_config

try:
    _told = compare_estimators(${chosen}, ${numbers})
    _answer = {**_told.as_dict(), "seq_length": _told.peak.training.seq_length}
except ValueError as error:
    _answer = {"error": str(error)}
_answer`;
}

customElements.define('zero-estimators', ZeroEstimators);
