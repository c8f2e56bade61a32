// A client of orval.

import assert from 'node:assert/strict';
import { base } from './base.js';
import { events } from './events.js';
import { compare, getSolveUrl, hint, random, solve, verify } from './generated/orval.js';
import type { Direction, Problem, ProgressEvent, SolutionEvent, SolveBody, SolveReply } from './generated/orval.js';

assert(getSolveUrl().startsWith(base));

// Solve.
const solution = await solve({ board: '8 6 7/2 5 4/3 0 1', algorithm: 'astar' });
assert(solution.status === 200);
assert.equal(solution.data.length, 31);
assert.equal(solution.data.search.algorithm, 'astar');

// Hint and verify.
const next = await hint({ board: [[1, 2, 3], [4, 5, 6], [0, 7, 8]] });
assert(next.status === 200);
const move: Direction | null = next.data.move;
assert.equal(move, 'R');
const verdict = await verify({ board: '123456078', moves: 'RR' });
assert(verdict.status === 200 && verdict.data.optimal);

// Compare.
const comparison = await compare({
  board: '123456078',
  methods: [{ algorithm: 'breadth_first' }, { algorithm: 'depth_first', depth_limit: 1 }],
});
assert(comparison.status === 200 && 'start' in comparison.data);
const [first, second] = comparison.data.results;
assert(first?.status === 'solved' && first.length === 2);
assert(second?.status === 'failed' && second.problem.limit === 'depth');

// Handle a problem.
const { data: problem, status } = await solve({ board: [[1, 2, 3], [4, 5, 6], [8, 7, 0]] });
if (status === 422 && problem.type === '/problems/unsolvable') assert.equal(problem.inversions, 1);
else assert.fail(`not unsolvable: ${status}`);

// Watch a search.
type SolveEvent =
  | { event: 'solution'; data: SolutionEvent }
  | { event: 'progress'; data: ProgressEvent }
  | { event: 'result'; data: SolveReply }
  | { event: 'problem'; data: Problem };

const watch = async (body: SolveBody): Promise<AsyncGenerator<SolveEvent>> => {
  const headers = { Accept: 'text/event-stream', 'Content-Type': 'application/json' };
  const response = await fetch(getSolveUrl(), { method: 'POST', headers, body: JSON.stringify(body) });
  return events(response.body ?? assert.fail('no stream'));
};
for await (const { event, data } of await watch({ board: '8 6 7/2 5 4/3 0 1' })) {
  if (event === 'solution') assert(data.length >= data.lower_bound);
  if (event === 'result') assert.equal(data.length, 31);
  if (event === 'problem') assert.fail(data.detail);
}

// A busy service.
const drawn = await random({ rows: 10, cols: 10, seed: 'taquin' });
assert(drawn.status === 200);
const { board, goal } = drawn.data;
const search = await watch({ board, goal, limits: { time_ms: 5000 } });
assert.equal((await search.next()).value?.event, 'solution');
const refusal = await solve({ board: goal, goal: board });
assert(refusal.status === 503 && refusal.data.type === '/problems/overloaded');
await search.return(undefined);
