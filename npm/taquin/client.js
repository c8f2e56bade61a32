// Operations as promises. One worker runs them one after another.

/** An operation failed. `problem` is the problem document (RFC 9457), as of the HTTP API. */
export class TaquinError extends Error {
  constructor(problem) {
    super(problem.detail);
    this.name = 'TaquinError';
    this.code = problem.type.slice(problem.type.lastIndexOf('/') + 1);
    this.errors = problem.errors ?? [];
    this.problem = problem;
  }
}

/** A worker with its queue. `spawn(listener)` starts a worker, and returns its functions `post`, `hold` and `end`. */
class Client {
  #spawn;
  #worker = null;
  #queue = [];
  #running = null;

  constructor(spawn) {
    this.#spawn = spawn;
  }

  solve(board, options) {
    return this.#call('solve', { board, ...options });
  }

  hint(board, options) {
    return this.#call('hint', { board, ...options });
  }

  verify(board, moves, options) {
    return this.#call('verify', { board, [Array.isArray(moves) ? 'tiles' : 'moves']: moves, ...options });
  }

  random(options) {
    return this.#call('random', { ...options });
  }

  explain(board, options) {
    return this.#call('explain', { board, ...options });
  }

  /** Ends the worker. Unfinished operations fail. */
  close() {
    const unfinished = [this.#running, ...this.#queue];
    this.#queue = [];
    this.#stop();
    for (const call of unfinished) call?.settle('reject', new Error('the client was closed'));
  }

  #call(operation, { signal, onProgress, ...request }) {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const call = { operation, request: JSON.stringify(request), onProgress };
      const abort = () => this.#cancel(call, signal.reason);
      call.settle = (how, value) => {
        signal?.removeEventListener('abort', abort);
        (how === 'resolve' ? resolve : reject)(value);
      };
      signal?.addEventListener('abort', abort, { once: true });
      this.#queue.push(call);
      this.#next();
    });
  }

  #next() {
    if (this.#running || this.#queue.length === 0) return;
    this.#running = this.#queue.shift();
    this.#worker ??= this.#start();
    this.#worker.hold(true);
    const { operation, request, onProgress } = this.#running;
    this.#worker.post({ operation, request, observed: Boolean(onProgress) });
  }

  #start() {
    // Messages of a worker that was ended may still arrive.
    const worker = this.#spawn((message) => worker === this.#worker && this.#receive(message));
    return worker;
  }

  #receive({ progress, response, problem, failure }) {
    const call = this.#running;
    if (progress) return call.onProgress(JSON.parse(progress));
    this.#running = null;
    this.#worker.hold(false);
    if (response) call.settle('resolve', JSON.parse(response));
    else if (problem) call.settle('reject', new TaquinError(JSON.parse(problem)));
    else {
      // The state of a module that failed is unknown.
      this.#stop();
      call.settle('reject', new Error(`the worker failed: ${failure}`));
    }
    this.#next();
  }

  // A search cannot receive messages, so cancellation ends its worker. The next operation starts another.
  #cancel(call, reason) {
    if (call === this.#running) this.#stop();
    else this.#queue = this.#queue.filter((other) => other !== call);
    call.settle('reject', reason);
    this.#next();
  }

  #stop() {
    this.#worker?.end();
    this.#worker = null;
    this.#running = null;
  }
}

/** The exports of the package, for workers that `spawn` starts. */
export function exportsFor(spawn) {
  class Taquin extends Client {
    constructor() {
      super(spawn);
    }
  }
  const shared = new Taquin();
  const names = ['solve', 'hint', 'verify', 'random', 'explain'];
  return { Taquin, ...Object.fromEntries(names.map((name) => [name, shared[name].bind(shared)])) };
}
