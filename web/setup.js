// The question: the shape and the difficulty of new boards, the goal, the method, boards in any notation, a picture.

import { afterwards, choice, el, field } from './dom.js';
import { Editor, faultList } from './editor.js';
import { Method } from './method.js';

const SIDES = Array.from({ length: 9 }, (_, at) => at + 2);

const GOALS = [['blank_last', 'blank in the last cell'], ['blank_first', 'blank in the first cell'], ['snail', 'snail, spiralling inward'], ['own', 'a board of my own']];

/** The longest of all shortest solutions, where the service knows them all. */
const LONGEST = { 4: 6, 6: 21, 8: 36, 9: 31 };

/** Parts of that longest, and parts of walks that count cells where it is not known. */
const LEVELS = { easy: [0.1, 0.35, 2], medium: [0.4, 0.65, 6], hard: [0.75, 1, 20] };

/** What to ask `/random` for, for boards of so many cells. */
function difficulty(level, exact, cells) {
  const longest = LONGEST[cells];
  if (level === 'exact') return exact ? { [longest ? 'length' : 'walk']: exact } : {};
  if (!LEVELS[level]) return {};
  const [from, to, walk] = LEVELS[level];
  if (!longest) return { walk: Math.round(cells * walk) };
  return { length: `${Math.round(longest * from)}..${Math.floor(longest * to)}` };
}

export class Setup {
  /** `actions`: what `goal(goal)`, `method()`, `paste(fields)`, `picture(file)` and `numbers(isOn)` do. */
  constructor(panel, info, actions) {
    this.actions = actions;
    this.method = new Method(info, actions.method);
    panel.replaceChildren(this.boards(), this.goals(), section('Method', this.method.element),
      this.notation(), this.pictures());
  }

  boards() {
    this.rows = choice(SIDES, 3);
    this.cols = choice(SIDES, 3);
    this.level = choice([['any', 'any'], ['easy', 'easy'], ['medium', 'medium'], ['hard', 'hard'], ['exact', 'exactly …']], 'any');
    this.exact = el('input', { inputmode: 'numeric', size: 8 });
    this.seed = el('input', { maxlength: 128, size: 12, placeholder: 'a new one', autocomplete: 'off', spellcheck: 'false' });
    const exactField = field('Moves', this.exact);
    const adapt = () => {
      const isKnown = LONGEST[this.rows.value * this.cols.value] !== undefined;
      exactField.hidden = this.level.value !== 'exact';
      exactField.firstElementChild.textContent = isKnown ? 'Moves at the shortest' : 'Random moves';
      this.exact.placeholder = isKnown ? '20, or 12..18' : '50';
    };
    adapt();
    const fields = el('div', { class: 'fields', onchange: adapt }, field('Rows', this.rows), field('Columns', this.cols),
      field('Difficulty', this.level), exactField, field('Seed', this.seed));
    return section('New boards', fields, el('button', { type: 'button', onclick: this.actions.random }, 'Random board'));
  }

  /** What `/random` is to be asked for. */
  get wish() {
    const [rows, cols] = [Number(this.rows.value), Number(this.cols.value)];
    const seed = this.seed.value.trim();
    return { rows, cols, ...difficulty(this.level.value, this.exact.value.trim(), rows * cols), ...(seed && { seed }) };
  }

  set shape({ rows, cols }) {
    [this.rows.value, this.cols.value] = [rows, cols];
    this.rows.dispatchEvent(new Event('change', { bubbles: true }));
  }

  goals() {
    this.goal = choice(GOALS, 'blank_last', {
      onchange: () => {
        if (this.goal.value === 'own') this.editor.grid.hidden = false;
        else this.actions.goal(this.goal.value);
      },
    });
    this.editor = new Editor('goal', afterwards(250, (board) => this.actions.goal(board)));
    this.goalFaults = el('div', { class: 'faults', id: 'goal-faults', hidden: true });
    return section('Goal', field('The board to reach', this.goal), this.editor.grid, this.goalFaults);
  }

  /** Shows the goal, as it is called and as it is. */
  showGoal(goal, board) {
    const isNamed = typeof goal === 'string' && GOALS.some(([name]) => name === goal);
    const isOwn = !isNamed || (this.goal.value === 'own' && this.editor.grid.contains(document.activeElement));
    this.goal.value = isOwn ? 'own' : goal;
    this.editor.grid.hidden = !isOwn;
    if (!this.editor.grid.contains(document.activeElement)) this.editor.show(board);
    this.blameGoal(null);
  }

  blameGoal(problem) {
    this.editor.mark(problem?.faults ?? [], 'goal-faults');
    this.goalFaults.hidden = !problem;
    this.goalFaults.replaceChildren(problem ? faultList(problem) : '');
  }

  notation() {
    const text = el('textarea', {
      rows: 3, spellcheck: 'false', autocomplete: 'off', placeholder: '8 6 7/2 5 4/3 0 1\n867254301\n{"board": [4,7,6,2,0,1,3,8,5], "encoding": "positions"}',
    });
    const faults = el('div', { class: 'faults', id: 'notation-faults', hidden: true });
    const use = async () => {
      const problem = await this.actions.paste(understood(text.value));
      text.toggleAttribute('aria-invalid', Boolean(problem));
      text.setAttribute('aria-describedby', 'notation-faults');
      faults.hidden = !problem;
      faults.replaceChildren(problem ? faultList(problem) : '');
    };
    return section('Any notation', field('A board as text, rows, a flat list, or a whole request', text), faults,
      el('button', { type: 'button', onclick: use }, 'Use it'));
  }

  pictures() {
    const file = el('input', { type: 'file', accept: 'image/*', onchange: () => this.actions.picture(file.files[0]) });
    const numbers = el('input', { type: 'checkbox', checked: true, onchange: () => this.actions.numbers(numbers.checked) });
    const remove = () => {
      file.value = '';
      this.actions.picture(null);
    };
    return section('Picture', field('A picture, cut into tiles. It stays in your browser.', file),
      el('div', { class: 'row' }, el('label', { class: 'check' }, numbers, ' Numbers on it'),
        el('button', { type: 'button', onclick: remove }, 'Plain tiles')));
  }
}

const section = (title, ...content) => el('section', { class: 'setting' }, el('h2', {}, title), ...content);

/** JSON where it looks like JSON: a request, or a board alone; all else is a board as text. */
function understood(text) {
  const trimmed = text.trim();
  if (!/^[[{]/.test(trimmed)) return { board: trimmed };
  try {
    const value = JSON.parse(trimmed);
    return Array.isArray(value) ? { board: value } : value;
  } catch {
    return { board: trimmed };
  }
}
