// The jobs panel: random boards, solved in the background of the service.

import { announce, choice, el, field } from './dom.js';
import { errorText } from './editor.js';
import { JobEntry, WANTS } from './job.js';
import { shape } from './puzzle.js';
import { asProblem, createJob, listJobs, watchJob } from './service.js';

const ABOUT = 'Random boards, with the size and the goal of the displayed board. The service solves them in the background, also after this page is closed. Equal seeds draw equal boards.';

/** Jobs that are listed first, and with each press of the button for older ones. */
const PAGE = 20;

/** Milliseconds between two lists while a job is unfinished. Only some jobs are followed by events, and events do not say that a rate falls. */
const PERIOD = 5000;

/** Jobs whose events are followed. Browsers keep six connections to a service over HTTP/1.1. */
const FOLLOWED = 2;

/** Creates an idempotency key. `crypto.randomUUID` exists only over HTTPS and on localhost. */
const newKey = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');

export class Jobs {
  /** `commitInput()` makes the displayed board the puzzle; `puzzle()` returns the puzzle. */
  constructor(panel, info, { commitInput, puzzle }) {
    Object.assign(this, { commitInput, puzzle, isShown: false, isSending: false, most: PAGE, entries: new Map(), streams: new Map(), sent: null });
    this.inputs = {
      count: el('input', { type: 'number', min: 1, max: info.limits.jobs.boards, value: 1000, required: true, inputmode: 'numeric' }),
      seed: el('input', { maxlength: 115, size: 10, value: 'taquin', required: true, autocomplete: 'off', spellcheck: 'false' }),
      want: choice(info.options.want.map((want) => [want, WANTS[want] ?? want]), info.options.want[0]),
    };
    const { count, seed, want } = this.inputs;
    this.go = el('button', { class: 'primary' }, 'Begin job');
    this.about = el('p', { class: 'about', role: 'status' });
    this.state = el('p', { class: 'empty', role: 'status' });
    this.list = el('ul', { class: 'jobs', 'aria-labelledby': 'jobs-title' });
    this.more = el('button', { type: 'button', hidden: true, onclick: () => this.showMore() }, 'Older jobs');
    panel.replaceChildren(
      el('form', { class: 'setting', id: 'new-job', onsubmit: (event) => this.submit(event) }, el('h2', {}, 'New job'), el('p', { class: 'about' }, ABOUT),
        el('div', { class: 'fields' }, field('Boards', count), field('Seed', seed), field('Find out', want)), this.go, this.about),
      el('section', { class: 'setting' }, el('h2', { id: 'jobs-title', tabindex: -1 }, 'Jobs'), this.state, this.list, this.more));
    document.addEventListener('visibilitychange', () => this.update());
  }

  /** Notes whether the panel is shown. While it is not, no requests are sent. */
  show(isShown) {
    if (this.isShown === isShown) return;
    this.isShown = isShown;
    this.update();
  }

  get isActive() {
    return this.isShown && !document.hidden;
  }

  /** Begins to list and follow the jobs, or stops it. */
  update() {
    this.refresh();
    if (!this.isActive) for (const id of this.streams.keys()) this.unfollow(id);
  }

  get request() {
    const { count, seed, want } = this.inputs;
    return { random: { ...shape(this.puzzle().board), seed: seed.value, count: Number(count.value) }, goal: this.puzzle().goal, want: want.value };
  }

  async submit(event) {
    event.preventDefault();
    if (this.isSending) return;
    this.isSending = true;
    try {
      if (await this.commitInput()) await this.send();
    } finally {
      this.isSending = false;
    }
  }

  /** Begins a job. If no response arrived for it before, this is the same job, under the same key. */
  async send() {
    const { request } = this;
    const subject = JSON.stringify(request);
    if (this.sent?.subject !== subject) this.sent = { subject, key: newKey() };
    this.say('Storing the job…');
    try {
      await createJob(request, this.sent.key);
      this.sent = null;
      this.say('The job is stored.');
      await this.refresh();
    } catch (error) {
      this.say(errorText(asProblem(error)), { isBad: true });
    }
  }

  say(text, { isBad = false } = {}) {
    this.about.textContent = text;
    this.about.classList.toggle('bad', isBad);
  }

  async showMore() {
    this.most += PAGE;
    await this.refresh();
  }

  /** Lists the jobs now, and again later if one is unfinished or the service did not respond. */
  async refresh() {
    clearTimeout(this.timer);
    this.loading?.abort();
    if (!this.isActive) return;
    const loading = new AbortController();
    this.loading = loading;
    let isAgain = true;
    try {
      const { jobs, hasMore } = await listJobs(this.most, loading.signal);
      if (loading.signal.aborted) return;
      this.setJobs(jobs, hasMore);
      isAgain = this.unfinished.length > 0;
    } catch (error) {
      if (loading.signal.aborted) return;
      this.setState(errorText(asProblem(error)), { isBad: true });
    }
    if (isAgain) this.timer = setTimeout(() => this.refresh(), PERIOD);
  }

  /** Shows a line above the list. An equal text is not announced again. */
  setState(text, { isBad = false } = {}) {
    if (this.state.textContent !== text) this.state.textContent = text;
    this.state.classList.toggle('bad', isBad);
  }

  /** Shows jobs, the newest first. Entries that remain stay where they are, and so does the focus. */
  setJobs(jobs, hasMore) {
    const ids = new Set(jobs.map(({ id }) => id));
    for (const id of this.entries.keys()) if (!ids.has(id)) this.remove(id);
    const actions = { ended: () => this.follow(), deleted: (id) => this.forget(id) };
    this.entries = new Map(jobs.map((job) => [job.id, this.entries.get(job.id) ?? new JobEntry(job, actions)]));
    for (const [at, job] of jobs.entries()) {
      const entry = this.entries.get(job.id);
      entry.show(job);
      if (this.list.children[at] !== entry.element) this.list.insertBefore(entry.element, this.list.children[at] ?? null);
    }
    this.more.hidden = !hasMore;
    this.setState(jobs.length ? '' : 'There are no jobs.');
    this.follow();
  }

  get unfinished() {
    return [...this.entries.values()].filter(({ isUnfinished }) => isUnfinished);
  }

  /** Follows the events of the newest unfinished jobs. */
  follow() {
    if (!this.isActive) return;
    const followed = this.unfinished.slice(0, FOLLOWED).map(({ id }) => id);
    for (const id of this.streams.keys()) if (!followed.includes(id)) this.unfollow(id);
    for (const id of followed) if (!this.streams.has(id)) this.stream(id);
  }

  unfollow(id) {
    this.streams.get(id)?.abort();
    this.streams.delete(id);
  }

  async stream(id) {
    const abort = new AbortController();
    this.streams.set(id, abort);
    try {
      await watchJob(id, (job) => this.entries.get(id)?.show(job), abort.signal);
    } catch {
      // The next list says what is wrong, and the stream begins again.
    }
    if (!abort.signal.aborted) this.streams.delete(id);
  }

  /** Removes an entry, and moves the focus if it was there. */
  remove(id) {
    const { element } = this.entries.get(id);
    if (element.contains(document.activeElement)) document.getElementById('jobs-title').focus();
    this.unfollow(id);
    this.entries.delete(id);
    element.remove();
  }

  /** Removes a job that was deleted. */
  async forget(id) {
    if (this.entries.has(id)) this.remove(id);
    announce('The job was deleted.');
    await this.refresh();
  }
}
