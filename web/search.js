// Statistics and progress of a search.

import { Chart } from './chart.js';
import { counted, duration, el, formatNumber, words } from './dom.js';

const MEANINGS = {
  expanded: 'nodes whose successors were generated', generated: 'nodes created', duplicates: 'discarded as already known',
  reopened: 'reached again by a shorter path', peak_open: 'maximum size of the open list',
  open_at_end: 'on the open list at the end', nodes_held: 'in memory at the end', iterations: 'iterations of the search',
  initial_h: 'heuristic value of the start', effective_branching_factor: '1 means straight to the goal',
};

/** Seconds below which the progress of a search is not shown. */
const SHORT = 0.1;

const row = (name, value, meaning) => el('div', {}, el('dt', {}, name), el('dd', {}, value), el('dd', { class: 'meaning' }, meaning));

/** Creates the list of statistics of a search. */
export function statistics(search) {
  const rows = Object.entries(MEANINGS).map(([name, meaning]) => {
    const value = search[name];
    const text = value === null ? '—' : name === 'effective_branching_factor' ? value.toFixed(3) : formatNumber(value);
    return row(words(name), text, meaning);
  });
  return el('dl', { class: 'figures' }, row('time', duration(search.elapsed_us), 'without time in the queue'), rows);
}

/** Describes algorithm and heuristic of a search. */
export function describeMethod({ algorithm, heuristic, tables, admissible }) {
  const size = tables ? ` (${tables} tables)` : '';
  const by = heuristic && heuristic !== 'zero' ? ` with ${words(heuristic)}${size}` : '';
  return `${words(algorithm)}${by}${admissible ? '' : ' (not admissible)'}`;
}

/** Describes length and bound of a solution. */
export function describeSolution({ length, optimal, lower_bound: bound, percentile }) {
  if (optimal) return `${counted(length, 'move')}, and no solution is shorter.${describePercentile(percentile)}`;
  return `${counted(length, 'move')}; every solution has at least ${bound}.`;
}

/** Describes which share of all boards takes fewer moves, if it is known. Rounded down: it is never all of them. */
function describePercentile(percentile) {
  if (!Number.isFinite(percentile)) return '';
  const share = percentile > 0 && percentile < 0.01 ? 'Less than 0.01' : Math.floor(percentile * 100) / 100;
  return ` ${share}% of all boards take fewer moves.`;
}

/** Describes why a search has no result. */
export function describeProblem({ document, message, slug }) {
  if (slug !== 'search-limit-exceeded') return message;
  const { limit, solution, limits } = document;
  if (limit === 'depth') return 'No solution within the depth limit.';
  const spent = {
    time: () => `Time limit of ${duration(limits.time_ms * 1000)} reached`, expanded: () => `Limit of ${formatNumber(limits.expanded)} expansions reached`,
    nodes: () => `Limit of ${formatNumber(limits.nodes)} nodes reached`,
  }[limit]();
  return `${spent} without a ${solution ? 'proof of optimality' : 'solution'}. Try another method${limit === 'time' ? ', or a longer time limit under “More settings”' : ''}.`;
}

/** Progress of a running search: the best solution and the proven lower bound over time. */
export class LiveSearch {
  /** Calls `setStatus(text)` with a line of progress. */
  constructor(container, setStatus) {
    Object.assign(this, { container, setStatus });
  }

  begin() {
    this.cancelDrawing();
    Object.assign(this, { solutions: [], bound: 0, bounds: [[0, 0]], latest: null, frame: 0, seconds: 0 });
    this.now = el('p', { class: 'now' }, 'Searching…');
    this.counters = el('p', { class: 'counts' });
    this.plot = el('div', {});
    this.list = el('ol', { class: 'improvements', 'aria-label': 'Solutions found, each shorter than the one before' });
    this.container.replaceChildren(this.now, this.counters, this.plot, this.list);
  }

  /** Records an event of the stream. */
  record(name, data) {
    const seconds = data.elapsed_us / 1e6;
    // Events may arrive out of order; the bound never falls.
    this.bound = Math.max(this.bound, data.lower_bound);
    this.bounds.push([seconds, this.bound]);
    if (name === 'solution') {
      this.solutions.push({ ...data, seconds });
      this.list.prepend(el('li', {}, el('b', {}, counted(data.length, 'move')), el('span', {}, ` after ${duration(data.elapsed_us)}`)));
    } else {
      this.latest = data;
    }
    this.seconds = seconds;
    // Solutions can arrive by the dozen: draw once per frame.
    this.frame ||= requestAnimationFrame(() => this.draw());
  }

  /** The best solution so far, or undefined. */
  get best() {
    const best = this.solutions.at(-1);
    return best && { ...best, lower_bound: this.bound };
  }

  draw() {
    this.frame = 0;
    const { bound } = this;
    this.now.textContent = this.best
      ? `${counted(this.best.length, 'move')} so far; every solution has at least ${bound}.`
      : `No solution yet; every solution has at least ${counted(bound, 'move')}.`;
    this.setStatus(this.now.textContent);
    if (this.latest) {
      const { expanded, generated, threshold } = this.latest;
      this.counters.textContent = `${formatNumber(expanded)} expanded, ${formatNumber(generated)} generated` +
        `${threshold === undefined ? '' : `, threshold ${formatNumber(threshold)}`}, ${this.seconds.toFixed(1)} s`;
    }
    const until = [this.seconds, bound];
    const series = [{ name: 'bound', isStepped: true, points: [...this.bounds, until] }];
    if (this.best) {
      const points = this.solutions.map(({ seconds, length }) => [seconds, length]);
      series.push({ name: 'length', isStepped: true, points: [...points, [this.seconds, this.best.length]] });
    }
    const lowest = Math.min(...this.bounds.slice(1).map(([, value]) => value), this.best?.length ?? Infinity);
    series[0].points = series[0].points.filter(([, value]) => value >= lowest);
    const label = `Length of the best solution and the proven lower bound, ${bound}, over time.`;
    this.plot.replaceChildren(new Chart({ series, label, unit: 'seconds', low: lowest * 0.9 }).element,
      el('ul', { class: 'legend' }, this.best && el('li', { class: 'length' }, 'best solution so far'), el('li', { class: 'bound' }, 'proven lower bound')));
  }

  /** Cancels a pending drawing. */
  cancelDrawing() {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
  }

  end(text) {
    this.cancelDrawing();
    // A search that ended at once has no progress to show.
    if (this.seconds > SHORT) this.draw();
    else for (const part of [this.plot, this.list, this.counters]) part.remove();
    this.now.textContent = text;
  }
}
