// Renders the parts of JSON Schema (2020-12) that the OpenAPI document uses.

import { el } from './dom.js';
import { prose } from './prose.js';

let contract = null;

/** Sets the document that references resolve to. */
export function within(document) {
  contract = document;
}

/** Resolves references. */
export function resolved(node) {
  let found = node;
  while (found?.$ref) found = found.$ref.slice(2).split('/').reduce((place, name) => place[name.replaceAll('~1', '/').replaceAll('~0', '~')], contract);
  return found;
}

const nameOf = ({ $ref }) => $ref?.split('/').pop();

/** Returns a type in a few words. */
function typeOf(schema) {
  const own = resolved(schema) ?? {};
  const name = nameOf(schema);
  if (own.const !== undefined) return JSON.stringify(own.const);
  if (own.type === 'array') return `list of ${own.items ? typeOf(own.items) : 'anything'}`;
  if (own.oneOf || own.anyOf) return name ?? (own.oneOf ?? own.anyOf).map((each) => resolved(each).title ?? typeOf(each)).join(' | ');
  const type = Array.isArray(own.type) ? own.type.join(' or ') : own.type;
  return name && (own.properties || own.allOf) ? name : type ?? name ?? 'anything';
}

const LIMITS = {
  minimum: '≥', maximum: '≤', minLength: 'characters ≥', maxLength: 'characters ≤', minItems: 'items ≥', maxItems: 'items ≤',
  pattern: 'pattern', format: 'format', default: 'default', contentMediaType: 'media type',
};

function limits(schema) {
  const own = { ...resolved(schema), ...schema };
  return Object.entries(LIMITS).filter(([name]) => own[name] !== undefined)
    .map(([name, words]) => el('span', { class: 'limit' }, `${words} `, el('code', {}, String(own[name]))));
}

function values({ enum: words }) {
  return words && el('p', { class: 'values' }, words.flatMap((word) => [el('code', {}, String(word)), ' ']));
}

/** Renders the properties, alternatives and items of a schema. */
function parts(schema) {
  const own = resolved(schema);
  const properties = { ...own.allOf?.map((each) => resolved(each).properties).reduce((all, some) => ({ ...all, ...some }), {}), ...own.properties };
  const required = [...(own.required ?? []), ...(own.allOf?.flatMap((each) => resolved(each).required ?? []) ?? [])];
  const rows = Object.entries(properties).map(([name, property]) => entry(name, property, required.includes(name)));
  const choices = own.oneOf ?? own.anyOf;
  if (choices) rows.push(...choices.map((each, at) => entry(resolved(each).title ?? nameOf(each) ?? `form ${at + 1}`, each)));
  if (own.items) rows.push(entry('each', own.items));
  if (own.contentSchema) rows.push(entry('data', own.contentSchema));
  return rows;
}

const hasParts = (schema) => {
  const own = resolved(schema);
  return Boolean(own.properties || own.allOf || own.oneOf || own.anyOf || own.contentSchema || (own.items && hasParts(own.items)));
};

/** Renders a named part. Its own parts are rendered when it is opened. */
export function entry(name, schema, isRequired = false) {
  const own = { ...resolved(schema), ...schema };
  const head = [el('code', { class: 'name' }, name), ' ', el('span', { class: 'type' }, typeOf(schema)),
    isRequired && el('span', { class: 'required' }, ' required'), ' ', ...limits(schema)];
  const about = el('div', { class: 'prose' }, prose(own.description), values(own));
  if (!hasParts(schema)) return el('div', { class: 'entry' }, el('div', {}, head), about);
  const inner = el('div', { class: 'parts' });
  const open = ({ target }) => target.open && inner.childElementCount === 0 && inner.append(...parts(schema));
  return el('details', { class: 'entry', ontoggle: open }, el('summary', {}, head), about, inner);
}

/** Renders a schema with its parts open. */
export function full(schema) {
  const own = resolved(schema);
  return [el('p', { class: 'type' }, typeOf(schema), ' ', limits(schema)), el('div', { class: 'prose' }, prose(own.description)), values(own) ?? '',
    el('div', { class: 'parts' }, parts(schema)), own.examples ? examples(own.examples) : ''].filter(Boolean);
}

const examples = (list) => el('div', {}, list.map((value) => el('pre', { tabindex: 0 }, el('code', {}, shown(value)))));

/** Returns a value as text: strings unchanged, other values as formatted JSON. */
export const shown = (value) => (typeof value === 'string' ? value : JSON.stringify(value, null, 1)
  .replace(/\[\s+([-\d\s,."]+?)\s+\]/g, (_, inner) => `[${inner.replace(/\s+/g, ' ')}]`));
