// Compiled, not run: the types of the package as programs use them.
import { type Hint, type Progress, Taquin, TaquinError, explain, hint, random, solve, verify } from 'taquin';

const controller = new AbortController();
const solution = await solve([[8, 6, 7], [2, 5, 4], [3, 0, 1]], {
  goal: 'blank_last',
  algorithm: 'astar',
  heuristic: 'manhattan',
  limits: { time_ms: 2000 },
  signal: controller.signal,
  onProgress: ({ expanded, length }: Progress) => console.log(expanded, length ?? 'no solution yet'),
});
const length: number = solution.length;
const next: Hint = await hint(solution.start, { trail: solution.moves });
const tile: number | null = next.tile;
const checked = await verify(solution.start, solution.tiles, { include: ['steps'] });
const mistake: boolean | null | undefined = checked.steps?.[0]?.mistake;
const { board } = await random({ rows: 4, length: '12..18', seed: 7 });
const estimates: number[] = (await explain(board)).heuristics.map(({ h }) => h);
const taquin = new Taquin();
try {
  await taquin.solve('1 2 3/4 5 6/8 7 0');
} catch (error) {
  if (error instanceof TaquinError) console.log(error.code, error.errors, error.problem.status);
} finally {
  taquin.close();
}
console.log(length, tile, mistake, estimates);

// @ts-expect-error: there is no such algorithm
await solve('1 2/3 0', { algorithm: 'a_star' });
// @ts-expect-error: moves are missing
await verify('1 2/3 0');
