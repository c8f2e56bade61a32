// Size, requests at the start, and changes per frame. Times are printed and not tested, because machines differ.

import assert from 'node:assert/strict';

import { link, panel, ready, says } from './browser.mjs';

/** Counts changes of the document and records frame times until `frames` reads them. */
const watchFrames = (page) => page.evaluate(() => {
  window.frames_ = [];
  window.changes_ = [];
  window.observer_ = new MutationObserver((records) => {
    window.changes_[window.frames_.length] = (window.changes_[window.frames_.length] ?? 0) + records.length;
  });
  window.observer_.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  const tick = (now) => {
    window.frames_.push(now);
    window.going_ = requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
});

async function frames(page) {
  const { times, changes } = await page.evaluate(() => {
    cancelAnimationFrame(window.going_);
    window.observer_.disconnect();
    return { times: window.frames_, changes: window.changes_ };
  });
  const gaps = times.slice(1).map((time, at) => time - times[at]).sort((one, other) => one - other);
  return { count: gaps.length, longest: gaps.at(-1), usual: gaps[gaps.length >> 1], most: Math.max(...changes.filter(Boolean)) };
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

/** Scrubs to the end and back. No frame may change more than `bound` nodes and attributes; frame times are printed only. */
async function smooth(page, label, bound) {
  await scrub(page, label); // ends at the low end, so that no frame jumps
  await watchFrames(page);
  await scrub(page, label);
  const { count, longest, usual, most } = await frames(page);
  assert(count >= 100, `${count} frames`);
  assert(most > 0 && most <= bound, `${most} changes in a frame`);
  return `at most ${most} changes in a frame; ${count} frames, half of them within ${usual.toFixed(1)} ms, the longest ${longest.toFixed(1)} ms`;
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

/** The HTML names every script and style: none waits until another one has arrived. */
export async function the_page_starts_after_one_round_of_requests(browser) {
  const page = await browser.open();
  const session = await page.context().newCDPSession(page);
  const late = [];
  await session.send('Network.enable');
  session.on('Network.requestWillBeSent', ({ request, type, initiator }) => {
    if (['Script', 'Stylesheet', 'Font'].includes(type) && initiator.type !== 'parser') late.push(`${initiator.type} ${request.url}`);
  });
  await session.send('Emulation.setCPUThrottlingRate', { rate: 4 });
  await session.send('Network.clearBrowserCache');
  await page.goto('about:blank');
  await page.goto(browser.base, { waitUntil: 'commit' });
  await ready(page);
  const { time, nodes } = await page.evaluate(() => ({ time: document.documentElement.dataset.ready, nodes: document.querySelectorAll('*').length }));
  page.errors = page.errors.filter((error) => !error.includes('about:blank'));
  assert.deepEqual(late, []);
  assert(nodes < 1000, `${nodes} elements`);
  return `${nodes} elements, ${time} ms at a quarter of the speed, nothing cached`;
}

export async function a_solution_of_a_thousand_moves_is_scrubbed_smoothly(browser) {
  const { board } = await (await fetch(`${browser.base}/random?rows=10&cols=10&seed=browser`)).json();
  const page = await browser.open(link({ board: board.map((row) => row.join(',')).join('/'), algorithm: 'constructive' }));
  await page.click('#solve');
  const length = parseInt((await says(page, /^[\d,]+ moves/)).replace(',', ''), 10);
  assert(length >= 1000, `${length} moves`);
  await page.click('[aria-label=Pause]');
  return `${length} moves: ${await smooth(page, 'Step', 150)}`;
}

export async function a_tree_of_five_hundred_expansions_grows_smoothly(browser) {
  const page = await browser.open(link({ board: '14,13,15,7/11,12,9,5/6,0,2,1/4,8,10,3', goal: 'blank_first', algorithm: 'ida_star', heuristic: 'linear_conflict' }));
  await panel(page, 'search');
  await page.selectOption('#search select', '500');
  await page.click('#grow');
  await page.waitForSelector('.tree [data-node="499"]', { state: 'attached' });
  return smooth(page, 'Expansions shown', 100);
}
