// The playground: one question, and what there is to do with it.

import { BoardView } from './board.js';
import { Comparison } from './compare.js';
import { afterwards, announce, byId, counted, el, isStill } from './dom.js';
import { Editor, faultList } from './editor.js';
import { Expansions } from './expansions.js';
import * as link from './link.js';
import { Picture } from './picture.js';
import { Game } from './play.js';
import { Player } from './player.js';
import { exchanged, replay, shape } from './puzzle.js';
import { LiveSearch, figures, method, verdict } from './search.js';
import * as service from './service.js';
import { Setup } from './setup.js';
import { Snippets } from './snippets.js';
import { Stoppable } from './stoppable.js';
import { Tabs } from './tabs.js';
import { tokenForm } from './token.js';

/** What stands in the panel of the search before there is one. */
const NOTHING_YET = 'Solve a board to see what the search did.';

/** What a visitor sees first: as far from its goal as a board of this shape can be. */
const FIRST = [[8, 6, 7], [2, 5, 4], [3, 0, 1]];

class Playground {
  constructor(info) {
    this.info = info;
    this.question = { board: FIRST, goal: 'blank_last' };
    this.isSolvable = true;
    this.tabs = new Tabs(document.querySelector('[role=tablist]'));
    this.view = new BoardView(byId('board'), (moves) => this.play(moves));
    this.game = new Game(this.view, (text) => this.tell(text), () => this.adapt());
    this.player = new Player(byId('player'), byId('solution'), (state, step, isStill) => this.watch(state, step, isStill));
    this.editor = new Editor('board', afterwards(250, (board) => this.ask({ board }, { isTyped: true })));
    this.picture = new Picture((url) => this.view.picture(url, this.goalBoard));
    this.setup = new Setup(byId('setup'), info, {
      random: () => this.random(), goal: (goal) => this.ask({ goal }, { isGoal: true }), method: () => this.renew(),
      paste: (fields) => this.paste(fields), picture: (file) => this.paint(file),
      numbers: (isOn) => byId('board').classList.toggle('unnumbered', !isOn),
    });
    this.comparison = new Comparison(byId('compare'), info, () => this.question, (question) => this.ask(question));
    this.snippets = new Snippets(byId('code'));
    this.search = new Stoppable((act) => this.attempt(act));
    this.furnish();
    this.listen();
  }

  /** The panel of the search: figures, what goes on, and the tree. */
  furnish() {
    this.report = el('div', {});
    this.live = new LiveSearch(this.report);
    this.expansions = new Expansions((as) => ({ ...(as.algorithm ? this.question : this.asked), ...as }), (act) => this.search.run(act));
    byId('search').replaceChildren(this.report, this.expansions.element);
    this.forget();
  }

  /** Clears away what belongs to another question. */
  forget() {
    this.player.clear();
    this.comparison.clear();
    this.report.replaceChildren(el('p', { class: 'empty' }, NOTHING_YET));
    this.expansions.clear();
  }

  listen() {
    const actions = {
      random: () => this.random(), solve: () => this.solve(), hint: () => this.game.hint(),
      undo: () => this.game.undo(), restart: () => this.restart(), edit: () => this.edit(), project: () => this.project(),
    };
    for (const [id, act] of Object.entries(actions)) byId(id).addEventListener('click', act);
    byId('board').addEventListener('keydown', (event) => this.press(event));
    // What stands behind # is the question: a link within the page must not take its place.
    document.querySelector('.skip').addEventListener('click', (event) => {
      event.preventDefault();
      byId('stage').focus();
    });
    addEventListener('hashchange', () => this.open());
  }

  /** The space bar plays and pauses, as everywhere; in a field of the editor it is a space. */
  press(event) {
    if (event.key !== ' ' || event.target !== this.view.frame || !this.player.states) return;
    event.preventDefault();
    this.player.toggle();
  }

  tell(text, kind = '') {
    byId('status').textContent = text;
    byId('status').className = `status ${kind}`;
  }

  /** The question with its method, as it is asked, shared and pasted. */
  get asked() {
    return { ...this.question, ...this.setup.method.fields };
  }

  /** Takes the question from the address, or the first one. */
  async open() {
    const { board = FIRST, goal, rows, cols, encoding, ...fields } = link.read();
    const left = this.setup.method.take(fields);
    const given = { board, goal: goal ?? 'blank_last', ...(rows && { rows: Number(rows), cols: Number(cols) }), ...(encoding && { encoding }) };
    const problem = await this.ask(given);
    if (problem && board !== FIRST) await this.ask({ board: FIRST, goal: 'blank_last' }, { said: `The link cannot be read: ${problem.message}` });
    else if (left.length) this.tell(leftOut('link', left), 'bad');
  }

  /**
   * Puts a question, or a part of one, in the place of the one there is, if the service takes it; returns the problem
   * if it does not.
   */
  async ask(part, { known = null, said = null, isTyped = false, isGoal = false } = {}) {
    const question = { ...this.question, ...part };
    this.search.stop();
    this.turn = (this.turn ?? 0) + 1;
    const { turn } = this;
    try {
      const { start, goal, solvable, detail } = await service.solvable(question);
      if (turn !== this.turn) return null;
      this.question = { board: start, goal: this.info.goals.includes(question.goal) ? question.goal : goal };
      this.goalBoard = goal;
      this.forget();
      this.game.begin({ ...this.question, goalBoard: goal, known });
      this.setup.showGoal(this.question.goal, goal);
      if (!isTyped) this.editor.show(start);
      this.setup.shape = shape(start);
      this.picture.fit(shape(start));
      this.isSolvable = solvable;
      this.blame(null);
      this.tell(solvable ? said ?? 'The goal can be reached. Play, or have it solved.' : detail, solvable ? '' : 'bad');
      this.renew();
      return null;
    } catch (error) {
      if (!(error instanceof service.Problem)) throw error;
      if (turn === this.turn) this.refuse(error, isGoal);
      return error;
    }
  }

  refuse(problem, isGoal) {
    if (problem.slug === 'unauthorized') askForToken();
    else if (isGoal) this.setup.blameGoal(problem);
    else this.blame(problem);
    announce(problem.faults.map(({ detail }) => detail).join('; ') || problem.message);
  }

  /** Shows the faults of a board where they are; for null none, but what helps a board that has none and no solution. */
  blame(problem) {
    this.editor.mark(problem?.faults ?? [], 'faults');
    byId('faults').hidden = !problem && this.isSolvable;
    byId('faults').replaceChildren(problem ? faultList(problem) : this.remedy());
  }

  remedy() {
    const exchange = () => this.ask({ board: exchanged(this.question.board) });
    return el('div', { class: 'row' }, 'No moves lead from here to the goal.', el('button', { type: 'button', onclick: exchange }, 'Exchange 1 and 2'));
  }

  /** What follows from the question: the address, and what is there to paste. */
  renew() {
    link.write(this.asked);
    this.snippets.show(this.asked);
    this.adapt();
  }

  adapt() {
    byId('undo').disabled = !this.game.moves;
    byId('restart').disabled = !this.game.moves;
    byId('board').classList.toggle('solved', this.game.isSolved);
  }

  play(moves) {
    // Whoever goes the way of the solution stays on it.
    const { states, step } = this.player;
    if (states && !this.game.isOwn && states[step + 1]?.move === moves) this.player.go(step + 1);
    else {
      this.player.pause();
      this.game.play(moves);
    }
  }

  watch({ board }, step, isStill) {
    this.game.watch(board, this.moves.slice(0, step), isStill);
    this.adapt();
  }

  restart() {
    this.game.restart();
    if (this.player.states) this.player.go(0);
  }

  async random() {
    await this.attempt(async () => {
      const { wish } = this.setup;
      const goal = this.goalFor(wish);
      const { board, seed, length, lower_bound: low, upper_bound: high } =
        await service.random({ ...wish, goal: link.goalText(goal) });
      const known = length === undefined ? null : { length, optimal: true, lower_bound: length };
      const hardness = known ? `${counted(length, 'move')} at the shortest.` : `Between ${low} and ${high} moves at the shortest.`;
      await this.ask({ board, goal }, { known, said: `${hardness} Seed: ${seed}` });
      announce(`A new board. ${hardness}`);
    });
  }

  /** The goal for boards of a shape: one of a person's own fits its own shape alone. */
  goalFor({ rows, cols }) {
    const { goal } = this.question;
    const isFit = typeof goal === 'string' || (goal.length === rows && goal[0].length === cols);
    return isFit ? goal : 'blank_last';
  }

  async attempt(act) {
    try {
      await act();
      return null;
    } catch (error) {
      if (error.name === 'AbortError') return null;
      if (!(error instanceof service.Problem)) throw error;
      this.refuse(error, false);
      return error;
    }
  }

  async paste(fields) {
    const { board, goal = 'blank_last', rows, cols, encoding, ...method } = fields;
    const problem = await this.ask({ board, goal, rows, cols, encoding });
    if (problem) {
      this.blame(null);
      return problem;
    }
    const left = this.setup.method.take(method);
    this.renew();
    return left.length ? new service.Problem({ detail: leftOut('text', left) }) : null;
  }

  edit() {
    const isOn = byId('edit').getAttribute('aria-pressed') !== 'true';
    byId('edit').setAttribute('aria-pressed', String(isOn));
    byId('edit').textContent = isOn ? 'Done' : 'Edit';
    this.blame(null);
    if (isOn) {
      this.editor.show(this.game.board);
      byId('board').replaceChildren(this.editor.grid);
      this.editor.inputs[0].focus();
    } else {
      byId('board').replaceChildren(this.view.frame);
    }
  }

  async paint(file) {
    try {
      await this.picture.take(file);
      await this.picture.fit(shape(this.question.board));
    } catch {
      this.tell('This file is no picture that the browser can show.', 'bad');
    }
  }

  project() {
    const isOn = document.documentElement.classList.toggle('projected');
    byId('project').setAttribute('aria-pressed', String(isOn));
  }

  /** Solves the board on the table: the one of the question, or where a person has brought it. */
  async solve() {
    if (this.game.isOwn && this.game.isAway) await this.ask({ board: this.game.board });
    if (byId('edit').getAttribute('aria-pressed') === 'true') this.edit();
    const { question } = this;
    this.tell('Searching …');
    this.live.begin();
    const patience = setTimeout(() => this.tabs.show('search'), 700);
    const { problem, isStopped } = await this.search.run(async (signal) => {
      const answer = await service.watch({ ...this.asked, include: ['states'] }, (name, data) => this.live.tell(name, data), signal);
      if (this.question === question) this.solved(answer);
    }).finally(() => clearTimeout(patience));
    if (this.question === question) this.conclude(problem, isStopped);
  }

  solved(answer) {
    this.moves = answer.moves;
    const text = verdict(answer);
    this.live.end(`${text} ${method(answer.search)}.`);
    this.report.append(figures(answer.search));
    this.player.load(answer.states, el('p', { class: 'now' }, text));
    this.game.known ??= answer;
    this.tell(text, 'good');
    announce(text);
    this.tabs.show('solution');
    if (!isStill()) this.player.play();
  }

  /** A search without an answer: it was stopped, or there is a problem; the best solution so far is shown all the same. */
  conclude(problem, isStopped) {
    const best = problem?.document.solution ?? this.live.best;
    if (!problem && !isStopped) return;
    const text = isStopped ? 'Stopped.' : problem.message;
    const shown = best ? `${text} The best so far: ${verdict(best)}` : text;
    this.live.end(shown);
    if (problem?.document.search) this.report.append(figures(problem.document.search));
    this.blame(null);
    this.tell(shown, isStopped ? '' : 'bad');
    announce(shown);
    if (!best) return;
    this.moves = best.moves;
    this.player.load(replay(this.question.board, best.moves), el('p', { class: 'now' }, verdict(best)));
  }
}

/** What is said of fields that nothing could be made of. */
const leftOut = (source, names) => `The ${source} asks for what there is not; left out: ${names.join(', ')}.`;

function askForToken() {
  byId('faults').hidden = false;
  byId('faults').replaceChildren(tokenForm(() => location.reload()));
}

// Asked for before anything is made, so that both go on at once.
const asked = service.info();

async function main() {
  try {
    const info = await asked;
    byId('version').textContent = `Taquin ${info.version}.`;
    const playground = new Playground(info);
    await playground.open();
    document.documentElement.dataset.ready = Math.round(performance.now());
  } catch (error) {
    byId('status').textContent = error.message;
    if (error.slug === 'unauthorized') askForToken();
    else throw error;
  }
}

main();
