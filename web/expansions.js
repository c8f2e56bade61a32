// The tree in the search panel: the first expanded nodes, drawn on request.

import { counted, el } from './dom.js';
import { describeMethod, describeProblem } from './search.js';
import { solve } from './service.js';
import { Tree, counts } from './tree.js';

const ABOUT = 'The first expanded nodes of a search, each below its parent.';

/** Limits of a search for a drawing. */
const LIMITS = { time_ms: 3000 };

/** The textbook method, without precomputed tables. */
const TEXTBOOK = { algorithm: 'astar', heuristic: 'manhattan' };

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
    this.count.addEventListener('change', () => this.result && this.show(this.result));
    this.about = el('p', { class: 'about' });
    this.element = el('section', { class: 'setting' }, el('h2', {}, 'Tree'), this.about, el('div', { class: 'row' }, this.count,
      button({ id: 'grow', onclick: () => this.grow() }, 'Draw tree'),
      button({ onclick: () => this.grow(TEXTBOOK) }, 'Draw with A* and Manhattan')), drawing);
    this.clear();
  }

  clear() {
    this.revision += 1;
    this.result = null;
    this.about.textContent = ABOUT;
    this.tree.clear();
  }

  async grow(as = {}) {
    if (!await this.commitInput()) return;
    this.clear();
    const { revision } = this;
    const request = this.request(as);
    this.about.textContent = 'Searching…';
    const { problem, isStopped } = await this.search(async (signal) => {
      const result = await solve({ ...request, limits: { ...LIMITS, ...request.limits }, include: ['expansions', 'states'] }, signal);
      if (revision === this.revision) this.show(result);
    });
    // The puzzle may have changed.
    if (revision !== this.revision) return;
    if (isStopped) this.about.textContent = 'Stopped.';
    if (!problem) return;
    // A search without a solution has expanded nodes too.
    const { search } = problem.document;
    const message = describeProblem(problem);
    if (search) this.show({ expansions: [], ...problem.document, message });
    else this.about.textContent = message;
  }

  show(result) {
    const { expansions, states = [], search, message = '' } = result;
    this.result = result;
    if (expansions.length === 0) {
      this.tree.clear();
      this.about.textContent = search.expanded === 0
        ? `${message} No node was expanded.`
        : `${message} ${describeMethod(search)} has no single search tree. Choose another algorithm, or “Draw with A* and Manhattan”.`;
      return;
    }
    const count = Number(this.count.value);
    this.tree.load(expansions, states, count);
    this.about.textContent = `${message} ${describeMethod(search)}: the first ${Math.min(count, expansions.length)} of ` +
      `${counted(search.expanded, 'expansion')}. ${states.length ? 'The solution is bold. ' : ''}Warmer colors mean a larger f.`;
  }
}
