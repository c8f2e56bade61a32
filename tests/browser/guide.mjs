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
