/**
 * <zero-timeline>: a simulated training step that one can watch, stop and change. The build wrote the first run into the
 * page; Python simulates again when a control moves.
 */
import { lessonSlug, pageRunner, pageStrings, text } from './page-data.js';
import { recallData, remember } from './store.js';
import { Timeline } from './timeline-data.js';
import { frameOf, outline } from './timeline.js';
import {
  BUCKETS, DP_SIZES, buffersHtml, bufferText, choiceOf, controlsHtml, effectHtml, fitting, layoutOf, loopHtml, nowHtml, nowText, picturesHtml, sliderText, statesHtml, summaryHtml,
  tableHtml, WIDTHS, windowOf,
} from './timeline-view.js';

const RUN_AFTER_MS = 250; // a slider on its way sends many events
const PLAY_MS = 12_000; // for what is shown
const ANNOUNCE_AFTER_MS = 500;
const COMPARE = `
from zeroledger.simulate.effect import effect

try:
    _answer = effect(_run, _loop)
except Exception as error:
    _answer = {"error": error_in_loop(error)}
_answer`;
const SVG = 'http://www.w3.org/2000/svg';

class ZeroTimeline extends HTMLElement {
  /** Numbers of the first and the last event shown. */
  first = 0;
  last = 0;
  /** The loop as the reader changed it, if so. @type {string|null} */
  loop = null;
  /** The event that made the buffer pointed at. @type {number|undefined} */
  pointed = undefined;

  connectedCallback() {
    if (this.timeline) return;
    const data = JSON.parse(this.querySelector('script[type="application/json"]')?.textContent ?? 'null');
    if (!data) return;
    this.storeKey = `timeline:${lessonSlug()}:${this.id}`;
    this.timeline = new Timeline(data);
    this.fixed = JSON.parse(this.dataset.settings ?? '{}');
    this.choice = choiceOf(data.settings);
    this.rank = data.rank;
    this.index = this.timeline.moments[this.timeline.peak ?? 0].index;
    /** @type {number|'all'} */
    this.step = Math.max(this.timeline.events[this.index].step, 0);
    this.addEventListener('input', (event) => this.onInput(event));
    this.addEventListener('submit', (event) => event.preventDefault());
    this.addEventListener('click', (event) => this.onClick(event));
    this.addEventListener('pointermove', (event) => this.onPoint(event));
    this.addEventListener('pointerdown', (event) => this.onPoint(event, true));
    this.addEventListener('pointerleave', () => this.point(undefined));
    this.addEventListener('focusin', (event) => this.onFocus(event));
    const stored = recallData(this.storeKey);
    if (stored && typeof stored === 'object') this.restore(stored);
    else this.redraw();
  }

  disconnectedCallback() {
    this.pause();
  }

  /** @param {any} stored */
  restore(stored) {
    const known = /** @type {any} */ (choiceOf(/** @type {any} */ (this.timeline).data.settings));
    for (const name of Object.keys(known)) if (typeof stored[name] === typeof known[name]) known[name] = stored[name];
    this.choice = fitting(known);
    if (typeof stored.loop === 'string') this.loop = stored.loop;
    this.showControls();
    this.redraw();
    this.simulate();
  }

  /** @param {string} name @returns {HTMLElement} */
  piece(name) {
    return /** @type {HTMLElement} */ (this.querySelector(`[data-part="${name}"]`));
  }

  /** @returns {Timeline} */
  get run() {
    return /** @type {Timeline} */ (this.timeline);
  }

  // --- controls

  /** @param {Event} event */
  onInput(event) {
    const target = /** @type {HTMLInputElement} */ (event.target);
    const name = target.closest('[data-control]')?.getAttribute('data-control') ?? '';
    if (name === 'cursor') {
      this.pause();
      this.moveTo(Number(target.value));
    } else if (name === 'step') {
      this.step = target.value === 'all' ? 'all' : Number(target.value);
      this.redraw();
    } else if (name === 'rank') {
      this.rank = Number(target.value);
      this.simulate();
    } else if (name) this.change(name, target);
  }

  /** @param {string} name @param {HTMLInputElement} target */
  change(name, target) {
    const values = /** @type {Record<string, any>} */ ({ dp_size: DP_SIZES[Number(target.value)], reduce_bucket_numel: BUCKETS[Number(target.value)], overlap: target.checked });
    const given = name in values ? values[name] : target.type === 'range' || name === 'stage' ? Number(target.value) : target.value;
    const before = this.choice;
    this.choice = fitting({ .../** @type {any} */ (this.choice), [name]: given });
    this.rank = Math.min(this.rank ?? 0, this.choice.dp_size - 1);
    const shown = this.querySelector(`output[data-part="${name}"]`);
    if (shown) {
      shown.textContent = sliderText(name, this.choice, pageStrings());
      target.setAttribute('aria-valuetext', shown.textContent);
    }
    if (['stage', 'model', 'dp_size'].includes(name) && before !== this.choice) this.showControls(name, target.value);
    this.keep();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.simulate(), RUN_AFTER_MS);
  }

  keep() {
    remember(this.storeKey ?? '', { ...this.choice, loop: this.loop ?? undefined });
  }

  /** Writes the controls again, because which values go together changed; the focus stays where it was. @param {string} [name] @param {string} [value] */
  showControls(name, value) {
    const choice = /** @type {import('./timeline-view.js').Choice} */ (this.choice);
    this.piece('controls').innerHTML = controlsHtml(this.id, choice, pageStrings(), { rank: this.rank ?? 0, steps: this.run.data.settings.num_steps });
    /** @type {HTMLSelectElement} */ (this.querySelector('[data-control=step]')).value = String(this.step);
    if (!name) return;
    const again = /** @type {HTMLElement|null} */ (this.querySelector(`input[data-control="${name}"], [data-control="${name}"] input[value="${value}"]`));
    again?.focus();
  }

  /** Has Python run the step with the present choice; only the newest answer counts. */
  async simulate() {
    const request = (this.request = (this.request ?? 0) + 1);
    this.say(text('page.timeline.running'));
    let run;
    try {
      const runner = await pageRunner();
      run = await runner.run(this.program(), { result: 'json', session: 'timeline', limitMs: 30_000 });
    } catch (error) {
      run = { status: 'error', error: String(error), value: null, elapsedMs: 0 };
    }
    if (request !== this.request) return;
    const problem = run.status === 'ok' ? run.value.error : (run.error ?? run.status).trim().split('\n').at(-1);
    this.piece('loop-problem').textContent = problem && this.loop !== null ? problem : '';
    if (problem) {
      this.say(text('page.timeline.failed', { reason: problem }), true);
      return;
    }
    this.say('');
    this.dataset.elapsed = String(Math.round(run.elapsedMs));
    this.piece('effect').textContent = '';
    this.edit(false);
    this.show(new Timeline(run.value.data));
    if (this.loop !== null || this.choice?.breaks !== 'none') await this.compare(request);
  }

  /** Has Python compare the run just made, which its session still holds, with one rank. @param {number} request */
  async compare(request) {
    const place = this.piece('effect');
    place.textContent = text('page.timeline.comparing');
    const runner = await pageRunner();
    const run = await runner.run(COMPARE, { result: 'json', session: 'timeline', limitMs: 60_000 });
    if (request !== this.request) return;
    const problem = run.status === 'ok' ? run.value.error : (run.error ?? run.status).trim().split('\n').at(-1);
    if (problem) place.textContent = text('page.timeline.failed', { reason: problem });
    else place.innerHTML = effectHtml(run.value, pageStrings(), this.id);
  }

  program() {
    const { breaks, ...choice } = /** @type {any} */ (this.choice);
    const settings = JSON.stringify(JSON.stringify({ ...this.fixed, ...choice, breaks: breaks === 'none' ? [] : [breaks] }));
    const loop = this.loop === null ? 'None' : `loop_from_text(json.loads(${JSON.stringify(JSON.stringify(this.loop))}))`;
    return `import json
from zeroledger.simulate import simulate
from zeroledger.simulate.picture import page_data
from zeroledger.simulate.source import error_in_loop, loop_from_text

try:
    _loop = ${loop}
    _run = simulate(**json.loads(${settings}), train_step=_loop)
    _answer = {"data": page_data(_run, ${this.rank ?? 0})}
except Exception as error:
    _answer = {"error": error_in_loop(error)}
_answer`;
  }

  // --- the reader's own loop

  /** Shows the loop as text to change, or as lines to follow. @param {boolean} editing */
  edit(editing) {
    const editor = /** @type {HTMLTextAreaElement} */ (this.piece('editor'));
    if (editing && editor.hidden) editor.value = this.loop ?? this.run.data.loop.join('\n');
    editor.hidden = !editing;
    this.piece('loop').hidden = editing;
    for (const [action, shown] of /** @type {[string, boolean][]} */ ([['change-loop', !editing], ['run-loop', editing], ['original-loop', editing || this.loop !== null]])) {
      /** @type {HTMLElement} */ (this.querySelector(`[data-action=${action}]`)).hidden = !shown;
    }
    if (editing) editor.focus();
  }

  /** @param {string|null} loop  null: the original */
  runLoop(loop) {
    this.loop = loop;
    this.keep();
    this.simulate();
  }

  /** @param {Timeline} timeline */
  show(timeline) {
    this.pause();
    this.timeline = timeline;
    this.index = timeline.moments[timeline.peak ?? 0].index;
    if (this.step !== 'all') this.step = Math.max(timeline.events[this.index].step, 0);
    /** @type {HTMLSelectElement} */ (this.querySelector('[data-control=step]')).value = String(this.step);
    this.piece('loop').innerHTML = loopHtml(timeline);
    this.piece('summary').innerHTML = summaryHtml(timeline, pageStrings());
    this.redraw();
    this.dataset.runs = String(Number(this.dataset.runs ?? 0) + 1);
    this.announce();
  }

  /** @param {string} message @param {boolean} [isProblem] */
  say(message, isProblem = false) {
    this.piece('status').textContent = message;
    this.piece('status').classList.toggle('zl-problem', isProblem);
  }

  // --- picture

  redraw() {
    const strings = pageStrings();
    const step = this.step ?? 'all';
    this.piece('pictures').innerHTML = picturesHtml(this.run, strings, { id: this.id, step });
    this.piece('table').innerHTML = tableHtml(this.run, strings, step);
    [this.first, this.last] = this.run.eventsOf(step);
    const cursor = /** @type {HTMLInputElement} */ (this.querySelector('[data-control=cursor]'));
    cursor.min = String(this.first);
    cursor.max = String(this.last);
    this.layouts = Object.entries(WIDTHS).map(([kind, width]) => {
      const layout = layoutOf(this.run, strings, { id: `${this.id}-${kind}`, width, step });
      return { kind, layout, frame: frameOf(this.run, layout), svg: /** @type {SVGSVGElement} */ (this.querySelector(`[data-picture="${kind}"] svg`)) };
    });
    this.moveTo(Math.min(Math.max(this.index ?? 0, this.first), this.last));
  }

  /** Puts the cursor on event number `index`. @param {number} index @param {number} [time] ns, where it stands between two events */
  moveTo(index, time) {
    const strings = pageStrings();
    this.index = index;
    const event = this.run.events[index];
    for (const { frame, svg } of this.layouts ?? []) {
      const x = String(Math.min(Math.max(frame.x(time ?? event.start), frame.left), frame.right));
      const cursor = svg.querySelector('[data-part=cursor]');
      cursor?.setAttribute('x1', x);
      cursor?.setAttribute('x2', x);
      const veil = svg.querySelector('[data-part=veil]');
      veil?.setAttribute('x', x);
      veil?.setAttribute('width', this.playing ? String(frame.right - Number(x)) : '0');
    }
    const slider = /** @type {HTMLInputElement} */ (this.querySelector('[data-control=cursor]'));
    slider.value = String(index);
    slider.setAttribute('aria-valuetext', nowText(this.run, strings, index));
    this.piece('now').innerHTML = nowHtml(this.run, strings, index);
    if (!this.playing || performance.now() - (this.listedAt ?? 0) > 120) this.listBuffers();
    this.markLine(event.line);
  }

  /** The list keeps its focus when it is written anew. */
  listBuffers() {
    this.listedAt = performance.now();
    const held = document.activeElement instanceof HTMLElement && this.contains(document.activeElement) ? document.activeElement.dataset.buffer : undefined;
    this.piece('states').innerHTML = statesHtml(this.run, pageStrings(), this.index ?? 0);
    this.piece('buffers').innerHTML = buffersHtml(this.run, pageStrings(), this.index ?? 0);
    if (held) /** @type {HTMLElement|null} */ (this.querySelector(`[data-buffer="${held}"]`))?.focus();
  }

  /** @param {number} line */
  markLine(line) {
    const loop = this.piece('loop');
    loop.querySelector('.zl-current')?.classList.remove('zl-current');
    const current = /** @type {HTMLElement|null} */ (loop.querySelector(`[data-line="${line}"]`));
    current?.classList.add('zl-current');
    if (current && loop.clientHeight) loop.scrollTop = current.offsetTop - loop.clientHeight / 2;
  }

  // --- pointing

  /** @param {PointerEvent} event @param {boolean} [moves] whether the cursor follows */
  onPoint(event, moves = false) {
    const svg = event.target instanceof Element ? event.target.closest('svg.zl-timeline') : null;
    const place = this.layouts?.find((one) => one.svg === svg);
    if (!place) return;
    const box = place.svg.getBoundingClientRect();
    const scale = place.layout.width / box.width;
    const [x, y] = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
    const time = place.frame.timeAt(Math.min(Math.max(x, place.frame.left), place.frame.right));
    const at = this.run.momentAt(time);
    if (moves) {
      this.pause();
      this.moveTo(Math.min(Math.max(this.run.moments[at].index, this.first), this.last));
    }
    if (y <= place.frame.bottom) {
      this.point(this.run.bufferAt(at, place.frame.bytesAt(y)));
      return;
    }
    const lane = place.frame.lanes.find((_, index) => y >= place.frame.laneTop(index) - 2 && y <= place.frame.laneTop(index) + 18);
    const bar = this.run.events.find((one) => one.lane === lane && one.start <= time && one.end >= time);
    this.point(undefined, bar && nowText(this.run, pageStrings(), bar.index));
    if (bar) this.markLine(bar.line);
  }

  /** @param {FocusEvent} event */
  onFocus(event) {
    const made = event.target instanceof HTMLElement ? event.target.dataset.buffer : undefined;
    if (made !== undefined) this.pointMade(Number(made));
  }

  /** @param {number} made */
  pointMade(made) {
    const buffer = this.run.buffersAt(this.run.momentOfEvent(this.index ?? 0)).find((one) => one.made === made);
    this.point(buffer);
    if (buffer) this.announce(bufferText(this.run, pageStrings(), buffer));
  }

  /** Outlines a buffer over its life and says what it is. @param {import('./timeline-data.js').Buffer|undefined} buffer @param {string} [words] */
  point(buffer, words) {
    const said = words ?? (buffer ? bufferText(this.run, pageStrings(), buffer) : text('page.timeline.hint'));
    if (this.piece('pointed').textContent !== said) this.piece('pointed').textContent = said;
    if (this.pointed === buffer?.made) return;
    this.pointed = buffer?.made;
    for (const { layout, frame, svg } of this.layouts ?? []) {
      const path = svg.querySelector('[data-part=highlight]') ?? document.createElementNS(SVG, 'path');
      path.setAttribute('d', buffer ? outline(this.run, buffer, frame, layout) : '');
    }
    this.markLine(this.run.events[buffer?.made ?? this.index ?? 0].line);
  }

  // --- player

  /** @param {Event} event */
  onClick(event) {
    const target = event.target instanceof Element ? event.target.closest('button') : null;
    const action = target?.dataset.action;
    if (target?.dataset.buffer) this.pointMade(Number(target.dataset.buffer));
    if (action === 'play') this.playing ? this.pause() : this.play();
    if (action === 'back' || action === 'forward') {
      this.pause();
      const next = (this.index ?? 0) + (action === 'back' ? -1 : 1);
      this.moveTo(Math.min(Math.max(next, this.first), this.last));
      this.announce();
    }
    if (action === 'peak') this.toPeak();
    if (action === 'change-loop') this.edit(true);
    if (action === 'run-loop') this.runLoop(/** @type {HTMLTextAreaElement} */ (this.piece('editor')).value);
    if (action === 'original-loop') this.runLoop(null);
  }

  toPeak() {
    this.pause();
    const index = this.run.moments[this.run.peak ?? 0].index;
    const [from, to] = windowOf(this.run, this.step ?? 'all');
    const { start, step } = this.run.events[index];
    this.index = index;
    if (start < from || start > to) {
      this.step = Math.max(step, 0);
      /** @type {HTMLSelectElement} */ (this.querySelector('[data-control=step]')).value = String(this.step);
      this.redraw();
    } else this.moveTo(index);
    this.announce();
  }

  play() {
    const [from, to] = windowOf(this.run, this.step ?? 'all');
    const events = this.run.events;
    let index = (this.index ?? 0) >= this.last ? this.first : this.index ?? 0;
    let time = events[index].start;
    let before = performance.now();
    this.playing = true;
    this.showPlaying();
    const frame = (/** @type {number} */ now) => {
      if (!this.playing) return;
      time += ((to - from) * Math.max(now - before, 0)) / PLAY_MS;
      before = now;
      while (index < this.last && events[index + 1].start <= time) index += 1;
      if (time >= to || index >= this.last) {
        this.pause();
        this.moveTo(this.last);
        return;
      }
      this.moveTo(index, time);
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  pause() {
    if (!this.playing) return;
    this.playing = false;
    this.showPlaying();
    this.moveTo(this.index ?? 0);
  }

  showPlaying() {
    const button = this.querySelector('[data-action=play]');
    if (button) button.textContent = text(this.playing ? 'page.timeline.pause' : 'page.timeline.play');
    this.toggleAttribute('data-playing', Boolean(this.playing));
  }

  /** Says, to screen readers, where the cursor is. @param {string} [words] */
  announce(words) {
    clearTimeout(this.announceTimer);
    this.announceTimer = setTimeout(() => {
      this.piece('announce').textContent = words ?? nowText(this.run, pageStrings(), this.index ?? 0);
    }, ANNOUNCE_AFTER_MS);
  }
}

customElements.define('zero-timeline', ZeroTimeline);
