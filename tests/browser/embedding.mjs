// The playground below a path of a proxy, and in frames of other pages. See .ci/run for the flags of the service.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';

import { link, ready, says } from './browser.mjs';
import { below } from './proxy.mjs';

/** The port of the origin that `--frame-origins` allows, `http://localhost:47823`. */
const PORT = 47823;
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

/** Opens a page that frames the playground. The same server has two origins, of which one is allowed. */
async function framed(browser, host, fragment) {
  const html = `<!doctype html><title>host</title><iframe src="${browser.base}/${fragment}" width="600" height="800"></iframe>`;
  const server = createServer((_, answer) => answer.writeHead(200, { 'content-type': 'text/html' }).end(html));
  await new Promise((resolve) => { server.listen(PORT, '127.0.0.1', resolve); });
  const context = await browser.chrome.newContext({ viewport: { width: 640, height: 900 } });
  browser.contexts.push(context);
  const page = await context.newPage();
  const refusals = [];
  page.on('console', (message) => { if (/frame-ancestors/.test(message.text())) refusals.push(message.text()); });
  await page.goto(`http://${host}:${PORT}/`);
  server.closeAllConnections();
  server.close();
  return { page, frame: page.frameLocator('iframe'), refusals };
}

export async function an_allowed_page_frames_the_board_alone(browser) {
  const { frame } = await framed(browser, 'localhost', `${PUZZLE.slice(1)}&embed`);
  await frame.locator('html[data-ready]').waitFor({ state: 'attached' });
  for (const hidden of ['.masthead', '#panels', 'footer', '#edit']) assert.equal(await frame.locator(hidden).isVisible(), false, hidden);
  await frame.locator('#solve').click();
  await frame.locator('#status', { hasText: '2 moves' }).waitFor();
  await frame.locator('#restart').click();
  await frame.locator('#board .board').press('ArrowLeft');
  assert.match(await frame.locator('html').evaluate(() => location.hash), /&embed$/);
}

export async function another_page_cannot_frame_the_playground(browser) {
  const { page, frame, refusals } = await framed(browser, '127.0.0.1', PUZZLE.slice(1));
  await page.waitForTimeout(500);
  assert.equal(await frame.locator('#board').count(), 0);
  assert.equal(refusals.length, 1, refusals.join('; '));
}
