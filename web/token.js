// What a service with tokens is asked with.

import { el, field } from './dom.js';
import { setToken } from './service.js';

/** A form for a token; `then` is called when there is one. */
export function tokenForm(then) {
  const input = el('input', { type: 'password', autocomplete: 'off' });
  const use = (event) => {
    event.preventDefault();
    setToken(input.value.trim());
    then();
  };
  return el('form', { class: 'fields', onsubmit: use },
    field('This service wants a token', input, 'kept until this tab is closed'), el('button', {}, 'Use it'));
}
