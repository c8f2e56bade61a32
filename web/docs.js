// The API reference, built from the OpenAPI document.

import { byId, el } from './dom.js';
import { operation } from './operation.js';
import { prose } from './prose.js';
import { full, within } from './schema.js';
import { BASE, contract } from './service.js';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** Returns path, method and details of every operation. */
const operationsOf = ({ paths }) => Object.entries(paths).flatMap(([path, item]) =>
  METHODS.filter((method) => item[method]).map((method) => [path, method, item[method]]));

function group({ name, description }, operations) {
  // The last tag is the narrowest: operations by GET have `links` after the tag of their subject.
  const own = operations.filter(([, , { tags }]) => tags?.at(-1) === name);
  return {
    index: el('section', {}, el('h2', {}, name), el('ul', {}, own.map(([path, method, { operationId }]) =>
      el('li', {}, el('a', { href: `#${operationId}` }, el('span', { class: `method ${method}` }, method.toUpperCase()), ` ${path}`))))),
    content: el('section', { id: `tag-${name}` }, el('h2', {}, name), el('p', { class: 'about' }, description),
      own.map(([path, method, details]) => operation(path, method, details))),
  };
}

/** All schemas. Each is rendered when it is opened. */
function schemas(all) {
  return el('section', { id: 'schemas' }, el('h2', {}, 'Schemas'), Object.entries(all).map(([name, schema]) => {
    const inner = el('div', {});
    const open = ({ target }) => target.open && inner.childElementCount === 0 && inner.append(...full(schema));
    return el('details', { class: 'entry', id: `schema-${name}`, ontoggle: open }, el('summary', {}, el('code', { class: 'name' }, name)), inner);
  }));
}

function show(document_) {
  within(document_);
  const { info, tags, components } = document_;
  const operations = operationsOf(document_);
  const groups = tags.map((tag) => group(tag, operations));
  byId('index').replaceChildren(...groups.map(({ index }) => index),
    el('section', {}, el('h2', {}, el('a', { href: '#schemas' }, 'Schemas'))));
  byId('contract').replaceChildren(
    el('section', { class: 'prose' }, el('h2', {}, `${info.title} ${info.version}`), prose(info.description.replaceAll('localhost:8080', BASE.replace(/^https?:\/\//, '')))),
    ...groups.map(({ content }) => content), schemas(components.schemas));
  // The target of the fragment did not exist when the page loaded.
  if (location.hash) byId(location.hash.slice(1))?.scrollIntoView();
  document.documentElement.dataset.ready = '';
}

try {
  show(await contract());
} catch (error) {
  byId('contract').replaceChildren(el('p', { class: 'notice' }, error.message));
  throw error;
}
