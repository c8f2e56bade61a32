// Types of openapi-typescript, requests of openapi-fetch.

import assert from 'node:assert/strict';
import createClient from 'openapi-fetch';
import { base } from './base.js';
import { events } from './events.js';
import type { components, paths } from './generated/openapi-typescript.js';

type Schemas = components['schemas'];

const client = createClient<paths, `application/${string}json`>({ baseUrl: base });

// Solve.
const { data: solution } = await client.POST('/solve', { body: { board: '8 6 7/2 5 4/3 0 1', algorithm: 'astar' } });
assert.equal(solution?.length, 31);
assert.equal(solution.search.algorithm, 'astar');

// Hint and verify.
const { data: hint } = await client.POST('/hint', { body: { board: [[1, 2, 3], [4, 5, 6], [0, 7, 8]] } });
const move: Schemas['Direction'] | null | undefined = hint?.move;
assert.equal(move, 'R');
const { data: verdict } = await client.POST('/verify', { body: { board: '123456078', moves: 'RR' } });
assert.equal(verdict?.optimal, true);

// Compare.
const { data: comparison } = await client.POST('/compare', {
  body: { board: '123456078', methods: [{ algorithm: 'breadth_first' }, { algorithm: 'depth_first', depth_limit: 1 }] },
});
assert(comparison && 'start' in comparison);
const [first, second] = comparison.results;
assert(first?.status === 'solved' && first.length === 2);
assert(second?.status === 'failed' && second.problem.limit === 'depth');

// Handle a problem.
const { error: problem } = await client.POST('/solve', { body: { board: [[1, 2, 3], [4, 5, 6], [8, 7, 0]] } });
if (problem?.type === '/problems/unsolvable') assert.equal(problem.inversions, 1);
else assert.fail(`not unsolvable: ${problem?.type}`);

// Watch a search.
type SolveEvent =
  | { event: 'solution'; data: Schemas['SolutionEvent'] }
  | { event: 'progress'; data: Schemas['ProgressEvent'] }
  | { event: 'result'; data: Schemas['SolveReply'] }
  | { event: 'problem'; data: Schemas['Problem'] };

const { data: stream } = await client.POST('/solve', {
  body: { board: '8 6 7/2 5 4/3 0 1' },
  headers: { Accept: 'text/event-stream' },
  parseAs: 'stream',
});
for await (const { event, data } of events<SolveEvent>(stream ?? assert.fail('no stream'))) {
  if (event === 'solution') assert(data.length >= data.lower_bound);
  if (event === 'result') assert.equal(data.length, 31);
  if (event === 'problem') assert.fail(data.detail);
}

// Solve many boards.
const { data: lines } = await client.POST('/batch', {
  body: '{"id":"a","board":"867254301"}\n{"id":"b","board":"123456870"}\n',
  headers: { 'Content-Type': 'application/x-ndjson' },
  bodySerializer: (body) => body,
  parseAs: 'text',
});
const rows = (lines ?? assert.fail('no lines')).trimEnd().split('\n');
const summary: Schemas['BatchSummary'] = JSON.parse(rows.pop() ?? assert.fail('no summary'));
assert.equal(summary.summary.solved, 1);
const results: Schemas['BatchRow'][] = rows.map((row) => JSON.parse(row));
for (const row of results) {
  if ('problem' in row) assert.equal(row.problem.type, '/problems/unsolvable');
  else assert.equal(row.length, 31);
}

// Solve boards in the background.
const recipe = { rows: 3, cols: 3, seed: 'client', count: 1000 };
const { data: created } = await client.POST('/jobs', {
  body: { random: recipe },
  params: { header: { 'Idempotency-Key': crypto.randomUUID() } },
});
let job = created ?? assert.fail('no job');
const path = { id: job.id };
while (!job.ended_at) {
  const { data } = await client.GET('/jobs/{id}', { params: { path, header: { Prefer: 'wait=20' } } });
  job = data ?? assert.fail('no job');
}
const { data: labels } = await client.GET('/jobs/{id}/results', { params: { path }, parseAs: 'text' });
const lengths = (labels ?? assert.fail('no rows')).trimEnd().split('\n').map((row) => JSON.parse(row).length);
assert.equal(lengths.length, 1000);

// A busy service.
const { data: drawn } = await client.POST('/random', { body: { rows: 10, cols: 10, seed: 'taquin' } });
assert(typeof drawn === 'object');
const { board, goal } = drawn;
const { data: long } = await client.POST('/solve', {
  body: { board, goal, limits: { time_ms: 5000 } },
  headers: { Accept: 'text/event-stream' },
  parseAs: 'stream',
});
const search = events<SolveEvent>(long ?? assert.fail('no stream'));
assert.equal((await search.next()).value?.event, 'solution');
const { error: refusal, response } = await client.POST('/solve', { body: { board: goal, goal: board } });
assert.equal(refusal?.type, '/problems/overloaded');
assert(Number(response.headers.get('Retry-After')) > 0);
await search.return(undefined);
