// Boards, as the service answers them: rows of numbers, 0 the blank. Moves are those of the blank.

import { el } from './dom.js';

const STEPS = { U: [-1, 0], L: [0, -1], D: [1, 0], R: [0, 1] };

export const shape = (board) => ({ rows: board.length, cols: board[0].length });

const copyOf = (board) => board.map((row) => [...row]);

export const isSame = (one, other) => String(one) === String(other) && one.length === other.length;

/** In the short form of the contract, which is also that of links. */
export const toText = (board) => board.map((row) => row.join(',')).join('/');

export function placeOf(board, tile) {
  const row = board.findIndex((cells) => cells.includes(tile));
  return [row, board[row].indexOf(tile)];
}

/** The board after a move, and the tile that slid; null where the move leads off the board. */
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

/** The moves that slide a tile, and all between it and the blank, into the blank's place; none if they are not in line. */
export function movesTo(board, row, col) {
  const [blankRow, blankCol] = placeOf(board, 0);
  if (row === blankRow) return (col < blankCol ? 'L' : 'R').repeat(Math.abs(col - blankCol));
  if (col === blankCol) return (row < blankRow ? 'U' : 'D').repeat(Math.abs(row - blankRow));
  return '';
}

/** The states that moves lead through, with their costs and without estimates. */
export function replay(start, moves) {
  const states = [{ move: null, tile: null, board: start, g: 0 }];
  for (const move of moves) {
    const next = moved(states.at(-1).board, move);
    if (next === null) throw new Error(`no such move: ${move}`);
    states.push({ ...next, g: states.length });
  }
  return states;
}

/** The board with two tiles exchanged, from which the goal can be reached if it could not be before, and the other way round. */
export function exchanged(board) {
  const next = copyOf(board);
  const [[row, col], [otherRow, otherCol]] = [placeOf(board, 1), placeOf(board, 2)];
  [next[row][col], next[otherRow][otherCol]] = [2, 1];
  return next;
}

/** Which way a tile goes when the blank goes that way. */
export const SLIDES = { U: 'down', D: 'up', L: 'right', R: 'left' };

/** For those who listen. */
export const spoken = (board) =>
  board.map((row, at) => `row ${at + 1}: ${row.map((tile) => tile || 'blank').join(' ')}`).join('; ');

/** A board as a small table of numbers, to look at. */
export function grid(board) {
  const cell = (tile) => el('span', { class: tile ? null : 'blank' }, tile ? String(tile) : '');
  const table = el('div', { class: 'mini', role: 'img', 'aria-label': toText(board) }, board.map((row) => el('div', {}, row.map(cell))));
  table.style.setProperty('--rows', board.length);
  table.style.setProperty('--cols', board[0].length);
  return table;
}
