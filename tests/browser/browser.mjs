// The system's Chromium, its pages, and checks of all pages.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';

const require = createRequire(`${process.env.NODE_MODULES}/`);
const { chromium } = require('playwright-core');

const FLAGS = [
  '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync',
];

/** Chromium logs these responses as errors; the pages handle them. */
const EXPECTED = /^Failed to load resource: the server responded with a status of (400|404|409|422)/;

export class Browser {
  static async launch(base) {
    const chrome = await chromium.launch({ executablePath: '/usr/bin/chromium', args: FLAGS });
    const contract = await (await fetch(`${base}/openapi.json`)).json();
    return Object.assign(new Browser(), { base, chrome, contract, contexts: [], pages: [] });
  }

  /** Opens a page of the playground and waits until it takes input. `base` may be a proxy of the service. */
  async open(path = '/', { base = this.base, ...options } = {}) {
    const page = await this.blank(path, { base, ...options });
    await ready(page);
    return page;
  }

  /** Opens any address of the service in a context of its own and records errors of the page. */
  async blank(path, { base = this.base, ...options } = {}) {
    const context = await this.chrome.newContext({ viewport: { width: 1280, height: 860 }, ...options });
    context.setDefaultTimeout(15_000);
    this.contexts.push(context);
    const page = await context.newPage();
    page.errors = [];
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type()) && !EXPECTED.test(message.text())) page.errors.push(message.text());
    });
    page.on('pageerror', (error) => page.errors.push(error.stack));
    page.on('request', (request) => {
      if (!request.url().startsWith(base) && !/^(blob|data):/.test(request.url())) page.errors.push(`requests ${request.url()}`);
    });
    this.pages.push(page);
    await page.goto(base + path);
    return page;
  }

  /** Closes all pages of a test. None may have logged an error or sent a request to another host. */
  async settle() {
    const errors = this.pages.flatMap((page) => page.errors);
    await this.abandon();
    assert.deepEqual(errors, []);
  }

  async abandon() {
    await Promise.all(this.pages.filter((page) => !page.isClosed()).map((page) => page.unrouteAll({ behavior: 'ignoreErrors' })));
    await Promise.all(this.contexts.map((context) => context.close()));
    Object.assign(this, { contexts: [], pages: [] });
  }

  async close() {
    await this.chrome.close();
  }

  async metric(name) {
    const text = await (await fetch(`${this.base}/metrics`)).text();
    return Number(text.split('\n').find((line) => line.startsWith(`${name} `)).split(' ')[1]);
  }

  /** Waits until a metric has a value. */
  async until(name, value) {
    const began = performance.now();
    while (await this.metric(name) !== value) {
      assert(performance.now() - began < 5000, `${name} is ${await this.metric(name)} and not ${value}`);
      await new Promise((resolve) => { setTimeout(resolve, 5); });
    }
    return performance.now() - began;
  }
}

export const ready = (page) => page.waitForSelector('html[data-ready]');

export const status = (page) => page.textContent('#status');

/** Waits until the status line matches, and returns it. */
export async function says(page, pattern) {
  await page.waitForFunction((source) => new RegExp(source).test(document.getElementById('status').textContent), pattern.source);
  return status(page);
}

/** Returns the displayed board as text, row by row. */
export const seen = (page) => page.evaluate(() => document.querySelector('#board .board').getAttribute('aria-label'));

/** Presses keys on the board. */
export async function press(page, ...keys) {
  await page.focus('#board .board');
  for (const key of keys) await page.keyboard.press(key);
}

/** Opens a panel. */
export const panel = (page, name) => page.click(`#tab-${name}`);

/** Returns the link to a puzzle. */
export const link = (fields) => `/#${new URLSearchParams(fields)}`;
