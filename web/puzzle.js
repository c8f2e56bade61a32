// Boards as the API returns them: rows of numbers, 0 is the blank. Moves are moves of the blank.

import { el } from './dom.js';

const STEPS = { U: [-1, 0], L: [0, -1], D: [1, 0], R: [0, 1] };

export const shape = (board) => ({ rows: board.length, cols: board[0].length });

const copyOf = (board) => board.map((row) => [...row]);

export const isSame = (one, other) => String(one) === String(other) && one.length === other.length;

/** Returns a board in the short notation of the API. */
export const toText = (board) => board.map((row) => row.join(',')).join('/');

export function placeOf(board, tile) {
  const row = board.findIndex((cells) => cells.includes(tile));
  return [row, board[row].indexOf(tile)];
}

/** Returns the board after a move and the tile that slid, or null if the move is illegal. */
export function moved(board, move) {
  const [row, col] = placeOf(board, 0);
  const [down, right] = STEPS[move];
  const tile = board[row + down]?.[col + right];
  if (tile === undefined) return null;
  const next = copyOf(board);
  next[row][col] = tile;
  next[row + down][col + right] = 0;
  return { board: next, tile, move };
}

/** Returns the moves that slide a tile, and all tiles between it and the blank; empty if they are not in line. */
export function movesTo(board, row, col) {
  const [blankRow, blankCol] = placeOf(board, 0);
  if (row === blankRow) return (col < blankCol ? 'L' : 'R').repeat(Math.abs(col - blankCol));
  if (col === blankCol) return (row < blankRow ? 'U' : 'D').repeat(Math.abs(row - blankRow));
  return '';
}

/** Returns the states along moves, without heuristic values. */
export function replay(start, moves) {
  const states = [{ move: null, tile: null, board: start, g: 0 }];
  for (const move of moves) {
    const next = moved(states.at(-1).board, move);
    if (next === null) throw new Error(`no such move: ${move}`);
    states.push({ ...next, g: states.length });
  }
  return states;
}

/** Returns the board with tiles 1 and 2 swapped, which makes an unsolvable board solvable. */
export function swapped(board) {
  const next = copyOf(board);
  const [[row, col], [otherRow, otherCol]] = [placeOf(board, 1), placeOf(board, 2)];
  [next[row][col], next[otherRow][otherCol]] = [2, 1];
  return next;
}

/** Direction of the tile for each move of the blank. */
export const SLIDES = { U: 'down', D: 'up', L: 'right', R: 'left' };

/** Returns a board as text for screen readers. */
export const spoken = (board) =>
  board.map((row, at) => `row ${at + 1}: ${row.map((tile) => tile || 'blank').join(' ')}`).join('; ');

/** Creates a small picture of a board. */
export function grid(board) {
  const cell = (tile) => el('span', { class: tile ? null : 'blank' }, tile ? String(tile) : '');
  const table = el('div', { class: 'mini', role: 'img', 'aria-label': toText(board) }, board.map((row) => el('div', {}, row.map(cell))));
  table.style.setProperty('--rows', board.length);
  table.style.setProperty('--cols', board[0].length);
  return table;
}
