// What a service with tokens is asked with.

import { el, field } from './dom.js';
import { isToken, setToken } from './service.js';

/** A form for a token; `then` is called when there is one. */
export function tokenForm(then) {
  const input = el('input', { type: 'password', autocomplete: 'off', oninput: () => input.setCustomValidity('') });
  const use = (event) => {
    event.preventDefault();
    const value = input.value.trim();
    input.setCustomValidity(isToken(value) ? '' : 'Tokens consist of letters, digits and signs of ASCII, without spaces.');
    if (!input.reportValidity()) return;
    setToken(value);
    then();
  };
  return el('form', { class: 'fields', onsubmit: use },
    field('This service wants a token', input, 'kept until this tab is closed'), el('button', {}, 'Use it'));
}
