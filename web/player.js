// Playback of a solution: play, pause, step, scrub, with its moves and costs.

import { Chart } from './chart.js';
import { debounce, choice, counted, el, isStill, svg } from './dom.js';
import { SLIDES } from './puzzle.js';

/** Steps per second. */
const SPEEDS = [1, 2, 4, 8, 16, 32, 64, 256, 1024, 4096];

/** Milliseconds of a frame at 60 frames per second. */
const FRAME = 1000 / 60;

/** Meaning of f for algorithms with f other than g + h. */
const ORDERS = { greedy_best_first: 'h (order of the search)', weighted_astar: 'g + weight · h (order of the search)' };

/** Moves in one part of the list. */
const PART = 50;

/** Maximum of listed moves and of points of a line: depth-first search may find 60,000 moves. */
const MOST = 5000;

/** Returns the speed at which a solution takes about ten seconds. */
const speedFor = (length) => SPEEDS.slice(2).find((speed) => length / speed <= 12) ?? SPEEDS.at(-1);

const glyph = (path) => svg('svg', { viewBox: '0 0 20 20', 'aria-hidden': 'true' }, svg('path', { d: path }));

const GLYPHS = {
  first: 'M5 4v12M16 4l-8 6 8 6z', back: 'M13 4l-8 6 8 6z', play: 'M6 3l10 7-10 7z',
  pause: 'M6 4h2.5v12H6zM11.5 4H14v12h-2.5z', next: 'M7 4l8 6-8 6z', last: 'M15 4v12M4 4l8 6-8 6z',
};

export class Player {
  /** Calls `show(state, step, isStill)` with each displayed state. */
  constructor(controls, panel, show) {
    Object.assign(this, { controls, panel, show, states: null, step: 0, timer: 0 });
    const button = (name, label, act) =>
      el('button', { type: 'button', class: 'glyph', 'aria-label': label, title: label, onclick: act }, glyph(GLYPHS[name]));
    this.main = button('play', 'Play', () => this.toggle());
    this.slider = el('input', {
      type: 'range', min: 0, value: 0, 'aria-label': 'Step', oninput: () => this.go(Number(this.slider.value), { still: true }),
    });
    this.speed = choice(SPEEDS.map((speed) => [speed, `${speed} / s`]), 4, {
      'aria-label': 'Steps per second', onchange: () => { this.isSpeedChosen = true; },
    });
    this.where = el('output', {});
    controls.replaceChildren(
      el('div', { class: 'transport', role: 'group', 'aria-label': 'Solution' },
        button('first', 'Go to start', () => this.go(0)), button('back', 'Previous step', () => this.go(this.step - 1)),
        this.main,
        button('next', 'Next step', () => this.go(this.step + 1)), button('last', 'Go to end', () => this.go(this.last)),
        this.speed),
      el('div', { class: 'scrub' }, this.slider, this.where));
    panel.addEventListener('click', (event) => {
      const at = event.target.dataset?.step;
      if (at !== undefined) this.go(Number(at));
    });
    panel.addEventListener('keydown', (event) => this.navigate(event));
    // Scrolling the list at each step of the slider would cost frames.
    this.followLater = debounce(100, () => this.states && this.follow());
    this.clear();
  }

  get last() {
    return this.states.length - 1;
  }

  get isPlaying() {
    return this.timer !== 0;
  }

  clear() {
    this.pause();
    this.states = null;
    this.controls.hidden = true;
    this.panel.replaceChildren(el('p', { class: 'empty' }, 'Solve a board to see the moves of its solution and their costs.'));
  }

  /**
   * Loads the states of a solution. `isQuiet`: the displayed board stays unchanged until the solution is played.
   */
  load({ states, search }, { summary, isQuiet = false }) {
    this.pause();
    const isBlind = !search?.heuristic || search.heuristic === 'zero';
    Object.assign(this, { states: isBlind ? states.map(({ h, f, ...state }) => state) : states, orderedBy: ORDERS[search?.algorithm], step: 0 });
    this.slider.max = this.last;
    this.items = states.length > MOST ? [] : states.slice(1).map(({ tile, move }, at) => el('button', {
      type: 'button', tabindex: -1, 'data-step': at + 1, 'aria-label': `Step ${at + 1}: ${tile} ${SLIDES[move]}`,
    }, String(tile)));
    this.list = el('div', { class: 'moves', role: 'group', 'aria-label': 'Tiles to slide, in order' }, this.parts());
    this.chart = this.draw();
    const legend = this.legend();
    const course = this.last > 0 && [this.chart.element, legend, el('h2', {}, 'Tiles to slide, in order'), this.list];
    this.panel.replaceChildren(...[summary, course].flat().filter(Boolean));
    this.controls.hidden = false;
    if (!this.isSpeedChosen) this.speed.value = speedFor(this.last);
    this.go(0, { still: true, isQuiet });
  }

  /** The moves in parts. The browser renders only visible parts. */
  parts() {
    if (!this.items.length && this.last) return el('p', { class: 'empty' }, `${counted(this.last, 'move')} are too many to list.`);
    const firsts = Array.from({ length: Math.ceil(this.items.length / PART) }, (_, at) => at * PART);
    return firsts.map((first) => el('ol', { start: first + 1, 'data-span': firsts.length > 1 ? `${first + 1} – ${Math.min(first + PART, this.last)}` : null },
      this.items.slice(first, first + PART).map((item) => el('li', {}, item))));
  }

  draw() {
    const isEstimated = this.states[0].h !== undefined;
    const names = isEstimated ? ['f', 'h', 'g'] : ['g'];
    const every = Math.ceil(this.states.length / MOST);
    const drawn = this.states.filter((_, at) => at % every === 0 || at === this.last);
    const series = names.map((name) => ({ name, points: drawn.map((state) => [state.g, state[name]]) }));
    const [first] = this.states;
    const label = isEstimated
      ? `Costs over ${counted(this.last, 'step')}: g rises to ${this.last}, h falls from ${first.h} to ${this.states.at(-1).h}.`
      : `g rises to ${this.last}.`;
    return new Chart({ series, label, unit: 'step', pick: (step) => this.go(step, { still: true }) });
  }

  legend() {
    this.values = { g: el('b'), h: el('b'), f: el('b') };
    const entry = (name, text) => el('li', { class: name }, `${name} `, this.values[name], el('span', {}, ` ${text}`));
    return el('ul', { class: 'legend' }, entry('g', 'moves made'),
      this.states[0].h !== undefined && [entry('h', 'estimated moves to go'), entry('f', this.orderedBy ?? 'g + h (order of the search)')]);
  }

  go(step, { still = isStill(), isQuiet = false } = {}) {
    if (!this.states) return;
    const to = Math.max(0, Math.min(this.last, step));
    const isFar = Math.abs(to - this.step) > 1;
    this.items[this.step - 1]?.removeAttribute('aria-current');
    this.step = to;
    const state = this.states[to];
    const item = this.items[to - 1];
    item?.setAttribute('aria-current', 'step');
    this.entry = this.setTabStop(item ?? this.items[0]);
    if (still && !this.isPlaying) this.followLater();
    else this.follow();
    this.slider.value = to;
    this.where.value = `${to} / ${this.last}`;
    this.chart.moveCursor(to);
    for (const name of ['g', 'h', 'f']) if (state[name] !== undefined) this.values[name].textContent = String(Math.round(state[name] * 100) / 100);
    if (!isQuiet) this.show(state, to, still || isFar);
    if (to === this.last) this.pause();
  }

  /** Makes an item the only one that the Tab key reaches. */
  setTabStop(item) {
    if (this.entry && this.entry !== item) this.entry.tabIndex = -1;
    if (item) item.tabIndex = 0;
    return item;
  }

  /** Scrolls the list, not the page, to the current move. */
  follow() {
    const item = this.items[this.step - 1];
    if (!item || this.panel.closest('[hidden]')) return;
    const [own, list] = [item.getBoundingClientRect(), this.list.getBoundingClientRect()];
    if (own.top < list.top || own.bottom > list.bottom) this.list.scrollTop += own.top - list.top - list.height / 2;
  }

  play() {
    if (this.step === this.last) this.go(0, { still: true });
    const tick = () => {
      const speed = Number(this.speed.value);
      const wait = Math.max(FRAME, 1000 / speed);
      this.timer = setTimeout(tick, wait);
      this.go(this.step + Math.round((speed * wait) / 1000), { still: isStill() || speed > 10 });
    };
    this.setButton('pause', 'Pause');
    this.timer = setTimeout(tick, 150);
  }

  toggle() {
    if (this.isPlaying) this.pause();
    else this.play();
  }

  pause() {
    clearTimeout(this.timer);
    this.timer = 0;
    this.setButton('play', 'Play');
  }

  setButton(name, label) {
    this.main.setAttribute('aria-label', label);
    this.main.title = `${label} (space bar)`;
    this.main.replaceChildren(glyph(GLYPHS[name]));
  }

  navigate(event) {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step || event.target.dataset?.step === undefined) return;
    event.preventDefault();
    this.go(this.step + step);
    this.items[this.step - 1]?.focus({ preventScroll: true });
  }
}
