// A board to type: one field for each cell, and each fault where it is.

import { el } from './dom.js';

const BLANK = /^\s*[_.x]?\s*$/;

/** What was typed, as the contract wants it; what is no number goes as it is, for the service to say so. */
function read(text) {
  if (BLANK.test(text)) return 0;
  return /^\s*\d{1,15}\s*$/.test(text) ? Number(text) : text;
}

export class Editor {
  /** `name` is the field of the question; `change(board)` is called with whatever was typed. */
  constructor(name, change) {
    Object.assign(this, { name, inputs: [], cols: 0 });
    this.grid = el('div', {
      class: 'board editor', role: 'group', 'aria-label': `Edit the ${name}`,
      oninput: () => change(this.board),
      onkeydown: (event) => this.walk(event),
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

  /** Marks the cells that faults point to; `describedBy` is where their words are. */
  mark(faults, describedBy) {
    for (const input of this.inputs) {
      input.removeAttribute('aria-invalid');
      input.removeAttribute('aria-describedby');
      input.title = '';
    }
    for (const { pointer, detail } of faults) {
      const [, name, row, col] = pointer.split('/');
      const input = name === this.name && col !== undefined && this.inputs[Number(row) * this.cols + Number(col)];
      if (!input) continue;
      input.setAttribute('aria-invalid', 'true');
      input.setAttribute('aria-describedby', describedBy);
      input.title = detail;
    }
  }

  /** Leads to the first fault. */
  focusFault() {
    (this.inputs.find((input) => input.hasAttribute('aria-invalid')) ?? this.inputs[0]).focus();
  }

  /** Arrow keys go from cell to cell. */
  walk(event) {
    const step = { ArrowUp: -this.cols, ArrowDown: this.cols, ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const at = this.inputs.indexOf(event.target);
    if (!step || at < 0 || !this.inputs[at + step]) return;
    event.preventDefault();
    this.inputs[at + step].focus();
  }
}

/** What a pointer points to, in words. */
function place(pointer) {
  const [, name = '', row, col] = pointer.split('/');
  const within = row === undefined ? '' : col === undefined ? `, entry ${Number(row) + 1}` : `, row ${Number(row) + 1}, column ${Number(col) + 1}`;
  return `${name || 'all of it'}${within}:`;
}

/** Faults as a list: where they are, and what they are. */
export const faultList = (problem) => el('div', { class: 'fault-list' },
  el('p', {}, problem.faults.length ? problem.document.title : problem.message),
  problem.faults.length > 0 && el('ul', {}, problem.faults.map(({ pointer, detail }) =>
    el('li', {}, el('b', {}, place(pointer)), ` ${detail}`))));

/** The faults of a problem in a sentence or some; what it says itself, where there are none. */
export const faultText = (problem) => problem.faults.map(({ detail }) => detail).join('; ') || problem.message;
