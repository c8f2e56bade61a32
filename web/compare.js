// The panel that compares methods on one board.

import { announce, choice, counted, duration, el, field, formatNumber } from './dom.js';
import { errorText } from './editor.js';
import { Experiment } from './experiment.js';
import { methodOf, named, title } from './method.js';
import { shape } from './puzzle.js';
import { Problem, asProblem, compare } from './service.js';

/** Preset for the boards of the course project. */
const OLDER_SYSTEMS = 'older_systems';
const OWN = 'own';

/** Boards of the course project and of a tutorial, with their goals. */
const COURSE = [
  { name: '7 moves', board: [[2, 8, 3], [1, 6, 4], [7, 0, 5]], goal: [[1, 2, 3], [8, 6, 4], [7, 5, 0]] },
  { name: '22 moves', board: [[5, 4, 0], [6, 1, 8], [7, 3, 2]], goal: [[1, 2, 3], [4, 0, 5], [6, 7, 8]] },
  { name: '26 moves', board: [[7, 2, 4], [5, 0, 6], [8, 3, 1]], goal: [[0, 1, 2], [3, 4, 5], [6, 7, 8]] },
  { name: '24 moves', board: [[3, 7, 8], [2, 0, 6], [4, 5, 1]], goal: 'blank_last' },
];

/** Limits of each method. */
const LIMITS = { time_ms: 5000 };

/** Result of a method that reached a limit. */
const STOPPED = { time: 'out of time', expanded: 'out of expansions', nodes: 'out of nodes', depth: 'none within the depth limit' };

export class Comparison {
  /**
   * `commitInput()` makes the displayed board the puzzle; `puzzle()` returns the puzzle; `choose(puzzle)` replaces it.
   */
  constructor(panel, info, { commitInput, puzzle, choose }) {
    Object.assign(this, { presets: info.presets, commitInput, puzzle, choose, abort: null });
    this.chosen = choice([...this.presets.map(({ name, description }) => [name, description]), [OWN, 'Custom list']], this.presets[0].name, {
      onchange: () => this.setMethods(this.named(this.chosen.value) ?? { methods: this.methods }),
    });
    this.experiment = new Experiment(info, {
      commitInput, methods: () => this.request, shape: () => shape(puzzle().board), goal: () => puzzle().goal,
    });
    this.body = el('tbody', {});
    this.about = el('p', { class: 'about' }, 'Bars show expanded nodes on a logarithmic scale. ≥ marks the lower bound that the method proved.');
    this.go = el('button', { type: 'button', class: 'primary', onclick: () => (this.abort ? this.abort.abort() : this.run()) }, 'Compare');
    this.clock = el('span', { class: 'about' });
    const boards = el('div', { class: 'row' }, el('span', { class: 'about' }, 'Sample boards:'),
      COURSE.map(({ name, board, goal }) => el('button', {
        type: 'button', class: 'small', onclick: () => this.course({ board, goal }),
      }, name)));
    panel.replaceChildren(el('div', { class: 'fields' }, field('Methods', this.chosen), this.go, this.clock), boards,
      el('div', { class: 'wide', tabindex: 0, role: 'region', 'aria-label': 'Comparison' }, this.table()), this.about, this.adder(info),
      this.experiment.element);
    this.setMethods(this.presets[0]);
  }

  table() {
    const heads = [['Method'], ['Moves', 'number'], ['Expanded', 'bars'], ['Generated', 'number'], ['Time', 'number']];
    return el('table', {}, el('caption', { class: 'unseen' }, 'Methods compared'),
      el('thead', {}, el('tr', {}, heads.map(([text, kind]) => el('th', { scope: 'col', class: kind }, text)),
        el('td', {}))), this.body);
  }

  adder(info) {
    const [algorithm, heuristic] = [named(info.algorithms, 'astar'), named(info.heuristics, 'manhattan')];
    const add = () => {
      const isBlind = info.algorithms.some(({ name, takes_heuristic: takes }) => name === algorithm.value && !takes);
      this.setMethods({ methods: [...this.methods, { algorithm: algorithm.value, ...(!isBlind && { heuristic: heuristic.value }) }] });
    };
    this.more = el('button', { type: 'button', onclick: add }, 'Add');
    this.most = info.limits.methods;
    return el('div', { class: 'fields' }, field('Algorithm', algorithm), field('Heuristic', heuristic), this.more);
  }

  /** The chosen methods as fields of a request. */
  get request() {
    return this.preset ? { preset: this.preset } : { methods: this.methods };
  }

  named(name) {
    return this.presets.find((preset) => preset.name === name);
  }

  /** Replaces the list of methods with a preset or a custom list, and stops a running comparison. */
  setMethods({ name = null, methods }) {
    this.abort?.abort();
    Object.assign(this, { preset: name, methods, results: [] });
    this.experiment.update();
    this.chosen.value = name ?? OWN;
    this.draw();
  }

  /** Clears the results of the previous board. */
  clear() {
    this.setMethods(this.preset ? this.named(this.preset) : { methods: this.methods });
  }

  async course(puzzle) {
    if (await this.choose(puzzle)) return;
    this.setMethods(this.named(OLDER_SYSTEMS));
    await this.run();
  }

  /** Switches the button between Compare and Stop, and shows the elapsed time of a running comparison. */
  setRunning(isRunning) {
    this.go.classList.toggle('danger', isRunning);
    this.go.textContent = isRunning ? 'Stop' : 'Compare';
    clearInterval(this.ticking);
    this.clock.textContent = '';
    if (!isRunning) return;
    const began = performance.now();
    this.ticking = setInterval(() => {
      this.clock.textContent = `${((performance.now() - began) / 1000).toFixed(0)} s; methods run one after another`;
    }, 1000);
  }

  async run() {
    if (!await this.commitInput()) return;
    this.abort?.abort();
    const abort = new AbortController();
    this.abort = abort;
    this.body.parentElement.setAttribute('aria-busy', 'true');
    this.setRunning(true);
    try {
      const { methods } = this;
      const { results } = await compare({ ...this.puzzle(), ...this.request, limits: LIMITS }, abort.signal);
      if (methods !== this.methods) return;
      // The service omits methods of a preset that do not support the board.
      this.methods = results.map(methodOf);
      this.results = results;
      this.draw();
      const solved = results.filter(({ length }) => length !== undefined).length;
      announce(`${solved} of ${counted(results.length, 'method')} found a solution.`);
    } catch (error) {
      if (error.name !== 'AbortError') this.showError(asProblem(error));
    } finally {
      // Another comparison may have started.
      if (this.abort === abort) {
        this.abort = null;
        this.setRunning(false);
        this.body.parentElement.removeAttribute('aria-busy');
      }
    }
  }

  showError(error) {
    const text = errorText(error);
    this.draw();
    this.body.append(el('tr', {}, el('td', { colspan: 6, class: 'bad' }, text)));
    announce(text);
  }

  /** Removes a method and moves the focus to the next one. */
  remove(at) {
    this.setMethods({ methods: this.methods.filter((_, other) => other !== at) });
    (this.body.rows[Math.min(at, this.methods.length - 1)]?.querySelector('button') ?? this.more).focus();
  }

  draw() {
    this.more.disabled = this.methods.length >= this.most;
    const most = Math.max(1, ...this.results.map(({ search, problem }) => (search ?? problem?.search)?.expanded ?? 0));
    this.body.replaceChildren(...this.methods.map((method, at) => {
      const remove = el('button', {
        type: 'button', class: 'small quiet', 'aria-label': `Remove ${title(method)}`, title: 'Remove',
        onclick: () => this.remove(at),
      }, '×');
      const isInadmissible = method.heuristic && this.results[at]?.search?.admissible === false;
      return el('tr', {}, el('th', { scope: 'row' }, title(method), isInadmissible && el('small', {}, ' not admissible')),
        cells(this.results[at], most), el('td', {}, remove));
    }));
  }
}

function cells(result, most) {
  if (!result) return Array.from({ length: 4 }, () => el('td', { class: 'none' }, '·'));
  // A search that reached a limit also has statistics.
  const { length, optimal, lower_bound: bound, search, limit } = { ...result, ...result.problem };
  if (!search) {
    return el('td', { colspan: 4, class: 'bad' }, errorText(new Problem(result.problem)));
  }
  const bar = el('span', { class: length === undefined ? 'bar unsolved' : 'bar' });
  bar.style.inlineSize = `${Math.max(1.5, (Math.log10(search.expanded + 1) / Math.log10(most + 1)) * 100)}%`;
  const found = length === undefined
    ? [el('span', { class: 'bad' }, STOPPED[limit]), el('small', {}, ` ≥ ${bound}`)]
    : [el('b', {}, String(length)), el('small', {}, optimal ? ' optimal' : ` ≥ ${bound}`)];
  return [
    el('td', { class: 'number' }, found),
    el('td', { class: 'bars' }, el('span', {}, formatNumber(search.expanded)), bar),
    el('td', { class: 'number' }, formatNumber(search.generated)),
    el('td', { class: 'number' }, duration(search.elapsed_us)),
  ];
}
