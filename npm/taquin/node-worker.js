import { webcrypto } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { answer } from './answer.js';
import { initSync } from './wasm/taquin.js';

// Node 18 has no such global, which seeds come from.
globalThis.crypto ??= webcrypto;

initSync({ module: readFileSync(new URL('./wasm/taquin_bg.wasm', import.meta.url)) });

parentPort.on('message', (message) => answer(message, (reply) => parentPort.postMessage(reply)));
