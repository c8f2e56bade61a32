// The setup panel: new boards, goal, method, boards in any notation, image.

import { debounce, choice, el, field, words } from './dom.js';
import { Editor, errorList } from './editor.js';
import { fromParameters } from './link.js';
import { Method } from './method.js';
import { isSame } from './puzzle.js';
import { Problem } from './service.js';

const SIDES = Array.from({ length: 9 }, (_, at) => at + 2);

export const GOALS = [['blank_last', 'blank in the last cell'], ['blank_first', 'blank in the first cell'], ['snail', 'snail, spiraling inward'], ['own', 'custom board']];

/** Well-known boards. */
const KNOWN = [
  ['8-puzzle, 31 moves (the maximum)', '8 6 7/2 5 4/3 0 1', 'blank_last'],
  ['8-puzzle, the other 31-move board', '6 4 7/8 5 0/3 2 1', 'blank_last'],
  ['Sam Loyd’s 14-15 puzzle, unsolvable', '1 2 3 4/5 6 7 8/9 10 11 12/13 15 14 0', 'blank_last'],
  ['Korf’s first 15-puzzle, 57 moves (1985)', '14 13 15 7/11 12 9 5/6 0 2 1/4 8 10 3', 'blank_first'],
  ['15-puzzle, 80 moves (the maximum)', '0 11 9 13/12 15 10 14/3 7 6 2/4 8 5 1', 'blank_last'],
  ['Korf and Felner’s first 24-puzzle, 95 moves (2002)', '14 5 9 2 18/8 23 19 12 17/15 0 10 20 4/6 11 21 1 7/24 3 16 22 13', 'blank_first'],
];

/** Maximum optimal length by number of cells, for boards with a distance table. */
const LONGEST = { 4: 6, 6: 21, 8: 36, 9: 31 };

/** Range of lengths as fractions of the maximum, and random moves per cell for other boards. */
const LEVELS = { easy: [0.1, 0.35, 2], medium: [0.4, 0.65, 6], hard: [0.75, 1, 20] };

/** Returns the parameters of `/random` for a level and a number of cells. */
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
   * `actions`: `random()`, `goal(goal, isTyped)`, `known(puzzle)`, `distance(isOn)`, `good(isOn)`, `shares(heuristic)`, `method()`, `picture(file)` and `numbers(isOn)`
   * are called when the user changes them; `paste(text)` loads a text and returns the problem or null; `show()` opens this
   * panel; `edited()` is called after each change.
   */
  constructor(panel, info, actions) {
    Object.assign(this, { info, actions });
    this.method = new Method(info, actions.method);
    panel.replaceChildren(this.boards(), this.goals(), section('Method', this.method.element),
      this.notation(), this.pictures());
  }

  boards() {
    this.rows = choice(SIDES, 3);
    this.cols = choice(SIDES, 3);
    this.level = choice([['any', 'any'], ['easy', 'easy'], ['medium', 'medium'], ['hard', 'hard'], ['exact', 'custom']], 'any');
    this.exact = el('input', { inputmode: 'numeric', size: 8 });
    this.seed = el('input', { maxlength: 128, size: 12, placeholder: 'random', autocomplete: 'off', spellcheck: 'false' });
    const exactField = field('Moves', this.exact);
    this.updateFields = () => {
      const isKnown = LONGEST[this.rows.value * this.cols.value] !== undefined;
      exactField.hidden = this.level.value !== 'exact';
      exactField.firstElementChild.textContent = isKnown ? 'Optimal length' : 'Random moves';
      this.exact.placeholder = isKnown ? '20, or 12..18' : '50';
    };
    this.updateFields();
    const change = () => {
      this.updateFields();
      this.actions.edited();
    };
    const fields = el('div', { class: 'fields', onchange: change }, field('Rows', this.rows), field('Columns', this.cols),
      field('Difficulty', this.level), exactField, field('Seed', this.seed));
    const distance = el('input', { type: 'checkbox', onchange: () => this.actions.distance(distance.checked) });
    const good = el('input', { type: 'checkbox', onchange: () => this.actions.good(good.checked) });
    const shares = choice([['', 'not shown'], ...this.info.heuristics.map(({ name }) => [name, words(name)])], '', {
      onchange: () => this.actions.shares(shares.value),
    });
    return section('New boards', fields, el('button', { type: 'button', onclick: this.actions.random }, 'Random board'), this.known(),
      el('label', { class: 'check' }, distance, ' Show the distance to the goal after each move'),
      el('label', { class: 'check' }, good, ' Mark good moves'), el('div', { class: 'fields' }, field('Share of each tile in h', shares)));
  }

  known() {
    const list = choice(KNOWN.map(([text], at) => [at, text]), 0);
    const take = () => {
      const [, board, goal] = KNOWN[list.value];
      this.actions.known({ board, goal });
    };
    return el('div', { class: 'fields' }, field('Well-known boards', list), el('button', { type: 'button', onclick: take }, 'Load'));
  }

  /** The parameters of `/random`. */
  get randomParameters() {
    const [rows, cols] = [Number(this.rows.value), Number(this.cols.value)];
    const seed = this.seed.value.trim();
    return { rows, cols, ...difficulty(this.level.value, this.exact.value.trim(), rows * cols), ...(seed && { seed }) };
  }

  set shape({ rows, cols }) {
    [this.rows.value, this.cols.value] = [rows, cols];
    this.updateFields();
  }

  goals() {
    this.goal = choice(GOALS, 'blank_last', {
      onchange: () => {
        this.applyLater.cancel();
        if (this.goal.value === 'own') this.editor.grid.hidden = false;
        else this.actions.goal(this.goal.value, false);
      },
    });
    this.applyLater = debounce(250, () => this.actions.goal(this.editor.board, true));
    this.editor = new Editor('goal', this.applyLater, (text) => {
      this.applyLater.cancel();
      this.actions.goal(goalFrom(text), false);
    });
    this.goalErrors = el('div', { class: 'errors', id: 'goal-errors', hidden: true });
    return section('Goal', field('Goal board', this.goal), this.editor.grid, this.goalErrors);
  }

  /** Shows a goal by name and board. A typed goal stays as it was typed. */
  showGoal(goal, board, { isTyped }) {
    this.goalBoard = board;
    if (!isTyped) {
      this.applyLater.cancel();
      this.goal.value = typeof goal === 'string' && GOALS.some(([name]) => name === goal) ? goal : 'own';
      this.editor.grid.hidden = this.goal.value !== 'own';
      this.editor.show(board);
    }
    this.showGoalProblem(null);
  }

  /** Applies a typed goal. Returns false and focuses the first error if it is invalid. */
  async finish() {
    this.applyLater.cancel();
    if (this.editor.grid.hidden || isSame(this.editor.board, this.goalBoard)) return true;
    const problem = await this.actions.goal(this.editor.board, true);
    if (!problem) return true;
    this.actions.show();
    this.editor.focusError();
    return false;
  }

  showGoalProblem(problem) {
    this.editor.mark(problem?.errors ?? [], 'goal-errors');
    this.goalErrors.hidden = !problem;
    this.goalErrors.replaceChildren(problem ? errorList(problem) : '');
  }

  notation() {
    this.text = el('textarea', {
      rows: 3, spellcheck: 'false', autocomplete: 'off', placeholder: '8 6 7/2 5 4/3 0 1\n867254301\n{"board": [4,7,6,2,0,1,3,8,5], "encoding": "positions"}',
    });
    this.errors = el('div', { class: 'errors', id: 'notation-errors', hidden: true });
    return section('Any notation', field('Board as text or JSON, a request, or a link', this.text), this.errors,
      el('button', { type: 'button', onclick: () => this.use(this.text.value) }, 'Apply'));
  }

  /** Loads a board or request from the typed text, or shows what is wrong with it. The user may type on meanwhile. */
  async use(text) {
    const problem = await this.actions.paste(text);
    this.showTextProblem(problem);
    if (problem) this.actions.show();
  }

  /** Shows an invalid text with its problem, so that the user can correct it. */
  showInvalidText(text, problem) {
    this.text.value = text;
    this.showTextProblem(problem);
    this.actions.show();
  }

  showTextProblem(problem) {
    if (problem) this.text.setAttribute('aria-invalid', 'true');
    else this.text.removeAttribute('aria-invalid');
    this.text.setAttribute('aria-describedby', 'notation-errors');
    this.errors.hidden = !problem;
    this.errors.replaceChildren(problem ? errorList(problem) : '');
  }

  pictures() {
    const file = el('input', { type: 'file', accept: 'image/*', onchange: () => this.actions.picture(file.files[0]) });
    const numbers = el('input', { type: 'checkbox', checked: true, onchange: () => this.actions.numbers(numbers.checked) });
    const remove = () => {
      file.value = '';
      this.actions.picture(null);
    };
    return section('Image', field('Image to divide into tiles (stays in your browser)', file),
      el('div', { class: 'row' }, el('label', { class: 'check' }, numbers, ' Show numbers'),
        el('button', { type: 'button', onclick: remove }, 'Remove image')));
  }
}

const section = (title, ...content) => el('section', { class: 'setting' }, el('h2', {}, title), ...content);

/**
 * Parses a text: JSON is a request or a board, a link contains a request, anything else is a board as text. The service
 * reads boards as text, also printed arrays and lists in braces. An error quotes the text that is no board.
 */
export function understood(text) {
  const trimmed = text.trim();
  const [, parameters] = trimmed.match(/^[^\s{[]*[?#]([^#?]*board=[^#?]*)$/) ?? [];
  if (parameters) return fromParameters(parameters);
  // Spaces before the first tile can be the blank.
  if (!/^[[{"]/.test(trimmed)) return { board: text };
  try {
    const value = JSON.parse(trimmed);
    return typeof value === 'string' || Array.isArray(value) ? { board: value } : { ...value };
  } catch (error) {
    if (!/^\{\s*["']/.test(trimmed)) return { board: text };
    throw new Problem({ detail: `Invalid JSON: ${error.message}.` });
  }
}

/** Parses a text as a goal. Anything but a board stays text, and the service rejects it. */
function goalFrom(text) {
  try {
    const { board, ...others } = understood(text);
    return Object.keys(others).length === 0 && board !== undefined ? board : text;
  } catch {
    return text;
  }
}
