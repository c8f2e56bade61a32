// The playable board: tiles slide by tap, drag and arrow keys.

import { el } from './dom.js';
import { movesTo, placeOf, shape, spoken } from './puzzle.js';

/** Move of the blank that slides a tile in the direction of an arrow key. */
const ARROWS = { ArrowUp: 'D', ArrowDown: 'U', ArrowLeft: 'R', ArrowRight: 'L' };

const DIRECTIONS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** Share of a cell beyond which a dragged tile completes its move. */
const DRAG_THRESHOLD = 0.35;

export class BoardView {
  /** Calls `play(moves)` with the moves of the blank that the user makes. */
  constructor(container, play) {
    this.play = play;
    this.tiles = new Map();
    this.isExplorable = false;
    this.frame = el('div', {
      class: 'board', tabindex: 0, role: 'application', 'aria-roledescription': 'sliding puzzle',
      onkeydown: (event) => this.press(event),
    });
    this.frame.addEventListener('pointerdown', (event) => this.startDrag(event));
    this.frame.addEventListener('click', (event) => this.choose(event));
    this.frame.addEventListener('focusin', ({ target }) => target !== this.frame && this.setTabStop(target));
    container.replaceChildren(this.frame);
  }

  /** Shows a board. Tiles slide to their cells unless `still`. */
  show(board, { still = false } = {}) {
    this.endDrag?.();
    const { rows, cols } = shape(board);
    if (rows !== this.rows || cols !== this.cols) this.build(rows, cols);
    this.frame.classList.toggle('still', still);
    const [blankRow, blankCol] = placeOf(board, 0);
    for (const [down, row] of board.entries()) {
      for (const [right, tile] of row.entries()) {
        if (tile) this.place(tile, down, right, down === blankRow || right === blankCol);
      }
    }
    this.board = board;
    this.frame.setAttribute('aria-label', `Board of ${rows} by ${cols}, ${spoken(board)}. Arrow keys slide tiles.`);
  }

  build(rows, cols) {
    Object.assign(this, { rows, cols });
    this.frame.style.setProperty('--rows', rows);
    this.frame.style.setProperty('--cols', cols);
    this.tiles = new Map(Array.from({ length: rows * cols - 1 }, (_, at) => {
      const face = el('span', {}, String(at + 1));
      return [at + 1, { element: el('button', { class: 'tile', type: 'button', tabindex: -1, 'data-tile': at + 1 }, face) }];
    }));
    this.frame.replaceChildren(...Array.from(this.tiles.values(), ({ element }) => element));
    this.paintTiles();
    this.setTabStop(this.tiles.get(1).element);
  }

  place(number, row, col, isFree) {
    const tile = this.tiles.get(number);
    if (tile.isFree !== isFree) tile.element.classList.toggle('free', isFree);
    tile.isFree = isFree;
    if (tile.row === row && tile.col === col) return;
    Object.assign(tile, { row, col });
    tile.element.style.transform = `translate(${col * 100}%, ${row * 100}%)`;
    tile.element.setAttribute('aria-label', `${number}, row ${row + 1}, column ${col + 1}`);
  }

  /** Marks the tile of a hint, or none for null. */
  markHint(number) {
    for (const [own, { element }] of this.tiles) element.classList.toggle('hinted', own === number);
  }

  /** Marks the tiles of good moves. */
  markGood(numbers) {
    for (const [own, { element }] of this.tiles) element.classList.toggle('good', numbers.includes(own));
  }

  /** While true, the Tab key also reaches a tile, and arrow keys on a tile move the focus instead of tiles. */
  set explorable(isOn) {
    this.isExplorable = isOn;
    this.setTabStop(this.stop);
  }

  /** Makes a tile the only one that the Tab key may reach. */
  setTabStop(element) {
    if (this.stop) this.stop.tabIndex = -1;
    this.stop = element;
    if (this.isExplorable) element.tabIndex = 0;
  }

  /** Moves the focus from a tile in the direction of an arrow key, past the blank. */
  explore(tile, [down, right]) {
    const { row, col } = this.tiles.get(tile);
    const next = [1, 2].map((step) => this.board[row + down * step]?.[col + right * step]).find(Boolean);
    if (next) this.tiles.get(next).element.focus();
  }

  /** Marks tiles that are in their goal cells. */
  markHome(goal) {
    for (const [number, { element, row, col }] of this.tiles) {
      element.classList.toggle('home', goal[row]?.[col] === number);
    }
  }

  /** Divides an image among the tiles, complete at the goal. Null removes it. */
  setImage(url, goal) {
    this.image = url && { url, goal };
    this.paintTiles();
  }

  paintTiles() {
    const { image } = this;
    this.frame.classList.toggle('pictured', Boolean(image));
    if (image && (image.goal.length !== this.rows || image.goal[0].length !== this.cols)) return;
    for (const [number, { element }] of this.tiles) {
      const [row, col] = image ? placeOf(image.goal, number) : [0, 0];
      const face = element.firstElementChild;
      face.style.backgroundImage = image ? `url("${image.url}")` : '';
      face.style.backgroundSize = `${this.cols * 100}% ${this.rows * 100}%`;
      face.style.backgroundPosition = `${(col / (this.cols - 1)) * 100}% ${(row / (this.rows - 1)) * 100}%`;
    }
  }

  press(event) {
    const move = ARROWS[event.key];
    if (!move || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const tile = Number(event.target.dataset.tile);
    if (this.isExplorable && tile) this.explore(tile, DIRECTIONS[event.key]);
    else this.play(move);
  }

  /** A tap slides at once. A drag moves the tile along and slides it if it was moved far enough. */
  startDrag(event) {
    const number = Number(event.target.closest?.('.tile')?.dataset.tile);
    if (!number || event.button !== 0) return;
    const { element, row, col } = this.tiles.get(number);
    const moves = movesTo(this.board, row, col);
    if (!moves) return;
    this.frame.focus({ preventScroll: true });
    const axis = 'UD'.includes(moves[0]) ? 'Y' : 'X';
    const sign = 'UL'.includes(moves[0]) ? 1 : -1;
    const size = axis === 'X' ? element.offsetWidth : element.offsetHeight;
    const { transform: rest } = element.style;
    let distanceMoved = 0;
    const follow = (moving) => {
      const distance = axis === 'X' ? moving.clientX - event.clientX : moving.clientY - event.clientY;
      distanceMoved = Math.max(0, Math.min(1, (sign * distance) / size));
      element.style.transform = `${rest} translate${axis}(${sign * distanceMoved * size}px)`;
    };
    const listeners = new AbortController();
    this.endDrag = () => {
      listeners.abort();
      element.classList.remove('dragged');
      element.style.transform = rest;
      this.endDrag = null;
    };
    const release = (last) => {
      this.endDrag();
      const isTap = Math.hypot(last.clientX - event.clientX, last.clientY - event.clientY) < 6;
      if (last.type === 'pointerup' && (isTap || distanceMoved > DRAG_THRESHOLD)) this.play(moves);
    };
    element.classList.add('dragged');
    element.setPointerCapture(event.pointerId);
    element.addEventListener('pointermove', follow, listeners);
    element.addEventListener('pointerup', release, listeners);
    element.addEventListener('pointercancel', release, listeners);
  }

  /** Handles clicks without a pointer, such as those of screen readers. */
  choose(event) {
    const tile = event.detail === 0 && this.tiles.get(Number(event.target.closest?.('.tile')?.dataset.tile));
    const moves = tile && movesTo(this.board, tile.row, tile.col);
    if (moves) this.play(moves);
  }
}
