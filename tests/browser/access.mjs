// Accessibility: axe-core, keyboard, narrow screens, reduced motion.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import { panel, press, says, seen } from './browser.mjs';

const axe = readFileSync(createRequire(`${process.env.NODE_MODULES}/`).resolve('axe-core/axe.min.js'), 'utf8');

async function errors(page, where) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ['violations'] }));
  return violations.map(({ id, impact, nodes }) => `${where}: ${impact}: ${id}: ${nodes.slice(0, 3).map(({ html, failureSummary }) => `${html.slice(0, 120)} ${failureSummary}`).join(' | ')}`);
}

async function inspect(browser, options) {
  const page = await browser.open('/#board=123/056/478&algorithm=astar&heuristic=manhattan', options);
  const found = await errors(page, 'set up');
  await page.click('#edit');
  await page.locator('#board input').first().fill('9');
  await page.waitForSelector('#board [aria-invalid]');
  found.push(...await errors(page, 'edit'));
  await page.locator('#board input').first().fill('1');
  await page.waitForSelector('#errors', { state: 'hidden' });
  await page.click('#edit');
  await page.click('#solve');
  await says(page, /no solution is shorter/);
  await page.waitForSelector('#board.solved');
  await page.waitForTimeout(700);
  found.push(...await errors(page, 'solution'));
  await panel(page, 'search');
  await page.click('#grow');
  await page.waitForSelector('.tree .node');
  found.push(...await errors(page, 'search'));
  await panel(page, 'compare');
  await page.click('#compare button.primary');
  await page.waitForSelector('#compare .bar');
  await page.locator('#experiment').getByLabel('Boards').fill('2');
  await page.click('#run-experiment');
  await page.waitForSelector('#experiment .plot');
  found.push(...await errors(page, 'compare'));
  await panel(page, 'code');
  found.push(...await errors(page, 'code'));
  found.push(...await job(page));
  found.push(...await aids(page));
  assert.deepEqual(found, []);
}

/** A job that has ended, with its details. */
async function job(page) {
  await panel(page, 'jobs');
  await page.locator('#new-job').getByLabel('Boards').fill('10');
  await page.getByRole('button', { name: 'Begin job' }).click();
  const entry = page.locator('.job').first();
  await entry.locator('.job-state:text-matches("^Completed")').waitFor();
  await entry.locator('summary').click();
  return errors(page, 'jobs');
}

/** Good moves, shares of tiles, and mistakes. */
async function aids(page) {
  await page.click('#restart');
  await panel(page, 'setup');
  await page.getByLabel('Mark good moves').check();
  await page.getByLabel('Share of each tile in h').selectOption('manhattan');
  await page.waitForSelector('.tile.good');
  await page.waitForFunction(() => document.getElementById('share').textContent.startsWith('h is'));
  const found = await errors(page, 'aids');
  await press(page, 'ArrowDown', 'ArrowUp');
  await panel(page, 'solution');
  await page.click('#check');
  await page.waitForSelector('.track .mistake');
  return [...found, ...await errors(page, 'mistakes')];
}

export async function axe_finds_nothing_in_light_mode(browser) {
  await inspect(browser, { colorScheme: 'light' });
}

export async function axe_finds_nothing_in_dark_mode(browser) {
  await inspect(browser, { colorScheme: 'dark' });
}

export async function axe_finds_nothing_on_a_narrow_screen(browser) {
  await inspect(browser, { viewport: { width: 320, height: 640 } });
}

export async function axe_finds_nothing_in_the_API_reference(browser) {
  const found = [];
  for (const colorScheme of ['light', 'dark']) {
    const page = await browser.open('/docs', { colorScheme });
    for (const summary of await page.locator('#solve > details > summary').all()) await summary.click();
    await page.locator('#solve .trial').getByRole('button', { name: 'Send' }).click();
    await page.waitForSelector('#solve .status-line');
    found.push(...await errors(page, colorScheme));
  }
  assert.deepEqual(found, []);
}

export async function the_keyboard_is_enough(browser) {
  const page = await browser.open('/#board=123/456/078');
  const reach = async (holds) => {
    for (let step = 0; step < 60; step += 1) {
      await page.keyboard.press('Tab');
      if (await page.evaluate(holds)) return;
    }
    assert.fail(`not reached by Tab: ${holds}`);
  };
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'stage', 'the first link skips to the board');
  assert.match(page.url(), /#board=1,2,3\/4,5,6\/0,7,8/);
  await reach(() => document.activeElement.id === 'solve');
  await page.keyboard.press('Enter');
  await says(page, /2 moves, and no solution is shorter/);
  assert.equal(await page.evaluate(() => document.activeElement.id), 'solve', 'focus stays where it was');
  await reach(() => document.activeElement.id === 'tab-solution');
  await page.keyboard.press('ArrowRight');
  await page.waitForSelector('#search:not([hidden])');
  await reach(() => document.activeElement.id === 'grow');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.tree .node');
}

export async function nothing_overflows_a_narrow_screen(browser) {
  for (const path of ['/#board=867254301', '/#board=1,2,3,4,5,6,7,8,9,10/11,12,13,14,15,16,17,18,0,19', '/docs']) {
    const page = await browser.open(path, { viewport: { width: 320, height: 640 } });
    const names = path === '/docs' ? [null] : ['setup', 'solution', 'search', 'compare', 'code', 'jobs'];
    if (path !== '/docs') {
      await page.click('#solve');
      await says(page, /move/);
    }
    for (const name of names) {
      if (name) await panel(page, name);
      if (name === 'search' && path.endsWith('867254301')) {
        await page.click('#search button:text-is("Draw with A* and Manhattan")');
        await page.waitForSelector('.tree .node.selected');
      }
      if (name === 'compare' && path.endsWith('867254301')) {
        await page.locator('#experiment').getByLabel('Boards').fill('1');
        await page.click('#run-experiment');
        await page.waitForSelector('#experiment .plot');
      }
      if (name === 'jobs') {
        await page.locator('#new-job').getByLabel('Boards').fill('1');
        await page.getByRole('button', { name: 'Begin job' }).click();
        await page.locator('.job summary').first().click();
      }
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      assert(width <= 320, `${path} ${name}: ${width}`);
    }
  }
}

export async function reduced_motion_is_respected(browser) {
  const page = await browser.open('/#board=123/456/078', { reducedMotion: 'reduce' });
  await page.click('#solve');
  await says(page, /2 moves/);
  await page.waitForTimeout(500);
  assert.match(await seen(page), /row 3: blank 7 8/, 'it does not autoplay');
  const isStill = await page.locator('.tile').first().evaluate((tile) => getComputedStyle(tile).transitionDuration);
  assert.equal(isStill, '0s');
}

export async function a_landscape_phone_shows_board_and_buttons(browser) {
  const page = await browser.open('/#board=867254301', { viewport: { width: 640, height: 360 } });
  await page.click('#solve');
  await says(page, /no solution is shorter/);
  await page.locator('#stage').evaluate((stage) => stage.scrollIntoView());
  for (const part of ['#board .board', '#solve', '#player .transport']) {
    const { y, height } = await page.locator(part).boundingBox();
    assert(y >= 0 && y + height <= 361, `${part}: ${y} to ${y + height}`);
  }
}
