// What the package does in Node and in a browser alike. Each scenario throws if it fails.
import { assertHas } from './vectors.mjs';

const korf = '13 5 4 10/9 12 8 14/2 3 7 1/0 15 11 6';
const large = '14 5 9 2 18/8 23 19 12 17/15 0 10 20 4/6 11 21 1 7/24 3 16 22 13';
// Proving an optimal solution takes hours.
const endless = { goal: 'blank_first', require: 'optimal', limits: { time_ms: 600_000 } };

function expect(holds, what) {
  if (!holds) throw new Error(what);
}

async function rejection(promise) {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('it is not rejected');
}

/** The tiles after the moves of the blank. */
function play(start, moves) {
  const board = start.map((row) => [...row]);
  let row = board.findIndex((tiles) => tiles.includes(0));
  let col = board[row].indexOf(0);
  for (const move of moves) {
    const [down, right] = { U: [-1, 0], L: [0, -1], D: [1, 0], R: [0, 1] }[move];
    board[row][col] = board[row + down][col + right];
    row += down;
    col += right;
    board[row][col] = 0;
  }
  return board;
}

export const scenarios = {
  async 'an 8-puzzle'({ solve }) {
    const { length, optimal, moves, start, goal } = await solve('8 6 7/2 5 4/3 0 1');
    expect(length === 31 && optimal, 'one of the hardest');
    assertHas(play(start, moves), goal, 'goal');
  },
  async "a 15-puzzle of Korf's"({ solve }) {
    const { length, optimal, moves, start, goal, search } = await solve(korf, { goal: 'blank_first' });
    expect(length === 55 && optimal && search.tables === 'small', `${length}`);
    assertHas(play(start, moves), goal, 'goal');
  },
  async 'a 24-puzzle'({ solve }) {
    const options = { goal: 'blank_first', limits: { time_ms: 4000 } };
    const { length, lower_bound, moves, start, goal } = await solve(large, options);
    // The optimal solution has 95 moves.
    expect(length >= 95 && length < 140 && lower_bound <= 95, `${length} moves`);
    assertHas(play(start, moves), goal, 'goal');
  },
  async 'a board of 10×10'({ solve, random }) {
    const { board } = await random({ rows: 10, seed: 'large' });
    const { length, moves, start, goal } = await solve(board, { limits: { time_ms: 2000 } });
    expect(length < 2000, `${length} moves`);
    assertHas(play(start, moves), goal, 'goal');
  },
  async 'hints lead to the goal'({ hint }) {
    let board = '8 6 7/2 5 4/3 0 1';
    for (let remaining = 30; remaining >= 0; remaining--) {
      const next = await hint(board);
      expect(next.remaining === remaining, `${next.remaining}, not ${remaining}`);
      board = next.board;
    }
    expect((await hint(board)).move === null, 'solved');
  },
  async 'fresh seeds differ'({ random }) {
    const seeds = await Promise.all([random(), random()]);
    expect(seeds[0].seed !== seeds[1].seed && /^[0-9a-f]{16}$/.test(seeds[0].seed), seeds[0].seed);
  },
  async 'progress is reported'({ solve }) {
    const reports = [];
    await solve(large, { goal: 'blank_first', onProgress: (progress) => reports.push(progress) });
    expect(reports.length >= 3 && reports.length <= 11, `${reports.length} reports`);
    const { expanded, length, elapsed_us } = reports.at(-1);
    expect(expanded > reports[0].expanded && length >= 95 && elapsed_us > 100_000, JSON.stringify(reports));
  },
  async 'a signal ends a search at once'({ solve }) {
    const controller = new AbortController();
    const running = rejection(solve(large, { ...endless, signal: controller.signal }));
    const waiting = solve('1 2 3/4 0 6/7 5 8');
    const begun = performance.now();
    setTimeout(() => controller.abort(new Error('no longer')), 300);
    expect((await running).message === 'no longer', 'the reason');
    expect((await waiting).length === 2, 'the next operation runs');
    expect(performance.now() - begun < 3000, `${performance.now() - begun} ms`);
  },
  async 'a signal removes a waiting operation'({ Taquin }) {
    const taquin = new Taquin();
    const controller = new AbortController();
    const running = rejection(taquin.solve(large, endless));
    const waiting = rejection(taquin.solve('1 2/3 0', { signal: controller.signal }));
    controller.abort();
    expect((await waiting).name === 'AbortError', 'AbortError');
    expect((await rejection(taquin.solve('1 2/3 0', { signal: controller.signal }))).name === 'AbortError', 'aborted');
    taquin.close();
    expect((await running).message.includes('closed'), 'closed');
    expect((await taquin.solve('1 2/0 3')).length === 1, 'a closed client starts again');
    taquin.close();
  },
  async 'errors say what to do'({ solve, TaquinError }) {
    const error = await rejection(solve([[1, 2, 3], [4, 5, 6], [7, 7, 0]]));
    expect(error instanceof TaquinError && error.code === 'invalid-board', error.code);
    expect(error.errors[0].pointer === '/board/2/1', JSON.stringify(error.errors));
    const limited = await rejection(solve(large, { ...endless, limits: { time_ms: 300 } }));
    expect(limited.code === 'search-limit-exceeded' && limited.problem.solution.length >= 95, limited.message);
  },
};
