// Several methods on the same board, side by side.

import { announce, choice, counted, duration, el, field, figure } from './dom.js';
import { faultText } from './editor.js';
import { named, title } from './method.js';
import { Problem, asProblem, compare } from './service.js';

/** The preset that the course project's boards are for. */
const OLDER_SYSTEMS = 'older_systems';
const OWN = 'own';

/** The boards of the course project, each with its goal. */
const COURSE = [
  { name: '7 moves', board: [[2, 8, 3], [1, 6, 4], [7, 0, 5]], goal: [[1, 2, 3], [8, 6, 4], [7, 5, 0]] },
  { name: '22 moves', board: [[5, 4, 0], [6, 1, 8], [7, 3, 2]], goal: [[1, 2, 3], [4, 0, 5], [6, 7, 8]] },
  { name: '26 moves', board: [[7, 2, 4], [5, 0, 6], [8, 3, 1]], goal: [[0, 1, 2], [3, 4, 5], [6, 7, 8]] },
];

/** What each method may spend. */
const LIMITS = { time_ms: 5000 };

export class Comparison {
  /**
   * `present()` sees to it that the board on the table is the question's; `question()` gives its board and goal;
   * `choose(question)` puts another in its place.
   */
  constructor(panel, info, { present, question, choose }) {
    Object.assign(this, { presets: info.presets, present, question, choose, abort: null });
    this.chosen = choice([...this.presets.map(({ name, description }) => [name, description]), [OWN, 'A list of my own']], this.presets[0].name, {
      onchange: () => this.take(this.named(this.chosen.value) ?? { methods: this.methods }),
    });
    this.body = el('tbody', {});
    this.said = el('p', { class: 'about' }, 'Expanded nodes as bars, on a logarithmic scale: each step of the same width is ten times as many. ' +
      '≥ is what every solution has at least, as far as that method proves it.');
    this.go = el('button', { type: 'button', class: 'primary', onclick: () => (this.abort ? this.abort.abort() : this.run()) }, 'Compare');
    this.clock = el('span', { class: 'about' });
    const boards = el('div', { class: 'row' }, el('span', { class: 'about' }, 'Boards of the course project:'),
      COURSE.map(({ name, board, goal }) => el('button', {
        type: 'button', class: 'small', onclick: () => this.course({ board, goal }),
      }, name)));
    panel.replaceChildren(el('div', { class: 'fields' }, field('Methods', this.chosen), this.go, this.clock), boards,
      el('div', { class: 'wide', tabindex: 0, role: 'region', 'aria-label': 'Comparison' }, this.table()), this.said, this.adder(info));
    this.take(this.presets[0]);
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
      this.take({ methods: [...this.methods, { algorithm: algorithm.value, ...(!isBlind && { heuristic: heuristic.value }) }] });
    };
    this.more = el('button', { type: 'button', onclick: add }, 'Add');
    this.most = info.limits.methods;
    return el('div', { class: 'fields' }, field('Another', algorithm), field('with', heuristic), this.more);
  }

  named(name) {
    return this.presets.find((preset) => preset.name === name);
  }

  /**
   * Takes over a list of methods, one with a name or one of a person's own; what another one waits for is of no use any
   * more.
   */
  take({ name = null, methods }) {
    this.abort?.abort();
    Object.assign(this, { preset: name, methods, results: [] });
    this.chosen.value = name ?? OWN;
    this.draw();
  }

  /** Forgets results, as those of another board. */
  clear() {
    this.take(this.preset ? this.named(this.preset) : { methods: this.methods });
  }

  async course(question) {
    if (await this.choose(question)) return;
    this.take(this.named(OLDER_SYSTEMS));
    await this.run();
  }

  /** The button stops what it began, and the time goes on beside it. */
  turn(isRunning) {
    this.go.classList.toggle('danger', isRunning);
    this.go.textContent = isRunning ? 'Stop' : 'Compare';
    clearInterval(this.ticking);
    this.clock.textContent = '';
    if (!isRunning) return;
    const began = performance.now();
    this.ticking = setInterval(() => {
      this.clock.textContent = `${((performance.now() - began) / 1000).toFixed(0)} s, all methods one after another`;
    }, 1000);
  }

  async run() {
    if (!await this.present()) return;
    this.abort?.abort();
    const abort = new AbortController();
    this.abort = abort;
    this.body.parentElement.setAttribute('aria-busy', 'true');
    this.turn(true);
    try {
      const { methods, preset } = this;
      const { results } = await compare({ ...this.question(), ...(preset ? { preset } : { methods }), limits: LIMITS }, abort.signal);
      if (methods !== this.methods) return;
      // Of a list with a name the service leaves out what does not go with the board.
      this.methods = results.map(method);
      this.results = results;
      this.draw();
      const solved = results.filter(({ length }) => length !== undefined).length;
      announce(`${solved} of ${counted(results.length, 'method')} found a solution.`);
    } catch (error) {
      if (error.name !== 'AbortError') this.say(asProblem(error));
    } finally {
      // Another comparison may go on by now.
      if (this.abort === abort) {
        this.abort = null;
        this.turn(false);
        this.body.parentElement.removeAttribute('aria-busy');
      }
    }
  }

  say(error) {
    const text = faultText(error);
    this.draw();
    this.body.append(el('tr', {}, el('td', { colspan: 6, class: 'bad' }, text)));
    announce(text);
  }

  /** The keyboard's focus goes to the next one. */
  leaveOut(at) {
    this.take({ methods: this.methods.filter((_, other) => other !== at) });
    (this.body.rows[Math.min(at, this.methods.length - 1)]?.querySelector('button') ?? this.more).focus();
  }

  draw() {
    this.more.disabled = this.methods.length >= this.most;
    const most = Math.max(1, ...this.results.map(({ search, problem }) => (search ?? problem?.search)?.expanded ?? 0));
    this.body.replaceChildren(...this.methods.map((method, at) => {
      const remove = el('button', {
        type: 'button', class: 'small quiet', 'aria-label': `Leave out ${title(method)}`, title: 'Leave out',
        onclick: () => this.leaveOut(at),
      }, '×');
      const isRash = method.heuristic && this.results[at]?.search?.admissible === false;
      return el('tr', {}, el('th', { scope: 'row' }, title(method), isRash && el('small', {}, ' not admissible')),
        cells(this.results[at], most), el('td', {}, remove));
    }));
  }
}

/** The method of a result, as it is asked for. */
function method({ algorithm, heuristic, weight, tie_breaking, duplicate_detection, depth_limit }) {
  const fields = { algorithm, heuristic, weight, tie_breaking, duplicate_detection, depth_limit };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));
}

function cells(result, most) {
  if (!result) return Array.from({ length: 4 }, () => el('td', { class: 'none' }, '·'));
  // A search that a limit ended has figures all the same.
  const { length, optimal, lower_bound: bound, search, limit } = { ...result, ...result.problem };
  if (!search) {
    return el('td', { colspan: 4, class: 'bad' }, faultText(new Problem(result.problem)));
  }
  const bar = el('span', { class: length === undefined ? 'bar vain' : 'bar' });
  bar.style.inlineSize = `${Math.max(1.5, (Math.log10(search.expanded + 1) / Math.log10(most + 1)) * 100)}%`;
  const found = length === undefined
    ? [el('span', { class: 'bad' }, `out of ${limit === 'expanded' ? 'expansions' : limit}`), el('small', {}, ` ≥ ${bound}`)]
    : [el('b', {}, String(length)), el('small', {}, optimal ? ' shortest' : ` ≥ ${bound}`)];
  return [
    el('td', { class: 'number' }, found),
    el('td', { class: 'bars' }, el('span', {}, figure(search.expanded)), bar),
    el('td', { class: 'number' }, figure(search.generated)),
    el('td', { class: 'number' }, duration(search.elapsed_us)),
  ];
}
