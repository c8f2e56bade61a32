import { TaquinError, exportsFor } from './client.js';

function spawn(listener) {
  const worker = new Worker(new URL('./browser-worker.js', import.meta.url), { type: 'module' });
  worker.onmessage = ({ data }) => listener(data);
  worker.onerror = ({ message }) => listener({ failure: message ?? 'the worker cannot be loaded' });
  return { post: (message) => worker.postMessage(message), hold: () => {}, end: () => worker.terminate() };
}

export const { Taquin, solve, hint, verify, random, explain } = exportsFor(spawn);
export { TaquinError };
