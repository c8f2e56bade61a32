// Every question that a page asks the service, and nothing else does.

/** An answer that is a problem document (RFC 9457). */
export class Problem extends Error {
  constructor(document) {
    super(document.detail || document.title);
    this.document = document;
  }

  get slug() {
    return this.document.type?.split('/').pop() ?? '';
  }

  /** The faults, each with its pointer. */
  get faults() {
    return this.document.errors ?? [];
  }
}

// A service with guards wants a token. It is kept for as long as the tab is open, and sent nowhere else.
const TOKEN = 'taquin-token';
export const token = () => sessionStorage.getItem(TOKEN) ?? '';
export const setToken = (value) => sessionStorage.setItem(TOKEN, value);

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

async function checked(response) {
  if (response.ok) return response;
  const text = await whole(response.text());
  let problem = { title: `Status ${response.status}`, detail: text.slice(0, 300) };
  try {
    problem = JSON.parse(text);
  } catch { /* Something between here and the service has answered in words of its own. */ }
  throw new Problem(problem);
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
