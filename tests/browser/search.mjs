// Running, stopped and failed searches, and the tree.

import assert from 'node:assert/strict';

import { link, panel, press, says } from './browser.mjs';
import { breaking } from './proxy.mjs';

// One of the hardest 15-puzzles, with a heuristic that needs minutes for it.
const HARD = link({ board: '15,14,8,12/10,11,9,13/2,6,5,1/3,7,4,0', goal: 'blank_first', algorithm: 'ida_star', heuristic: 'manhattan' });

export async function a_hard_search_shows_progress_and_stops(browser) {
  const page = await browser.open(HARD);
  await page.click('#solve');
  await page.waitForSelector('#tab-search[aria-selected=true]');
  await page.waitForFunction(() => /expanded/.test(document.querySelector('#search .counts')?.textContent));
  assert.equal(await browser.metric('taquin_jobs_in_progress'), 1);
  const looks = [];
  for (let look = 0; look < 3; look += 1) {
    looks.push(await page.textContent('#search .counts'));
    await page.waitForTimeout(400);
  }
  assert.equal(new Set(looks).size, 3, looks.join('\n'));
  await page.click('#stop');
  const wait = await browser.until('taquin_jobs_in_progress', 0);
  await says(page, /Stopped/);
  assert(await page.isVisible('#solve'));
  // The stopped search uses no CPU time.
  const before = await browser.metric('process_cpu_seconds_total');
  await page.waitForTimeout(1000);
  const spent = (await browser.metric('process_cpu_seconds_total')) - before;
  assert(spent < 0.1, `${spent} s of CPU in a second`);
  return `stopped after ${wait.toFixed(0)} ms, then ${spent.toFixed(2)} s of CPU in a second`;
}

export async function better_solutions_are_shown_and_the_best_is_kept(browser) {
  const random = await (await fetch(`${browser.base}/random?rows=6&cols=6&seed=browser`)).json();
  const page = await browser.open(link({ board: random.board.map((row) => row.join(',')).join('/') }));
  await page.click('#solve');
  await page.waitForFunction(() => document.querySelectorAll('.improvements li').length > 3);
  await page.waitForTimeout(1200);
  assert(await page.isVisible('#search .chart .line.length'));
  await page.click('#stop');
  const said = await says(page, /Stopped. Best so far: \d+ moves/);
  await panel(page, 'solution');
  const length = parseInt(said.match(/: (\d+)/)[1], 10);
  assert.equal(await page.locator('.moves li').count(), length);
  await page.click('[aria-label="Go to end"]');
  await page.waitForSelector('#board.solved');
  return said;
}

export async function a_new_board_stops_the_search_of_the_old_one(browser) {
  const page = await browser.open(HARD);
  await page.click('#solve');
  await browser.until('taquin_jobs_in_progress', 1);
  await page.click('#random');
  await browser.until('taquin_jobs_in_progress', 0);
  await says(page, /Shortest solution/);
}

export async function a_board_that_the_service_rejects_is_not_solved(browser) {
  const page = await browser.open('/#board=867254301');
  await page.route('**/solvable', (route) => route.fulfill({ status: 503, json: { title: 'Busy', detail: 'Come back.', status: 503 } }));
  await press(page, 'ArrowDown');
  for (const act of [() => page.click('#solve'), async () => {
    await panel(page, 'compare');
    await page.click('#compare button.primary');
  }]) {
    await act();
    await page.waitForFunction(() => document.getElementById('errors').textContent.includes('Come back'));
    assert(await page.isHidden('#player'));
    assert.equal(await page.locator('#compare .bar').count(), 0);
  }
  await page.unroute('**/solvable');
  await page.click('#solve');
  await says(page, /^30 moves/);
  page.errors = page.errors.filter((text) => !/status of 503/.test(text));
}

export async function late_responses_are_not_shown_for_another_board(browser) {
  const page = await browser.open('/#board=867254301&algorithm=astar&heuristic=manhattan');
  const later = (milliseconds) => async (route) => {
    await new Promise((resolve) => { setTimeout(resolve, milliseconds); });
    await route.continue();
  };
  await page.route('**/solvable', later(600));
  await panel(page, 'search');
  await page.click('#random');
  await page.click('#grow');
  await says(page, /Shortest solution/);
  await page.waitForSelector('.tree .node.selected');
  const shown = await page.locator('.node-detail .mini').getAttribute('aria-label');
  assert(page.url().includes(`board=${shown}`), `${shown} at ${page.url()}`);
  // The verdict of a finished game does not appear in the next one.
  await page.route('**/verify', later(900));
  await page.unroute('**/solvable');
  await page.goto(`${browser.base}/#board=123/456/708`);
  await page.reload();
  await page.waitForSelector('html[data-ready]');
  await press(page, 'ArrowLeft');
  await says(page, /Solved in 1 move/);
  await page.click('#random');
  const said = await says(page, /Shortest solution/);
  await page.waitForTimeout(1200);
  assert.equal(await page.textContent('#status'), said);
}

export async function an_exceeded_limit_is_named(browser) {
  const page = await browser.open(`${HARD}&limits.time_ms=300`);
  await page.click('#solve');
  return says(page, /Time limit of 300 ms reached/);
}

export async function a_broken_stream_leaves_the_page_usable(browser) {
  const proxy = await breaking(browser.base, 2);
  try {
    const page = await browser.open(HARD, { base: proxy.base });
    await page.click('#solve');
    const said = await says(page, /closed before/);
    assert(await page.isVisible('#solve'));
    assert(await page.isHidden('#stop'));
    await browser.until('taquin_jobs_in_progress', 0);
    // Chromium logs it too.
    const [error, ...others] = page.errors.splice(0);
    assert.match(error, /ERR_INCOMPLETE_CHUNKED_ENCODING/);
    assert.deepEqual(others, []);
    await page.click('#random');
    await says(page, /Shortest solution/);
    return said;
  } finally {
    proxy.close();
  }
}

export async function a_search_without_a_solution_has_a_tree(browser) {
  const page = await browser.open('/#board=867254301&algorithm=depth_first&depth_limit=8');
  await panel(page, 'search');
  await page.click('#grow');
  await page.waitForSelector('.tree .node.selected');
  const about = await page.textContent('#search .setting .about');
  assert.match(about, /No solution within the depth limit.*the first \d+ of/);
  assert.equal(await page.locator('.tree .on-path').count(), 0);
  return about;
}

export async function the_tree_is_navigated_by_keys_and_mouse(browser) {
  const page = await browser.open('/#board=2,8,3/1,6,4/7,0,5&goal=1,2,3/8,0,4/7,6,5&algorithm=breadth_first');
  await panel(page, 'search');
  await page.click('#grow');
  await page.waitForSelector('.tree .node.selected');
  const detail = () => page.locator('.node-detail').textContent();
  assert.match(await detail(), /1 of/);
  await page.focus('.tree');
  await page.keyboard.press('ArrowDown');
  assert.match(await detail(), /g1h/);
  await page.keyboard.press('ArrowRight');
  const right = await detail();
  await page.keyboard.press('ArrowLeft');
  assert.notEqual(await detail(), right);
  await page.keyboard.press('ArrowUp');
  assert.match(await detail(), /g0h/);
  await page.keyboard.press('PageDown');
  assert.match(await detail(), /2 of/);
  assert.match(await page.textContent('#live'), /Expansion 2: g 1/);
  await page.locator('.tree .node').nth(4).click();
  assert.match(await detail(), /5 of/);
  await page.fill('[aria-label="Expansions shown"]', '3');
  assert(await page.locator('.tree .node.later').count() > 0);
}

export async function generated_nodes_are_drawn_with_their_verdicts(browser) {
  const subject = 'board=0,3/2,1&algorithm=breadth_first';
  const { generated_nodes: nodes, search, length } = await (await fetch(`${browser.base}/solve?${subject}&include=generated`)).json();
  const page = await browser.open(`/#${subject}`);
  await panel(page, 'search');
  await page.getByLabel('Kind of nodes').selectOption('generated');
  await page.click('#grow');
  await page.waitForSelector('.tree .node.selected');
  assert.equal(await page.locator('.tree .node').count(), nodes.length);
  const duplicates = nodes.filter(({ verdict }) => verdict === 'duplicate').length;
  assert(duplicates > 0);
  assert.equal(await page.locator('.tree .node.duplicate').count(), duplicates);
  assert.equal(await page.locator('.tree .node.goal').count(), 1);
  assert.equal(await page.locator('.tree .node.on-path').count(), length + 1);
  const about = await page.textContent('#search .setting .about');
  assert(about.includes(`the first ${nodes.length} of ${search.generated} generated nodes`), about);
  await page.focus('.tree');
  for (const [at, { verdict, manhattan, g }] of nodes.entries()) {
    const detail = await page.textContent('.node-detail');
    assert(detail.includes(`generated${at + 1} of ${nodes.length}verdict${verdict}Manhattan${manhattan}`) && detail.includes(`g${g}h`), detail);
    await page.keyboard.press('PageDown');
  }
  // The other kind is requested at once.
  await page.getByLabel('Kind of nodes').selectOption('expansions');
  await page.waitForFunction(() => /expansion/.test(document.querySelector('#search .setting .about').textContent));
  assert.equal(await page.locator('.tree .node').count(), search.expanded + 1);
  // A search that cannot list its nodes says so.
  const other = await browser.open('/#board=867254301&algorithm=ida_star&heuristic=manhattan');
  await panel(other, 'search');
  await other.getByLabel('Kind of nodes').selectOption('generated');
  await other.click('#grow');
  await other.waitForFunction(() => /generated/.test(document.querySelector('#search .setting .about').textContent));
  assert.equal(await other.locator('.tree .node').count(), 0);
  return `${nodes.length} nodes, ${duplicates} of them duplicates`;
}

export async function the_nodes_of_a_tutorial_are_followed_step_by_step(browser) {
  const page = await browser.open('/#board=378/206/451&algorithm=ida_star');
  await panel(page, 'search');
  await page.click('#search button:text-is("Draw as tutorials search")');
  await page.waitForSelector('.tree .node.selected');
  assert.equal(await page.getByLabel('Kind of nodes').inputValue(), 'generated');
  // As such a program counts: 2,478 expanded boards, and 3,968 nodes made.
  const method = 'algorithm=astar&heuristic=manhattan_plus_hamming&tie_breaking=fifo&duplicate_detection=expanded_only&successor_order=LRUD';
  const { generated_nodes: nodes, search } = await (await fetch(`${browser.base}/solve?board=378206451&${method}&include=generated`)).json();
  assert.deepEqual([search.expanded, search.generated - search.duplicates], [2478, 3968]);
  const about = await page.textContent('#search .setting .about');
  assert(about.includes(`${search.generated.toLocaleString('en')} generated nodes`), about);
  const count = await page.locator('.tree .node').count();
  await page.getByLabel('First node').click();
  for (const [at, { board, verdict, manhattan, g }] of nodes.slice(0, 12).entries()) {
    const detail = await page.textContent('.node-detail');
    assert(detail.startsWith(board.flat().map((tile) => tile || '').join('')), detail);
    assert(detail.includes(`generated${at + 1} of ${count}verdict${verdict}Manhattan${manhattan}`) && detail.includes(`g${g}h`), detail);
    assert.equal(await page.locator('.tree .node:not(.later)').count(), at + 1);
    await page.getByLabel('One node forward').click();
  }
  await page.getByLabel('One node back').click();
  assert.equal(await page.locator('.tree .node:not(.later)').count(), 12);
  const said = await page.textContent('#live');
  assert.match(said, /^Node 12, /);
  return said;
}
