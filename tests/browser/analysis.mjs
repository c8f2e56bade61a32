// Good moves, shares of tiles, mistakes and percentiles.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

import { panel, press, says, seen } from './browser.mjs';

/** Three of the four moves from this board lead away from its goal. */
const ONE_MOVE = '/#board=1,2,3/4,0,6/7,5,8';

const texts = (locator) => locator.evaluateAll((elements) => elements.map((one) => one.textContent));

/** Records the paths of requests to the service from now on. */
function record(page) {
  const paths = [];
  page.on('request', (request) => paths.push(new URL(request.url()).pathname));
  return { count: (path) => paths.filter((one) => one === path).length };
}

/** Waits until the text of an element matches, and returns it. */
async function reads(page, selector, pattern) {
  await page.waitForFunction(([where, source]) => new RegExp(source).test(document.querySelector(where)?.textContent ?? ''), [selector, pattern.source]);
  return page.textContent(selector);
}

const answer = async (browser, path) => (await fetch(browser.base + path)).json();

export async function good_moves_are_marked_on_request(browser) {
  const page = await browser.open('/#board=867254301');
  const asked = record(page);
  await press(page, 'ArrowDown', 'ArrowUp');
  assert.equal(asked.count('/moves'), 0, 'nothing is asked before the request');
  await page.getByLabel('Mark good moves').check();
  const { moves } = await answer(browser, '/moves?board=867254301');
  const text = await reads(page, '#good-moves', /^31 moves to go\. Good: /);
  assert.deepEqual(await texts(page.locator('.tile.good')), moves.filter(({ optimal }) => optimal).map(({ tile }) => String(tile)).sort());
  assert.equal(asked.count('/moves'), 1);
  // Each board has marks of its own.
  await press(page, 'ArrowDown');
  await reads(page, '#good-moves', /^30 moves to go/);
  const next = await answer(browser, '/moves?board=8,6,7/2,0,4/3,5,1');
  const good = next.moves.filter(({ optimal }) => optimal).map(({ tile }) => String(tile)).sort();
  assert(good.length < next.moves.length);
  assert.deepEqual(await texts(page.locator('.tile.good')), good);
  await page.getByLabel('Mark good moves').uncheck();
  assert.equal(await page.locator('.tile.good').count(), 0);
  assert(await page.isHidden('#good-moves'));
  return text;
}

export async function unknown_good_moves_are_not_marked(browser) {
  const page = await browser.open('/#board=14,5,9,2,18/8,23,19,12,17/15,0,10,20,4/6,11,21,1,7/24,3,16,22,13&goal=blank_first');
  await page.getByLabel('Mark good moves').check();
  const text = await reads(page, '#good-moves', /^\d+ to \d+ moves to go\. It is not known/);
  assert.equal(await page.locator('.tile.good').count(), 0);
  await page.goto(`${browser.base}/#board=2,1,3/4,5,6/7,8,0`);
  await reads(page, '#good-moves', /cannot be reached/);
  return text;
}

export async function the_share_of_a_tile_is_shown_under_the_pointer_and_the_focus(browser) {
  const page = await browser.open('/#board=867254301');
  const asked = record(page);
  const chosen = page.getByLabel('Share of each tile in h');
  await chosen.selectOption('manhattan');
  await reads(page, '#share', /^h is 21 by manhattan\./);
  const { heuristics } = await answer(browser, '/explain?board=867254301');
  const of = (name) => heuristics.find((one) => one.name === name);
  let sum = 0;
  for (const { tile, cost } of of('manhattan').tiles) {
    await page.hover(`#board [data-tile="${tile}"]`);
    await reads(page, '#share', new RegExp(`^Tile ${tile}: ${cost}\\. h is 21 by manhattan`));
    sum += cost;
  }
  assert.equal(sum, 21);
  // Another heuristic needs no other request.
  await chosen.selectOption('linear_conflict');
  await page.hover('#board [data-tile="4"]');
  const share = await reads(page, '#share', /^Tile 4: 2 \+ 2 to leave row 2 = 4\. h is 23/);
  await chosen.selectOption('walking_distance');
  await page.hover('#board [data-tile="4"]');
  await reads(page, '#share', /no share of its own\. h is 25 by walking distance, 12 for rows \+ 13 for columns/);
  await chosen.selectOption('pattern_database');
  await page.hover('#board [data-tile="4"]');
  await reads(page, '#share', /in a pattern of 8 tiles with a cost of 31/);
  assert.equal(asked.count('/explain'), 1);
  // By keys: Tab from the board to a tile, arrows to the others, and no tile slides.
  await chosen.selectOption('manhattan');
  const board = await seen(page);
  await page.focus('#board .board');
  await page.keyboard.press('Tab');
  await reads(page, '#share', /^Tile 1: 4\./);
  await page.keyboard.press('ArrowUp');
  await reads(page, '#share', /^Tile 4: 2\./);
  await page.keyboard.press('ArrowLeft');
  await reads(page, '#share', /^Tile 5: 0\./);
  await page.keyboard.press('ArrowDown');
  await reads(page, '#share', /^Tile 5: 0\./);
  assert.equal(await seen(page), board);
  assert.equal(await page.locator('#board .tile[tabindex="0"]').count(), 1);
  await chosen.selectOption('');
  assert.equal(await page.locator('#board .tile[tabindex="0"]').count(), 0);
  assert(await page.isHidden('#share'));
  return share;
}

export async function mistakes_are_marked_in_the_moves_of_the_player(browser) {
  const page = await browser.open(ONE_MOVE);
  const asked = record(page);
  assert(await page.isDisabled('#check'));
  // Two mistakes, each taken back, then the solution.
  await press(page, 'ArrowRight', 'ArrowLeft', 'ArrowDown', 'ArrowUp', 'ArrowUp', 'ArrowLeft');
  await says(page, /Solved in 6 moves. The shortest solution has 2/);
  await panel(page, 'solution');
  const verdict = await reads(page, '#solution [role=status]', /6 moves: 2 mistakes, with a cost of 4 moves/);
  assert.deepEqual(await texts(page.locator('.track li')), ['4, mistake, cost +2', '4', '2, mistake, cost +2', '2', '5', '8']);
  assert.equal(await page.locator('.track .mistake').count(), 2);
  assert.equal(asked.count('/verify'), 2, 'the verdict and the mistakes');
  // On request, before the board is solved.
  await page.click('#restart');
  assert(await page.isDisabled('#check'));
  await press(page, 'ArrowUp', 'ArrowDown', 'ArrowUp');
  await page.click('#check');
  await reads(page, '#solution [role=status]', /3 moves: 1 mistake, with a cost of 2 moves/);
  assert.deepEqual(await texts(page.locator('.track li')), ['5', '5, mistake, cost +2', '5']);
  assert.equal(asked.count('/verify'), 3);
  // They do not outlive their board.
  await page.click('#random');
  await says(page, /Shortest solution/);
  assert.equal(await page.locator('.track').count(), 0);
  return verdict;
}

export async function the_percentile_is_shown_where_it_is_known(browser) {
  const page = await browser.open('/#board=867254301');
  await page.click('#solve');
  const said = await says(page, /no solution is shorter\. 99\.99% of all boards take fewer moves/);
  const large = await browser.open('/#board=1,2,3,4,5/6,7,8,9,10/11,12,13,14,15/16,17,18,19,20/21,22,23,0,24');
  await large.click('#solve');
  await says(large, /^1 move, and no solution is shorter\.$/);
  return said;
}

export async function a_board_at_its_goal_has_a_solution_without_moves(browser) {
  const page = await browser.open('/#board=1,2,3/4,5,6/7,8,0');
  await page.click('#solve');
  await says(page, /^0 moves, and no solution is shorter. 0% of all boards take fewer moves/);
  assert.equal(await page.textContent('#player output'), '0 / 0');
}

/** Reads the rows of a table as lists of texts, with spaces between the lines of a cell. */
const cells = (locator) => locator.evaluateAll((rows) => rows.map((row) => Array.from(row.cells,
  ({ childNodes }) => Array.from(childNodes, ({ textContent }) => textContent).filter(Boolean).join(' '))));

export async function an_experiment_is_a_table_a_plot_and_a_download(browser) {
  const page = await browser.open('/#board=867254301&goal=snail');
  await panel(page, 'compare');
  const asked = record(page);
  const experiment = page.locator('#experiment');
  const sent = page.waitForRequest('**/compare');
  await experiment.getByLabel('Boards').fill('5');
  await experiment.getByLabel('Seed').fill('browser');
  await experiment.getByLabel('Optimal length').fill('10..16');
  await page.click('#run-experiment');
  const body = (await sent).postDataJSON();
  assert.deepEqual(body.boards, { rows: 3, cols: 3, count: 5, seed: 'browser', length: '10..16' });
  assert.equal(body.goal, 'snail');
  await page.waitForSelector('#experiment table');
  const { results } = await (await fetch(`${browser.base}/compare`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })).json();
  const rows = await cells(experiment.locator('tbody tr'));
  const round = (number) => (number < 1000 ? Number(number.toFixed(1)) : Math.round(number)).toLocaleString('en');
  const figure = ({ mean, min, max }) => `${round(mean)} ${round(min)} – ${round(max)}`;
  assert.deepEqual(rows.map((row) => row.slice(1, 5)), results.map(({ solved, expanded, generated, length, optimal_share: share }) => [
    `${solved} / 5 ${round(share * 100)}% optimal`, figure(length), figure(expanded), figure(generated)]));
  // In the plot, the medians are in the order of their numbers.
  const places = await experiment.locator('.plot .median').evaluateAll((marks) => marks.map((mark) => mark.getBoundingClientRect().x));
  assert.equal(places.length, results.length);
  const medians = results.map(({ expanded }) => expanded.median);
  for (const [one, median] of medians.entries()) {
    for (const [other, larger] of medians.entries()) assert(median >= larger || places[one] < places[other], `${median} and ${larger}`);
  }
  const download = page.waitForEvent('download');
  await page.click('#experiment a[download]');
  const lines = readFileSync(await (await download).path(), 'utf8').trim().split('\n');
  assert.match(lines[0], /^algorithm,heuristic,/);
  assert.equal(lines.length, results.length + 1);
  assert.equal(asked.count('/compare'), 1, 'one request for all three');
  return `${results.length} methods`;
}

export async function an_experiment_does_not_outlive_its_methods_and_boards(browser) {
  const page = await browser.open('/#board=867254301');
  await panel(page, 'compare');
  const experiment = page.locator('#experiment');
  const run = async () => {
    await experiment.getByLabel('Boards').fill('1');
    await page.click('#run-experiment');
    await page.waitForSelector('#experiment .plot');
  };
  await run();
  // Another board of this shape is one more that the experiment could have drawn.
  const board = await seen(page);
  await page.click('#random');
  await page.waitForFunction((before) => document.querySelector('#board .board').getAttribute('aria-label') !== before, board);
  assert.equal(await experiment.locator('table').count(), 1);
  await page.locator('#compare select').first().selectOption('algorithms');
  assert.equal(await experiment.locator('table').count(), 0);
  await run();
  await page.goto(`${browser.base}/#board=0,1,2/3,4,5`);
  await page.waitForFunction(() => document.querySelector('#experiment table') === null);
  // What cannot be drawn is said, and the next experiment runs.
  await experiment.getByLabel('Optimal length').fill('99');
  await page.click('#run-experiment');
  const message = await reads(page, '#experiment [role=status].bad', /21/);
  await experiment.getByLabel('Optimal length').fill('');
  await run();
  assert.equal(await experiment.locator('.about.bad').count(), 0);
  return message;
}

export async function an_experiment_can_be_stopped(browser) {
  const page = await browser.open('/#board=867254301');
  await panel(page, 'compare');
  await page.route('**/compare', () => {});
  await page.click('#run-experiment');
  await page.click('#run-experiment:text-is("Stop")');
  await reads(page, '#experiment [role=status]', /^Stopped/);
  assert.equal(await page.textContent('#run-experiment'), 'Run experiment');
}
