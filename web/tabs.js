// Tabs, as in the ARIA Authoring Practices.

export class Tabs {
  /** Calls `shown(panel)` after a tab was chosen. Hidden tabs are left out. */
  constructor(list, shown) {
    this.shown = shown;
    this.tabs = [...list.querySelectorAll('[role=tab]:not([hidden])')];
    list.addEventListener('click', ({ target }) => {
      if (this.tabs.includes(target)) this.show(target.getAttribute('aria-controls'));
    });
    list.addEventListener('keydown', (event) => this.navigate(event));
  }

  show(panel) {
    for (const tab of this.tabs) {
      const name = tab.getAttribute('aria-controls');
      tab.setAttribute('aria-selected', String(name === panel));
      tab.tabIndex = name === panel ? 0 : -1;
      document.getElementById(name).hidden = name !== panel;
    }
    this.shown(panel);
  }

  navigate(event) {
    const at = this.tabs.indexOf(document.activeElement);
    const last = this.tabs.length - 1;
    const next = { ArrowRight: at === last ? 0 : at + 1, ArrowLeft: at === 0 ? last : at - 1, Home: 0, End: last }[event.key];
    if (at < 0 || next === undefined) return;
    event.preventDefault();
    this.tabs[next].focus();
    this.show(this.tabs[next].getAttribute('aria-controls'));
  }
}
