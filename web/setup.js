// The question: the shape and the difficulty of new boards, the goal, the method, boards in any notation, a picture.

import { afterwards, choice, el, field } from './dom.js';
import { Editor, faultList } from './editor.js';
import { fromParameters } from './link.js';
import { Method } from './method.js';
import { isSame } from './puzzle.js';
import { Problem } from './service.js';

const SIDES = Array.from({ length: 9 }, (_, at) => at + 2);

export const GOALS = [['blank_last', 'blank in the last cell'], ['blank_first', 'blank in the first cell'], ['snail', 'snail, spiralling inward'], ['own', 'a board of my own']];

/** Boards that have a name or a history. */
const KNOWN = [
  ['8-puzzle, 31 moves: no board is farther', '8 6 7/2 5 4/3 0 1', 'blank_last'],
  ['8-puzzle, the other with 31 moves', '6 4 7/8 5 0/3 2 1', 'blank_last'],
  ['Sam Loyd’s 14 and 15, with a prize for whoever solves it', '1 2 3 4/5 6 7 8/9 10 11 12/13 15 14 0', 'blank_last'],
  ['Korf’s first 15-puzzle, 57 moves (1985)', '14 13 15 7/11 12 9 5/6 0 2 1/4 8 10 3', 'blank_first'],
  ['15-puzzle, 80 moves: no board is farther', '0 11 9 13/12 15 10 14/3 7 6 2/4 8 5 1', 'blank_last'],
  ['Korf and Felner’s first 24-puzzle, 95 moves (2002)', '14 5 9 2 18/8 23 19 12 17/15 0 10 20 4/6 11 21 1 7/24 3 16 22 13', 'blank_first'],
];

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
  /**
   * `actions`: what `random()`, `goal(goal)`, `known(question)`, `coach(isOn)`, `method()`, `picture(file)` and `numbers(isOn)` do;
   * `paste(text)` returns the problem, if there is one; `show()` shows this panel; `mended()` is called when something is
   * changed that may have been at fault.
   */
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
    this.adapt = () => {
      const isKnown = LONGEST[this.rows.value * this.cols.value] !== undefined;
      exactField.hidden = this.level.value !== 'exact';
      exactField.firstElementChild.textContent = isKnown ? 'Moves at the shortest' : 'Random moves';
      this.exact.placeholder = isKnown ? '20, or 12..18' : '50';
    };
    this.adapt();
    const change = () => {
      this.adapt();
      this.actions.mended();
    };
    const fields = el('div', { class: 'fields', onchange: change }, field('Rows', this.rows), field('Columns', this.cols),
      field('Difficulty', this.level), exactField, field('Seed', this.seed));
    const coach = el('input', { type: 'checkbox', onchange: () => this.actions.coach(coach.checked) });
    return section('New boards', fields, el('button', { type: 'button', onclick: this.actions.random }, 'Random board'), this.known(),
      el('label', { class: 'check' }, coach, ' Tell after each move how far the goal is'));
  }

  known() {
    const list = choice(KNOWN.map(([text], at) => [at, text]), 0);
    const take = () => {
      const [, board, goal] = KNOWN[list.value];
      this.actions.known({ board, goal });
    };
    return el('div', { class: 'fields' }, field('Or one that is known', list), el('button', { type: 'button', onclick: take }, 'Take it'));
  }

  /** What `/random` is to be asked for. */
  get wish() {
    const [rows, cols] = [Number(this.rows.value), Number(this.cols.value)];
    const seed = this.seed.value.trim();
    return { rows, cols, ...difficulty(this.level.value, this.exact.value.trim(), rows * cols), ...(seed && { seed }) };
  }

  set shape({ rows, cols }) {
    [this.rows.value, this.cols.value] = [rows, cols];
    this.adapt();
  }

  goals() {
    this.goal = choice(GOALS, 'blank_last', {
      onchange: () => {
        this.askLater.cancel();
        if (this.goal.value === 'own') this.editor.grid.hidden = false;
        else this.actions.goal(this.goal.value);
      },
    });
    this.askLater = afterwards(250, () => this.actions.goal(this.editor.board));
    this.editor = new Editor('goal', this.askLater);
    this.goalFaults = el('div', { class: 'faults', id: 'goal-faults', hidden: true });
    return section('Goal', field('The board to reach', this.goal), this.editor.grid, this.goalFaults);
  }

  /** Shows the goal, as it is called and as it is; what was typed here stays as it was typed. */
  showGoal(goal, board, { isTyped }) {
    this.goalBoard = board;
    if (!isTyped) {
      this.askLater.cancel();
      this.goal.value = typeof goal === 'string' && GOALS.some(([name]) => name === goal) ? goal : 'own';
      this.editor.grid.hidden = this.goal.value !== 'own';
      this.editor.show(board);
    }
    this.blameGoal(null);
  }

  /** Asks for a goal that was typed just now; false, and leads to its fault, if it is none. */
  async finish() {
    this.askLater.cancel();
    if (this.editor.grid.hidden || isSame(this.editor.board, this.goalBoard)) return true;
    const problem = await this.actions.goal(this.editor.board);
    if (!problem) return true;
    this.actions.show();
    this.editor.focusFault();
    return false;
  }

  blameGoal(problem) {
    this.editor.mark(problem?.faults ?? [], 'goal-faults');
    this.goalFaults.hidden = !problem;
    this.goalFaults.replaceChildren(problem ? faultList(problem) : '');
  }

  notation() {
    this.text = el('textarea', {
      rows: 3, spellcheck: 'false', autocomplete: 'off', placeholder: '8 6 7/2 5 4/3 0 1\n867254301\n{"board": [4,7,6,2,0,1,3,8,5], "encoding": "positions"}',
    });
    this.faults = el('div', { class: 'faults', id: 'notation-faults', hidden: true });
    return section('Any notation', field('A board as text, rows, a flat list, a whole request, or a link', this.text), this.faults,
      el('button', { type: 'button', onclick: () => this.use(this.text.value) }, 'Use it'));
  }

  /** Takes over a board or a request from a text; what is wrong with it is told beside it. */
  async use(text) {
    const problem = await this.actions.paste(text);
    if (problem) this.offer(text, problem);
    else this.blameText(null);
  }

  /** Puts a text there to be mended, with what is wrong with it. */
  offer(text, problem) {
    this.text.value = text;
    this.blameText(problem);
    this.actions.show();
  }

  blameText(problem) {
    if (problem) this.text.setAttribute('aria-invalid', 'true');
    else this.text.removeAttribute('aria-invalid');
    this.text.setAttribute('aria-describedby', 'notation-faults');
    this.faults.hidden = !problem;
    this.faults.replaceChildren(problem ? faultList(problem) : '');
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

/** What a text asks for: JSON is a request or a board alone, a link holds a request; all else is a board as text. */
export function understood(text) {
  const trimmed = text.trim();
  const [, parameters] = trimmed.match(/^[^\s{[]*[?#]([^#?]*board=[^#?]*)$/) ?? [];
  if (parameters) return fromParameters(parameters);
  if (!/^[[{]/.test(trimmed)) return { board: trimmed };
  try {
    const value = JSON.parse(trimmed);
    return Array.isArray(value) ? { board: value } : { ...value };
  } catch (error) {
    throw new Problem({ detail: `This begins like JSON, and is none: ${error.message}.` });
  }
}
