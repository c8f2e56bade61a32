// The game of docs/GAME.md, played to its end.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';

import { says } from './browser.mjs';
import { beside } from './proxy.mjs';

const PAGE = new URL('../../docs/examples/game.html', import.meta.url);
const DAY = '2026-11-29';

/** Opens the game on a host that also offers the service. */
async function opened(browser, query) {
  const host = await beside(browser.base, '/game.html', await readFile(PAGE));
  const page = await browser.blank(`/game.html?${query}`, { base: host.base });
  const par = Number((await says(page, /^Par is \d+ moves/)).match(/\d+/)[0]);
  return { host, page, par };
}

const slide = (page, number) => page.locator('#board button', { hasText: number }).click();

/** Asks for a hint, and returns its tile and the moves to go. */
async function hinted(page) {
  await page.click('#hint');
  const [tile, left] = (await says(page, /^Slide \d: \d+ moves to go/)).match(/\d+/g).map(Number);
  assert.equal(await page.textContent('#board .hinted'), String(tile));
  return { tile, left };
}

export async function the_game_of_the_guide_is_won_by_hints(browser) {
  const { host, page, par } = await opened(browser, `day=${DAY}`);
  assert(par >= 16 && par <= 20, `par ${par}`);
  assert.equal(await page.textContent('#day'), DAY);
  for (let left = par; left > 0; left -= 1) {
    const hint = await hinted(page);
    assert.equal(hint.left, left);
    await slide(page, hint.tile);
  }
  const said = await says(page, /^Solved/);
  assert.equal(said, `Solved in ${par} moves, the fewest possible.`);
  await page.click('#hint');
  await says(page, /^Already solved/);
  host.close();
  return said;
}

export async function the_game_of_the_guide_tells_of_a_detour(browser) {
  const { host, page, par } = await opened(browser, `day=${DAY}`);
  const { tile } = await hinted(page);
  // There, back, and there again.
  for (let time = 0; time < 3; time += 1) await slide(page, tile);
  for (let left = par - 1; left > 0; left -= 1) await slide(page, (await hinted(page)).tile);
  const said = await says(page, /^Solved/);
  assert.equal(said, `Solved in ${par + 2} moves; ${par} are enough.`);
  await page.click('#restart');
  await says(page, /^Par is/);
  host.close();
  return said;
}

export async function the_game_of_the_guide_ignores_a_tile_that_cannot_slide(browser) {
  const { host, page, par } = await opened(browser, `day=${DAY}`);
  const cells = await page.locator('#board > *').allTextContents();
  const blank = cells.indexOf('');
  const far = cells.findIndex((_, cell) => Math.abs(cell % 3 - blank % 3) + Math.abs(Math.trunc(cell / 3) - Math.trunc(blank / 3)) > 1);
  await slide(page, cells[far]);
  assert.deepEqual(await page.locator('#board > *').allTextContents(), cells);
  await says(page, new RegExp(`^Par is ${par}`));
  host.close();
}

export async function the_game_of_the_guide_keeps_the_path_of_the_service(browser) {
  const host = await beside(browser.base, '/game.html', await readFile(PAGE));
  for (const end of ['', '/']) {
    const service = `${host.base}/taquin${end}`;
    const page = await browser.blank(`/game.html?service=${service}`, { base: host.base });
    await says(page, /^Par is/);
    const [request] = await Promise.all([page.waitForRequest(/hint$/), page.click('#hint')]);
    assert.equal(request.url(), `${host.base}/taquin/hint`);
    await says(page, /^Slide/);
  }
  host.close();
}

/** Holds back the requests for `path` until the returned function is called. */
async function held(page, path) {
  let release;
  const released = new Promise((resolve) => { release = resolve; });
  await page.route(`**${path}`, async (route) => { await released; await route.continue(); });
  return release;
}

export async function the_game_of_the_guide_takes_no_input_before_its_board(browser) {
  const { host, page } = await opened(browser, `day=${DAY}`);
  const release = await held(page, '/random');
  await page.reload();
  for (const id of ['#hint', '#restart']) assert(await page.isDisabled(id), id);
  release();
  await says(page, /^Par is/);
  await hinted(page);
  assert(await page.isEnabled('#restart'));
  host.close();
}

export async function the_game_of_the_guide_tells_of_a_response_that_is_no_document(browser) {
  const { host, page } = await opened(browser, `day=${DAY}`);
  await page.route('**/hint', (route) => route.fulfill({ status: 404, contentType: 'text/html', body: '<p>Not here' }));
  await page.click('#hint');
  await says(page, /^The service does not respond\.$/);
  host.close();
}

/** The tile to the left or the right of the blank, which can slide. */
async function neighbour(page) {
  const cells = await page.locator('#board > *').allTextContents();
  const blank = cells.indexOf('');
  return cells[blank % 3 === 0 ? blank + 1 : blank - 1];
}

export async function the_game_of_the_guide_drops_a_hint_for_an_earlier_board(browser) {
  const { host, page } = await opened(browser, `day=${DAY}`);
  const release = await held(page, '/hint');
  await page.click('#hint');
  await slide(page, await neighbour(page));
  await says(page, /^1 moves/);
  const late = page.waitForResponse(/hint$/);
  release();
  await (await late).finished();
  await page.waitForTimeout(100);
  await says(page, /^1 moves/);
  assert.equal(await page.locator('#board .hinted').count(), 0);
  host.close();
}

export async function the_game_of_the_guide_keeps_the_keyboard_focus(browser) {
  const { host, page } = await opened(browser, `day=${DAY}`);
  const tile = await neighbour(page);
  await page.locator('#board button', { hasText: tile }).focus();
  for (const moves of [1, 2]) {
    await page.keyboard.press('Enter');
    await says(page, new RegExp(`^${moves} moves`));
    assert.equal(await page.evaluate(() => document.activeElement.textContent), tile);
  }
  host.close();
}

export async function the_game_of_the_guide_is_another_one_each_day(browser) {
  const boards = [];
  for (const day of ['2026-11-29', '2026-11-30', '2026-11-29']) {
    const { host, page } = await opened(browser, `day=${day}`);
    boards.push((await page.locator('#board > *').allTextContents()).join());
    host.close();
  }
  assert.equal(boards[0], boards[2]);
  assert.notEqual(boards[0], boards[1]);
}
