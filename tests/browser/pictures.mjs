// README's pictures, and some to look at.

import { join } from 'node:path';

import { link, panel, says } from './browser.mjs';

const FIFTEEN = { board: '14,13,15,7/11,12,9,5/6,0,2,1/4,8,10,3', goal: 'blank_first', algorithm: 'ida_star', heuristic: 'manhattan' };

async function solved(browser, fields, options) {
  const page = await browser.open(link(fields), { reducedMotion: 'reduce', ...options });
  await page.click('#solve');
  await says(page, /no solution is shorter/);
  await page.mouse.move(0, 0);
  return page;
}

export async function pictures_are_taken(browser, folder) {
  const size = { viewport: { width: 1200, height: 800 } };
  const light = await solved(browser, FIFTEEN, size);
  await light.fill('[aria-label=Step]', '21');
  await light.screenshot({ path: join(folder, 'playground.png') });

  const dark = await solved(browser, { board: '2,8,3/1,6,4/7,0,5', goal: '1,2,3/8,0,4/7,6,5', algorithm: 'breadth_first' }, { ...size, colorScheme: 'dark' });
  await panel(dark, 'search');
  await dark.selectOption('#search select', '40');
  await dark.click('#grow');
  await dark.waitForSelector('.tree .node');
  await dark.locator('.tree').scrollIntoViewIfNeeded();
  await dark.mouse.move(0, 0);
  await dark.screenshot({ path: join(folder, 'playground-tree.png') });

  const narrow = await solved(browser, { board: '867254301' }, { viewport: { width: 320, height: 640 } });
  await narrow.evaluate(() => scrollTo(0, 0));
  await narrow.screenshot({ path: join(folder, 'playground-narrow.png') });
}
