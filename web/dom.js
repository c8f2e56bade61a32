// Creates elements from names and properties. Text never becomes markup.

const SVG = 'http://www.w3.org/2000/svg';

/** Creates an element. `on…` properties are listeners, all others attributes; null and false are omitted. */
export function el(name, properties = {}, ...children) {
  return setUp(document.createElement(name), properties, children);
}

/** Creates an SVG element. */
export function svg(name, properties = {}, ...children) {
  return setUp(document.createElementNS(SVG, name), properties, children);
}

function setUp(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export const byId = (id) => document.getElementById(id);

/** Creates a label with text, input and an optional hint. */
export const field = (text, input, hint) =>
  el('label', { class: 'field' }, el('span', {}, text), input, hint && el('small', {}, hint));

/** Creates a select. Options are values or pairs of value and text. */
export function choice(options, chosen, properties = {}) {
  return el('select', properties, options.map((option) => {
    const [value, text] = Array.isArray(option) ? option : [option, option];
    return el('option', { value, selected: String(value) === String(chosen) }, text);
  }));
}

/** Announces a text to screen readers. */
export function announce(text) {
  byId('live').textContent = text;
}

/** Debounces a function. `cancel()` drops a pending call. */
export function debounce(milliseconds, act) {
  let timer = 0;
  const later = (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => act(...values), milliseconds);
  };
  later.cancel = () => clearTimeout(timer);
  return later;
}

export const isStill = () => matchMedia('(prefers-reduced-motion: reduce)').matches;

/** Returns a name of the API as words. */
export const words = (name) => (name === 'auto' ? 'automatic' : name.replace(/^astar$/, 'A*').replace(/^ida_star$/, 'IDA*')
  .replace('weighted_astar', 'weighted A*').replaceAll('_', ' '));

const number = new Intl.NumberFormat('en');
export const counted = (count, noun) => `${number.format(count)} ${noun}${count === 1 ? '' : 's'}`;
export const formatNumber = (value) => number.format(value);

/** Formats microseconds with a suitable unit. */
export function duration(microseconds) {
  if (microseconds < 1000) return `${microseconds} µs`;
  if (microseconds < 1e6) return `${(microseconds / 1e3).toPrecision(3)} ms`;
  return `${(microseconds / 1e6).toFixed(2)} s`;
}

/** Copies a text to the clipboard. */
export async function copy(text) {
  // The clipboard API exists only over HTTPS and on localhost.
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = el('textarea', { class: 'unseen' });
  area.value = text;
  document.body.append(area);
  area.select();
  const isDone = document.execCommand('copy');
  area.remove();
  if (!isDone) throw new Error('copying failed');
}
