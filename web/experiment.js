// The experiment in the compare panel: many random boards, solved by the listed methods.

import { counted, duration, el, field, formatNumber } from './dom.js';
import { errorText } from './editor.js';
import { methodOf, title } from './method.js';
import { asProblem, compareAsCsv } from './service.js';

const ABOUT = 'Each method solves the same random boards, with the size and the goal of the displayed board. Equal seeds draw equal boards.';

/** Columns of CSV with names; all others have numbers. */
const NAMES = ['algorithm', 'heuristic', 'tie_breaking', 'duplicate_detection', 'successor_order'];

export class Experiment {
  /**
   * `commitInput()` makes the displayed board the puzzle; `methods()` returns the fields `preset` or `methods` of a
   * request, `shape()` those of the boards, and `goal()` the goal.
   */
  constructor(info, { commitInput, methods, shape, goal }) {
    Object.assign(this, { commitInput, methods, shape, goal, limits: { time_ms: info.limits.time_ms.max }, abort: null });
    this.inputs = {
      count: el('input', { type: 'number', min: 1, max: info.limits.boards, value: 20, inputmode: 'numeric' }),
      seed: el('input', { maxlength: 124, size: 10, value: 'taquin', autocomplete: 'off', spellcheck: 'false' }),
      length: el('input', { size: 8, placeholder: 'any', autocomplete: 'off' }),
    };
    this.go = el('button', { type: 'button', id: 'run-experiment', onclick: () => (this.abort ? this.abort.abort() : this.run()) }, 'Run experiment');
    this.about = el('p', { class: 'about', role: 'status' });
    this.results = el('div', {});
    const { count, seed, length } = this.inputs;
    this.element = el('section', { class: 'setting', id: 'experiment' }, el('h2', {}, 'Experiment'),
      el('div', { class: 'fields' }, field('Boards', count), field('Seed', seed), field('Optimal length', length, 'such as 20 or 12..18')),
      this.go, this.about, this.results);
    this.clear();
  }

  /** Stops a running experiment, and clears the results. */
  clear() {
    this.abort?.abort();
    if (this.link) URL.revokeObjectURL(this.link);
    Object.assign(this, { link: null, subject: null });
    this.say(ABOUT);
    this.results.replaceChildren();
  }

  /** Clears results of other methods, or of boards with another shape or goal. */
  update() {
    if (this.subject && this.subject !== this.currentSubject) this.clear();
  }

  get currentSubject() {
    return JSON.stringify([this.shape(), this.goal(), this.methods()]);
  }

  get request() {
    const [count, seed, length] = Object.values(this.inputs).map(({ value }) => value.trim());
    const boards = { ...this.shape(), ...(count && { count: Number(count) }), ...(seed && { seed }), ...(length && { length }) };
    return { boards, goal: this.goal(), ...this.methods(), limits: this.limits };
  }

  async run() {
    if (!await this.commitInput()) return;
    this.clear();
    const abort = new AbortController();
    Object.assign(this, { abort, subject: this.currentSubject });
    this.setRunning(true);
    this.say('Solving…');
    try {
      const text = await compareAsCsv(this.request, abort.signal);
      if (!abort.signal.aborted) this.show(text);
    } catch (error) {
      if (!abort.signal.aborted) this.say(errorText(asProblem(error)), { isBad: true });
    } finally {
      // Another experiment may have started.
      if (this.abort === abort) {
        this.abort = null;
        this.setRunning(false);
        if (abort.signal.aborted) this.say('Stopped.');
      }
    }
  }

  setRunning(isRunning) {
    this.go.classList.toggle('danger', isRunning);
    this.go.textContent = isRunning ? 'Stop' : 'Run experiment';
  }

  say(text, { isBad = false } = {}) {
    this.about.textContent = text;
    this.about.classList.toggle('bad', isBad);
  }

  /** Shows a response as a table and a plot, with a link to its text. */
  show(text) {
    const rows = parse(text);
    this.say(`${counted(rows.length, 'method')} on ${counted(rows[0].boards, 'board')}. Means over the solved boards, with the least and the greatest value.`);
    this.link = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
    this.results.replaceChildren(
      el('div', { class: 'wide', tabindex: 0, role: 'region', 'aria-label': 'Experiment' }, table(rows)), plot(rows),
      el('p', {}, el('a', { href: this.link, download: 'experiment.csv' }, 'Download as CSV')));
  }
}

/** Parses CSV without quotes: the names and numbers of an experiment. Empty fields are null. */
function parse(text) {
  const [names, ...lines] = text.trim().split(/\r?\n/).map((line) => line.split(','));
  return lines.map((cells) => Object.fromEntries(names.map((name, at) => [name, value(name, cells[at])])));
}

function value(name, cell) {
  if (cell === '') return null;
  return NAMES.includes(name) ? cell : Number(cell);
}

/** Large numbers without decimals. */
const round = (number) => formatNumber(number < 1000 ? Number(number.toFixed(1)) : Math.round(number));

function table(rows) {
  const heads = ['Solved', 'Moves', 'Expanded', 'Generated', 'Time'];
  const cell = (text, below) => el('td', { class: 'number' }, el('b', {}, text), el('br'), el('small', {}, below));
  const figure = (row, name, format) => (row[`${name}_mean`] === null ? el('td', { class: 'number' }, '—')
    : cell(format(row[`${name}_mean`]), `${format(row[`${name}_min`])} – ${format(row[`${name}_max`])}`));
  const time = (microseconds) => duration(Math.round(microseconds));
  return el('table', {}, el('caption', { class: 'unseen' }, 'Experiment'),
    el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, 'Method'), heads.map((text) => el('th', { scope: 'col', class: 'number' }, text)))),
    el('tbody', {}, rows.map((row) => el('tr', {}, el('th', { scope: 'row' }, title(methodOf(row))),
      cell(`${row.solved} / ${row.boards}`, row.optimal_share === null ? 'none' : `${round(row.optimal_share * 100)}% optimal`),
      figure(row, 'length', round), figure(row, 'expanded', round), figure(row, 'generated', round), figure(row, 'elapsed_us', time)))));
}

/** Draws the range of expanded nodes of each method on a logarithmic scale, with its median. */
function plot(rows) {
  const solved = rows.filter((row) => row.expanded_max !== null);
  if (!solved.length) return '';
  const powers = Math.max(1, Math.ceil(Math.log10(Math.max(...solved.map((row) => row.expanded_max), 1))));
  // A search without expanded nodes is at the left edge.
  const at = (number) => (Math.log10(Math.max(number, 1)) / powers) * 100;
  const compact = new Intl.NumberFormat('en', { notation: 'compact' });
  const ticks = Array.from({ length: powers + 1 }, (_, power) => placed(el('span', { class: 'tick' }, compact.format(10 ** power)), (power / powers) * 100));
  const lanes = solved.map((row) => [el('span', { class: 'name' }, title(methodOf(row))), lane(powers, [
    placed(el('span', { class: 'range' }), at(row.expanded_min), at(row.expanded_max)), placed(el('span', { class: 'median' }), at(row.expanded_median)),
  ])]);
  const label = `Expanded nodes: ${solved.map((row) => `${title(methodOf(row))}, ${round(row.expanded_min)} to ${round(row.expanded_max)}, median ${round(row.expanded_median)}`).join('; ')}.`;
  return el('figure', { class: 'plot' }, el('div', { role: 'img', 'aria-label': label }, lanes.flat(), el('span', { class: 'name' }), el('span', { class: 'axis' }, ticks)),
    el('figcaption', { class: 'about' }, 'Expanded nodes: from the least to the greatest, with the median, on a logarithmic scale.'));
}

/** A line of the plot, with a rule at each power of ten. */
function lane(powers, marks) {
  const element = el('span', { class: 'lane' }, marks);
  element.style.setProperty('--powers', powers);
  return element;
}

/** Places a mark between two shares of the width, in percent. */
function placed(element, from, to) {
  element.style.insetInlineStart = `${from}%`;
  if (to !== undefined) element.style.inlineSize = `${to - from}%`;
  return element;
}
