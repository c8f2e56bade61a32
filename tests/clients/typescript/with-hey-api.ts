// A client of @hey-api/openapi-ts.

import assert from 'node:assert/strict';
import { base } from './base.js';
import { events } from './events.js';
import { client } from './generated/hey-api/client.gen.js';
import { compare, hint, random, solve, verify } from './generated/hey-api/index.js';
import type { Direction, Problem, ProgressEvent, SolutionEvent, SolveReply } from './generated/hey-api/index.js';

client.setConfig({ baseUrl: base });

// Solve.
const { data: solution } = await solve({ body: { board: '8 6 7/2 5 4/3 0 1', algorithm: 'astar' } });
assert.equal(solution?.length, 31);
assert.equal(solution.search.algorithm, 'astar');

// Hint and verify.
const { data: next } = await hint({ body: { board: [[1, 2, 3], [4, 5, 6], [0, 7, 8]] } });
const move: Direction | null | undefined = next?.move;
assert.equal(move, 'R');
const { data: verdict } = await verify({ body: { board: '123456078', moves: 'RR' } });
assert.equal(verdict?.optimal, true);

// Compare.
const { data: comparison } = await compare({
  body: { board: '123456078', methods: [{ algorithm: 'breadth_first' }, { algorithm: 'depth_first', depth_limit: 1 }] },
});
assert(comparison && 'start' in comparison);
const [first, second] = comparison.results;
assert(first?.status === 'solved' && first.length === 2);
assert(second?.status === 'failed' && second.problem.limit === 'depth');

// Handle a problem.
const { error: problem } = await solve({ body: { board: [[1, 2, 3], [4, 5, 6], [8, 7, 0]] } });
if (problem?.type === '/problems/unsolvable') assert.equal(problem.inversions, 1);
else assert.fail(`not unsolvable: ${problem?.type}`);

// Watch a search.
type SolveEvent =
  | { event: 'solution'; data: SolutionEvent }
  | { event: 'progress'; data: ProgressEvent }
  | { event: 'result'; data: SolveReply }
  | { event: 'problem'; data: Problem };

const { response } = await solve({
  body: { board: '8 6 7/2 5 4/3 0 1' },
  headers: { Accept: 'text/event-stream' },
  parseAs: 'stream',
});
for await (const { event, data } of events<SolveEvent>(response?.body ?? assert.fail('no stream'))) {
  if (event === 'solution') assert(data.length >= data.lower_bound);
  if (event === 'result') assert.equal(data.length, 31);
  if (event === 'problem') assert.fail(data.detail);
}

// A busy service.
const { data: drawn } = await random({ body: { rows: 10, cols: 10, seed: 'taquin' } });
assert(drawn);
const { board, goal } = drawn;
const { response: long } = await solve({
  body: { board, goal, limits: { time_ms: 5000 } },
  headers: { Accept: 'text/event-stream' },
  parseAs: 'stream',
});
const search = events<SolveEvent>(long?.body ?? assert.fail('no stream'));
assert.equal((await search.next()).value?.event, 'solution');
const { error: refusal } = await solve({ body: { board: goal, goal: board } });
assert.equal(refusal?.type, '/problems/overloaded');
await search.return(undefined);
