// Event streams as a browser reads them: events arrive as they happen, and a client that leaves stops its search.

import assert from 'node:assert/strict';

// One of the hardest 15-puzzles, with a heuristic that needs minutes for it.
const HARD = '/solve?board=15,14,8,12,10,11,9,13,2,6,5,1,3,7,4,0&goal=blank_first&algorithm=ida_star&heuristic=manhattan&limits.time_ms=60000';
// Source of a predicate that runs in the page: two progress events have arrived.
const TWO_PROGRESS_EVENTS = '(events) => events.filter(({ name }) => name === "progress").length > 1';

/** Defines the two readers in the page; nothing of this file is visible there. */
function defineReaders() {
  const record = (events, name, data) => events.push({ name, at: performance.now(), data: JSON.parse(data) });

  // Reads a stream to its end, or until `enough(events)`; then it aborts.
  window.readByFetch = async (target, options, enough = () => false) => {
    const abort = new AbortController();
    const headers = { accept: 'text/event-stream', 'content-type': 'application/json' };
    const response = await fetch(target, { ...options, headers, signal: abort.signal });
    const events = [];
    const decoder = new TextDecoder();
    let rest = '';
    for (const reader = response.body.getReader(); ;) {
      const { done, value } = await reader.read();
      if (done) return { status: response.status, type: response.headers.get('content-type'), events };
      const messages = (rest + decoder.decode(value, { stream: true })).split('\n\n');
      rest = messages.pop();
      for (const message of messages.filter((message) => !message.startsWith(':'))) {
        record(events, message.match(/^event: (.*)$/m)[1], message.match(/^data: (.*)$/m)[1]);
        if (enough(events)) {
          abort.abort();
          return { events };
        }
      }
    }
  };

  // Reads until the server ends the stream for good, or until `enough(events)`; then it closes.
  window.readByEventSource = (target, enough = () => false) => new Promise((resolve) => {
    const source = new EventSource(target);
    const result = { events: [], opened: 0, closedByServer: false };
    source.onopen = () => { result.opened += 1; };
    for (const name of ['solution', 'progress', 'result', 'problem']) {
      source.addEventListener(name, ({ data }) => {
        record(result.events, name, data);
        if (enough(result.events)) {
          source.close();
          resolve(result);
        }
      });
    }
    source.onerror = () => {
      if (source.readyState === EventSource.CLOSED) resolve({ ...result, closedByServer: true });
    };
  });
}

/** A plain page of the service, with the readers. The playground's own policy is not in the way there. */
async function open(browser) {
  const page = await browser.blank('/livez');
  await page.evaluate(defineReaders);
  return page;
}

/** Asserts ever shorter solutions, progress between them and one result, each at its time. Returns a summary. */
function assertStream(events) {
  const named = (name) => events.filter((event) => event.name === name);
  const [solutions, progress] = [named('solution'), named('progress')];
  const lengths = solutions.map(({ data }) => data.length);
  assert(lengths.length > 2, `${lengths.length} solutions`);
  for (const [index, length] of lengths.slice(1).entries()) assert(length < lengths[index], 'each solution is shorter');
  assert.equal(events.at(-1).name, 'result');
  assert.equal(named('result').length, 1);
  assert.equal(events.at(-1).data.length, lengths.at(-1));
  const wait = events.at(-1).at - solutions[0].at;
  assert(wait > 1000, `the first solution came ${wait.toFixed(0)} ms before the result`);
  assert(progress.length >= 3, `${progress.length} progress events`);
  // On a busy machine some arrive together.
  const arrivals = progress.filter((event, index) => index === 0 || event.at - progress[index - 1].at > 1);
  assert(arrivals.length >= 3, 'progress events arrive during the search');
  return `${lengths.length} solutions (${lengths.join(' ')}), ${progress.length} progress events, ` +
    `first solution ${wait.toFixed(0)} ms before the result`;
}

/** Waits until no search runs. Returns a summary. */
const assertStopped = async (browser) => `stopped after ${(await browser.until('taquin_jobs_in_progress', 0)).toFixed(0)} ms`;

const randomBoard = async (browser) => (await fetch(`${browser.base}/random?rows=6&cols=6&seed=browser&as=request`)).json();

export async function fetch_reads_events_as_they_happen(browser) {
  const page = await open(browser);
  const body = JSON.stringify({ ...await randomBoard(browser), limits: { time_ms: 2000 } });
  const response = await page.evaluate((body) => window.readByFetch('/solve', { method: 'POST', body }), body);
  assert.equal(response.status, 200);
  assert.equal(response.type, 'text/event-stream');
  return assertStream(response.events);
}

export async function an_EventSource_reads_events_and_does_not_reconnect(browser) {
  const page = await open(browser);
  const board = (await randomBoard(browser)).board.map((row) => row.join(',')).join('/');
  const target = `/solve?board=${encodeURIComponent(board)}&limits.time_ms=2001`;
  const response = await page.evaluate((target) => window.readByEventSource(target), target);
  assert(response.closedByServer && response.opened === 1, `opened ${response.opened} times`);
  return assertStream(response.events);
}

export async function an_aborted_fetch_stops_its_search(browser) {
  const page = await open(browser);
  const { events } = await page.evaluate(`readByFetch(${JSON.stringify(HARD)}, {}, ${TWO_PROGRESS_EVENTS})`);
  assert(events.length > 1);
  return assertStopped(browser);
}

export async function a_closed_EventSource_stops_its_search(browser) {
  const page = await open(browser);
  const { events } = await page.evaluate(`readByEventSource(${JSON.stringify(HARD)}, ${TWO_PROGRESS_EVENTS})`);
  assert(events.length > 1);
  return assertStopped(browser);
}

export async function a_closed_tab_stops_its_search(browser) {
  const page = await open(browser);
  await page.evaluate(`void readByFetch(${JSON.stringify(HARD)}, {})`);
  await browser.until('taquin_jobs_in_progress', 1);
  await page.close();
  return assertStopped(browser);
}
