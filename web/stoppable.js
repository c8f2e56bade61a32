// One search at a time: until it ends, there is a button that stops it.

import { byId } from './dom.js';

/** Milliseconds within which a second click on the button that began is not meant for the one that stops. */
const TWICE = 400;

export class Stoppable {
  /** `attempt(act)` runs something and returns the problem that it met, or null. */
  constructor(attempt) {
    this.attempt = attempt;
    this.abort = null;
    byId('stop').addEventListener('click', () => {
      if (performance.now() - this.began > TWICE) this.abort?.abort();
    });
  }

  /** Stops what goes on; the connection is closed, and that ends the search in the service. */
  stop() {
    this.abort?.abort();
    this.abort = null;
  }

  /** Runs a search, which is given a signal; says how it ended. */
  async run(search) {
    this.stop();
    const abort = new AbortController();
    this.abort = abort;
    this.began = performance.now();
    this.offer('stop', 'solve');
    try {
      const problem = await this.attempt(() => search(abort.signal));
      return { problem, isStopped: abort.signal.aborted };
    } finally {
      // Another search may go on by now.
      if (this.abort === abort || !this.abort) this.offer('solve', 'stop');
    }
  }

  /** Puts one button in the place of another; the keyboard's focus stays at the place. */
  offer(button, instead) {
    const hadFocus = document.activeElement === byId(instead);
    byId(button).hidden = false;
    byId(instead).hidden = true;
    if (hadFocus) byId(button).focus();
  }
}
