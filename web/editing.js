// Edit mode of the board.

import { debounce, byId } from './dom.js';
import { Editor, errorList } from './editor.js';

export class Editing {
  /**
   * `frame` is the playable board. `actions`: `board()` returns the displayed board; `isThere(board)` tells whether it is
   * the current one, with no request pending; `submit(board)` requests a board and returns the problem or null;
   * `showProblem(problem)` shows a problem, or none for null; `paste(text)` loads a text and returns the problem or null;
   * `toggled(isOn)` is called when edit mode starts or ends.
   */
  constructor(frame, actions) {
    Object.assign(this, { frame, actions, isOn: false });
    this.checkLater = debounce(250, () => this.check());
    this.editor = new Editor('board', this.checkLater, (text) => this.paste(text));
  }

  /** Validates the typed board. */
  check() {
    if (this.actions.isThere(this.editor.board)) this.actions.showProblem(null);
    else this.actions.submit(this.editor.board);
  }

  toggle() {
    if (this.isOn) return this.finish();
    this.editor.show(this.actions.board());
    this.toggleMode(true);
    return this.editor.inputs[0].focus();
  }

  /** Ends edit mode if the typed board is valid; otherwise focuses the first error. */
  async finish() {
    this.checkLater.cancel();
    const problem = this.actions.isThere(this.editor.board) ? null : await this.actions.submit(this.editor.board);
    if (problem) this.editor.focusError();
    else this.toggleMode(false);
    return !problem;
  }

  toggleMode(isOn) {
    this.isOn = isOn;
    byId('edit').setAttribute('aria-pressed', String(isOn));
    byId('edit').textContent = isOn ? 'Done' : 'Edit';
    byId('board').replaceChildren(isOn ? this.editor.grid : this.frame);
    this.actions.showProblem(null);
    this.actions.toggled(isOn);
  }

  /** Shows a board that comes from elsewhere. */
  show(board) {
    this.checkLater.cancel();
    if (this.isOn) this.editor.show(board);
  }

  /** Loads a board that is pasted into a cell. */
  async paste(text) {
    const problem = await this.actions.paste(text);
    if (problem) this.actions.showProblem(problem);
  }

  showProblem(problem) {
    this.editor.mark(problem?.errors ?? [], 'errors');
    byId('errors').replaceChildren(problem ? errorList(problem) : '');
  }
}
