// Runs one search at a time, with a button that stops it.

import { byId } from './dom.js';

/** Milliseconds after the start in which clicks on Stop count as double clicks on Solve. */
const DOUBLE_CLICK = 400;

export class Stoppable {
  /** `attempt(act)` runs an action and returns its problem or null. */
  constructor(attempt) {
    this.attempt = attempt;
    this.abort = null;
    byId('stop').addEventListener('click', () => {
      if (performance.now() - this.began > DOUBLE_CLICK) this.abort?.abort();
    });
  }

  /** Stops the search. Closing the connection also stops it in the service. */
  stop() {
    this.abort?.abort();
    this.abort = null;
  }

  /** Runs a search with an abort signal. Returns its problem, and whether it was stopped. */
  async run(search) {
    this.stop();
    const abort = new AbortController();
    this.abort = abort;
    this.began = performance.now();
    this.swap('stop', 'solve');
    try {
      const problem = await this.attempt(() => search(abort.signal));
      return { problem, isStopped: abort.signal.aborted };
    } finally {
      // Another search may have started.
      if (this.abort === abort || !this.abort) this.swap('solve', 'stop');
    }
  }

  /** Replaces one button with another and keeps the focus. */
  swap(button, instead) {
    const hadFocus = document.activeElement === byId(instead);
    byId(button).hidden = false;
    byId(instead).hidden = true;
    if (hadFocus) byId(button).focus();
  }
}
