// The panel below the figures of a search: its first nodes, drawn when they are asked for.

import { counted, el } from './dom.js';
import { method } from './search.js';
import { solve } from './service.js';
import { Tree, counts } from './tree.js';

const ABOUT = 'The nodes in the order in which the search took them up, each below the one it was reached from.';

/** Whoever waits for a drawing does not wait for long. */
const LIMITS = { time_ms: 3000 };

/** What a search looks like without a table that knows the way. */
const TEXTBOOK = { algorithm: 'astar', heuristic: 'manhattan' };

export class Expansions {
  /** `question(as)` gives what to ask, with other fields in place of its own; `search(act)` runs what can be stopped. */
  constructor(question, search) {
    Object.assign(this, { question, search });
    const [drawing, button] = [el('div', {}), (properties, text) => el('button', { type: 'button', ...properties }, text)];
    this.tree = new Tree(drawing);
    this.count = counts();
    this.about = el('p', { class: 'about' });
    this.element = el('section', { class: 'setting' }, el('h2', {}, 'Tree'), this.about, el('div', { class: 'row' }, this.count,
      button({ id: 'grow', onclick: () => this.grow() }, 'Draw the tree'),
      button({ onclick: () => this.grow(TEXTBOOK) }, 'As A* with Manhattan')), drawing);
    this.clear();
  }

  clear() {
    this.about.textContent = ABOUT;
    this.tree.clear();
  }

  async grow(as = {}) {
    this.about.textContent = 'Searching …';
    const { problem, isStopped } = await this.search(async (signal) => {
      const question = this.question(as);
      this.show(await solve({ ...question, limits: { ...LIMITS, ...question.limits }, include: ['expansions', 'states'] }, signal));
    });
    if (isStopped) this.about.textContent = 'Stopped.';
    if (!problem) return;
    // A search without a solution has first nodes all the same.
    if (problem.document.expansions) this.show(problem.document);
    this.about.prepend(`${problem.message} `);
  }

  show({ expansions, states = [], search }) {
    const count = Number(this.count.value);
    this.tree.load(expansions, states, count);
    this.about.textContent = `${method(search)}: the first ${Math.min(count, expansions.length)} of ` +
      `${counted(search.expanded, 'expansion')}. ${states.length ? 'The way to the goal is drawn boldly; the' : 'The'} warmer a node, the greater its f.`;
  }
}
