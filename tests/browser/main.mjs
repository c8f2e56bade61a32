// Runs all browser tests one after another and prints their measurements. See .ci/playground.

import * as access from './access.mjs';
import * as analysis from './analysis.mjs';
import { Browser } from './browser.mjs';
import * as contract from './contract.mjs';
import * as embedding from './embedding.mjs';
import * as game from './game.mjs';
import * as guide from './guide.mjs';
import * as jobs from './jobs.mjs';
import * as journey from './journey.mjs';
import * as pictures from './pictures.mjs';
import * as search from './search.mjs';
import * as speed from './speed.mjs';
import * as streaming from './streaming.mjs';

const [base, folder] = process.argv.slice(2);
const browser = await Browser.launch(base);
const tests = [streaming, journey, game, guide, analysis, search, jobs, contract, embedding, access, speed, ...(folder ? [pictures] : [])]
  .flatMap(Object.entries).filter(([name]) => name.includes(process.env.ONLY ?? ''));
let failures = 0;

for (const [name, test] of tests) {
  const began = performance.now();
  try {
    const summary = await test(browser, folder);
    await browser.settle();
    console.log(`playground: ${name.replaceAll('_', ' ')}${summary ? `: ${summary}` : ''} (${(performance.now() - began).toFixed(0)} ms)`);
  } catch (error) {
    failures += 1;
    console.error(`playground: FAILED: ${name.replaceAll('_', ' ')}\n`, error);
    await browser.abandon();
  }
}
await browser.close();
console.log(failures ? `playground: ${failures} of ${tests.length} failed` : `playground: all ${tests.length} passed`);
process.exit(failures ? 1 : 0);
