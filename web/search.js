// What a search did, and what it does while it goes on.

import { Chart } from './chart.js';
import { counted, duration, el, figure, words } from './dom.js';

const MEANINGS = {
  expanded: 'nodes whose successors were produced', generated: 'nodes created', duplicates: 'dropped as known',
  reopened: 'put back by a shorter path', peak_open: 'the most that waited at once', iterations: 'rounds',
  initial_h: 'the first estimate', effective_branching_factor: '1 goes straight to the goal',
};

/** Seconds within which nobody sees a search go on. */
const AT_ONCE = 0.1;

const row = (name, value, meaning) => el('div', {}, el('dt', {}, name), el('dd', {}, value), el('dd', { class: 'meaning' }, meaning));

/** The counters of a search. */
export function figures(search) {
  const rows = Object.entries(MEANINGS).map(([name, meaning]) => {
    const value = search[name];
    const text = value === null ? '—' : name === 'effective_branching_factor' ? value.toFixed(3) : figure(value);
    return row(words(name), text, meaning);
  });
  return el('dl', { class: 'figures' }, row('time', duration(search.elapsed_us), 'waiting not included'), rows);
}

/** Who searched, in a sentence. */
export function method({ algorithm, heuristic, admissible }) {
  const by = heuristic && heuristic !== 'zero' ? ` with ${words(heuristic)}` : '';
  return `${words(algorithm)}${by}${admissible ? '' : ', which is not admissible'}`;
}

/** What an answer proves. */
export function verdict({ length, optimal, lower_bound: bound }) {
  if (optimal) return `${counted(length, 'move')}, and no solution is shorter.`;
  return `${counted(length, 'move')}; every solution has at least ${bound}.`;
}

/** What there is to say of a search without the answer that was wanted, in words of the page. */
export function shortfall({ document, message, slug }) {
  if (slug !== 'search-limit-exceeded') return message;
  const { limit, solution, limits } = document;
  if (limit === 'depth') return 'No solution within the depth limit.';
  const spent = {
    time: () => `${duration(limits.time_ms * 1000)} are over`, expanded: () => `${figure(limits.expanded)} expansions are made`,
    nodes: () => `${figure(limits.nodes)} nodes fill its memory`,
  }[limit]();
  return `${spent}, without ${solution ? 'a proof that no solution is shorter' : 'a solution'}. Another method may do better, or more time (under “More settings”).`;
}

/** A search that goes on: the shortest solution falls, the proven bound rises, until they meet or somebody stops it. */
export class LiveSearch {
  /** `tell(text)` is called with how it stands. */
  constructor(container, tell) {
    Object.assign(this, { container, said: tell });
  }

  begin() {
    this.cease();
    Object.assign(this, { solutions: [], bound: 0, bounds: [[0, 0]], latest: null, frame: 0, seconds: 0 });
    this.now = el('p', { class: 'now' }, 'Searching …');
    this.figures = el('p', { class: 'counts' });
    this.plot = el('div', {});
    this.list = el('ol', { class: 'improvements', 'aria-label': 'Solutions found, each shorter than the one before' });
    this.container.replaceChildren(this.now, this.figures, this.plot, this.list);
  }

  /** Takes in an event of the stream. */
  tell(name, data) {
    const seconds = data.elapsed_us / 1e6;
    // What is proven stays so, in whatever order it is told.
    this.bound = Math.max(this.bound, data.lower_bound);
    this.bounds.push([seconds, this.bound]);
    if (name === 'solution') {
      this.solutions.push({ ...data, seconds });
      this.list.prepend(el('li', {}, el('b', {}, counted(data.length, 'move')), el('span', {}, ` after ${duration(data.elapsed_us)}`)));
    } else {
      this.latest = data;
    }
    this.seconds = seconds;
    // Solutions can come by the dozen: what is drawn is drawn once a frame.
    this.frame ||= requestAnimationFrame(() => this.draw());
  }

  /** The best so far, or nothing. */
  get best() {
    const best = this.solutions.at(-1);
    return best && { ...best, lower_bound: this.bound };
  }

  draw() {
    this.frame = 0;
    const { bound } = this;
    this.now.textContent = this.best
      ? `${counted(this.best.length, 'move')} so far; every solution has at least ${bound}.`
      : `No solution yet; every one has at least ${counted(bound, 'move')}.`;
    this.said(this.now.textContent);
    if (this.latest) {
      const { expanded, generated, threshold } = this.latest;
      this.figures.textContent = `${figure(expanded)} expanded, ${figure(generated)} generated` +
        `${threshold === undefined ? '' : `, within ${counted(threshold, 'move')}`}, ${this.seconds.toFixed(1)} s`;
    }
    const until = [this.seconds, bound];
    const series = [{ name: 'bound', isStepped: true, points: [...this.bounds, until] }];
    if (this.best) {
      const points = this.solutions.map(({ seconds, length }) => [seconds, length]);
      series.push({ name: 'length', isStepped: true, points: [...points, [this.seconds, this.best.length]] });
    }
    const lowest = Math.min(...this.bounds.slice(1).map(([, value]) => value), this.best?.length ?? Infinity);
    series[0].points = series[0].points.filter(([, value]) => value >= lowest);
    const label = `Over time: the shortest solution, and what every solution has at least, ${bound}.`;
    this.plot.replaceChildren(new Chart({ series, label, unit: 'seconds', low: lowest * 0.9 }).element,
      el('ul', { class: 'legend' }, this.best && el('li', { class: 'length' }, 'shortest solution so far'), el('li', { class: 'bound' }, 'proven: none is shorter')));
  }

  /** Draws no more of what belongs to another question. */
  cease() {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
  }

  end(text) {
    this.cease();
    // Of a search that was over at once there is no course to show.
    if (this.seconds > AT_ONCE) this.draw();
    else for (const part of [this.plot, this.list, this.figures]) part.remove();
    this.now.textContent = text;
  }
}
