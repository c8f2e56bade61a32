// The tree in the search panel: the first expanded or generated nodes, drawn on request.

import { choice, counted, el } from './dom.js';
import { describeMethod, describeProblem } from './search.js';
import { solve } from './service.js';
import { Tree, counts } from './tree.js';

const ABOUT = 'The first nodes of a search, each below its parent.';

/** Kinds of nodes: their name in `include`, their field in responses, and the counter and noun of all of them. */
const KINDS = {
  expansions: { field: 'expansions', counter: 'expanded', noun: 'expansion' },
  generated: { field: 'generated_nodes', counter: 'generated', noun: 'generated node' },
};

/** Limits of a search for a drawing. */
const LIMITS = { time_ms: 3000 };

/** The textbook method, without precomputed tables. */
const TEXTBOOK = { algorithm: 'astar', heuristic: 'manhattan' };

/** A* as in tutorials that keep their lists in vectors. */
const TUTORIAL = {
  algorithm: 'astar', heuristic: 'manhattan_plus_hamming', tie_breaking: 'fifo', duplicate_detection: 'expanded_only', successor_order: 'LRUD',
};

export class Expansions {
  /**
   * `commitInput()` makes the displayed board the puzzle; `request(as)` returns the request, with the fields of `as`
   * replaced; `search(act)` runs a search that can be stopped.
   */
  constructor({ commitInput, request, search }) {
    Object.assign(this, { commitInput, request, search, revision: 0 });
    const [drawing, button] = [el('div', {}), (properties, text) => el('button', { type: 'button', ...properties }, text)];
    this.tree = new Tree(drawing);
    this.count = counts();
    this.kind = choice([['expansions', 'expanded nodes'], ['generated', 'generated nodes']], 'expansions', { 'aria-label': 'Kind of nodes' });
    this.kind.addEventListener('change', () => this.result && this.grow(this.as));
    this.count.addEventListener('change', () => this.result && this.show(this.result));
    this.about = el('p', { class: 'about' });
    this.element = el('section', { class: 'setting' }, el('h2', {}, 'Tree'), this.about, el('div', { class: 'row' }, this.count, this.kind,
      button({ id: 'grow', onclick: () => this.grow() }, 'Draw tree'),
      button({ onclick: () => this.grow(TEXTBOOK) }, 'Draw with A* and Manhattan'),
      button({ onclick: () => this.growAsTutorials() }, 'Draw as tutorials search')), drawing);
    this.clear();
  }

  clear() {
    this.revision += 1;
    this.result = null;
    this.about.textContent = ABOUT;
    this.tree.clear();
  }

  /** Draws the nodes that tutorials print. */
  growAsTutorials() {
    this.kind.value = 'generated';
    return this.grow(TUTORIAL);
  }

  async grow(as = {}) {
    if (!await this.commitInput()) return;
    this.clear();
    const { revision } = this;
    this.as = as;
    const request = this.request(as);
    const kind = this.kind.value;
    this.about.textContent = 'Searching…';
    const { problem, isStopped } = await this.search(async (signal) => {
      const result = await solve({ ...request, limits: { ...LIMITS, ...request.limits }, include: [kind, 'states'] }, signal);
      if (revision === this.revision) this.show({ ...result, kind });
    });
    // The puzzle may have changed.
    if (revision !== this.revision) return;
    if (isStopped) this.about.textContent = 'Stopped.';
    if (!problem) return;
    // A search without a solution has expanded nodes too.
    const { search } = problem.document;
    const message = describeProblem(problem);
    if (search) this.show({ ...problem.document, message, kind });
    else this.about.textContent = message;
  }

  show(result) {
    const { states = [], search, message = '', kind } = result;
    const { field, counter, noun } = KINDS[kind];
    const nodes = result[field] ?? [];
    this.result = result;
    if (nodes.length === 0) {
      this.tree.clear();
      this.about.textContent = search.expanded === 0
        ? `${message} No node was expanded.`
        : `${message} ${describeMethod(search)} has no single search tree. Choose another algorithm, or “Draw with A* and Manhattan”.`;
      return;
    }
    const count = Number(this.count.value);
    this.tree.load(nodes, states, count, kind);
    this.about.textContent = `${message} ${describeMethod(search)}: the first ${Math.min(count, nodes.length)} of ` +
      `${counted(search[counter], noun)}. ${states.length ? 'The solution is bold. ' : ''}Warmer colors mean a larger ${kind === 'generated' ? 'g + h; duplicates are dashed' : 'f'}.`;
  }
}
