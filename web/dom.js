// Elements, made by names and properties alone: no text ever becomes markup.

const SVG = 'http://www.w3.org/2000/svg';

/** An element; `on…` are listeners, `class` and all other properties are attributes, nothing for null and false. */
export function el(name, properties = {}, ...children) {
  return dress(document.createElement(name), properties, children);
}

/** The same for drawings. */
export function svg(name, properties = {}, ...children) {
  return dress(document.createElementNS(SVG, name), properties, children);
}

function dress(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export const byId = (id) => document.getElementById(id);

/** A label around a field, the text first. */
export const field = (text, input, hint) =>
  el('label', { class: 'field' }, el('span', {}, text), input, hint && el('small', {}, hint));

/** A list to choose from: pairs of value and text, or values alone. */
export function choice(options, chosen, properties = {}) {
  return el('select', properties, options.map((option) => {
    const [value, text] = Array.isArray(option) ? option : [option, option];
    return el('option', { value, selected: String(value) === String(chosen) }, text);
  }));
}

/** Tells those who listen rather than look. */
export function announce(text) {
  byId('live').textContent = text;
}

/** Calls a function once calls have ceased for a while; `cancel()` calls it off. */
export function afterwards(milliseconds, act) {
  let timer = 0;
  const later = (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => act(...values), milliseconds);
  };
  later.cancel = () => clearTimeout(timer);
  return later;
}

export const isStill = () => matchMedia('(prefers-reduced-motion: reduce)').matches;

/** A name of the service's, as words. */
export const words = (name) => (name === 'auto' ? 'automatic' : name.replace(/^astar$/, 'A*').replace(/^ida_star$/, 'IDA*')
  .replace('weighted_astar', 'weighted A*').replaceAll('_', ' '));

const number = new Intl.NumberFormat('en');
export const counted = (count, noun) => `${number.format(count)} ${noun}${count === 1 ? '' : 's'}`;
export const figure = (value) => number.format(value);

/** Microseconds, in the unit that suits them. */
export function duration(microseconds) {
  if (microseconds < 1000) return `${microseconds} µs`;
  if (microseconds < 1e6) return `${(microseconds / 1e3).toPrecision(3)} ms`;
  return `${(microseconds / 1e6).toFixed(2)} s`;
}

/** Puts a text where it can be pasted from. */
export async function copy(text) {
  // Only pages that come encrypted, or from this very machine, have a clipboard.
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = el('textarea', { class: 'unseen' });
  area.value = text;
  document.body.append(area);
  area.select();
  const isDone = document.execCommand('copy');
  area.remove();
  if (!isDone) throw new Error('nothing was copied');
}
