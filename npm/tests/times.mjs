// Compares the package with the native library on the same boards, in one run: node times.mjs SOLVE_LINES BOARDS
// SOLVE_LINES is the example `solve_lines` in release mode, and BOARDS is benches/data/korf15.txt.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { solve } from 'taquin';

const [program, file] = process.argv.slice(2);
const lines = readFileSync(file, 'utf8').split('\n').filter((line) => /^\d/.test(line));
const boards = lines.map((line) => {
  const tiles = line.split(' ').slice(1, 17);
  return [0, 4, 8, 12].map((at) => tiles.slice(at, at + 4).join(' ')).join('/');
});
// The first request builds the tables.
const requests = [boards[0], ...boards].map((board) => ({ board, goal: 'blank_first' }));

const input = requests.map((request) => `${JSON.stringify(request)}\n`).join('');
const { stdout } = spawnSync(program, { input, maxBuffer: 1 << 24 });
const expected = stdout.toString().trim().split('\n').map((line) => JSON.parse(line));
const begun = performance.now();
const solved = [];
for (const { board, ...options } of requests) {
  solved.push(await solve(board, options));
  if (solved.length === 1) console.log(`worker, tables and first board: ${Math.round(performance.now() - begun)} ms`);
}
solved.forEach(({ length, search }, at) => {
  const native = expected[at];
  if (length !== native.length || search.expanded !== native.search.expanded) throw new Error(`board ${at} differs`);
});
const seconds = (all) => all.slice(1).reduce((sum, { search }) => sum + search.elapsed_us / 1e6, 0);
const [own, natives] = [seconds(solved), seconds(expected)];
const [here, there] = [own, natives].map((time) => `${time.toFixed(2)} s`);
console.log(`${boards.length} boards of Korf's: ${here}, native ${there}, ratio ${(own / natives).toFixed(2)}`);
