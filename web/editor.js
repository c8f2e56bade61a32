// Board editor: one input for each cell, with errors at their cells.

import { el } from './dom.js';

const BLANK = /^\s*[_.x]?\s*$/;

/** Returns the value of a cell. Text that is not a number is sent unchanged; the service reports the error. */
function read(text) {
  if (BLANK.test(text)) return 0;
  return /^\s*\d{1,15}\s*$/.test(text) ? Number(text) : text;
}

export class Editor {
  /**
   * `name` is the field of the request; `change(board)` is called after each input, and `paste(text)` when more than the
   * number of a cell is pasted.
   */
  constructor(name, change, paste) {
    Object.assign(this, { name, inputs: [], cols: 0 });
    this.grid = el('div', {
      class: 'board editor', role: 'group', 'aria-label': `Edit the ${name}`,
      oninput: () => change(this.board),
      onkeydown: (event) => this.navigate(event),
    });
    this.grid.addEventListener('paste', (event) => {
      const text = event.clipboardData?.getData('text') ?? '';
      if (/^\s*\d{0,3}\s*$/.test(text)) return;
      event.preventDefault();
      paste(text);
    });
    this.grid.addEventListener('focusin', ({ target }) => target.select?.());
  }

  show(board) {
    const tiles = board.flat();
    if (this.inputs.length === tiles.length && this.cols === board[0].length) {
      this.inputs.forEach((input, at) => { input.value = tiles[at] || ''; });
      return;
    }
    this.cols = board[0].length;
    this.grid.style.setProperty('--rows', board.length);
    this.grid.style.setProperty('--cols', this.cols);
    this.inputs = board.flatMap((row, down) => row.map((tile, right) => el('input', {
      value: tile || '', inputmode: 'numeric', autocomplete: 'off', size: 2, maxlength: 3,
      'aria-label': `Row ${down + 1}, column ${right + 1}`,
    })));
    this.grid.replaceChildren(...this.inputs);
  }

  get board() {
    const cells = this.inputs.map(({ value }) => read(value));
    return Array.from({ length: cells.length / this.cols }, (_, row) => cells.slice(row * this.cols, (row + 1) * this.cols));
  }

  /** Marks the cells of errors. `describedBy` is the id of the element with their texts. */
  mark(errors, describedBy) {
    for (const input of this.inputs) {
      input.removeAttribute('aria-invalid');
      input.removeAttribute('aria-describedby');
      input.title = '';
    }
    for (const { pointer, detail } of errors) {
      const [, name, row, col] = pointer.split('/');
      const input = name === this.name && col !== undefined && this.inputs[Number(row) * this.cols + Number(col)];
      if (!input) continue;
      input.setAttribute('aria-invalid', 'true');
      input.setAttribute('aria-describedby', describedBy);
      input.title = detail;
    }
  }

  /** Focuses the first cell with an error. */
  focusError() {
    (this.inputs.find((input) => input.hasAttribute('aria-invalid')) ?? this.inputs[0]).focus();
  }

  /** Moves the focus by arrow keys. */
  navigate(event) {
    const step = { ArrowUp: -this.cols, ArrowDown: this.cols, ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const at = this.inputs.indexOf(event.target);
    if (!step || at < 0 || !this.inputs[at + step]) return;
    event.preventDefault();
    this.inputs[at + step].focus();
  }
}

/** Returns the location of a JSON pointer in words. */
function place(pointer) {
  const [, name = '', row, col] = pointer.split('/');
  const within = row === undefined ? '' : col === undefined ? `, entry ${Number(row) + 1}` : `, row ${Number(row) + 1}, column ${Number(col) + 1}`;
  return `${name || 'request'}${within}:`;
}

/** Creates a list of errors with their locations. */
export const errorList = (problem) => el('div', { class: 'error-list' },
  el('p', {}, problem.errors.length ? problem.document.title : problem.message),
  problem.errors.length > 0 && el('ul', {}, problem.errors.map(({ pointer, detail }) =>
    el('li', {}, el('b', {}, place(pointer)), ` ${detail}`))));

/** Returns the errors of a problem as text, or its message if it has none. */
export const errorText = (problem) => problem.errors.map(({ detail }) => detail).join('; ') || problem.message;
