// Every question that a page asks the service, and nothing else does.

import { keep, kept } from './storage.js';

/** An answer that is a problem document (RFC 9457). */
export class Problem extends Error {
  constructor(document) {
    super(String(document.detail || document.title));
    this.document = document;
  }

  get slug() {
    return String(this.document.type ?? '').split('/').pop();
  }

  /** The faults, each with its pointer. */
  get faults() {
    return Array.isArray(this.document.errors) ? this.document.errors.filter((fault) => typeof fault?.pointer === 'string') : [];
  }
}

/** Anything that went wrong, as a problem: an answer that is none of the service's may do anything. */
export function asProblem(error) {
  if (error instanceof Problem) return error;
  console.error(error);
  return new Problem({ title: 'Not understood', detail: 'The page does not understand what the service has answered.' });
}

// A service with guards wants a token. It is kept for as long as the tab is open, and sent nowhere else.
const TOKEN = 'taquin-token';
/** What a header can carry, and the service takes for a token. */
export const isToken = (text) => /^[\x21-\x7e]+$/.test(text);
export const token = () => {
  const own = kept(TOKEN) ?? '';
  return isToken(own) ? own : '';
};
export const setToken = (value) => keep(TOKEN, value);

function request(body, accept, signal) {
  const headers = { accept };
  if (token()) headers.authorization = `Bearer ${token()}`;
  if (body === undefined) return { headers, signal };
  headers['content-type'] = 'application/json';
  return { method: 'POST', headers, body: JSON.stringify(body), signal };
}

async function reach(path, options) {
  try {
    return await fetch(path, options);
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Problem({ title: 'The service does not answer', detail: 'The service does not answer. Is it still running?' });
  }
}

/** What is read of an answer; where it breaks off, that is a problem as well. */
async function whole(reading) {
  try {
    return await reading;
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Problem({ title: 'The answer broke off', detail: 'The service went away before its answer was whole.' });
  }
}

/** Who is told that the service wants another token. */
let wantsToken = () => {};
export const onTokenWanted = (tell) => { wantsToken = tell; };

async function checked(response) {
  if (response.ok) return response;
  if (response.status === 401) wantsToken();
  const text = await whole(response.text());
  throw new Problem(documentOf(text) ?? { title: `Status ${response.status}`, detail: text.slice(0, 300) });
}

/** A problem document; null where something between here and the service has answered in words of its own. */
function documentOf(text) {
  try {
    const value = JSON.parse(text);
    return typeof value?.title === 'string' ? value : null;
  } catch {
    return null;
  }
}

async function json(path, body, signal) {
  const response = await checked(await reach(path, request(body, 'application/json', signal)));
  return whole(response.json());
}

export const info = () => json('/info');
export const contract = () => json('/openapi.json');
export const solvable = (question, signal) => json('/solvable', question, signal);
export const solve = (question, signal) => json('/solve', question, signal);
export const compare = (question, signal) => json('/compare', question, signal);
export const hint = (question, signal) => json('/hint', question, signal);
export const verify = (question, signal) => json('/verify', question, signal);
export const random = (parameters, signal) => json(`/random?${new URLSearchParams(parameters)}`, undefined, signal);

/** Asks as it is, for whoever wants to see the answer as it is. */
export function ask(method, path, { accept, contentType, body, signal }) {
  const options = request(undefined, accept, signal);
  if (body) options.headers['content-type'] = contentType;
  return reach(path, { ...options, method, body: body || undefined });
}

/** Solves, and tells what happens on the way: `tell(name, data)` for each event. Returns the result. */
export async function watch(question, tell, signal) {
  const response = await checked(await reach('/solve', request(question, 'text/event-stream', signal)));
  for await (const { name, data } of events(response.body)) {
    if (name === 'result') return data;
    if (name === 'problem') throw new Problem(data);
    tell(name, data);
  }
  throw new Problem({ title: 'The answer broke off', detail: 'The service went away before it had an answer.' });
}

/** The events of a stream, each when it comes (the `text/event-stream` of HTML). */
async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await whole(reader.read());
    if (done) return;
    const pieces = (rest + value).split('\n\n');
    rest = pieces.pop();
    for (const piece of pieces) {
      const lines = piece.split('\n');
      const of = (name) => lines.filter((line) => line.startsWith(`${name}: `)).map((line) => line.slice(name.length + 2));
      const data = of('data').join('\n');
      if (data) yield { name: of('event')[0] ?? 'message', data: JSON.parse(data) };
    }
  }
}
