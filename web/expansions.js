// The panel below the figures of a search: its first nodes, drawn when they are asked for.

import { counted, el } from './dom.js';
import { method, shortfall } from './search.js';
import { solve } from './service.js';
import { Tree, counts } from './tree.js';

const ABOUT = 'The nodes in the order in which the search took them up, each below the one it was reached from.';

/** Whoever waits for a drawing does not wait for long. */
const LIMITS = { time_ms: 3000 };

/** What a search looks like without a table that knows the way. */
const TEXTBOOK = { algorithm: 'astar', heuristic: 'manhattan' };

export class Expansions {
  /**
   * `present()` sees to it that the board on the table is the question's; `question(as)` gives what to ask, with other
   * fields in place of its own; `search(act)` runs what can be stopped.
   */
  constructor({ present, question, search }) {
    Object.assign(this, { present, question, search, turn: 0 });
    const [drawing, button] = [el('div', {}), (properties, text) => el('button', { type: 'button', ...properties }, text)];
    this.tree = new Tree(drawing);
    this.count = counts();
    this.count.addEventListener('change', () => this.answer && this.show(this.answer));
    this.about = el('p', { class: 'about' });
    this.element = el('section', { class: 'setting' }, el('h2', {}, 'Tree'), this.about, el('div', { class: 'row' }, this.count,
      button({ id: 'grow', onclick: () => this.grow() }, 'Draw the tree'),
      button({ onclick: () => this.grow(TEXTBOOK) }, 'As A* with Manhattan')), drawing);
    this.clear();
  }

  clear() {
    this.turn += 1;
    this.answer = null;
    this.about.textContent = ABOUT;
    this.tree.clear();
  }

  async grow(as = {}) {
    if (!await this.present()) return;
    this.clear();
    const { turn } = this;
    const question = this.question(as);
    this.about.textContent = 'Searching …';
    const { problem, isStopped } = await this.search(async (signal) => {
      const answer = await solve({ ...question, limits: { ...LIMITS, ...question.limits }, include: ['expansions', 'states'] }, signal);
      if (turn === this.turn) this.show(answer);
    });
    // The question may be another by now.
    if (turn !== this.turn) return;
    if (isStopped) this.about.textContent = 'Stopped.';
    if (!problem) return;
    // A search without a solution has first nodes all the same.
    const { search } = problem.document;
    const said = shortfall(problem);
    if (search) this.show({ expansions: [], ...problem.document, said });
    else this.about.textContent = said;
  }

  show(answer) {
    const { expansions, states = [], search, said = '' } = answer;
    this.answer = answer;
    if (expansions.length === 0) {
      this.tree.clear();
      this.about.textContent = search.expanded === 0
        ? `${said} Nothing was expanded.`
        : `${said} ${method(search)} goes many ways at once, and has no tree to show. Choose another algorithm, or have it drawn as A* with Manhattan.`;
      return;
    }
    const count = Number(this.count.value);
    this.tree.load(expansions, states, count);
    this.about.textContent = `${said} ${method(search)}: the first ${Math.min(count, expansions.length)} of ` +
      `${counted(search.expanded, 'expansion')}. ${states.length ? 'The way to the goal is drawn boldly; the' : 'The'} warmer a node, the greater its f.`;
  }
}
