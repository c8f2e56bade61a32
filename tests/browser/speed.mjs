// Size, start-up time and frame times.

import assert from 'node:assert/strict';

import { link, panel, ready, says } from './browser.mjs';

/** Records frame times until `frames` reads them. */
const watchFrames = (page) => page.evaluate(() => {
  window.frames_ = [];
  window.tasks_ = [];
  new PerformanceObserver((list) => window.tasks_.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: 'longtask' });
  const tick = (now) => {
    window.frames_.push(now);
    window.going_ = requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
});

async function frames(page) {
  const { times, tasks } = await page.evaluate(() => {
    cancelAnimationFrame(window.going_);
    return { times: window.frames_, tasks: window.tasks_ };
  });
  const gaps = times.slice(1).map((time, at) => time - times[at]).sort((one, other) => one - other);
  return { count: gaps.length, longest: gaps.at(-1), usual: gaps[gaps.length >> 1], tasks };
}

/** Moves a slider through its values, one step per frame. */
const scrub = (page, label) => page.evaluate(async (name) => {
  const slider = document.querySelector(`[aria-label="${name}"]`);
  const [low, high] = [Number(slider.min), Number(slider.max)];
  for (let step = 0; step <= 120; step += 1) {
    slider.value = Math.round(low + ((high - low) * (step <= 60 ? step : 120 - step)) / 60);
    slider.dispatchEvent(new Event('input', { bubbles: true }));
    await new Promise((resolve) => { requestAnimationFrame(resolve); });
  }
}, label);

/** Milliseconds of three frames at 60 frames per second. */
const SMOOTH = 50.5;

/** Scrubs up to six times, because other programs on the machine can delay a frame. */
async function smooth(page, label) {
  const rounds = [];
  while (rounds.length < 6 && !(rounds.at(-1)?.longest <= SMOOTH)) {
    await page.waitForTimeout(300);
    await watchFrames(page);
    await scrub(page, label);
    rounds.push(await frames(page));
  }
  const { count, longest, usual, tasks } = rounds.at(-1);
  assert(count >= 100, `${count} frames`);
  assert(longest <= SMOOTH, `frames of ${rounds.map((round) => round.longest.toFixed(0)).join(', ')} ms`);
  assert.deepEqual(tasks, []);
  return `${count} frames, half of them within ${usual.toFixed(1)} ms, the longest ${longest.toFixed(1)} ms`;
}

export async function pages_are_small(browser) {
  const weights = [];
  for (const path of ['/', '/docs']) {
    const page = await browser.open(path);
    const entries = await page.evaluate(() => [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
      .map(({ name, encodedBodySize, decodedBodySize }) => ({ name, encodedBodySize, decodedBodySize })));
    const sum = (field) => entries.reduce((total, entry) => total + entry[field], 0);
    weights.push(`${path} ${entries.length} files, ${(sum('encodedBodySize') / 1000).toFixed(1)} KB packed, ${(sum('decodedBodySize') / 1000).toFixed(0)} KB not`);
    assert(sum('encodedBodySize') < 100_000, weights.at(-1));
  }
  return weights.join('; ');
}

export async function a_slow_machine_starts_within_a_second(browser) {
  const page = await browser.open();
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: 4 });
  await session.send('Network.clearBrowserCache');
  const times = [];
  // Up to six rounds, because other programs run at full speed.
  while (times.length < 6 && !(times.at(-1) < 1000)) {
    await page.goto('about:blank');
    await page.goto(browser.base, { waitUntil: 'commit' });
    await ready(page);
    times.push(await page.evaluate(() => Number(document.documentElement.dataset.ready)));
    await session.send('Network.clearBrowserCache');
  }
  page.errors = page.errors.filter((error) => !error.includes('about:blank'));
  assert(times.at(-1) < 1000, `${times.join(', ')} ms`);
  return `${times.join(', ')} ms at a quarter of the speed, nothing cached`;
}

export async function a_solution_of_a_thousand_moves_is_scrubbed_smoothly(browser) {
  const { board } = await (await fetch(`${browser.base}/random?rows=10&cols=10&seed=browser`)).json();
  const page = await browser.open(link({ board: board.map((row) => row.join(',')).join('/'), algorithm: 'constructive' }));
  await page.click('#solve');
  const length = parseInt((await says(page, /^[\d,]+ moves/)).replace(',', ''), 10);
  assert(length >= 1000, `${length} moves`);
  await page.click('[aria-label=Pause]');
  return `${length} moves: ${await smooth(page, 'Step')}`;
}

export async function a_tree_of_five_hundred_expansions_grows_smoothly(browser) {
  const page = await browser.open(link({ board: '14,13,15,7/11,12,9,5/6,0,2,1/4,8,10,3', goal: 'blank_first', algorithm: 'ida_star', heuristic: 'linear_conflict' }));
  await panel(page, 'search');
  await page.selectOption('#search select', '500');
  await page.click('#grow');
  await page.waitForSelector('.tree [data-node="499"]', { state: 'attached' });
  return smooth(page, 'Expansions shown');
}
