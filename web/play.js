// A person's own game: moves made, taken back and counted, and what the service says of them.

import { afterwards, announce, counted } from './dom.js';
import { isSame, moved, SLIDES } from './puzzle.js';
import * as service from './service.js';

/** What the service may spend on the length that a game is measured by. */
const PATIENCE = { time_ms: 2000 };

export class Game {
  /** `view` is the board on the page, `tell(text)` its status line, `change()` is called after each move. */
  constructor(view, tell, change) {
    Object.assign(this, { view, tell, change, moves: '', isOwn: true, isCoached: false });
    this.measureLater = afterwards(120, () => this.coach());
  }

  /** A new game; `known` says what is known of its length already. */
  begin({ board, goal, goalBoard, known = null }) {
    this.abort?.abort();
    Object.assign(this, { start: board, board, goal, goalBoard, known, moves: '', isOwn: true });
    this.view.show(board);
    this.view.point(null);
    this.view.mark(goalBoard);
  }

  get isSolved() {
    return isSame(this.board, this.goalBoard);
  }

  /** Whether the board differs from that of the question. */
  get isAway() {
    return !isSame(this.board, this.start);
  }

  /** Makes moves of the blank, as far as they are on the board. */
  play(moves) {
    if (this.isSolved && this.moves) return;
    let last = null;
    for (const move of moves) {
      const next = moved(this.board, move);
      if (!next) break;
      this.board = next.board;
      this.moves += move;
      last = next;
    }
    if (!last) return;
    this.settle();
    announce(`${last.tile} ${SLIDES[last.move]}, ${counted(this.moves.length, 'move')}`);
  }

  /** Shows a state of a solution that is watched. */
  watch(board, moves, isStill) {
    Object.assign(this, { board, moves, isOwn: false });
    this.view.show(board, { still: isStill });
    this.view.point(null);
    this.view.mark(this.goalBoard);
  }

  undo() {
    const back = { U: 'D', D: 'U', L: 'R', R: 'L' }[this.moves.at(-1)];
    if (!back) return;
    this.board = moved(this.board, back).board;
    this.moves = this.moves.slice(0, -1);
    this.settle();
  }

  restart() {
    Object.assign(this, { board: this.start, moves: '', isOwn: true });
    this.settle();
    this.tell('Back at the start.');
  }

  settle() {
    this.view.show(this.board);
    this.view.point(null);
    this.view.mark(this.goalBoard);
    if (this.isSolved && this.moves && this.isOwn) this.finish();
    else this.tell(this.made);
    this.change();
    if (this.isCoached && !this.isSolved) this.measureLater();
  }

  get made() {
    return this.moves ? `${counted(this.moves.length, 'move')} made.` : 'At the start.';
  }

  /** Whether the distance is told after each move. */
  guide(isOn) {
    this.isCoached = isOn;
    if (isOn && !this.isSolved) this.coach();
  }

  /** Says how far the goal is, once the tiles rest. */
  async coach() {
    const { board, goal } = this;
    try {
      const { remaining: { optimal_length: length, lower_bound: low, upper_bound: high } } = await service.verify({ board, goal, moves: '' });
      if (this.board !== board) return;
      if (low === null) return;
      const way = length === null ? `between ${low} and ${high} to go` : `${length} to go`;
      this.tell(`${this.made} ${way[0].toUpperCase()}${way.slice(1)}${this.tendency(length)}.`);
      this.left = { length, moves: this.moves };
    } catch (error) {
      if (this.board === board) this.tell(service.asProblem(error).message);
    }
  }

  /** Whether the last move was a good one, where lengths are known. */
  tendency(length) {
    const before = this.left;
    if (length === null || !Number.isInteger(before?.length) || before.moves.length + 1 !== this.moves.length) return '';
    return length < before.length ? ': nearer' : ': farther away';
  }

  /** Has the service check the moves, and say how many there had to be. */
  async finish() {
    const { start, goal, moves } = this;
    // Another game may have begun when there is an answer.
    const isOver = () => this.start !== start || this.moves !== moves;
    this.tell(`Solved in ${counted(moves.length, 'move')}.`);
    try {
      const verdict = await service.verify({ board: start, goal, moves });
      if (!verdict.solves) throw new service.Problem({ detail: 'The service does not take this for a solution.' });
      const known = this.known ?? await this.shortest(verdict, { board: start, goal }, moves.length);
      if (isOver()) return;
      this.known = known;
      this.tell(`Solved in ${counted(moves.length, 'move')}. ${measure(moves.length, this.known)}`);
    } catch (error) {
      if (isOver()) return;
      this.tell(`Solved in ${counted(moves.length, 'move')}. ${service.asProblem(error).message}`);
    }
    announce(`Solved in ${counted(moves.length, 'move')}`);
  }

  /** The length that a game is measured by, as far as it is known. */
  async shortest({ optimal_length: length, optimal: isOptimal }, question, made) {
    if (Number.isInteger(length)) return { length, optimal: true, lower_bound: length };
    if (isOptimal) return { length: made, optimal: true, lower_bound: made };
    return service.solve({ ...question, limits: PATIENCE });
  }

  /** Points at the tile that is best slid next, and gives away no more; asked once more, slides it. */
  async hint() {
    const { board, goal } = this;
    if (this.isSolved) {
      this.tell('It is solved: nothing is left to do.');
      return;
    }
    if (this.hinted?.board === board) {
      this.play(this.hinted.move);
      return;
    }
    this.abort?.abort();
    this.abort = new AbortController();
    this.tell('Looking for a good move …');
    try {
      const { tile, move, length, optimal } = await service.hint({ board, goal, limits: PATIENCE }, this.abort.signal);
      if (this.board !== board) return;
      this.hinted = { board, move };
      this.view.point(tile);
      const left = optimal ? `${counted(length, 'move')} to go.` : `At most ${counted(length, 'move')} to go.`;
      const text = `Slide ${tile} ${SLIDES[move]}. ${left}`;
      this.tell(text);
      announce(text);
    } catch (error) {
      if (error.name !== 'AbortError' && this.board === board) this.tell(service.asProblem(error).message);
    }
  }
}

/** How a game compares with what is proven. */
function measure(length, { length: shortest, optimal, lower_bound: bound }) {
  if (optimal && length === shortest) return 'No solution is shorter.';
  if (optimal) return `The shortest has ${shortest}.`;
  if (length < shortest) return `Shorter than the ${shortest} that the service found in two seconds!`;
  return `The service found one of ${shortest}; every solution has at least ${bound}.`;
}
