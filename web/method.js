// How to search: the fields of a question beside its board and its goal.

import { choice, el, field, words } from './dom.js';

const PLAIN = {
  algorithm: 'auto', heuristic: 'auto', weight: '', tie_breaking: 'low_h', duplicate_detection: 'closed', depth_limit: '',
  require: 'any', time_ms: '',
};

/** What a search may be limited by; an address can say so, where there is no input for it. */
const LIMITS = ['time_ms', 'expanded', 'nodes'];

/** All algorithms, or heuristics, of the service. */
export const named = (list, chosen, properties) =>
  choice(['auto', ...list.map(({ name }) => name)].map((name) => [name, words(name)]), chosen, properties);

/** A method in a line. */
export function title({ algorithm = 'auto', heuristic = 'auto', weight, tie_breaking, duplicate_detection, depth_limit }) {
  const extras = [
    weight && weight !== 1 && `weight ${weight}`, tie_breaking && tie_breaking !== 'low_h' && `ties ${words(tie_breaking)}`,
    duplicate_detection === 'parent' && 'tree search', depth_limit && `depth ${depth_limit}`,
  ].filter(Boolean);
  const by = heuristic === 'auto' ? '' : ` · ${words(heuristic)}`;
  return words(algorithm) + by + (extras.length ? ` · ${extras.join(', ')}` : '');
}

export class Method {
  constructor(info, change) {
    this.info = info;
    const number = (properties) => el('input', { type: 'number', inputmode: 'numeric', ...properties });
    this.inputs = {
      algorithm: named(info.algorithms, 'auto'),
      heuristic: named(info.heuristics, 'auto'),
      weight: number({ min: 1, max: 1000, step: 'any', placeholder: '1', inputmode: 'decimal' }),
      tie_breaking: choice(['low_h', 'lifo', 'fifo', 'heap'].map((name) => [name, words(name)])),
      duplicate_detection: choice([['closed', 'closed list'], ['parent', 'parent only']]),
      depth_limit: number({ min: 0, placeholder: 'none' }),
      require: choice([['any', 'any solution'], ['optimal', 'a proven shortest']]),
      time_ms: number({ min: 1, max: info.limits.time_ms.max, placeholder: String(info.limits.time_ms.default) }),
    };
    this.about = el('p', { class: 'about' });
    const { inputs } = this;
    this.more = el('details', {}, el('summary', {}, 'More settings'), el('div', { class: 'fields' },
      field('Weight of h', inputs.weight, 'weighted A*'), field('Among equal f', inputs.tie_breaking),
      field('Duplicates', inputs.duplicate_detection), field('Depth limit', inputs.depth_limit, 'depth first'),
      field('Wanted', inputs.require), field('Time, in ms', inputs.time_ms)));
    inputs.algorithm.addEventListener('change', () => this.weigh());
    this.element = el('div', { onchange: () => { this.explain(); change(); } },
      el('div', { class: 'fields' }, field('Algorithm', inputs.algorithm), field('Heuristic', inputs.heuristic)),
      this.about, this.more);
    this.explain();
  }

  /** What differs from the defaults, in the words of the contract. */
  get fields() {
    const fields = {};
    const limits = { ...this.limits };
    for (const [name, input] of Object.entries(this.inputs)) {
      if (input.value === PLAIN[name]) continue;
      if (name === 'time_ms') limits.time_ms = Number(input.value);
      else fields[name] = input.type === 'number' ? Number(input.value) : input.value;
    }
    return Object.keys(limits).length ? { ...fields, limits } : fields;
  }

  /**
   * Takes fields from a link or a body; limits that have no input are kept as they are. Returns the names of those that
   * there is no place for, or whose value is none of theirs.
   */
  take({ limits, include, ...fields }) {
    const [given, spent, left] = [{}, {}, []];
    const asked = typeof limits === 'object' || limits === undefined ? Object.entries(limits ?? {}) : [['?', limits]];
    for (const [name, value] of [...Object.entries(fields), ...asked.map(([limit, value]) => [`limits.${limit}`, value])]) {
      const [group, limit] = name.split('.');
      if (limit === undefined && group !== 'time_ms' && typeof value !== 'object') given[name] = value;
      else if (group === 'limits' && LIMITS.includes(limit) && Number.isSafeInteger(Number(value)) && Number(value) > 0) spent[limit] = Number(value);
      else left.push(name);
    }
    const { time_ms: time, ...others } = spent;
    this.limits = others;
    if (time !== undefined) given.time_ms = time;
    for (const [name, input] of Object.entries(this.inputs)) {
      input.value = given[name] ?? PLAIN[name];
      if (input.selectedIndex === -1 || !input.validity.valid) input.value = PLAIN[name];
      if (input.value !== PLAIN[name] && this.more.contains(input)) this.more.open = true;
    }
    this.explain();
    return [...left, ...Object.entries(given).filter(([name, value]) => this.inputs[name]?.value !== String(value)).map(([name]) => (name === 'time_ms' ? 'limits.time_ms' : name))];
  }

  /** With a weight of 1 it would be A*. */
  weigh() {
    const { algorithm, weight } = this.inputs;
    if (algorithm.value !== 'weighted_astar' || weight.value !== '') return;
    weight.value = 2;
    this.more.open = true;
  }

  explain() {
    const of = (list, { value }) => this.info[list].find(({ name }) => name === value);
    const [algorithm, heuristic] = [of('algorithms', this.inputs.algorithm), of('heuristics', this.inputs.heuristic)];
    const isBlind = algorithm && !algorithm.takes_heuristic;
    this.inputs.heuristic.disabled = isBlind;
    if (isBlind) this.inputs.heuristic.value = 'auto';
    const sentences = [
      algorithm ? algorithm.description : 'The service chooses what suits the board.',
      !isBlind && heuristic?.description,
      !isBlind && heuristic && heuristic.boards !== 'all' && `Boards: ${heuristic.boards}.`,
      !isBlind && heuristic && !heuristic.admissible && 'Its solutions may be too long.',
    ];
    this.about.textContent = sentences.filter(Boolean).join(' ');
  }
}
