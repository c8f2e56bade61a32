// One operation of the API: parameters, responses and a form to try it.

import { announce, choice, copy, el, field } from './dom.js';
import { prose } from './prose.js';
import { entry, full, resolved, shown } from './schema.js';
import { BASE, send } from './service.js';
import { tokenForm } from './token.js';

/** Number of characters of a response that are displayed. */
const LONGEST = 20_000;

const mediaTypes = (content) => Object.keys(content ?? {});

/** Returns the examples of a body or response with their names. */
function examplesOf({ example, examples, schema }) {
  if (examples) return Object.entries(examples).map(([name, each]) => [resolved(each).summary ?? name, resolved(each).value]);
  if (example !== undefined) return [['example', example]];
  return (resolved(schema)?.examples ?? []).map((value, at) => [`example ${at + 1}`, value]);
}

export function operation(path, method, details) {
  const { summary, description, parameters = [], requestBody, responses, operationId } = details;
  const all = parameters.map(resolved);
  return el('article', { id: operationId, class: 'operation' },
    el('h3', {}, el('span', { class: `method ${method}` }, method.toUpperCase()), ' ', el('code', {}, path), el('small', {}, summary)),
    el('div', { class: 'prose' }, prose(description)),
    all.length > 0 && el('details', {}, el('summary', {}, `Parameters (${all.length})`),
      el('div', { class: 'parts' }, all.map(parameterEntry))),
    requestBody && bodies(resolved(requestBody)),
    el('details', {}, el('summary', {}, `Responses (${Object.keys(responses).join(', ')})`),
      Object.entries(responses).map(([status, response]) => responseEntry(status, resolved(response)))),
    new Trial(path, method, { parameters: all, prefilled: details['x-try'] ?? [], body: requestBody && resolved(requestBody), success: resolved(responses['200']) }).element);
}

function parameterEntry({ name, in: place, required, description, schema, example }) {
  const given = { ...schema, description: [description, example !== undefined && `For example \`${example}\`.`].filter(Boolean).join(' ') };
  return entry(`${name}${place === 'header' ? ' (header)' : ''}`, given, required);
}

function bodies({ description, content }) {
  return el('details', {}, el('summary', {}, `Body (${mediaTypes(content).join(', ')})`), el('div', { class: 'prose' }, prose(description)),
    Object.entries(content).map(([type, media]) => el('section', {}, el('h4', {}, type), full(media.schema), samples(media))));
}

function responseEntry(status, { description, headers = {}, content = {} }) {
  return el('details', { class: 'entry' }, el('summary', {}, el('b', {}, status), ' ', description?.split('\n')[0]),
    Object.keys(headers).length > 0 && el('p', { class: 'about' }, 'Headers: ', Object.keys(headers).join(', ')),
    Object.entries(content).map(([type, media]) => el('section', {}, el('h4', {}, type), full(media.schema), samples(media))));
}

const samples = (media) => examplesOf(media).map(([name, value]) => el('figure', {}, el('figcaption', {}, name),
  el('pre', { tabindex: 0 }, el('code', {}, shown(value)))));

/** A form that sends a request and displays the response as it arrives. */
class Trial {
  /** `prefilled`: optional parameters whose examples are filled in, so that the request succeeds. */
  constructor(path, method, { parameters, prefilled, body, success }) {
    Object.assign(this, { path, method, prefilled, body });
    this.inputs = parameters.filter((parameter) => parameter.in !== 'header').map((parameter) => [parameter, this.input(parameter)]);
    this.accept = choice(mediaTypes(success?.content).length ? mediaTypes(success.content) : ['application/json']);
    this.send = el('button', { class: 'primary' }, 'Send');
    this.cancel = el('button', { type: 'button', hidden: true, onclick: () => this.abort.abort() }, 'Stop');
    this.output = el('div', { class: 'response' });
    const form = el('form', { onsubmit: (event) => this.submit(event) },
      el('div', { class: 'fields' }, this.inputs.map(([{ name, required }, input]) => field(name + (required ? ' *' : ''), input))),
      body && this.bodyFields(),
      el('div', { class: 'fields' }, field('Accept', this.accept), this.send, this.cancel));
    this.element = el('details', { class: 'trial' }, el('summary', {}, 'Try it'), form, this.output);
  }

  input({ name, schema, example, required, in: place, examples }) {
    const own = resolved(schema);
    const isPrefilled = this.prefilled.includes(name);
    if (own.enum) return choice([...(required ? [] : ['']), ...own.enum], place === 'path' || isPrefilled ? example : '');
    const sample = example ?? Object.values(examples ?? {})[0]?.value ?? own.default;
    const isNeeded = (required || isPrefilled) && sample !== undefined;
    return el('input', { autocomplete: 'off', spellcheck: 'false', placeholder: sample ?? '', value: isNeeded ? sample : null });
  }

  bodyFields() {
    const types = mediaTypes(this.body.content);
    this.type = choice(types);
    this.sample = el('select', {});
    this.text = el('textarea', { rows: 8, spellcheck: 'false', 'aria-label': 'Body' });
    const fill = () => { this.text.value = shown(this.samples[this.sample.value]?.[1] ?? ''); };
    const list = () => {
      this.samples = examplesOf(this.body.content[this.type.value]);
      this.sample.replaceChildren(...this.samples.map(([name], at) => el('option', { value: at }, name)));
      fill();
    };
    this.type.addEventListener('change', list);
    this.sample.addEventListener('change', fill);
    list();
    return el('div', { class: 'body' }, el('div', { class: 'fields' }, field('Content-Type', this.type), field('Example', this.sample)), this.text);
  }

  get target() {
    const query = new URLSearchParams();
    let path = this.path;
    for (const [{ name, in: place }, { value }] of this.inputs) {
      if (place === 'path') path = path.replace(`{${name}}`, encodeURIComponent(value));
      else if (value !== '') query.append(name, value);
    }
    return query.size ? `${path}?${query}` : path;
  }

  async submit(event) {
    event.preventDefault();
    this.abort = new AbortController();
    this.cancel.hidden = false;
    this.send.disabled = true;
    const began = performance.now();
    try {
      const response = await send(this.method.toUpperCase(), this.target, {
        accept: this.accept.value, contentType: this.type?.value, body: this.text?.value, signal: this.abort.signal,
      });
      await this.show(response, began);
    } catch (error) {
      if (error.name === 'AbortError') this.output.append(el('p', { class: 'about' }, 'Stopped.'));
      else this.output.replaceChildren(el('p', { class: 'bad' }, error.message));
    } finally {
      this.cancel.hidden = true;
      this.send.disabled = false;
    }
  }

  async show(response, began) {
    const text = el('code', {});
    const head = el('p', { class: 'status-line' }, el('b', { class: response.ok ? '' : 'bad' }, `${response.status} ${response.statusText}`));
    const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n');
    const form = response.status === 401 && tokenForm(() => this.output.replaceChildren('Token saved. Send the request again.'));
    this.output.replaceChildren(head, form || this.curl(), el('details', {}, el('summary', {}, 'Headers'), el('pre', { tabindex: 0 }, el('code', {}, headers))),
      el('pre', { tabindex: 0 }, text));
    let whole = '';
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (let piece = await reader?.read(); piece && !piece.done; piece = await reader.read()) {
      whole += piece.value;
      text.textContent = whole.slice(0, LONGEST);
    }
    text.textContent = pretty(whole, response.headers.get('content-type') ?? '');
    head.append(` in ${(performance.now() - began).toFixed(0)} ms`);
    announce(`Status ${response.status}`);
  }

  curl() {
    const quoted = (words) => `'${words.replaceAll("'", "'\\''")}'`;
    const parts = [`curl -s -H ${quoted(`Accept: ${this.accept.value}`)}`];
    if (this.text?.value) parts.push(`-H ${quoted(`Content-Type: ${this.type.value}`)}`, `-d ${quoted(this.text.value)}`);
    else if (this.method !== 'get') parts.push(`-X ${this.method.toUpperCase()}`);
    const line = [...parts, quoted(BASE + this.target)].join(' ');
    const button = el('button', { type: 'button', class: 'small' }, 'Copy as curl');
    button.addEventListener('click', async () => {
      await copy(line);
      button.textContent = 'Copied';
    });
    return button;
  }
}

/** Formats JSON. Text that is not valid JSON stays unchanged. */
function formatted(text) {
  try {
    return shown(JSON.parse(text || 'null'));
  } catch {
    return text;
  }
}

function pretty(text, type) {
  const whole = /json/.test(type) ? formatted(text) : text;
  return whole.length > LONGEST ? `${whole.slice(0, LONGEST)}\n… ${whole.length - LONGEST} more characters` : whole;
}
