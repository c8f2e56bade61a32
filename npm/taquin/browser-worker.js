import { answer } from './answer.js';
import load from './wasm/taquin.js';

const ready = load({ module_or_path: new URL('./wasm/taquin_bg.wasm', import.meta.url) });

self.onmessage = async ({ data }) => {
  const post = (message) => self.postMessage(message);
  try {
    await ready;
  } catch (error) {
    return post({ failure: String(error) });
  }
  answer(data, post);
};
