import { Worker } from 'node:worker_threads';
import { TaquinError, exportsFor } from './client.js';

function spawn(listener) {
  // Flags such as --eval are not for the worker.
  const worker = new Worker(new URL('./node-worker.js', import.meta.url), { execArgv: [] });
  worker.on('message', listener);
  worker.on('error', (error) => listener({ failure: String(error) }));
  return {
    post: (message) => worker.postMessage(message),
    // An idle worker does not keep the process.
    hold: (isBusy) => (isBusy ? worker.ref() : worker.unref()),
    end: () => void worker.terminate(),
  };
}

export const { Taquin, solve, hint, verify, random, explain } = exportsFor(spawn);
export { TaquinError };
