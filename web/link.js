// The puzzle in the address: the fragment is the query of GET /solve.

import { toText } from './puzzle.js';

/** Parses parameters. The service validates them. */
export function fromParameters(text) {
  const fields = Object.fromEntries(new URLSearchParams(text));
  for (const name of ['board', 'goal']) if (fields[name]?.startsWith('[')) fields[name] = listed(fields[name]);
  for (const name of ['rows', 'cols']) if (/^\d+$/.test(fields[name])) fields[name] = Number(fields[name]);
  return fields;
}

/** Parses a board in JSON. Invalid JSON is returned unchanged, and the service rejects it. */
function listed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** True if the page shows only the board, for a frame in another page: with `embed` in the address. */
export const isEmbedded = () => new URLSearchParams(location.hash.slice(1)).has('embed');

/** Reads the fields in the address. */
export function read() {
  const fields = fromParameters(location.hash.slice(1));
  delete fields.embed;
  return fields;
}

/** Returns a goal as a parameter. */
export const goalText = (goal) => (typeof goal === 'string' ? goal : toText(goal));

/** Returns the fields of a request as a query string. */
export function parameters({ board, goal, limits = {}, ...method }) {
  const fields = { board: toText(board), goal: goal === 'blank_last' ? null : goalText(goal), ...method };
  for (const [name, value] of Object.entries(limits)) fields[`limits.${name}`] = value;
  const given = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined && value !== 'auto');
  return new URLSearchParams(given).toString().replaceAll('%2C', ',').replaceAll('%2F', '/');
}

/** Returns board and goal of a fragment. */
const subject = (hash) => ['board', 'goal'].map((name) => new URLSearchParams(hash.slice(1)).get(name)).join(' ');

/** Writes a request to the address. Another board or goal adds an entry to the browser's history. */
export function write(request, { isLink = false } = {}) {
  const next = `#${parameters(request)}${isEmbedded() ? '&embed' : ''}`;
  if (next === location.hash) return;
  const isStep = !isLink && location.hash !== '' && subject(next) !== subject(location.hash);
  history[isStep ? 'pushState' : 'replaceState'](null, '', next);
}
