// Playing and editing boards.

import assert from 'node:assert/strict';

import { panel, press, says, seen } from './browser.mjs';

/** A move and its inverse. */
const THERE_AND_BACK = ['ArrowDown', 'ArrowUp'];

const centre = async (locator) => {
  const { x, y, width, height } = await locator.boundingBox();
  return [x + width / 2, y + height / 2, width];
};

const tile = (page, number) => page.locator(`#board [data-tile="${number}"]`);

export async function tiles_slide_by_keys_taps_and_drags(browser) {
  const page = await browser.open('/#board=123/456/078');
  await press(page, 'ArrowLeft');
  assert.match(await says(page, /1 move made/), /1 move made/);
  await page.click('#undo');
  // Clicking the farthest tile of a row slides the whole row.
  await tile(page, 8).click();
  await says(page, /Solved in 2 moves. No solution is shorter/);
  await page.click('#restart');
  await page.waitForTimeout(250);
  const [x, y, width] = await centre(tile(page, 7));
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x - width * 0.2, y, { steps: 4 });
  await page.mouse.up();
  assert.match(await seen(page), /row 3: blank 7 8/, 'a short drag springs back');
  await page.mouse.down();
  await page.mouse.move(x - width * 0.6, y, { steps: 4 });
  await page.mouse.up();
  assert.match(await seen(page), /row 3: 7 blank 8/);
}

export async function a_touch_slides_a_tile(browser) {
  const page = await browser.open('/#board=123/456/078', { hasTouch: true, isMobile: true, viewport: { width: 360, height: 740 } });
  await tile(page, 7).tap();
  assert.match(await seen(page), /row 3: 7 blank 8/);
}

export async function moves_are_counted_and_compared_with_the_optimum(browser) {
  const page = await browser.open('/#board=123/456/078');
  await press(page, ...THERE_AND_BACK, 'ArrowLeft', 'ArrowLeft');
  return says(page, /Solved in 4 moves. The shortest solution has 2/);
}

export async function a_hint_shows_one_move_only(browser) {
  const page = await browser.open('/#board=867254301');
  await page.click('#hint');
  const said = await says(page, /^Slide \d (left|right|up|down)/);
  assert.match(said, /31 moves to go/);
  assert.equal(await page.locator('.tile.hinted').count(), 1);
  assert(await page.isHidden('#player'));
  return said;
}

export async function an_error_is_shown_at_its_cell(browser) {
  const page = await browser.open('/#board=867254301');
  await page.click('#edit');
  const cell = page.locator('#board').getByLabel('Row 2, column 3');
  await cell.fill('5');
  await page.waitForSelector('#board [aria-invalid]');
  assert.equal(await page.locator('#board [aria-invalid]').count(), 1);
  assert.equal(await cell.getAttribute('aria-invalid'), 'true');
  assert.match(await page.textContent('#errors'), /row 2, column 3: tile 5 .* row 2, column 2/);
  // An invalid board can neither be left nor solved.
  for (const button of ['#edit', '#solve', '#hint']) {
    await page.click(button);
    assert.equal(await cell.getAttribute('aria-invalid'), 'true');
    await page.waitForFunction(() => document.activeElement.ariaLabel === 'Row 2, column 3');
  }
  await page.keyboard.press('ArrowLeft');
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-label')), 'Row 2, column 2');
  await page.locator('#board').getByLabel('Row 2, column 2').fill('4');
  await page.waitForSelector('#board [aria-invalid]', { state: 'detached' });
  await page.click('#edit');
  assert.match(await seen(page), /row 2: 2 4 5/);
  await says(page, /cannot be reached/);
  await page.waitForSelector('button:text-is("Goal: snail, spiraling inward")');
  // One click makes the board solvable.
  await page.click('button:text-is("Swap 1 and 2")');
  await says(page, /can be reached/);
}

export async function solve_uses_the_typed_board(browser) {
  const page = await browser.open('/#board=123/456/780');
  await page.click('#edit');
  await page.locator('#board').getByLabel('Row 3, column 2').fill('');
  await page.locator('#board').getByLabel('Row 3, column 3').fill('8');
  await page.click('#solve');
  await says(page, /^1 move, and no solution is shorter/);
  assert.match(page.url(), /board=1,2,3\/4,5,6\/7,0,8/);
  // A whole board may be pasted into a cell.
  await page.click('#edit');
  await page.evaluate(() => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text', '8 6 7/2 5 4/3 0 1');
    document.querySelector('#board input').dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
  });
  await page.waitForFunction(() => location.hash.includes('board=8,6,7'));
  assert.equal(await page.locator('#board').getByLabel('Row 1, column 1').inputValue(), '8');
}

export async function undo_restart_and_hint_stop_the_playback(browser) {
  const page = await browser.open('/#board=867254301');
  for (const button of ['#undo', '#restart', '#hint']) {
    await page.click('#solve');
    await page.waitForFunction(() => Number(document.querySelector('[aria-label=Step]').value) > 2);
    await page.click(button);
    const board = await seen(page);
    await page.waitForTimeout(700);
    assert.equal(await seen(page), board, button);
    assert.equal(await page.isVisible('[aria-label=Play]'), true, button);
  }
}

export async function a_second_hint_makes_the_move(browser) {
  const page = await browser.open('/#board=123/456/078');
  await press(page, 'h');
  await says(page, /^Slide 7 left. 2 moves to go/);
  await page.keyboard.press('h');
  await says(page, /1 move made/);
  await page.keyboard.press('u');
  await says(page, /At the start/);
}

export async function the_next_hint_goes_on_along_the_trail(browser) {
  const page = await browser.open('/#board=123/456/078');
  await press(page, 'h');
  await says(page, /^Slide 7 left/);
  await page.keyboard.press('h');
  await says(page, /1 move made/);
  const asked = page.waitForRequest(/\/hint$/);
  await page.keyboard.press('h');
  assert.equal((await asked).postDataJSON().trail, 'RR');
  await says(page, /^Slide 8 left. 1 move to go/);
}

export async function moves_during_a_search_are_kept(browser) {
  const page = await browser.open('/#board=15,14,8,12/10,11,9,13/2,6,5,1/3,7,4,0&goal=blank_first&algorithm=ida_star&heuristic=manhattan&limits.time_ms=1500');
  await page.click('#solve');
  await press(page, 'ArrowDown');
  const board = await seen(page);
  await says(page, /reached without a solution/);
  assert.equal(await seen(page), board);
}

export async function the_distance_can_be_shown_after_each_move(browser) {
  const page = await browser.open('/#board=867254301');
  await page.getByLabel('Show the distance to the goal').check();
  await says(page, /At the start. 31 moves to go/);
  await press(page, 'ArrowDown');
  const first = await says(page, /1 move made. 30 moves to go \(closer\)/);
  await page.keyboard.press('ArrowUp');
  await says(page, /2 moves made. 31 moves to go \(farther\)/);
  return first;
}

export async function the_status_belongs_to_the_displayed_board(browser) {
  const page = await browser.open('/#board=123/456/078');
  await page.getByLabel('Show the distance to the goal').check();
  await says(page, /At the start. 2 moves to go/);
  await press(page, 'ArrowLeft', 'ArrowLeft');
  await says(page, /Solved in 2 moves. No solution is shorter/);
  await page.waitForTimeout(300);
  assert.match(await page.textContent('#status'), /Solved in 2 moves/);
  // The distance is not compared with the distance of another board.
  await page.getByRole('button', { name: 'Load' }).click();
  await says(page, /can be reached/);
  await press(page, 'ArrowDown');
  await says(page, /1 move made. 30 moves to go.$/);
}

export async function a_move_off_the_solution_continues_the_game(browser) {
  const page = await browser.open('/#board=123/456/078');
  await page.click('#solve');
  await page.waitForSelector('#board.solved');
  await page.click('[aria-label="Go to start"]');
  await press(page, ...THERE_AND_BACK, 'ArrowLeft', 'ArrowLeft');
  await says(page, /Solved in 4 moves. The shortest solution has 2/);
}

export async function a_dragged_tile_is_released_when_the_board_changes(browser) {
  const page = await browser.open('/#board=867254301');
  await page.click('#solve');
  await page.click('[aria-label=Pause]');
  await page.click('[aria-label="Go to start"]');
  const [x, y] = await centre(tile(page, 3));
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.evaluate(() => document.querySelector('[aria-label="Go to end"]').click());
  await page.mouse.up();
  await page.waitForTimeout(300);
  const places = await page.locator('#board .tile').evaluateAll((tiles) => tiles.map((one) => one.style.transform));
  assert.equal(new Set(places).size, 8, places.join());
  assert.match(await seen(page), /row 3: 7 8 blank/);
}

export async function well_known_boards_can_be_loaded(browser) {
  const page = await browser.open();
  const list = page.getByLabel('Well-known boards');
  const names = await list.locator('option').allTextContents();
  for (const name of names) {
    await panel(page, 'setup');
    await list.selectOption(name);
    await page.click('#setup button:text-is("Load")');
    await says(page, name.includes('Loyd') ? /cannot be reached/ : /can be reached/);
    const length = parseInt(name.match(/(\d+) moves/)?.[1] ?? '99', 10);
    if (length > 31) continue;
    await page.click('#solve');
    await says(page, new RegExp(`^${length} moves, and no solution is shorter`));
  }
  return names.join('; ');
}

export async function goals_can_be_chosen_or_typed(browser) {
  const page = await browser.open('/#board=867254301');
  const goal = page.getByLabel('Goal board');
  await goal.selectOption('snail');
  await page.waitForFunction(() => location.hash.includes('goal=snail'));
  await goal.selectOption('own');
  const cell = page.locator('#setup').getByLabel('Row 1, column 1');
  await cell.fill('2');
  await page.waitForSelector('#setup [aria-invalid]');
  await page.locator('#setup').getByLabel('Row 1, column 2').fill('1');
  await page.waitForFunction(() => location.hash.includes('goal=2,1,3'));
}

export async function any_notation_is_accepted(browser) {
  const page = await browser.open();
  await panel(page, 'setup');
  const text = page.getByLabel(/^Board as text/);
  for (const [pasted, expected] of [
    ['1 2 3;4 5 _;7 8 6', /row 2: 4 5 blank/], ['123405786', /row 2: 4 blank 5/], ['"867254301"', /row 1: 8 6 7/], ['[[1,2],[3,null]]', /2 by 2/],
    ['[1,2,3,4,0,5]', null], ['{"board": [1,2,3,4,0,5], "rows": 2', null], ['{"board": "123450", "rows": 2, "gaol": "snail"}', null],
    ['{"board": "123450", "rows": 2, "cols": 3, "limits": null, "algorithm": {"toString": 1}}', null],
    ['http://127.0.0.1:8080/solve?board=2,1,3/4,0,5&heuristic=hamming', /row 1: 2 1 3; row 2: 4 blank 5/], ['{"board": [1,2,3,4,0,5], "rows": 2, "cols": 3}', /row 2: 4 blank 5/],
    ['{"board": [4,7,6,2,0,1,3,8,5], "encoding": "positions", "algorithm": "astar"}', /row 1: 4 5 3; row 2: 6 blank 8/],
  ]) {
    await text.fill(pasted);
    await page.click('#setup button:text-is("Apply")');
    if (expected) await page.waitForFunction((source) => new RegExp(source).test(document.querySelector('#board .board').ariaLabel), expected.source);
    else await page.waitForSelector('#notation-errors:not([hidden])');
  }
  assert.equal(await page.getByLabel('Algorithm').first().inputValue(), 'astar');
}

/** What the page itself cannot parse; the service reads it. Some begin with the blank. */
const PRINTED = [
  ['[[3 1]\n [2 0]]', 'row 1: 3 1; row 2: 2 blank'],
  ['{{1, 2, 3},\n {4, 0, 5},\n {6, 7, 8}}', 'row 1: 1 2 3; row 2: 4 blank 5; row 3: 6 7 8'],
  ['((1, 3, 4), (8, None, 2), (7, 5, 6))', 'row 1: 1 3 4; row 2: 8 blank 2; row 3: 7 5 6'],
  ['[[1,2,3],[4,5,6],[7,None,8]]', 'row 1: 1 2 3; row 2: 4 5 6; row 3: 7 blank 8'],
  ['| 1 0 2 |\n| 3 4 5 |', 'row 1: 1 blank 2; row 2: 3 4 5'],
  ['FE169B4C0A73D852', 'row 1: 15 14 1 6; row 2: 9 11 4 12; row 3: blank 10 7 3; row 4: 13 8 5 2'],
  ['   1 2\n 3 4 5\n 6 7 8', 'row 1: blank 1 2; row 2: 3 4 5; row 3: 6 7 8'],
  ['３１２０', 'row 1: 3 1; row 2: 2 blank'],
];

export async function printed_boards_are_read_by_the_service(browser) {
  const page = await browser.open();
  await panel(page, 'setup');
  const text = page.getByLabel(/^Board as text/);
  for (const [pasted, board] of PRINTED) {
    await text.fill(pasted);
    await page.click('#setup button:text-is("Apply")');
    await page.waitForFunction((expected) => document.querySelector('#board .board').ariaLabel.includes(expected), board);
    assert.match(await says(page, /^Read as/), /^Read as .+\. The goal can/, pasted);
  }
  await text.fill('[[1 2]\n [2 0]]');
  await page.click('#setup button:text-is("Apply")');
  await page.waitForSelector('#notation-errors:not([hidden])');
}

/** Pastes a text into the focused element. */
const pasteInto = (page, text) => page.evaluate((content) => {
  const clipboardData = new DataTransfer();
  clipboardData.setData('text', content);
  document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
}, text);

export async function a_goal_is_pasted_in_every_notation(browser) {
  const page = await browser.open('/#board=3,1/2,0');
  await panel(page, 'setup');
  await page.getByLabel('Goal board').selectOption('own');
  const cell = (row, col) => page.locator('#setup').getByLabel(`Row ${row}, column ${col}`);
  for (const [pasted, goal] of [['[[0 1]\n [2 3]]', '0,1/2,3'], ['{{1, 2}, {None, 3}}', '1,2/0,3'], ['[[2,1],[0,3]]', '2,1/0,3']]) {
    await cell(1, 1).focus();
    await pasteInto(page, pasted);
    await page.waitForFunction((expected) => location.hash.includes(`goal=${expected}`), goal);
    const typed = await Promise.all([cell(1, 1), cell(1, 2), cell(2, 1), cell(2, 2)].map((input) => input.inputValue()));
    assert.deepEqual(typed.map(Number), goal.split(/[,/]/).map(Number));
  }
  for (const pasted of ['[[0 1 2]\n [3 4 5]]', 'no board', '{"board": [1,2', '{"board": [3,0,1,2], "encoding": "positions"}']) {
    await cell(1, 1).focus();
    await pasteInto(page, pasted);
    await page.waitForSelector('#goal-errors:not([hidden])');
    assert.match(await page.evaluate(() => location.hash), /goal=2,1\/0,3/);
    await page.getByLabel('Goal board').selectOption('own');
    await cell(1, 1).focus();
    await pasteInto(page, '[[2,1],[0,3]]');
    await page.waitForSelector('#goal-errors', { state: 'hidden' });
  }
}

export async function an_image_is_divided_into_tiles_and_not_uploaded(browser) {
  const page = await browser.open('/#board=867254301');
  const asked = [];
  page.on('request', (request) => asked.push(request.url()));
  const picture = await page.screenshot({ clip: { x: 0, y: 0, width: 600, height: 400 } });
  await page.setInputFiles('input[type=file]', { name: 'mine.png', mimeType: 'image/png', buffer: picture });
  await page.waitForSelector('.pictured .tile');
  assert.match(await page.locator('.tile span').first().evaluate((face) => face.style.backgroundImage), /^url\("blob:/);
  assert(asked.every((url) => url.startsWith('blob:')), asked.join());
  await page.click('#setup button:text-is("Remove image")');
  await page.waitForSelector('.pictured', { state: 'detached' });
}

export async function boards_of_every_shape_are_shown(browser) {
  const page = await browser.open();
  for (const [rows, cols] of [[2, 2], [2, 10], [10, 2], [10, 10]]) {
    await page.getByLabel(/^Rows/).selectOption(String(rows));
    await page.getByLabel(/^Columns/).selectOption(String(cols));
    await page.click('#random');
    await page.waitForFunction((shape) => document.querySelector('#board .board').ariaLabel.startsWith(shape), `Board of ${rows} by ${cols},`);
    const { width, height } = await page.locator('#board .board').boundingBox();
    assert(Math.abs((width - 24) / (height - 24) - cols / rows) < 0.02, `${rows}×${cols}: ${width}×${height}`);
  }
}
