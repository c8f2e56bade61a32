// From the first board to the copied request.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { panel, press, says, seen, status } from './browser.mjs';

const run = promisify(execFile);

export async function a_random_board_is_solved_in_two_clicks(browser) {
  const page = await browser.open();
  const before = await seen(page);
  await page.click('#random');
  const hardness = await says(page, /Shortest solution/);
  assert.notEqual(await seen(page), before);
  await page.click('#solve');
  const verdict = await says(page, /no solution is shorter/);
  assert.equal(parseInt(verdict, 10), Number(hardness.match(/\d+/)[0]), `${hardness} ${verdict}`);
  // The solution plays automatically.
  await page.waitForSelector('#board.solved', { timeout: 30_000 });
  assert.match(await seen(page), /row 1: 1 2 3; row 2: 4 5 6; row 3: 7 8 blank/);
  return verdict;
}

export async function a_solution_is_paused_stepped_and_scrubbed(browser) {
  const page = await browser.open('/#board=867254301');
  await page.click('#solve');
  await page.click('[aria-label=Pause]');
  await page.click('[aria-label="Go to start"]');
  assert.match(await seen(page), /row 3: 3 blank 1/);
  await page.click('[aria-label="Next step"]');
  assert.equal(await page.inputValue('[aria-label=Step]'), '1');
  assert.equal(await page.textContent('.moves [aria-current]'), '1');
  await press(page, 'Space');
  await page.click('[aria-label=Pause]');
  await page.fill('[aria-label=Step]', '31');
  assert.match(await seen(page), /row 3: 7 8 blank/);
  await page.click('.moves li:nth-child(10) button');
  assert.equal(await page.textContent('.legend .g b'), '10');
  await page.keyboard.press('ArrowLeft');
  assert.equal(await page.textContent('.legend .g b'), '9');
  await page.keyboard.press('ArrowRight');
  assert.equal(await page.inputValue('[aria-label=Step]'), '10');
  const box = await page.locator('.chart').boundingBox();
  await page.mouse.click(box.x + box.width * 0.97, box.y + 80);
  assert.equal(await page.inputValue('[aria-label=Step]'), '31');
}

export async function a_solution_of_sixty_thousand_moves_is_shown(browser) {
  const page = await browser.open('/#board=867254301&algorithm=depth_first');
  await page.click('#solve');
  await page.waitForSelector('.legend');
  assert.ok(await page.isVisible('#solve'));
  const list = await page.textContent('.moves');
  assert.match(list, /\d\d,\d{3} moves are too many to list/);
  return list;
}

export async function methods_can_be_added_up_to_the_limit_of_the_service(browser) {
  const page = await browser.open('/#board=867254301');
  await panel(page, 'compare');
  const add = page.locator('#compare').getByRole('button', { name: 'Add', exact: true });
  while (await add.isEnabled()) await add.click();
  const { limits } = await (await page.request.get(`${browser.base}/info`)).json();
  assert.equal(await page.locator('#compare tbody tr').count(), limits.methods);
  await page.locator('#compare tbody button').first().click();
  assert.ok(await add.isEnabled());
}

export async function methods_are_compared_side_by_side(browser) {
  const page = await browser.open('/#board=867254301');
  await panel(page, 'compare');
  await page.click('#compare button.primary');
  await page.waitForSelector('#compare tbody tr:last-child .bar');
  const rows = await page.locator('#compare tbody tr').allTextContents();
  assert.equal(rows.length, 8);
  assert(rows.every((row) => row.includes('31')), rows.join('\n'));
  // The exact figures of the course project.
  await page.click('#compare button:text-is("26 moves")');
  const project = page.locator('#compare tbody tr:has-text("ties heap, tree search")');
  await project.locator(':text("2,706")').waitFor();
  const figures = await project.textContent();
  assert.match(figures, /26.*2,706.*4,550/);
  return figures.replaceAll(/\s+/g, ' ');
}

export async function methods_that_do_not_support_a_board_are_omitted(browser) {
  const page = await browser.open('/#board=1,2,3,4,5,6,7/8,9,10,11,12,13,14/15,16,17,18,19,20,21/22,23,24,25,26,27,28/29,30,31,32,33,34,35/36,37,38,39,40,41,42/43,44,45,46,47,0,48');
  await panel(page, 'compare');
  const rows = page.locator('#compare tbody tr');
  assert.equal(await rows.count(), 8);
  await page.click('#compare button.primary');
  await page.waitForSelector('#compare tbody .bar');
  assert.equal(await rows.count(), 6);
  await page.click('#random');
  await says(page, /Shortest solution/);
  assert.equal(await rows.count(), 8);
}

export async function requests_contain_the_displayed_board(browser) {
  const page = await browser.open('/#board=867254301&algorithm=astar&heuristic=manhattan');
  const asked = [];
  page.on('request', (request) => request.method() === 'POST' && asked.push([new URL(request.url()).pathname, request.postDataJSON().board]));
  const last = (path) => String(asked.findLast(([own]) => own === path)?.[1]);
  await press(page, 'ArrowDown');
  await panel(page, 'compare');
  await page.click('#compare button.primary');
  await page.waitForSelector('#compare tbody .bar');
  assert.equal(last('/compare'), '8,6,7,2,0,4,3,5,1');
  await press(page, 'ArrowDown');
  await panel(page, 'search');
  await page.click('#grow');
  await page.waitForSelector('.tree .node.selected');
  assert.equal(last('/solve'), '8,0,7,2,6,4,3,5,1');
  // The browser's Back returns to the previous boards.
  await page.goBack();
  await page.waitForFunction(() => location.hash.includes('board=8,6,7/2,0,4/3,5,1'));
  await page.goBack();
  await page.waitForFunction(() => document.querySelector('#board .board').ariaLabel.includes('row 3: 3 blank 1'));
}

export async function a_link_cannot_inject_code_into_snippets(browser) {
  const limit = encodeURIComponent('limits.x"#;panic!();//');
  const page = await browser.open(`/#board=867254301&${limit}=1&limits.nodes=Infinity&limits.expanded=100000&time_ms=5&depth_limit=-5`);
  assert.match(await status(page), /Ignored .*: limits.x.*, limits.nodes, time_ms, depth_limit/);
  await panel(page, 'code');
  for (const language of ['curl', 'link', 'python', 'javascript', 'rust', 'cpp', 'csharp']) {
    await page.click(`[data-language=${language}]`);
    const text = await page.textContent('.snippet');
    assert.match(text, /100000/);
    assert.doesNotMatch(text, /panic|\bnull\b/);
  }
}

export async function snippets_run_as_copied(browser) {
  const page = await browser.open('/#board=867254301&algorithm=astar&heuristic=manhattan&limits.time_ms=5000');
  await page.click('#solve');
  await says(page, /no solution is shorter/);
  const tiles = await page.locator('.moves button').allTextContents();
  await panel(page, 'code');
  const folder = await mkdtemp(join(tmpdir(), 'taquin-snippets.'));
  const pasted = async (language) => {
    await page.click(`[data-language=${language}]`);
    await page.evaluate(() => { navigator.clipboard.writeText = async (text) => { window.copied = text; }; });
    await page.click('#code button.primary');
    return page.evaluate(() => window.copied);
  };
  const file = async (name, language) => {
    const path = join(folder, name);
    await writeFile(path, await pasted(language));
    return path;
  };
  try {
    for (const language of ['curl', 'link']) {
      const answer = JSON.parse((await run('bash', ['-c', await pasted(language)])).stdout);
      assert.deepEqual(answer.tiles.map(String), tiles, language);
      assert.equal(answer.search.heuristic, 'manhattan', language);
      assert.equal(answer.limits.time_ms, 5000, language);
    }
    const moves = JSON.parse((await run('bash', ['-c', await pasted('curl')])).stdout).moves;
    const said = `31 moves: ${moves}`;
    assert.equal((await run('python3', [await file('solve.py', 'python')])).stdout.trim(), said);
    assert.equal((await run('node', [await file('solve.mjs', 'javascript')])).stdout.trim(), said);
    await run('rustc', ['--edition', '2021', '-o', join(folder, 'solve'), await file('solve.rs', 'rust')]);
    assert.equal(JSON.parse((await run(join(folder, 'solve'))).stdout).moves, moves);
    await run('g++', ['-std=c++17', '-Wall', '-Wextra', '-Werror', '-o', join(folder, 'solve++'), await file('solve.cpp', 'cpp')]);
    assert.equal(JSON.parse((await run(join(folder, 'solve++'))).stdout).moves, moves);
  } finally {
    await rm(folder, { recursive: true });
  }
  return 'curl, a link, Python, JavaScript, Rust and C++';
}

export async function the_address_contains_the_puzzle(browser) {
  const page = await browser.open('/#board=2,8,3/1,6,4/7,0,5&goal=snail&algorithm=astar&heuristic=hamming');
  await page.click('#random');
  await says(page, /Shortest solution/);
  const [address, board] = [page.url(), await seen(page)];
  assert.match(address, /goal=snail&algorithm=astar&heuristic=hamming$/);
  await page.reload();
  await page.waitForSelector('html[data-ready]');
  assert.equal(await seen(page), board);
  assert.equal(page.url(), address);
  // Limits without an input are kept too.
  const limited = await browser.open('/#board=867254301&algorithm=breadth_first&limits.expanded=1000');
  await limited.click('#solve');
  await says(limited, /1,000 expansions/);
  assert.match(limited.url(), /limits.expanded=1000$/);
  // The fragment is a valid query of the API.
  const answer = await (await fetch(address.replace('/#', '/solve?'))).json();
  assert.equal(answer.search.heuristic, 'hamming');
  const wrong = await browser.open('/#board=1,2,3/4,4,6/7,8,0');
  assert.match(await status(wrong), /This link is not valid/);
  for (const link of ['/#goal=nowhere', '/#board=867254301&goal=1,2/3,0']) {
    const page = await browser.open(link);
    assert.match(await status(page), /This link is not valid/);
    assert.match(await seen(page), /row 1: 8 6 7/);
    assert.match(await page.inputValue('#setup textarea'), /goal/);
  }
  const unknown = await browser.open('/#board=867254301&algorithm=bogo&heuristic=manhattan&bord=1&weight=heavy');
  assert.match(await status(unknown), /Ignored .*: algorithm, bord, weight/);
  assert.match(unknown.url(), /#board=8,6,7\/2,5,4\/3,0,1&heuristic=manhattan$/);
}
