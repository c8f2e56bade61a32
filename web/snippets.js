// The current request as a program in several languages.

import { announce, copy, el } from './dom.js';
import { LANGUAGES } from './languages.js';
import { BASE, token } from './service.js';

export class Snippets {
  constructor(panel) {
    this.chosen = 'curl';
    this.buttons = Object.entries(LANGUAGES).map(([name, [text]]) => el('button', {
      type: 'button', class: 'small', 'data-language': name, onclick: () => this.choose(name),
    }, text));
    this.text = el('code', {});
    this.copied = el('button', { type: 'button', class: 'primary', onclick: () => this.copy() }, 'Copy');
    panel.replaceChildren(
      el('p', { class: 'about' }, 'The current request, ready to run.'),
      el('div', { class: 'row', role: 'group', 'aria-label': 'Language' }, this.buttons, this.copied),
      el('pre', { class: 'snippet', tabindex: 0 }, this.text));
    this.choose(this.chosen);
  }

  /** Sets the current request. */
  show(request) {
    this.request = request;
    this.choose(this.chosen);
  }

  choose(name) {
    this.chosen = name;
    for (const button of this.buttons) button.setAttribute('aria-pressed', String(button.dataset.language === name));
    this.copied.textContent = 'Copy';
    if (!this.request) return;
    const body = JSON.stringify(this.request);
    this.text.textContent = LANGUAGES[name][1]({
      origin: BASE, request: this.request, body, isGuarded: token() !== '',
    });
  }

  async copy() {
    try {
      await copy(this.text.textContent);
      this.copied.textContent = 'Copied';
      announce('Copied');
    } catch {
      getSelection().selectAllChildren(this.text);
      this.copied.textContent = 'Press Ctrl+C or ⌘C';
    }
  }
}
