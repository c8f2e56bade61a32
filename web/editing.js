// The board on the table, to be typed instead of moved.

import { afterwards, byId } from './dom.js';
import { Editor, faultList } from './editor.js';

export class Editing {
  /**
   * `frame` is the board to play on. `actions`: `board()` gives the board on the table, `isAsked(board)` says whether it is the
   * question's, `ask(board)` makes it so or returns the problem, `clear()` takes faults away, `paste(text)` takes over a text.
   */
  constructor(frame, actions) {
    Object.assign(this, { frame, actions, isOn: false });
    this.editor = new Editor('board', afterwards(250, () => this.check()));
    this.editor.grid.addEventListener('paste', (event) => this.paste(event));
  }

  /** Asks for what was typed, unless editing is over by now. */
  check() {
    if (!this.isOn) return;
    if (this.actions.isAsked(this.editor.board)) this.actions.clear();
    else this.actions.ask(this.editor.board);
  }

  toggle() {
    if (this.isOn) this.finish();
    else {
      this.show(this.actions.board());
      this.turn(true);
      this.editor.inputs[0].focus();
    }
  }

  /** Ends editing, if what was typed is a board; else leads to the first fault. */
  async finish() {
    const problem = this.actions.isAsked(this.editor.board) ? null : await this.actions.ask(this.editor.board);
    if (problem) {
      (this.editor.inputs.find((input) => input.hasAttribute('aria-invalid')) ?? this.editor.inputs[0]).focus();
      return false;
    }
    this.turn(false);
    return true;
  }

  turn(isOn) {
    this.isOn = isOn;
    byId('edit').setAttribute('aria-pressed', String(isOn));
    byId('edit').textContent = isOn ? 'Done' : 'Edit';
    this.actions.clear();
    byId('board').replaceChildren(isOn ? this.editor.grid : this.frame);
  }

  show(board) {
    this.editor.show(board);
  }

  /** A whole board that is pasted into one of its cells. */
  paste(event) {
    const text = event.clipboardData?.getData('text') ?? '';
    if (/^\s*\d{0,3}\s*$/.test(text)) return;
    event.preventDefault();
    this.actions.paste(text);
  }

  blame(problem) {
    this.editor.mark(problem?.faults ?? [], 'faults');
    byId('faults').replaceChildren(problem ? faultList(problem) : '');
  }
}
