// The player's moves, with the mistakes that the service finds in them.

import { counted, el } from './dom.js';
import { SLIDES } from './puzzle.js';
import { asProblem, verify } from './service.js';

/** Limits of the searches for one list. */
const LIMITS = { time_ms: 5000 };

const ABOUT = 'Make moves on the board; then the service can find the mistakes in them.';

export class Track {
  /** `game()` returns the game whose moves are checked. */
  constructor(game) {
    Object.assign(this, { game, abort: null });
    this.button = el('button', { type: 'button', id: 'check', disabled: true, onclick: () => this.check() }, 'Check my moves');
    this.verdict = el('p', { role: 'status' });
    this.list = el('div', { class: 'moves', role: 'region', 'aria-label': 'Your moves', hidden: true, tabindex: 0 });
    this.element = el('section', { class: 'setting' }, el('h2', {}, 'Your moves'), this.verdict, this.list, el('div', { class: 'row' }, this.button));
    this.clear();
  }

  clear() {
    this.abort?.abort();
    this.verdict.textContent = ABOUT;
    this.list.hidden = true;
    this.list.replaceChildren();
  }

  update() {
    const { isOwn, moves } = this.game();
    this.button.disabled = !isOwn || !moves;
  }

  /** Requests the distance after each move of the player, and lists the moves. */
  async check() {
    const { start, goal, moves } = this.game();
    this.clear();
    this.verdict.textContent = 'Checking…';
    this.abort = new AbortController();
    const { signal } = this.abort;
    try {
      const { steps } = await verify({ board: start, goal, moves, include: ['steps'], limits: LIMITS }, signal);
      if (!signal.aborted) this.show(steps);
    } catch (error) {
      if (!signal.aborted) this.verdict.textContent = asProblem(error).message;
    }
  }

  /** Lists moves. An unsolvable board has none. */
  show(steps) {
    this.verdict.textContent = steps ? describe(steps) : 'The goal cannot be reached from this board.';
    if (!steps) return;
    this.list.replaceChildren(el('ol', { class: 'track' }, steps.map(({ tile, move, mistake, cost }) => el('li', { class: mistake && 'mistake', title: `${tile} ${SLIDES[move]}` },
      String(tile), mistake && [el('span', { class: 'unseen' }, ', mistake, cost '), el('small', {}, `+${cost}`)]))));
    this.list.hidden = false;
  }
}

/** Counts the mistakes and their cost. They may be unknown on large boards. */
function describe(steps) {
  const made = `${counted(steps.length, 'move')}: `;
  if (steps.some(({ mistake }) => mistake === null)) return `${made}the mistakes on a board of this size are not known.`;
  const mistakes = steps.filter(({ mistake }) => mistake);
  if (!mistakes.length) return `${made}no mistake.`;
  const cost = mistakes.reduce((sum, one) => sum + one.cost, 0);
  return `${made}${counted(mistakes.length, 'mistake')}, with a cost of ${counted(cost, 'move')}.`;
}
