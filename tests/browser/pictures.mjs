// The screenshots of README.

import { join } from 'node:path';

import { link, panel, says } from './browser.mjs';

const FIFTEEN = { board: '14,13,15,7/11,12,9,5/6,0,2,1/4,8,10,3', goal: 'blank_first', algorithm: 'ida_star', heuristic: 'manhattan' };

/** JPEG takes a third of the size of PNG. */
const JPEG = { type: 'jpeg', quality: 75 };

async function solved(browser, fields, options) {
  const page = await browser.open(link(fields), { reducedMotion: 'reduce', ...options });
  await page.click('#solve');
  await says(page, /no solution is shorter/);
  await page.mouse.move(0, 0);
  return page;
}

export async function screenshots_are_written(browser, folder) {
  const size = { viewport: { width: 1200, height: 800 } };
  const light = await solved(browser, FIFTEEN, size);
  await light.fill('[aria-label=Step]', '21');
  await light.screenshot({ ...JPEG, path: join(folder, 'playground.jpg') });

  const dark = await solved(browser, { board: '1,2,3/7,6,8/5,4,0', algorithm: 'astar', heuristic: 'hamming' }, { ...size, colorScheme: 'dark' });
  await panel(dark, 'search');
  await dark.selectOption('#search select', '40');
  await dark.click('#grow');
  await dark.waitForSelector('.tree .node');
  await dark.locator('.tree').scrollIntoViewIfNeeded();
  await dark.mouse.move(0, 0);
  await dark.screenshot({ ...JPEG, path: join(folder, 'playground-tree.jpg') });

  const narrow = await solved(browser, { board: '867254301' }, { viewport: { width: 320, height: 640 } });
  await narrow.evaluate(() => scrollTo(0, 0));
  await narrow.screenshot({ ...JPEG, path: join(folder, 'playground-narrow.jpg') });
}
