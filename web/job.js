// One job in the jobs panel: what it is, how far it is, and its files.

import { announce, counted, el, field, formatNumber, words } from './dom.js';
import { errorText } from './editor.js';
import { asProblem, cancelJob, deleteJob, file, getJob } from './service.js';

/** What a job finds out, in words. */
export const WANTS = {
  length: 'optimal lengths', moves: 'solutions', next: 'first moves of optimal solutions', bounds: 'bounds of the lengths', expanded: 'lengths and expanded nodes',
};

const WAITING = {
  requests: 'It waits for workers: requests need all of them.', other_jobs: 'It waits for workers: other jobs have them.',
  workers: 'It waits for workers: none is running.', queue: 'It waits: the queue of its parts cannot be reached.',
  disk: 'It waits for room on the disk of the service.',
  version: 'It cannot go on, because another version of the service began it. You can cancel it.',
};

const FORMATS = { ndjson: 'application/x-ndjson', csv: 'text/csv', tqp: 'application/octet-stream' };

/** Milliseconds after which the address of a saved file is given up. */
const SAVED = 60_000;

const time = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' });

/** Formats seconds with at most two units. */
function span(seconds) {
  const whole = Math.round(seconds);
  const parts = [[Math.floor(whole / 86400), 'd'], [Math.floor(whole / 3600) % 24, 'h'], [Math.floor(whole / 60) % 60, 'min'], [whole % 60, 's']];
  const first = parts.findIndex(([count]) => count > 0);
  if (first < 0) return 'less than 1 s';
  return parts.slice(first, first + 2).filter(([count]) => count > 0).map((part) => part.join(' ')).join(' ');
}

/** Offers a file to the user. */
function save(blob, name) {
  const href = URL.createObjectURL(blob);
  el('a', { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), SAVED);
}

export class JobEntry {
  /** `ended()` is called when the job ends while it is shown, and `deleted(id)` after the user has deleted it. */
  constructor(job, { ended, deleted }) {
    Object.assign(this, { job, ended, deleted, isBusy: false, isArmed: false });
    const id = `job-${job.id}`;
    this.title = el('h3', { id }, describe(job));
    this.progress = el('progress', { max: job.counts.total, 'aria-labelledby': id });
    this.state = el('p', { class: 'job-state' });
    this.message = el('p', { class: 'about', role: 'status' });
    const button = (text, act) => el('button', { type: 'button', class: 'small', onclick: act }, text);
    this.cancel = button('Cancel', () => this.run(() => this.cancelJob()));
    this.downloads = ['csv', 'ndjson'].map((format) => button(`Download ${format.toUpperCase()}`, () => this.download(format)));
    this.delete = button('Delete', ({ detail }) => this.confirm(detail));
    this.delete.addEventListener('blur', () => this.disarm());
    this.facts = el('dl', { class: 'facts' });
    this.element = el('li', { class: 'job' }, this.title, this.progress, this.state,
      el('div', { class: 'row', role: 'group', 'aria-labelledby': id }, this.downloads, this.cancel, this.delete), this.message,
      el('details', {}, el('summary', {}, 'Details'), this.facts, this.partForm()));
  }

  /** The form for the files of one part. */
  partForm() {
    this.part = el('input', { type: 'number', min: 0, max: this.job.parts.total - 1, value: 0, required: true, inputmode: 'numeric' });
    this.partHint = el('small', {});
    const button = (text, format) => el('button', { type: 'button', onclick: () => this.part.reportValidity() && this.download(format, Number(this.part.value)) }, text);
    const label = field('Part', this.part);
    label.append(this.partHint);
    return el('div', { class: 'fields parts', role: 'group', 'aria-label': 'Download a part' }, label, button('CSV', 'csv'), button('NDJSON', 'ndjson'), button('Packed', 'tqp'));
  }

  get id() {
    return this.job.id;
  }

  get isUnfinished() {
    return !this.job.ended_at;
  }

  /** Shows the job. A response that is older than what is shown is ignored. A button that goes passes its focus on. */
  show(job) {
    const before = this.job;
    if (job.counts.done < before.counts.done || (before.ended_at && !job.ended_at)) return;
    this.job = job;
    const hadFocus = document.activeElement === this.cancel;
    this.state.textContent = describeState(job);
    this.progress.value = job.counts.done;
    this.progress.hidden = !this.isUnfinished;
    this.cancel.hidden = !this.isUnfinished;
    this.delete.hidden = this.isUnfinished;
    for (const button of this.downloads) button.hidden = job.state !== 'completed';
    this.partHint.textContent = `${formatNumber(job.parts.done)} of ${formatNumber(job.parts.total)} done, from 0`;
    this.showFacts();
    if (hadFocus && !this.isUnfinished) this.delete.focus();
    if (!before.ended_at && job.ended_at) this.end();
  }

  showFacts() {
    const { id, spec, created_at: created, ended_at: ended, expires_at: expires, estimate, counts } = this.job;
    const facts = {
      Goal: spec?.goal, Limits: Object.entries(spec?.limits ?? {}).map(([name, value]) => `${words(name)} ${formatNumber(value)}`).join(', '),
      Estimate: `${span(estimate.core_seconds)} of one core`, 'Without a result': counts.failed > 0 && counted(counts.failed, 'board'),
      Began: time.format(new Date(created)), Ended: ended && time.format(new Date(ended)), 'Will be deleted': expires && time.format(new Date(expires)),
      Version: spec?.version, Id: id,
    };
    const text = JSON.stringify(facts);
    if (text === this.shownFacts) return;
    this.shownFacts = text;
    this.facts.replaceChildren(...Object.entries(facts).filter(([, value]) => value).flatMap(([name, value]) => [el('dt', {}, name), el('dd', {}, value)]));
  }

  end() {
    announce(`${this.title.textContent}. ${this.state.textContent}`);
    this.ended();
  }

  say(text, { isBad = false } = {}) {
    this.message.textContent = text;
    this.message.classList.toggle('bad', isBad);
  }

  /** Runs one request at a time, and shows its problem. */
  async run(act) {
    if (this.isBusy) return;
    this.isBusy = true;
    this.say('');
    try {
      await act();
    } catch (error) {
      this.say(errorText(asProblem(error)), { isBad: true });
    } finally {
      this.isBusy = false;
    }
  }

  /** Cancels the job. A job that has just ended is shown as it is. */
  async cancelJob() {
    try {
      this.show(await cancelJob(this.id));
    } catch (error) {
      if (asProblem(error).slug !== 'job-state-conflict') throw error;
      this.show(await getJob(this.id));
    }
  }

  /** Deletes the job at the second press. The second click of a double click is ignored. */
  confirm(clicks) {
    if (clicks > 1) return;
    if (this.isArmed) {
      this.disarm();
      this.run(() => this.deleteJob());
      return;
    }
    this.isArmed = true;
    this.delete.classList.add('danger');
    this.delete.textContent = 'Delete with its results';
    announce('Press again to delete the job with its results.');
  }

  disarm() {
    this.isArmed = false;
    this.delete.classList.remove('danger');
    this.delete.textContent = 'Delete';
  }

  async deleteJob() {
    await deleteJob(this.id);
    this.deleted(this.id);
  }

  /** Downloads all rows, or a part. The request has the token, which a link could not have. */
  download(format, part) {
    return this.run(async () => {
      this.say('Downloading…');
      const isPacked = format === 'tqp';
      const path = isPacked ? `/parts/${part}` : `/results${part === undefined ? '' : `?part=${part}`}`;
      const blob = await file(`/jobs/${this.id}${path}`, FORMATS[format]);
      save(blob, `job-${this.id}${part === undefined ? '' : `-part-${part}`}.${format}`);
      this.say('Downloaded.');
    });
  }
}

/** Describes what does not change. Without its specification, nothing is known of a job. */
function describe({ spec, counts }) {
  if (!spec) return 'Damaged job';
  const { rows, cols } = spec.random ?? spec.input;
  const source = spec.random ? `seed “${spec.random.seed}”` : 'uploaded';
  return `${counted(counts.total, 'board')} of ${rows}×${cols}, ${source}: ${WANTS[spec.want] ?? words(spec.want)}`;
}

/** Describes how far a job is. */
function describeState(job) {
  const { state, counts, estimate, waiting_for: waiting, reason, created_at: created, ended_at: ended } = job;
  const done = `${formatNumber(counts.done)} of ${counted(counts.total, 'board')}`;
  const texts = {
    queued: () => `Queued. It takes about ${span(estimate.core_seconds)} of one core.`,
    running: () => `Running: ${done} (${Math.floor((counts.done / counts.total) * 100)}%)${describeSpeed(job)}.`,
    finalizing: () => 'Almost completed: the digests of the parts are being collected.',
    completed: () => `Completed in ${span((new Date(ended) - new Date(created)) / 1000)}${counts.failed ? `; ${counted(counts.failed, 'board')} without a result` : ''}.`,
    cancelled: () => `Cancelled: ${done} ${counts.done === 1 ? 'is' : 'are'} done.`,
    failed: () => `Failed: ${reason}`,
  };
  const text = texts[state]?.() ?? `${words(state)}: ${done}.`;
  return waiting ? `${text} ${WAITING[waiting] ?? `It waits for ${words(waiting)}.`}` : text;
}

/** Describes the speed of a job, and the time that it leaves, if they are known. */
function describeSpeed({ rate_per_second: rate, eta_seconds: left }) {
  const speed = rate === undefined ? '' : `, ${formatNumber(rate < 10 ? Number(rate.toPrecision(2)) : Math.round(rate))} boards per second`;
  return left === undefined ? speed : `${speed}, ${span(left)} left`;
}
