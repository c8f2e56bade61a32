// Tests of the installed package in Node: copy into a folder where `taquin` is installed, with the vectors beside.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import * as taquin from 'taquin';
import { scenarios } from './scenarios.mjs';
import { check } from './vectors.mjs';

for (const vector of JSON.parse(readFileSync(new URL('operations.json', import.meta.url)))) {
  test(vector.name, () => check(taquin, vector));
}
for (const [name, scenario] of Object.entries(scenarios)) test(name, () => scenario(taquin));

test('an idle worker does not keep the process', () => {
  const program = `import { solve } from 'taquin'; console.log((await solve('1 2/0 3')).length);`;
  const { stdout, status } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: new URL('.', import.meta.url),
    timeout: 20_000,
  });
  if (status !== 0 || stdout.toString() !== '1\n') throw new Error(`${status}: ${stdout}`);
});
