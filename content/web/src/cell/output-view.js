// Shows what a run prints: as text, as it comes, without freezing on a lot of it.

/** @typedef {import('../runner/protocol.js').OutputKind} OutputKind */

const BLOCK_CHARS = 4000;
const MAX_LINE_CHARS = 20_000;
const ANNOUNCED_CHARS = 2000;

export class OutputView {
  /** @param {HTMLElement} root @param {(hiddenChars: number) => string} cutNote says that a line is shown in part */
  constructor(root, cutNote) {
    this.root = root;
    this.cutNote = cutNote;
    this.frame = 0;
    /** @type {[OutputKind, string][]} */
    this.waiting = [];
    this.chars = 0;
    this.lineChars = 0;
    this.hiddenChars = 0;
    /** @type {HTMLElement|null} */
    this.block = null;
    this.blockChars = 0;
  }

  clear() {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    this.waiting = [];
    this.chars = 0;
    this.lineChars = 0;
    this.hiddenChars = 0;
    this.block = null;
    this.blockChars = 0;
    this.root.replaceChildren();
    this.root.hidden = true;
    this.root.setAttribute('aria-live', 'polite');
  }

  /** @param {OutputKind} kind @param {string} text */
  add(kind, text) {
    this.waiting.push([kind, text]);
    // A background tab draws no frames; then the text waits until the run ends or the tab is seen again.
    this.frame ||= requestAnimationFrame(() => this.flush());
  }

  flush() {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    const pieces = this.waiting;
    if (pieces.length === 0) return;
    this.waiting = [];
    const follow = this.root.scrollTop + this.root.clientHeight >= this.root.scrollHeight - 4;
    this.root.hidden = false;
    for (const [kind, text] of pieces) this.show(kind, text);
    // A screen reader should not have to read thousands of lines.
    if (this.chars > ANNOUNCED_CHARS) this.root.setAttribute('aria-live', 'off');
    if (follow) this.root.scrollTop = this.root.scrollHeight;
  }

  /** @param {OutputKind} kind @param {string} text */
  show(kind, text) {
    this.chars += text.length;
    for (const line of text.split(/(?<=\n)/)) this.showLine(kind, line);
  }

  /** @param {OutputKind} kind @param {string} line with its newline, or the beginning of a line */
  showLine(kind, line) {
    const endsLine = line.endsWith('\n');
    const room = Math.max(0, MAX_LINE_CHARS - this.lineChars);
    const body = endsLine ? line.slice(0, -1) : line;
    const shown = body.slice(0, room);
    this.hiddenChars += body.length - shown.length;
    this.lineChars += body.length;
    this.append(kind, shown + (endsLine ? this.endOfLine() : ''));
  }

  endOfLine() {
    const note = this.hiddenChars > 0 ? this.cutNote(this.hiddenChars) : '';
    this.hiddenChars = 0;
    this.lineChars = 0;
    return `${note}\n`;
  }

  /** @param {OutputKind} kind @param {string} text */
  append(kind, text) {
    if (text === '') return;
    if (!this.block || this.blockChars > BLOCK_CHARS && this.lineChars === 0) this.newBlock();
    const block = /** @type {HTMLElement} */ (this.block);
    const last = block.lastElementChild;
    if (last?.className === kind && last.firstChild instanceof Text) {
      last.firstChild.appendData(text);
    } else {
      const span = document.createElement('span');
      span.className = kind;
      span.textContent = text;
      block.append(span);
    }
    this.blockChars += text.length;
  }

  /** Text is laid out a block at a time, so that more of it does not mean laying out all of it again. */
  newBlock() {
    this.block = document.createElement('pre');
    this.blockChars = 0;
    this.root.append(this.block);
  }

  /** Say what of an unfinished line is hidden; call when the run is over. */
  finish() {
    this.flush();
    if (this.hiddenChars > 0) this.append('out', this.endOfLine());
  }
}
