// The form for the token of a guarded service.

import { el, field } from './dom.js';
import { isToken, setToken } from './service.js';

/** Creates the form. Calls `then` after saving a token. */
export function tokenForm(then) {
  const input = el('input', { type: 'password', autocomplete: 'off', oninput: () => input.setCustomValidity('') });
  const use = (event) => {
    event.preventDefault();
    const value = input.value.trim();
    input.setCustomValidity(isToken(value) ? '' : 'A token consists of ASCII letters, digits and symbols, without spaces.');
    if (!input.reportValidity()) return;
    setToken(value);
    then();
  };
  return el('form', { class: 'fields', onsubmit: use },
    field('This service requires a token', input, 'Kept until you close this tab.'), el('button', {}, 'Save'));
}
