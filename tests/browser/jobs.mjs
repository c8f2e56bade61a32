// The jobs panel: a job is begun, followed, downloaded, cancelled and deleted, also with a token.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

import { panel } from './browser.mjs';
import { guarded } from './proxy.mjs';

const BOARD = '/#board=867254301&goal=snail';

/** Boards that take hours. */
const HARD = '/#board=5,1,2,4/9,6,3,8/13,10,7,12/14,11,15,0';

const LIST = /\/jobs\?/;

const list = async (browser) => (await (await fetch(`${browser.base}/jobs?limit=100`)).json()).jobs;

/** Runs a test without jobs of other tests, and removes its own, also if it fails. */
async function alone(browser, test) {
  const clear = async () => {
    for (const { id, ended_at: ended } of await list(browser)) {
      for (const _ of ended ? [1] : [1, 2]) await fetch(`${browser.base}/jobs/${id}`, { method: 'DELETE' });
    }
  };
  await clear();
  try {
    return await test();
  } finally {
    await clear();
  }
}

/** Fills the form and sends it. */
async function begin(page, { count, seed }) {
  const form = page.locator('#new-job');
  await form.getByLabel('Boards').fill(String(count));
  await form.getByLabel('Seed').fill(seed);
  await form.getByRole('button', { name: 'Begin job' }).click();
}

const entryOf = (page, seed) => page.locator('.job', { hasText: `seed “${seed}”` });

/** Waits until the state of an entry matches, and returns it. */
async function reaches(entry, pattern) {
  const state = entry.locator('.job-state');
  await state.and(entry.page().locator(`:text-matches("${pattern.source.replaceAll('\\', '\\\\')}")`)).waitFor();
  return state.textContent();
}

/** Presses a button of an entry and returns the name and the bytes of the file. */
async function downloaded(page, button) {
  const arriving = page.waitForEvent('download');
  await button.click();
  const download = await arriving;
  return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
}

async function fromService(browser, path, accept) {
  const response = await fetch(`${browser.base}${path}`, { headers: { accept } });
  assert.equal(response.status, 200, path);
  return Buffer.from(await response.arrayBuffer());
}

/** Downloads all files of an entry and compares them with those of the service. */
async function downloadsAll(browser, page, entry, id) {
  const button = (name) => entry.getByRole('button', { name, exact: true });
  await entry.locator('summary').click();
  const files = [
    ['Download CSV', `job-${id}.csv`, 'results', 'text/csv'], ['Download NDJSON', `job-${id}.ndjson`, 'results', 'application/x-ndjson'],
    ['CSV', `job-${id}-part-0.csv`, 'results?part=0', 'text/csv'], ['NDJSON', `job-${id}-part-0.ndjson`, 'results?part=0', 'application/x-ndjson'],
    ['Packed', `job-${id}-part-0.tqp`, 'parts/0', 'application/octet-stream'],
  ];
  for (const [text, name, path, accept] of files) {
    const file = await downloaded(page, button(text));
    assert.equal(file.name, name);
    assert(file.bytes.length > 0 && file.bytes.equals(await fromService(browser, `/jobs/${id}/${path}`, accept)), text);
    // The next download begins when this one is noted.
    await entry.locator('[role=status]:text-is("Downloaded.")').waitFor();
  }
}

export async function a_job_is_begun_followed_by_events_and_downloaded(browser) {
  return alone(browser, async () => {
    const page = await browser.open(BOARD);
    await panel(page, 'jobs');
    await page.locator('#jobs :text-is("There are no jobs.")').waitFor();
    const sending = page.waitForRequest((request) => request.method() === 'POST' && request.url().endsWith('/jobs'));
    await begin(page, { count: 3000, seed: 'browser' });
    const sent = await sending;
    assert.deepEqual(sent.postDataJSON(), { random: { rows: 3, cols: 3, seed: 'browser', count: 3000 }, goal: 'snail', want: 'length' });
    assert.match(await sent.headerValue('idempotency-key'), /^[0-9a-f]{32}$/);
    const entry = entryOf(page, 'browser');
    assert.equal(await entry.locator('h3').textContent(), '3,000 boards of 3×3, seed “browser”: optimal lengths');
    // From now on only events say how far the job is.
    await page.route(LIST, () => {});
    const state = await reaches(entry, /^Completed in /);
    const [{ id }] = await list(browser);
    await downloadsAll(browser, page, entry, id);
    const lines = (await fromService(browser, `/jobs/${id}/results`, 'application/x-ndjson')).toString().trim().split('\n');
    assert.equal(lines.length, 3000);
    assert.match(await entry.locator('.facts').textContent(), new RegExp(`Goal1 2 3/8 0 4/7 6 5.*Id${id}`));
    return state;
  });
}

export async function a_proxy_that_holds_back_events_does_not_hold_back_the_end(browser) {
  return alone(browser, async () => {
    const page = await browser.open(BOARD);
    await page.route('**/events', () => {});
    await panel(page, 'jobs');
    await begin(page, { count: 100, seed: 'held' });
    return reaches(entryOf(page, 'held'), /^Completed in /);
  });
}

export async function a_long_job_shows_its_progress_and_is_cancelled_and_deleted(browser) {
  return alone(browser, async () => {
    const page = await browser.open(BOARD);
    await panel(page, 'jobs');
    await begin(page, { count: 100_000_000, seed: 'long' });
    const entry = entryOf(page, 'long');
    const state = await reaches(entry, /^Running: [\d,]+ of 100,000,000 boards \(\d+%\), [\d.,]+ boards per second, .* left\.$/);
    const done = Number(state.match(/: ([\d,]+) of/)[1].replaceAll(',', ''));
    assert(done > 0 && await entry.locator('progress').evaluate((bar) => bar.value) >= done);
    assert.equal(await entry.getByRole('button', { name: 'Download CSV' }).isVisible(), false);
    await entry.getByRole('button', { name: 'Cancel' }).click();
    await reaches(entry, /^Cancelled: [\d,]+ of 100,000,000 boards are done\.$/);
    const remove = entry.getByRole('button', { name: 'Delete' });
    assert(await remove.evaluate((button) => button === document.activeElement), 'the focus is on the next button');
    const [{ id, state: stored }] = await list(browser);
    assert.equal(stored, 'cancelled');
    // A double click deletes nothing, and leaving the button drops the question.
    await remove.dblclick();
    assert.equal(await remove.textContent(), 'Delete with its results');
    await page.locator('#new-job').getByLabel('Seed').focus();
    assert.equal(await remove.textContent(), 'Delete');
    await remove.press('Enter');
    await remove.press('Enter');
    await entry.waitFor({ state: 'detached' });
    assert.equal(await page.evaluate(() => document.activeElement.id), 'jobs-title');
    assert.equal((await fetch(`${browser.base}/jobs/${id}`)).status, 404);
    return state;
  });
}

export async function cancel_does_not_delete_a_job_that_has_just_ended(browser) {
  return alone(browser, async () => {
    const page = await browser.open(BOARD);
    await panel(page, 'jobs');
    await page.route('**/events', () => {});
    await page.route(LIST, async (route) => {
      const response = await route.fetch();
      const { jobs } = await response.json();
      // The page sees the job as it was before its end.
      await route.fulfill({ response, json: { jobs: jobs.map(({ ended_at: _, ...job }) => ({ ...job, state: 'running' })) } });
    });
    await begin(page, { count: 10, seed: 'ended' });
    const entry = entryOf(page, 'ended');
    await entry.waitFor();
    while ((await list(browser))[0].state !== 'completed') await new Promise((resolve) => { setTimeout(resolve, 20); });
    await entry.getByRole('button', { name: 'Cancel' }).click();
    await reaches(entry, /^Completed in /);
    assert.equal((await list(browser)).length, 1);
  });
}

export async function a_request_whose_response_is_lost_begins_no_second_job(browser) {
  return alone(browser, async () => {
    const page = await browser.open(BOARD);
    await panel(page, 'jobs');
    const lose = async (route) => {
      if (route.request().method() !== 'POST') return route.fallback();
      await route.fetch();
      return route.abort();
    };
    await page.route('**/jobs', lose);
    await begin(page, { count: 5, seed: 'lost' });
    await page.locator('#new-job .bad:text("does not respond")').waitFor();
    await page.unroute('**/jobs', lose);
    await page.getByRole('button', { name: 'Begin job' }).click();
    await page.locator('#new-job [role=status]:text-is("The job is stored.")').waitFor();
    assert.equal((await list(browser)).length, 1);
    // The next one is another job.
    await page.getByRole('button', { name: 'Begin job' }).click();
    await page.waitForFunction(() => document.querySelectorAll('.job').length === 2);
    page.errors = page.errors.filter((error) => !error.includes('net::ERR_FAILED'));
  });
}

export async function a_job_that_the_service_refuses_is_explained(browser) {
  return alone(browser, async () => {
    const page = await browser.open('/#board=1,2,3,4,5/6,7,8,9,10/11,12,13,14,15/16,17,18,19,20/21,22,23,0,24');
    await panel(page, 'jobs');
    await page.locator('#new-job').getByLabel('Find out').selectOption('next');
    await begin(page, { count: 5, seed: 'refused' });
    await page.locator('#new-job .bad:text-matches("16")').waitFor();
    assert.equal((await list(browser)).length, 0);
    return page.textContent('#new-job .bad');
  });
}

export async function the_page_says_what_a_job_waits_for(browser) {
  return alone(browser, async () => {
    const page = await browser.open(BOARD);
    const body = JSON.stringify({ random: { rows: 3, cols: 3, seed: 'waits', count: 1 } });
    const created = await fetch(`${browser.base}/jobs`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    const { ended_at: _, ...job } = await created.json();
    const waits = ['requests', 'other_jobs', 'workers', 'queue', 'disk', 'version', 'a_later_reason'];
    const jobs = waits.map((reason, at) => ({ ...job, id: String(at).repeat(32), state: 'running', waiting_for: reason }));
    await page.route(LIST, (route) => route.fulfill({ json: { jobs: [...jobs, { ...job, id: 'f'.repeat(32), state: 'failed', reason: 'part 3 is damaged', ended_at: job.created_at }] } }));
    await panel(page, 'jobs');
    await page.waitForFunction(() => document.querySelectorAll('.job').length === 8);
    const states = await page.locator('.job-state').allTextContents();
    for (const [at, said] of [/requests need all/, /other jobs have them/, /none is running/, /cannot be reached/, /room on the disk/, /another version/, /waits for a later reason/, /^Failed: part 3 is damaged$/].entries()) {
      assert.match(states[at], said);
    }
  });
}

export async function older_jobs_are_listed_on_request(browser) {
  return alone(browser, async () => {
    const page = await browser.open(BOARD);
    for (let at = 0; at < 23; at += 1) {
      const body = JSON.stringify({ random: { rows: 2, cols: 2, seed: `old-${at}`, count: 1 } });
      const response = await fetch(`${browser.base}/jobs`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
      const { id } = await response.json();
      // A token may have eight unfinished jobs.
      await fetch(`${browser.base}/jobs/${id}`, { headers: { prefer: 'wait=10' } });
    }
    await panel(page, 'jobs');
    await page.waitForFunction(() => document.querySelectorAll('.job').length === 20);
    await page.getByRole('button', { name: 'Older jobs' }).click();
    await page.waitForFunction(() => document.querySelectorAll('.job').length === 23);
    assert.equal(await page.getByRole('button', { name: 'Older jobs' }).isVisible(), false);
    const titles = await page.locator('.job h3').allTextContents();
    assert.deepEqual(titles.map((title) => Number(title.match(/old-(\d+)/)[1])), Array.from({ length: 23 }, (_, at) => 22 - at));
  });
}

export async function a_panel_that_is_left_follows_no_job(browser) {
  return alone(browser, async () => {
    const page = await browser.open(HARD);
    await panel(page, 'jobs');
    const isEvents = (request) => request.url().endsWith('/events');
    const following = page.waitForRequest(isEvents);
    await begin(page, { count: 10_000_000, seed: 'left' });
    await following;
    const ended = page.waitForEvent('requestfailed', isEvents);
    await panel(page, 'setup');
    await ended;
    const again = page.waitForRequest(isEvents);
    await panel(page, 'jobs');
    await again;
  });
}

export async function jobs_work_with_a_token(browser) {
  return alone(browser, async () => {
    const proxy = await guarded(browser.base, 'sesame');
    try {
      const page = await browser.blank(BOARD, { base: proxy.base });
      await page.locator('#token input').fill('sesame');
      await page.locator('#token button').click();
      await page.waitForSelector('html[data-ready]');
      await panel(page, 'jobs');
      await begin(page, { count: 1000, seed: 'token' });
      const entry = entryOf(page, 'token');
      await reaches(entry, /^Completed in /);
      await downloadsAll(browser, page, entry, (await list(browser))[0].id);
      // Only the first request had no token.
      const refused = page.errors.filter((error) => error.includes('401'));
      assert.equal(refused.length, 1);
      page.errors = page.errors.filter((error) => !refused.includes(error));
    } finally {
      proxy.close();
    }
  });
}

export async function a_service_without_jobs_has_no_tab_for_them(browser) {
  const page = await browser.blank('/livez');
  await page.route('**/info', async (route) => {
    const response = await route.fetch();
    const { limits: { jobs: _, ...limits }, ...info } = await response.json();
    await route.fulfill({ response, json: { ...info, limits } });
  });
  await page.goto(`${browser.base}/`);
  await page.waitForSelector('html[data-ready]');
  assert.equal(await page.isVisible('#tab-jobs'), false);
  await page.focus('#tab-setup');
  await page.click('#tab-code');
  await page.keyboard.press('ArrowRight');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'tab-setup');
}
