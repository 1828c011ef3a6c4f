// What the lab's reader is told: the countdown, and why a kernel was restarted.

import strings from '../../../lessonkit/strings.json';

/** @typedef {import('./supervisor.js').RestartReason} RestartReason */

/** @param {string} languageCode JupyterLab's, "zh_CN" or "en" */
export function makeTexts(languageCode) {
  const lang = languageCode.toLowerCase().startsWith('zh') ? 'zh-CN' : 'en';
  /** @param {string} key @param {Record<string, string|number>} fields */
  return (key, fields = {}) => {
    const wording = /** @type {Record<string, Record<string, string>>} */ (strings)[key][lang];
    return wording.replace(/\{(\w+)\}/g, (_, name) => String(fields[name]));
  };
}

/** One line per busy kernel in the corner of the window, with a button that stops it. */
export class Countdown {
  /** @param {ReturnType<typeof makeTexts>} text */
  constructor(text) {
    this.text = text;
    this.box = document.createElement('div');
    this.box.className = 'zero-guard-countdown';
    Object.assign(this.box.style, {
      position: 'fixed', right: '16px', bottom: '40px', zIndex: '10000', padding: '8px 12px', borderRadius: '4px',
      font: '13px/1.5 var(--jp-ui-font-family, sans-serif)', color: 'var(--jp-ui-font-color0, #000)',
      background: 'var(--jp-layout-color1, #fff)', border: '1px solid var(--jp-border-color1, #999)',
    });
    this.box.setAttribute('role', 'timer');
    /** @type {Map<object, {line: HTMLElement, words: HTMLElement}>} */
    this.lines = new Map();
  }

  /** @param {object} kernel @param {{busyMs: number, leftMs: number}|null} busy @param {() => void} onStop */
  show(kernel, busy, onStop) {
    if (busy === null) return this.hide(kernel);
    const { words } = this.lines.get(kernel) ?? this.addLine(kernel, onStop);
    const seconds = (/** @type {number} */ ms) => Math.round(ms / 1000);
    words.textContent = this.text('lab.countdown', { busy: seconds(busy.busyMs), left: seconds(busy.leftMs) });
  }

  /** @param {object} kernel */
  hide(kernel) {
    this.lines.get(kernel)?.line.remove();
    this.lines.delete(kernel);
    if (this.lines.size === 0) this.box.remove();
  }

  /** @param {object} kernel @param {() => void} onStop */
  addLine(kernel, onStop) {
    const line = document.createElement('div');
    const words = document.createElement('span');
    const button = document.createElement('button');
    button.textContent = this.text('lab.stop');
    button.style.marginLeft = '10px';
    button.onclick = onStop;
    line.append(words, button);
    this.box.append(line);
    document.body.append(this.box);
    const made = { line, words };
    this.lines.set(kernel, made);
    return made;
  }
}
