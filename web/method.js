// Settings of the search: all fields of a request except board and goal.

import { choice, el, field, words } from './dom.js';

const PLAIN = {
  algorithm: 'auto', heuristic: 'auto', weight: '', tie_breaking: 'low_h', duplicate_detection: 'closed',
  successor_order: 'ULDR', depth_limit: '',
  require: 'any', time_ms: '',
};

/** Limits that an address may set. Only `time_ms` has an input. */
const LIMITS = ['time_ms', 'expanded', 'nodes'];

/** Creates a select of algorithms or heuristics. */
export const named = (list, chosen, properties) =>
  choice(['auto', ...list.map(({ name }) => name)].map((name) => [name, words(name)]), chosen, properties);

/** Returns the method of a result, in the form of a request. */
export function methodOf({ algorithm, heuristic, weight, tie_breaking, duplicate_detection, successor_order, depth_limit }) {
  const fields = { algorithm, heuristic, weight, tie_breaking, duplicate_detection, successor_order, depth_limit };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));
}

/** Describes a method in one line. */
export function title({
  algorithm = 'auto', heuristic = 'auto', weight, tie_breaking, duplicate_detection, successor_order, depth_limit,
}) {
  const extras = [
    weight && weight !== 1 && `weight ${weight}`, tie_breaking && tie_breaking !== 'low_h' && `ties ${words(tie_breaking)}`,
    duplicate_detection === 'parent' && 'tree search', duplicate_detection === 'expanded_only' && 'expanded only',
    successor_order && successor_order !== 'ULDR' && successor_order, depth_limit && `depth ${depth_limit}`,
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
      duplicate_detection: choice([['closed', 'closed list'], ['parent', 'parent only'], ['expanded_only', 'expanded boards only']]),
      successor_order: choice(info.options.successor_order.map((order) => [order, order])),
      depth_limit: number({ min: 0, placeholder: 'none' }),
      require: choice([['any', 'any'], ['optimal', 'proven optimal']]),
      time_ms: number({ min: 1, max: info.limits.time_ms.max, placeholder: String(info.limits.time_ms.default) }),
    };
    this.about = el('p', { class: 'about' });
    const { inputs } = this;
    this.more = el('details', {}, el('summary', {}, 'More settings'), el('div', { class: 'fields' },
      field('Weight of h', inputs.weight, 'weighted A*'), field('Tie-breaking', inputs.tie_breaking),
      field('Duplicate detection', inputs.duplicate_detection), field('Successor order', inputs.successor_order),
      field('Depth limit', inputs.depth_limit, 'depth-first, IDA*'),
      field('Solution', inputs.require), field('Time limit (ms)', inputs.time_ms)));
    inputs.algorithm.addEventListener('change', () => this.weigh());
    this.element = el('div', { onchange: () => { this.explain(); change(); } },
      el('div', { class: 'fields' }, field('Algorithm', inputs.algorithm), field('Heuristic', inputs.heuristic)),
      this.about, this.more);
    this.explain();
  }

  /** Fields that differ from the defaults. */
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
   * Sets the inputs from the fields of a link or a request, and keeps limits without an input. Returns the names of
   * unknown fields and of fields with invalid values.
   */
  setFields({ limits, include, ...fields }) {
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

  /** Sets a weight for weighted A*, which is A* with a weight of 1. */
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
      algorithm ? algorithm.description : 'The service chooses an algorithm for the board.',
      !isBlind && heuristic?.description,
      !isBlind && heuristic && heuristic.boards !== 'all' && `Boards: ${heuristic.boards}.`,
      !isBlind && heuristic && !heuristic.admissible && 'Solutions may be longer than optimal.',
    ];
    this.about.textContent = sentences.filter(Boolean).join(' ');
  }
}
