/** "Your own run": a file of the reader's, read and explained by the package in the page's own Python. Nothing is sent anywhere. */
import { reportHtml } from './measured-view.js';
import { pageRunner, pageStrings, siteBase, text } from './page-data.js';

const LARGEST_BYTES = 32_000_000;
const CHUNK_CHARS = 1_000_000; // of a program's text
const HEAD_BYTES = 8; // enough to tell a pickle
const REPORT = `
from zeroledger.snapshot import PickleRefused
from zeroledger.snapshot_report import report

try:
    _answer = report(_file)
except PickleRefused as error:
    _answer = {"pickle": str(error)}
except ValueError as error:
    _answer = {"error": str(error)}
finally:
    _file = _pieces = None
_answer`;

class ZeroMeasured extends HTMLElement {
  connectedCallback() {
    const input = /** @type {HTMLInputElement} */ (this.querySelector('input[type=file]'));
    this.querySelector('[data-action=choose]')?.addEventListener('click', () => input.click());
    input.addEventListener('change', () => {
      const [file] = input.files ?? [];
      if (file) this.open(file.name, file);
      input.value = '';
    });
    for (const button of /** @type {NodeListOf<HTMLElement>} */ (this.querySelectorAll('[data-example]'))) {
      button.addEventListener('click', () => this.example(button.textContent ?? '', button.dataset.example ?? ''));
    }
    // before this, a click would have been lost
    for (const button of this.querySelectorAll('button')) button.disabled = false;
    this.addEventListener('dragover', (event) => {
      if (!event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      this.classList.add('zl-over');
    });
    this.addEventListener('dragleave', () => this.classList.remove('zl-over'));
    this.addEventListener('drop', (event) => {
      this.classList.remove('zl-over');
      const file = event.dataTransfer?.files[0];
      if (!file) return;
      event.preventDefault();
      this.open(file.name, file);
    });
  }

  /** @param {string} name @param {string} address */
  async example(name, address) {
    try {
      const response = await fetch(new URL(address, siteBase()));
      if (!response.ok) throw new Error(`${response.status} ${response.statusText}`.trim());
      await this.open(name, await response.blob());
    } catch (error) {
      this.say(text('page.measured.failed', { name, reason: error instanceof Error ? error.message : String(error) }), true);
    }
  }

  /** Reads and explains a file; only the newest counts. @param {string} name @param {Blob} file */
  async open(name, file) {
    const request = (this.request = (this.request ?? 0) + 1);
    const isNewest = () => request === this.request;
    if (file.size > LARGEST_BYTES) {
      this.say(text('page.measured.too_large', { name, most: LARGEST_BYTES / 1e6 }), true);
      return;
    }
    this.say(text('page.measured.reading', { name }));
    try {
      const answer = await explained(file, isNewest);
      if (!isNewest() || !answer) return;
      if (answer.pickle) this.say(text('page.measured.pickle', { name }), true);
      else if (answer.error) this.say(text('page.measured.refused', { name, reason: answer.error }), true);
      else this.show(name, answer);
    } catch (error) {
      if (isNewest()) this.say(text('page.measured.failed', { name, reason: error instanceof Error ? error.message : String(error) }), true);
    }
  }

  /** @param {string} name @param {any} answer */
  show(name, answer) {
    const result = /** @type {HTMLElement} */ (this.querySelector('[data-part=result]'));
    result.innerHTML = reportHtml(answer, pageStrings(), 'zl-own');
    this.say(text('page.measured.shown', { name }));
  }

  /** @param {string} message @param {boolean} [isProblem] */
  say(message, isProblem = false) {
    const status = /** @type {HTMLElement} */ (this.querySelector('[data-part=status]'));
    status.textContent = message;
    status.classList.toggle('zl-problem', isProblem);
    if (isProblem) /** @type {HTMLElement} */ (this.querySelector('[data-part=result]')).innerHTML = '';
  }
}

/**
 * The package's answer for a file: UTF-8 text as text, anything else by its first bytes, which say what it is.
 * @param {Blob} file @param {() => boolean} isNewest
 */
async function explained(file, isNewest) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const runner = await pageRunner();
  let pieces;
  try {
    const content = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    pieces = Array.from({ length: Math.max(Math.ceil(content.length / CHUNK_CHARS), 1) }, (_, at) => JSON.stringify(content.slice(at * CHUNK_CHARS, (at + 1) * CHUNK_CHARS)));
  } catch {
    return (await run(runner, `_file = bytes(${JSON.stringify([...bytes.slice(0, HEAD_BYTES)])})${REPORT}`)).value;
  }
  await run(runner, '_pieces = []\nNone');
  for (const piece of pieces) {
    if (!isNewest()) return null;
    await run(runner, `_pieces.append(${piece})\nNone`);
  }
  return (await run(runner, `_file = "".join(_pieces)${REPORT}`)).value;
}

/** @param {import('../runner/client.js').Runner} runner @param {string} program */
async function run(runner, program) {
  const done = await runner.run(program, { result: 'json', session: 'measured' });
  if (done.status !== 'ok') throw new Error((done.error ?? done.status).trim().split('\n').at(-1));
  return done;
}

customElements.define('zero-measured', ZeroMeasured);
