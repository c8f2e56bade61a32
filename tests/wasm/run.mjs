// Runs taquin-solver on a target without threads, files or a clock: node run.mjs MODULE.wasm
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';

const host = { now: () => performance.now() };
const { instance } = await WebAssembly.instantiate(await readFile(process.argv[2]), { host });
const timed = (name) => {
  const begun = performance.now();
  const length = instance.exports[name]();
  console.log(`${name}: ${length} moves, ${Math.round(performance.now() - begun)} ms`);
  return length;
};
assert.equal(timed('hardest_8_puzzle'), 31);
assert.equal(timed('a_15_puzzle'), 55);
const length = timed('a_large_board');
assert.ok(length > 100 && length < 1000);
