// The playground below a path of a proxy, and in frames of other pages. See .ci/run for the flags of the service.

import assert from 'node:assert/strict';

import { link, ready, says } from './browser.mjs';
import { below } from './proxy.mjs';

/** The origin that `--frame-origins` allows. */
const ALLOWED = 'http://allowed.example';
const PUZZLE = link({ board: '123456078' });

/** Solves a board on the page at an address, whose requests must all be below `base`. */
async function works(browser, base) {
  const page = await browser.open(PUZZLE, { base });
  await page.click('#solve');
  await says(page, /^2 moves/);
  await page.click('#tab-code');
  assert.match(await page.textContent('#code pre'), new RegExp(`${base}/solve`));
  await page.click('nav a[href="docs"]');
  await page.waitForSelector('html[data-ready]');
  assert.equal(page.url(), `${base}/docs`);
  await page.click('h1 a');
  await ready(page);
  assert.equal(new URL(page.url()).pathname, new URL(`${base}/`).pathname);
}

export async function the_pages_work_below_a_path_that_a_proxy_removes(browser) {
  const proxy = await below(browser.base, '/puzzles/taquin');
  await works(browser, `${proxy.base}/puzzles/taquin`);
  proxy.close();
}

export async function the_pages_work_below_the_base_path(browser) {
  await works(browser, `${browser.base}/taquin`);
  const redirected = await fetch(`${browser.base}/taquin`, { redirect: 'manual' });
  assert.deepEqual([redirected.status, redirected.headers.get('location')], [308, '/taquin/']);
  const { servers } = await (await fetch(`${browser.base}/taquin/openapi.json`)).json();
  assert.equal(servers[0].url, '/taquin');
}

/** Opens a page of another origin that frames the playground. */
async function framed(browser, origin, fragment) {
  const context = await browser.chrome.newContext({ viewport: { width: 640, height: 900 } });
  browser.contexts.push(context);
  const page = await context.newPage();
  const html = `<!doctype html><title>host</title><iframe src="${browser.base}/${fragment}" width="600" height="800"></iframe>`;
  await page.route(`${origin}/`, (route) => route.fulfill({ contentType: 'text/html', body: html }));
  await page.goto(`${origin}/`);
  return page;
}

export async function an_allowed_page_frames_the_board_alone(browser) {
  const page = await framed(browser, ALLOWED, `${PUZZLE.slice(1)}&embed`);
  const frame = page.frameLocator('iframe');
  await frame.locator('html[data-ready]').waitFor({ state: 'attached' });
  for (const hidden of ['.masthead', '#panels', 'footer', '#edit']) assert.equal(await frame.locator(hidden).isVisible(), false, hidden);
  await frame.locator('#solve').click();
  await frame.locator('#status', { hasText: '2 moves' }).waitFor();
  await frame.locator('#restart').click();
  await frame.locator('#board .board').press('ArrowLeft');
  assert.match(await frame.locator('html').evaluate(() => location.hash), /&embed$/);
}

export async function another_page_cannot_frame_the_playground(browser) {
  const page = await framed(browser, 'http://other.example', PUZZLE.slice(1));
  const refusal = await page.waitForEvent('console', { predicate: (message) => /frame-ancestors|X-Frame-Options/.test(message.text()) }).catch(() => null);
  assert.equal(await page.frameLocator('iframe').locator('#board').count(), 0);
  return refusal ? undefined : 'refused without a message';
}
