// The question in the address: what stands behind # is the query of GET /solve.

import { toText } from './puzzle.js';

/** What a link says; nothing of it is checked here, for the service does. */
export function read() {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

/** A goal in the words of a link. */
export const goalText = (goal) => (typeof goal === 'string' ? goal : toText(goal));

/** The fields of a question as parameters, in the words of a link. */
export function parameters({ board, goal, limits = {}, ...method }) {
  const fields = { board: toText(board), goal: goal === 'blank_last' ? null : goalText(goal), ...method };
  for (const [name, value] of Object.entries(limits)) fields[`limits.${name}`] = value;
  const given = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined && value !== 'auto');
  return new URLSearchParams(given).toString().replaceAll('%2C', ',').replaceAll('%2F', '/');
}

export function write(question) {
  history.replaceState(null, '', `#${parameters(question)}`);
}
