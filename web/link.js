// The question in the address: what stands behind # is the query of GET /solve.

import { toText } from './puzzle.js';

/** What parameters ask for; nothing of it is checked here, for the service does. */
export function fromParameters(text) {
  const fields = Object.fromEntries(new URLSearchParams(text));
  for (const name of ['board', 'goal']) if (fields[name]?.startsWith('[')) fields[name] = listed(fields[name]);
  for (const name of ['rows', 'cols']) if (/^\d+$/.test(fields[name])) fields[name] = Number(fields[name]);
  return fields;
}

/** A board may be JSON there; what is none is left for the service to refuse. */
function listed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** What the address asks for. */
export const read = () => fromParameters(location.hash.slice(1));

/** A goal in the words of a link. */
export const goalText = (goal) => (typeof goal === 'string' ? goal : toText(goal));

/** The fields of a question as parameters, in the words of a link. */
export function parameters({ board, goal, limits = {}, ...method }) {
  const fields = { board: toText(board), goal: goal === 'blank_last' ? null : goalText(goal), ...method };
  for (const [name, value] of Object.entries(limits)) fields[`limits.${name}`] = value;
  const given = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined && value !== 'auto');
  return new URLSearchParams(given).toString().replaceAll('%2C', ',').replaceAll('%2F', '/');
}

/** The board and the goal of an address. */
const subject = (hash) => ['board', 'goal'].map((name) => new URLSearchParams(hash.slice(1)).get(name)).join(' ');

/** Puts the question into the address; another board or goal is a step that the browser's Back takes back. */
export function write(question, { isLink = false } = {}) {
  const next = `#${parameters(question)}`;
  if (next === location.hash) return;
  const isStep = !isLink && location.hash !== '' && subject(next) !== subject(location.hash);
  history[isStep ? 'pushState' : 'replaceState'](null, '', next);
}
