// The API reference.

import assert from 'node:assert/strict';

export async function every_operation_and_schema_is_shown(browser) {
  const page = await browser.open('/docs');
  const operations = Object.values(browser.contract.paths).flatMap((item) => Object.values(item).filter((each) => each.operationId));
  for (const { operationId } of operations) assert.equal(await page.locator(`#${operationId}.operation`).count(), 1, operationId);
  const schemas = Object.keys(browser.contract.components.schemas);
  for (const name of schemas) {
    const entry = page.locator(`#schema-${name}`);
    await entry.evaluate((details) => { details.open = true; });
    await page.waitForFunction((id) => document.getElementById(id).lastElementChild.childElementCount > 0, `schema-${name}`);
  }
  return `${operations.length} operations, ${schemas.length} schemas`;
}

export async function an_operation_can_be_tried(browser) {
  const page = await browser.open('/docs#solve');
  const trial = page.locator('#solve .trial');
  await trial.locator('summary').first().click();
  await trial.getByRole('button', { name: 'Send' }).click();
  await trial.locator('.status-line').getByText('200').waitFor();
  assert.match(await trial.locator('.response > pre').textContent(), /"length": 31/);
  await trial.locator('.body textarea').fill('{"board": [[1,1],[2,0]]}');
  await trial.getByRole('button', { name: 'Send' }).click();
  await trial.locator('.status-line').getByText('422').waitFor();
  assert.match(await trial.locator('.response > pre').textContent(), /duplicate-tile/);
}

export async function every_GET_form_can_be_sent_unchanged(browser) {
  const page = await browser.open('/docs');
  // No job here has the id in the examples.
  const isSendable = ([path, { get }]) => get && !path.startsWith('/web') && !path.startsWith('/jobs/');
  const gets = Object.entries(browser.contract.paths).filter(isSendable).map(([, { get }]) => get.operationId);
  for (const id of gets) {
    const trial = page.locator(`#${id} .trial`);
    await trial.locator('summary').first().click();
    await trial.getByRole('button', { name: 'Send' }).click();
    await trial.locator('.status-line').getByText(' in ').waitFor();
    const [status, answer] = [await trial.locator('.status-line').textContent(), await trial.locator('.response > pre').textContent()];
    assert(/^200/.test(status), `${id}: ${status} ${answer}`);
  }
  return gets.join(', ');
}

export async function an_invalid_fragment_is_ignored(browser) {
  const page = await browser.open('/docs#%');
  assert(await page.isVisible('#solve'));
}

export async function a_batch_can_be_tried(browser) {
  const page = await browser.open('/docs#batch');
  const trial = page.locator('#batch .trial');
  await trial.locator('summary').first().click();
  for (const [type, boards] of [['application/x-ndjson', 3], ['text/csv', 2]]) {
    await trial.getByLabel('Content-Type').selectOption(type);
    await trial.getByRole('button', { name: 'Send' }).click();
    await trial.locator('.response > pre').getByText(`"boards":${boards}`).waitFor();
    const answer = (await trial.locator('.response > pre').textContent()).trim().split('\n');
    assert.equal(answer.length, boards + 1, type);
    assert.equal(JSON.parse(answer[0]).length, 31);
  }
}
