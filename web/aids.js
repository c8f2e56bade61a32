// Help with the displayed board, on request: good moves marked on its tiles, and the share of each tile in h.

import { counted, debounce, words } from './dom.js';
import { SLIDES } from './puzzle.js';
import { asProblem, explain, moves } from './service.js';

/** Limits of searches for good moves. */
const LIMITS = { time_ms: 2000 };

/** A question about the displayed board. While it is on, it is asked shortly after each change of the board. */
class Question {
  /** `ask(puzzle, signal)` requests the answer, `show(answer)` shows it, or clears it for null; `line` shows its text. */
  constructor(line, { ask, show }) {
    Object.assign(this, { line, ask, show, isOn: false, puzzle: null, abort: null });
    this.askLater = debounce(120, () => this.request());
  }

  toggle(isOn) {
    this.drop();
    this.isOn = isOn;
    this.line.hidden = !isOn;
    if (isOn && this.puzzle) this.askLater();
  }

  /** Notes the displayed board. */
  change(puzzle) {
    this.puzzle = puzzle;
    if (!this.isOn) return;
    this.drop();
    this.askLater();
  }

  /** Clears the answer, and cancels a pending request. */
  drop() {
    this.askLater.cancel();
    this.abort?.abort();
    this.show(null);
  }

  async request() {
    this.abort = new AbortController();
    const { signal } = this.abort;
    try {
      const answer = await this.ask(this.puzzle, signal);
      if (!signal.aborted) this.show(answer);
    } catch (error) {
      if (!signal.aborted) this.line.textContent = asProblem(error).message;
    }
  }
}

export class Aids {
  /** `view` is the board; `lines` are the elements for the texts of good moves and of shares. */
  constructor(view, lines) {
    Object.assign(this, { view, lines, heuristic: '', answer: null, tile: null });
    this.good = new Question(lines.moves, {
      ask: (puzzle, signal) => moves({ ...puzzle, limits: LIMITS }, signal), show: (answer) => this.showMoves(answer),
    });
    this.shares = new Question(lines.share, { ask: explain, show: (answer) => this.showShares(answer) });
    for (const name of ['pointerover', 'focusin']) {
      view.frame.addEventListener(name, ({ target }) => this.look(Number(target.closest?.('.tile')?.dataset.tile) || null));
    }
    view.frame.addEventListener('pointerleave', () => this.look(null));
  }

  /** Notes the displayed board. */
  change(puzzle) {
    this.good.change(puzzle);
    this.shares.change(puzzle);
  }

  /** Turns the marks of good moves on or off. */
  toggleMoves(isOn) {
    this.good.toggle(isOn);
  }

  /** Shows the shares of tiles in a heuristic, or none for an empty name. */
  chooseShares(heuristic) {
    this.heuristic = heuristic;
    this.view.explorable = heuristic !== '';
    // One answer has all heuristics.
    if (heuristic && this.answer) this.showShares(this.answer);
    else this.shares.toggle(heuristic !== '');
  }

  showMoves(answer) {
    const good = (answer?.moves ?? []).filter(({ optimal }) => optimal);
    this.view.markGood(good.map(({ tile }) => tile));
    this.lines.moves.textContent = answer ? describeMoves(answer, good) : '';
  }

  look(tile) {
    this.tile = tile;
    if (this.answer) this.showShares(this.answer);
  }

  showShares(answer) {
    this.answer = answer;
    const explained = answer?.heuristics.find(({ name }) => name === this.heuristic);
    const text = !explained ? `${words(this.heuristic)} does not support this board.`
      : this.tile ? describeShare(explained, this.tile) : `${total(explained)}. Point at a tile, or reach it with Tab, for its share.`;
    this.lines.share.textContent = answer ? text : '';
  }
}

function describeMoves({ solvable, remaining }, good) {
  if (!solvable) return 'The goal cannot be reached from this board.';
  const { optimal_length: length, lower_bound: low, upper_bound: high } = remaining;
  if (length === 0) return 'This is the goal.';
  const left = length === null ? `${low} to ${high} moves to go` : `${counted(length, 'move')} to go`;
  if (!good.length) return `${left}. It is not known which moves are good.`;
  return `${left}. Good: ${good.map(({ tile, move }) => `${tile} ${SLIDES[move]}`).join(', ')}.`;
}

const total = ({ name, h }) => `h is ${h} by ${words(name)}`;

/** Says what a tile adds to h: its own cost, the moves that leave a line of conflicts, or the part that it belongs to. */
function describeShare(explained, tile) {
  const { tiles, conflicts, parts } = explained;
  const terms = tiles.filter((one) => one.tile === tile).map(({ cost }) => cost);
  const left = conflicts.filter(({ leaving }) => leaving.includes(tile)).map(({ line, leaving, cost }) => ({ line, cost: cost / leaving.length }));
  const ways = left.map(({ line, cost }) => ` + ${cost} to leave ${line}`);
  const share = [...terms, ...left.map(({ cost }) => cost)].reduce((sum, cost) => sum + cost, 0);
  if (terms.length) return `Tile ${tile}: ${terms[0]}${ways.join('')}${ways.length ? ` = ${share}` : ''}. ${total(explained)}.`;
  const part = parts.find((one) => one.tiles?.includes(tile));
  if (part) return `Tile ${tile}: in a ${part.name} of ${counted(part.tiles.filter(Boolean).length, 'tile')} with a cost of ${part.cost}. ${total(explained)}.`;
  const sums = parts.filter((one) => !one.tiles).map(({ name, cost }) => `${cost} for ${name}`);
  return `Tile ${tile}: no share of its own. ${total(explained)}${sums.length ? `, ${sums.join(' + ')}` : ''}.`;
}
