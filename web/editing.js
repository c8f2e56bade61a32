// The board on the table, to be typed instead of moved.

import { afterwards, byId } from './dom.js';
import { Editor, faultList } from './editor.js';

export class Editing {
  /**
   * `frame` is the board to play on. `actions`: `board()` gives the board on the table, `isThere(board)` says whether it is
   * this one and nothing else is asked for, `ask(board)` puts a board there or returns the problem, `blame(problem)` shows
   * a problem, or none, `paste(text)` takes over a text or returns the problem, `turn(isOn)` is called when it begins or ends.
   */
  constructor(frame, actions) {
    Object.assign(this, { frame, actions, isOn: false });
    this.askLater = afterwards(250, () => this.check());
    this.editor = new Editor('board', this.askLater);
    this.editor.grid.addEventListener('paste', (event) => this.paste(event));
  }

  /** Asks for what was typed. */
  check() {
    if (this.actions.isThere(this.editor.board)) this.actions.blame(null);
    else this.actions.ask(this.editor.board);
  }

  toggle() {
    if (this.isOn) return this.finish();
    this.editor.show(this.actions.board());
    this.turn(true);
    return this.editor.inputs[0].focus();
  }

  /** Ends editing, if what was typed is a board; else leads to the first fault. */
  async finish() {
    this.askLater.cancel();
    const problem = this.actions.isThere(this.editor.board) ? null : await this.actions.ask(this.editor.board);
    if (problem) this.editor.focusFault();
    else this.turn(false);
    return !problem;
  }

  turn(isOn) {
    this.isOn = isOn;
    byId('edit').setAttribute('aria-pressed', String(isOn));
    byId('edit').textContent = isOn ? 'Done' : 'Edit';
    byId('board').replaceChildren(isOn ? this.editor.grid : this.frame);
    this.actions.blame(null);
    this.actions.turn(isOn);
  }

  /** Another board has come to the table, and not from here. */
  show(board) {
    this.askLater.cancel();
    if (this.isOn) this.editor.show(board);
  }

  /** A whole board that is pasted into one of its cells. */
  async paste(event) {
    const text = event.clipboardData?.getData('text') ?? '';
    if (/^\s*\d{0,3}\s*$/.test(text)) return;
    event.preventDefault();
    const problem = await this.actions.paste(text);
    if (problem) this.actions.blame(problem);
  }

  blame(problem) {
    this.editor.mark(problem?.faults ?? [], 'faults');
    byId('faults').replaceChildren(problem ? faultList(problem) : '');
  }
}
