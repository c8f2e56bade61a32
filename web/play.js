// The user's game: moves, undo, hints, and the verdict of the service.

import { debounce, announce, counted } from './dom.js';
import { isSame, moved, SLIDES } from './puzzle.js';
import * as service from './service.js';

/** Limits of searches for hints and optimal lengths. */
const LIMITS = { time_ms: 2000 };

export class Game {
  /**
   * `view` is the board, `setStatus(text)` sets the status line, `change()` is called after each move, `shown(puzzle)` when
   * another board is displayed, and `finished()` when the service has verified the player's solution.
   */
  constructor(view, { setStatus, change, shown, finished }) {
    Object.assign(this, { view, setStatus, change, shown, finished, moves: '', isOwn: true, isDistanceShown: false, abort: null });
    this.showDistanceLater = debounce(120, () => this.showDistance());
  }

  /** Starts a game. `known` holds the bounds of its length, if they are known. */
  begin({ board, goal, goalBoard, known = null }) {
    this.cancelRequest();
    Object.assign(this, { start: board, board, goal, goalBoard, known, moves: '', isOwn: true, lastDistance: null });
    this.show();
  }

  /** Cancels the pending request about the board. */
  cancelRequest() {
    this.showDistanceLater.cancel();
    this.abort?.abort();
  }

  /** Returns the signal for a new request about the board. Only one is pending at a time. */
  newSignal() {
    this.cancelRequest();
    this.abort = new AbortController();
    return this.abort.signal;
  }

  show(options) {
    this.view.show(this.board, options);
    this.view.markHint(null);
    this.view.markHome(this.goalBoard);
    this.shown({ board: this.board, goal: this.goal });
  }

  get isSolved() {
    return isSame(this.board, this.goalBoard);
  }

  /** True if the board differs from the start. */
  get isAway() {
    return !isSame(this.board, this.start);
  }

  /** Makes moves of the blank, up to the first illegal one. */
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
    this.update();
    announce(`${last.tile} ${SLIDES[last.move]}, ${counted(this.moves.length, 'move')}`);
  }

  /** Shows a step of a solution. */
  watch(board, moves, still) {
    this.cancelRequest();
    Object.assign(this, { board, moves, isOwn: false, lastDistance: null });
    this.show({ still });
  }

  undo() {
    const back = { U: 'D', D: 'U', L: 'R', R: 'L' }[this.moves.at(-1)];
    if (!back) return;
    this.board = moved(this.board, back).board;
    this.moves = this.moves.slice(0, -1);
    this.update();
  }

  restart() {
    Object.assign(this, { board: this.start, moves: '', isOwn: true });
    this.update();
    this.setStatus('Back at the start.');
  }

  update() {
    this.cancelRequest();
    this.show();
    if (this.isSolved && this.moves && this.isOwn) this.finish();
    else this.setStatus(this.moveCount);
    this.change();
    if (this.isDistanceShown && !this.isSolved) this.showDistanceLater();
  }

  get moveCount() {
    return this.moves ? `${counted(this.moves.length, 'move')} made.` : 'At the start.';
  }

  /** Turns the distance after each move on or off. */
  toggleDistance(isOn) {
    this.isDistanceShown = isOn;
    if (isOn && !this.isSolved) this.showDistance();
  }

  /** Shows the distance to the goal. */
  async showDistance() {
    const { start, board, goal, moves } = this;
    await this.request(async (signal) => {
      const { remaining: { optimal_length: length, lower_bound: low, upper_bound: high } } = await service.verify({ board, goal, moves: '' }, signal);
      if (low === null) return;
      const way = length === null ? `${low} to ${high} moves to go` : `${counted(length, 'move')} to go`;
      const text = `${this.moveCount} ${way}${this.trend(length)}.`;
      this.lastDistance = { start, moves, length };
      this.setStatus(text);
      announce(text);
    });
  }

  /** Says whether the last move led closer to the goal, if both lengths are known. */
  trend(length) {
    const before = this.lastDistance;
    if (length === null || before?.start !== this.start || before.moves !== this.moves.slice(0, -1)) return '';
    return length < before.length ? ' (closer)' : ' (farther)';
  }

  /** Runs a request about the board. Ignores errors if the board changes first. */
  async request(act, message = '') {
    const signal = this.newSignal();
    try {
      await act(signal);
    } catch (error) {
      if (!signal.aborted) this.setStatus(message + service.asProblem(error).message);
    }
  }

  /** Asks the service to verify the moves, and compares their number with the optimal length. */
  async finish() {
    const { start, goal, moves } = this;
    const message = `Solved in ${counted(moves.length, 'move')}.`;
    this.setStatus(message);
    announce(message);
    await this.request(async (signal) => {
      const verdict = await service.verify({ board: start, goal, moves }, signal);
      if (!verdict.solves) throw new service.Problem({ detail: 'The service rejected this solution.' });
      this.known ??= await this.shortest(verdict, { board: start, goal }, signal);
      if (signal.aborted) return;
      this.setStatus(`${message} ${compareLength(moves.length, this.known)}`);
      this.finished();
    }, `${message} `);
  }

  /** Returns the bounds of the optimal length. */
  async shortest({ length: made, optimal_length: length, optimal: isOptimal }, puzzle, signal) {
    if (Number.isInteger(length)) return { length, optimal: true, lower_bound: length };
    if (isOptimal) return { length: made, optimal: true, lower_bound: made };
    return service.solve({ ...puzzle, limits: LIMITS }, signal);
  }

  /** Marks the tile to slide next; a second call for the same board slides it. */
  async hint() {
    const { board, goal } = this;
    if (this.isSolved) {
      this.setStatus('Already solved.');
      return;
    }
    if (this.hinted?.board === board) {
      this.play(this.hinted.move);
      return;
    }
    this.setStatus('Searching for the next move…');
    await this.request(async (signal) => {
      // The service ignores a trail that does not lead over this board.
      const { tile, move, length, optimal, trail } = await service.hint({ board, goal, trail: this.trail, limits: LIMITS }, signal);
      Object.assign(this, { trail, hinted: { board, move } });
      this.view.markHint(tile);
      const left = optimal ? `${counted(length, 'move')} to go.` : `At most ${counted(length, 'move')} to go.`;
      const text = `Slide ${tile} ${SLIDES[move]}. ${left}`;
      this.setStatus(text);
      announce(text);
    });
  }
}

/** Compares the length of a game with the proven bounds. */
function compareLength(length, { length: shortest, optimal, lower_bound: bound }) {
  if (optimal && length === shortest) return 'No solution is shorter.';
  if (optimal) return `The shortest solution has ${counted(shortest, 'move')}.`;
  if (length < shortest) return `Shorter than the solution of ${shortest} moves that the service found in two seconds!`;
  return `The service found a solution of ${shortest} moves; every solution has at least ${bound}.`;
}
