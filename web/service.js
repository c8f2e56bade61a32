// All requests of the pages to the service.

import { keep, kept } from './storage.js';

/** The address of the service, without a slash at its end. The page may be behind a proxy, below any path. */
export const BASE = new URL('../..', import.meta.url).href.slice(0, -1);

/** A response that is a problem document (RFC 9457). */
export class Problem extends Error {
  constructor(document) {
    super(String(document.detail || document.title));
    this.document = document;
  }

  get slug() {
    return String(this.document.type ?? '').split('/').pop();
  }

  /** The errors with their JSON pointers. */
  get errors() {
    return Array.isArray(this.document.errors) ? this.document.errors.filter((error) => typeof error?.pointer === 'string') : [];
  }
}

/** Converts any error to a problem. */
export function asProblem(error) {
  if (error instanceof Problem) return error;
  console.error(error);
  return new Problem({ title: 'Unexpected response', detail: 'The page cannot read the response from the service.' });
}

// The token of a guarded service. It is stored until the tab is closed, and sent only to the service.
const TOKEN = 'taquin-token';
/** True if the text can be sent in a header as a token. */
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

async function fetchResponse(path, options) {
  try {
    return await fetch(BASE + path, options);
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Problem({ title: 'No response', detail: 'The service does not respond. Is it running?' });
  }
}

/** Reads a response. An incomplete one is a problem. */
async function readWhole(reading) {
  try {
    return await reading;
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Problem({ title: 'Incomplete response', detail: 'The connection closed before the response was complete.' });
  }
}

/** Called when the service requires another token. */
let requestToken = () => {};
export const onTokenRequired = (callback) => { requestToken = callback; };

async function checkStatus(response) {
  if (response.ok) return response;
  if (response.status === 401) requestToken();
  const text = await readWhole(response.text());
  throw new Problem(documentOf(text) ?? { title: `Status ${response.status}`, detail: text.slice(0, 300) });
}

/** Parses a problem document. Returns null for other responses, such as those of a proxy. */
function documentOf(text) {
  try {
    const value = JSON.parse(text);
    return typeof value?.title === 'string' ? value : null;
  } catch {
    return null;
  }
}

async function json(path, body, signal) {
  const response = await checkStatus(await fetchResponse(path, request(body, 'application/json', signal)));
  return readWhole(response.json());
}

export const info = () => json('/info');
export const contract = () => json('/openapi.json');
export const solvable = (body, signal) => json('/solvable', body, signal);
export const solve = (body, signal) => json('/solve', body, signal);
export const compare = (body, signal) => json('/compare', body, signal);
export const hint = (body, signal) => json('/hint', body, signal);
export const moves = (body, signal) => json('/moves', body, signal);
export const explain = (body, signal) => json('/explain', body, signal);
export const verify = (body, signal) => json('/verify', body, signal);
export const random = (parameters, signal) => json(`/random?${new URLSearchParams(parameters)}`, undefined, signal);

/** Compares methods; returns the response as CSV. */
export async function compareAsCsv(body, signal) {
  const response = await checkStatus(await fetchResponse('/compare', request(body, 'text/csv', signal)));
  return readWhole(response.text());
}

/** Most jobs of a list. */
const MOST_LISTED = 100;

/** Lists the newest jobs, at most `most`, and says whether there are more. */
export async function listJobs(most, signal) {
  const jobs = [];
  let cursor;
  do {
    const query = new URLSearchParams({ limit: Math.min(most - jobs.length, MOST_LISTED), ...(cursor && { cursor }) });
    const page = await json(`/jobs?${query}`, undefined, signal);
    jobs.push(...page.jobs);
    cursor = page.next;
  } while (cursor && jobs.length < most);
  return { jobs, hasMore: Boolean(cursor) };
}

export const getJob = (id) => json(`/jobs/${id}`);

/** Begins a job. A request with the same key returns the job that exists. */
export async function createJob(body, key) {
  const options = request(body, 'application/json');
  options.headers['idempotency-key'] = key;
  const response = await checkStatus(await fetchResponse('/jobs', options));
  return readWhole(response.json());
}

const endJob = async (id, only) => checkStatus(await fetchResponse(`/jobs/${id}?only=${only}`, { ...request(undefined, 'application/json'), method: 'DELETE' }));

/** Cancels a job, and returns it. One that ended in another way is a problem, and remains. */
export const cancelJob = async (id) => readWhole((await endJob(id, 'cancel')).json());

/** Deletes a job. One that has not ended is a problem, and goes on. */
export const deleteJob = (id) => endJob(id, 'delete');

/** Calls `onJob(job)` for each event of a job until it has ended, or the service shuts down. */
export async function watchJob(id, onJob, signal) {
  const response = await checkStatus(await fetchResponse(`/jobs/${id}/events`, request(undefined, 'text/event-stream', signal)));
  for await (const { data } of events(response.body)) onJob(data);
}

/** Returns a response as a file. Browsers keep large ones on disk. */
export async function file(path, accept) {
  const response = await checkStatus(await fetchResponse(path, request(undefined, accept)));
  return readWhole(response.blob());
}

/** Sends any request and returns the response unread. */
export function send(method, path, { accept, contentType, body, signal }) {
  const options = request(undefined, accept, signal);
  if (body) options.headers['content-type'] = contentType;
  return fetchResponse(path, { ...options, method, body: body || undefined });
}

/** Solves with a stream of events, calls `onEvent(name, data)` for each, and returns the result. */
export async function watch(body, onEvent, signal) {
  const response = await checkStatus(await fetchResponse('/solve', request(body, 'text/event-stream', signal)));
  for await (const { name, data } of events(response.body)) {
    if (name === 'result') return data;
    if (name === 'problem') throw new Problem(data);
    onEvent(name, data);
  }
  throw new Problem({ title: 'Incomplete response', detail: 'The connection closed before the result arrived.' });
}

/** Yields the events of a `text/event-stream` body as they arrive. */
async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await readWhole(reader.read());
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
