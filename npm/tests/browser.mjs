// Tests of the installed package in Chromium, as static files below a path: node browser.mjs PACKAGE_DIRECTORY
// NODE_MODULES is the folder with playwright-core.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { extname, join, normalize } from 'node:path';

const [root] = process.argv.slice(2);
const { chromium } = createRequire(`${process.env.NODE_MODULES}/`)('playwright-core');
const script = 'text/javascript';
const types = { '.js': script, '.mjs': script, '.wasm': 'application/wasm', '.json': 'application/json' };
const page = '<!doctype html><meta charset="utf-8"><title>Test</title>';

/** Serves the package at /some/path/taquin/, and the files beside this one at /some/path/tests/. */
const server = createServer(async ({ url }, response) => {
  const path = normalize(url).slice('/some/path'.length);
  try {
    if (path === '/') return response.setHeader('content-type', 'text/html').end(page);
    const file = path.startsWith('/tests/')
      ? new URL(path.slice('/tests/'.length), import.meta.url)
      : join(root, path.slice('/taquin/'.length));
    const content = await readFile(file);
    response.setHeader('content-type', types[extname(path)] ?? 'text/plain').end(content);
  } catch {
    response.writeHead(404).end();
  }
});
await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
const base = `http://127.0.0.1:${server.address().port}/some/path/`;
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
let failed = 0;
let passed = 0;
try {
  const tab = await browser.newPage();
  tab.on('pageerror', (error) => console.error(error));
  await tab.goto(base);
  const names = await tab.evaluate(async () => {
    const taquin = await import('./taquin/taquin/browser.js');
    const { scenarios } = await import('./tests/scenarios.mjs');
    const { check } = await import('./tests/vectors.mjs');
    const vectors = await (await fetch('./tests/operations.json')).json();
    const tests = vectors.map((vector) => [vector.name, () => check(taquin, vector)]);
    window.tests = new Map([...tests, ...Object.entries(scenarios).map(([name, run]) => [name, () => run(taquin)])]);
    return [...window.tests.keys()];
  });
  for (const name of names) {
    const begun = performance.now();
    const run = (name) => window.tests.get(name)().then(() => null, (error) => String(error.stack));
    const error = await tab.evaluate(run, name);
    const time = `${Math.round(performance.now() - begun)} ms`;
    if (error) failed += 1;
    else passed += 1;
    console.log(error ? `not ok ${name}, ${time}\n${error}` : `ok ${name}, ${time}`);
  }
} finally {
  await browser.close();
  server.close();
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed || !passed ? 1 : 0;
