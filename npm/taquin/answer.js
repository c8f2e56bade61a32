// The message with which a worker answers an operation.
import { run } from './wasm/taquin.js';

/** Runs an operation. `post` sends messages to the client. */
export function answer({ operation, request, observed }, post) {
  try {
    post({ response: run(operation, request, observed ? (progress) => post({ progress }) : undefined) });
  } catch (error) {
    // Problem documents are thrown as texts.
    post(typeof error === 'string' ? { problem: error } : { failure: String(error) });
  }
}
