// When an interpreter dies, Pyodide says so on the console and Python writes where it was to stderr. Both would be
// noise to the reader: keep the Python stack for the report instead.

const FATAL = 'Pyodide has suffered a fatal error';

export class CrashStack {
  constructor() {
    this.happened = false;
    this.text = '';
    this.decoder = new TextDecoder();
    const original = console.error;
    console.error = (...values) => {
      if (String(values[0]).startsWith(FATAL)) this.happened = true;
      if (!this.happened) original.apply(console, values);
    };
  }

  /** @param {Uint8Array} bytes written to stderr after the crash */
  write(bytes) {
    this.text += this.decoder.decode(bytes, { stream: true });
  }

  /** @returns {string} the reader's part of the stack, or '' */
  describe() {
    const frames = this.text.split('\n').filter((line) => /^ {2}File "<cell \d+>/.test(line));
    if (frames.length === 0) return '';
    const shown = frames.map((line) => line.replace(/<cell \d+>/, '<cell>'));
    return ['Where it was (most recent call first):', ...shown].join('\n');
  }
}
