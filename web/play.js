// A person's own game: moves made, taken back and counted, and what the service says of them.

import { afterwards, announce, counted } from './dom.js';
import { isSame, moved, SLIDES } from './puzzle.js';
import * as service from './service.js';

/** What the service may spend on the length that a game is measured by. */
const PATIENCE = { time_ms: 2000 };

export class Game {
  /** `view` is the board on the page, `tell(text)` its status line, `change()` is called after each move. */
  constructor(view, tell, change) {
    Object.assign(this, { view, tell, change, moves: '', isOwn: true, isCoached: false, abort: null });
    this.coachLater = afterwards(120, () => this.coach());
  }

  /** A new game; `known` says what is known of its length already. */
  begin({ board, goal, goalBoard, known = null }) {
    this.hush();
    Object.assign(this, { start: board, board, goal, goalBoard, known, moves: '', isOwn: true, left: null });
    this.show();
  }

  /** Takes back what was asked about a board that is gone, or is about to be asked. */
  hush() {
    this.coachLater.cancel();
    this.abort?.abort();
  }

  /** The signal of the one question about the board that is open at a time. */
  inquire() {
    this.hush();
    this.abort = new AbortController();
    return this.abort.signal;
  }

  show(options) {
    this.view.show(this.board, options);
    this.view.point(null);
    this.view.mark(this.goalBoard);
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
    this.isOwn = true;
    this.settle();
    announce(`${last.tile} ${SLIDES[last.move]}, ${counted(this.moves.length, 'move')}`);
  }

  /** Shows a state of a solution that is watched. */
  watch(board, moves, still) {
    this.hush();
    Object.assign(this, { board, moves, isOwn: false, left: null });
    this.show({ still });
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
    this.hush();
    this.show();
    if (this.isSolved && this.moves && this.isOwn) this.finish();
    else this.tell(this.made);
    this.change();
    if (this.isCoached && !this.isSolved) this.coachLater();
  }

  get made() {
    return this.moves ? `${counted(this.moves.length, 'move')} made.` : 'At the start.';
  }

  /** Whether the distance is told after each move. */
  guide(isOn) {
    this.isCoached = isOn;
    if (isOn && !this.isSolved) this.coach();
  }

  /** Says how far the goal is. */
  async coach() {
    const { start, board, goal, moves } = this;
    await this.asking(async (signal) => {
      const { remaining: { optimal_length: length, lower_bound: low, upper_bound: high } } = await service.verify({ board, goal, moves: '' }, signal);
      if (low === null) return;
      const way = length === null ? `Between ${low} and ${high} to go` : `${length} to go`;
      const text = `${this.made} ${way}${this.tendency(length)}.`;
      this.left = { start, moves, length };
      this.tell(text);
      announce(text);
    });
  }

  /** Whether the last move was a good one, where lengths are known. */
  tendency(length) {
    const before = this.left;
    if (length === null || before?.start !== this.start || before.moves !== this.moves.slice(0, -1)) return '';
    return length < before.length ? ': nearer' : ': farther away';
  }

  /** Asks about the board, unless it is another before there is an answer. */
  async asking(act, said = '') {
    const signal = this.inquire();
    try {
      await act(signal);
    } catch (error) {
      if (!signal.aborted) this.tell(said + service.asProblem(error).message);
    }
  }

  /** Has the service check the moves, and say how many there had to be. */
  async finish() {
    const { start, goal, moves } = this;
    const said = `Solved in ${counted(moves.length, 'move')}.`;
    this.tell(said);
    announce(said);
    await this.asking(async (signal) => {
      const verdict = await service.verify({ board: start, goal, moves }, signal);
      if (!verdict.solves) throw new service.Problem({ detail: 'The service does not take this for a solution.' });
      this.known ??= await this.shortest(verdict, { board: start, goal }, signal);
      if (!signal.aborted) this.tell(`${said} ${measure(moves.length, this.known)}`);
    }, `${said} `);
  }

  /** The length that a game is measured by, as far as it is known. */
  async shortest({ length: made, optimal_length: length, optimal: isOptimal }, question, signal) {
    if (Number.isInteger(length)) return { length, optimal: true, lower_bound: length };
    if (isOptimal) return { length: made, optimal: true, lower_bound: made };
    return service.solve({ ...question, limits: PATIENCE }, signal);
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
    this.tell('Looking for a good move …');
    await this.asking(async (signal) => {
      const { tile, move, length, optimal } = await service.hint({ board, goal, limits: PATIENCE }, signal);
      this.hinted = { board, move };
      this.view.point(tile);
      const left = optimal ? `${counted(length, 'move')} to go.` : `At most ${counted(length, 'move')} to go.`;
      const text = `Slide ${tile} ${SLIDES[move]}. ${left}`;
      this.tell(text);
      announce(text);
    });
  }
}

/** How a game compares with what is proven. */
function measure(length, { length: shortest, optimal, lower_bound: bound }) {
  if (optimal && length === shortest) return 'No solution is shorter.';
  if (optimal) return `The shortest has ${shortest}.`;
  if (length < shortest) return `Shorter than the ${shortest} that the service found in two seconds!`;
  return `The service found one of ${shortest}; every solution has at least ${bound}.`;
}
