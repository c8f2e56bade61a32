// The playground: one question, and what there is to do with it.

import { BoardView } from './board.js';
import { Comparison } from './compare.js';
import { announce, byId, counted, el, isStill } from './dom.js';
import { Editing } from './editing.js';
import { faultText } from './editor.js';
import { Expansions } from './expansions.js';
import * as link from './link.js';
import { Picture } from './picture.js';
import { Game } from './play.js';
import { Player } from './player.js';
import { exchanged, grid, isSame, replay, shape } from './puzzle.js';
import { LiveSearch, figures, method, shortfall, verdict } from './search.js';
import * as service from './service.js';
import { GOALS, Setup, understood } from './setup.js';
import { Snippets } from './snippets.js';
import { Stoppable } from './stoppable.js';
import { keep, kept } from './storage.js';
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
    // What was asked for last: an answer may be on its way.
    Object.assign(this, { wanted: this.question, asking: null, turn: 0, isSolvable: true });
    this.tabs = new Tabs(document.querySelector('[role=tablist]'));
    this.view = new BoardView(byId('board'), (moves) => this.play(moves));
    this.game = new Game(this.view, (text) => this.tell(text), () => this.adapt());
    this.player = new Player(byId('player'), byId('solution'), (state, step, still) => this.watch(state, step, still));
    this.editing = new Editing(this.view.frame, {
      board: () => this.game.board, isThere: (board) => this.wanted === this.question && isSame(board, this.game.board),
      ask: (board) => this.ask({ board }, { isTyped: true }), blame: (problem) => this.blame(problem),
      paste: (text) => this.paste(text), turn: (isOn) => this.hold(isOn),
    });
    this.picture = new Picture((url) => this.view.picture(url, this.goalBoard));
    this.setup = new Setup(byId('setup'), info, {
      random: () => this.random(), goal: (goal) => this.ask({ goal }, { isGoal: true }), method: () => this.renew(),
      known: (question) => this.ask(question), mended: () => this.blame(null), coach: (isOn) => this.game.guide(isOn),
      paste: (text) => this.paste(text), show: () => this.tabs.show('setup'), picture: (file) => this.paint(file),
      numbers: (isOn) => byId('board').classList.toggle('unnumbered', !isOn),
    });
    const asks = { present: () => this.present(), question: () => this.question };
    this.comparison = new Comparison(byId('compare'), info, { ...asks, choose: (question) => this.ask(question) });
    this.snippets = new Snippets(byId('code'));
    this.search = new Stoppable((act) => this.attempt(act));
    this.furnish(asks);
    this.listen();
  }

  /** The panel of the search: figures, what goes on, and the tree. */
  furnish({ present }) {
    this.report = el('div', {});
    this.live = new LiveSearch(this.report, (text) => this.tell(text));
    this.expansions = new Expansions({
      present, question: (as) => ({ ...(as.algorithm ? this.question : this.asked), ...as }), search: (act) => this.search.run(act),
    });
    byId('search').replaceChildren(this.report, this.expansions.element);
    this.forget();
  }

  /** Clears away what belongs to another question. */
  forget() {
    this.player.clear();
    this.comparison.clear();
    this.live.cease();
    this.report.replaceChildren(el('p', { class: 'empty' }, NOTHING_YET));
    this.expansions.clear();
  }

  listen() {
    const actions = {
      random: () => this.random(), solve: () => this.solve(), hint: () => this.hint(),
      undo: () => this.undo(), restart: () => this.restart(), edit: () => this.editing.toggle(), project: () => this.project(),
    };
    for (const [id, act] of Object.entries(actions)) byId(id).addEventListener('click', act);
    byId('board').addEventListener('keydown', (event) => this.press(event));
    // What stands behind # is the question: a link within the page must not take its place.
    document.querySelector('.skip').addEventListener('click', (event) => {
      event.preventDefault();
      byId('stage').focus();
    });
    addEventListener('hashchange', () => this.open());
    service.onTokenWanted(askForToken);
    this.project(kept('projected', { forLong: true }) === 'true');
  }

  /** Keys on the board, beside the arrows; in a field of the editor they are letters. */
  press(event) {
    if (event.target !== this.view.frame || event.altKey) return;
    const isUndo = event.ctrlKey || event.metaKey;
    const act = isUndo ? { z: () => this.undo() }[event.key] : {
      ' ': this.player.states && (() => this.player.toggle()), h: () => this.hint(), u: () => this.undo(), Backspace: () => this.undo(),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
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
    const fields = link.read();
    const { board = FIRST, goal = 'blank_last', rows, cols, encoding, ...method_ } = fields;
    const before = this.setup.method.fields;
    const left = this.setup.method.take(method_);
    const problem = await this.ask({ board, goal, rows, cols, encoding }, { isLink: true });
    if (!problem && left.length) this.tell(leftOut('link', left), 'bad');
    // A service that is away or busy says nothing of the link.
    if (!problem || ![400, 422].includes(problem.document.status)) return;
    const said = 'The link cannot be read. What it says is under “Any notation”, to be mended.';
    if (this.goalBoard) {
      this.setup.method.take(before);
      this.renew({ isLink: true });
      this.blame(null);
      this.tell(said, 'bad');
    } else await this.ask({ board: FIRST, goal: 'blank_last' }, { isLink: true, said });
    this.setup.offer(JSON.stringify(fields), problem);
  }

  /**
   * Puts a question, or a part of one, in the place of the one there is, if the service takes it; returns the problem
   * if it does not, and null as well where something else was asked for in the meantime. What is asked for by hand comes
   * `isTyped`, or with `isGoal`; `isStillSo()` says whether it is still wanted when there is an answer.
   */
  ask(part, options = {}) {
    const { rows, cols, encoding, ...wanted } = this.wanted;
    const hasBoard = 'board' in part;
    this.wanted = { ...(hasBoard ? wanted : this.wanted), ...part };
    return this.track(this.take(this.wanted, { hasBoard, ...options }));
  }

  /** Remembers that something is on its way to the table. */
  track(asking) {
    this.asking = asking;
    const end = () => {
      if (this.asking === asking) this.asking = null;
    };
    asking.then(end, end);
    return asking;
  }

  async take(question, options) {
    this.search.stop();
    this.turn += 1;
    const { turn } = this;
    try {
      const verdict_ = await service.solvable(question);
      if (turn !== this.turn) return null;
      if (options.isStillSo?.() === false) this.wanted = this.question;
      else this.begin(question, verdict_, options);
      return null;
    } catch (error) {
      const problem = service.asProblem(error);
      if (turn !== this.turn) return problem;
      this.wanted = this.question;
      if (options.isGoal) this.setup.blameGoal(problem);
      else this.refuse(problem);
      return problem;
    }
  }

  /** A question that the service has taken. */
  begin(question, { start, goal, solvable, detail }, { known = null, said = null, isTyped = false, isGoal = false, isLink = false, hasBoard }) {
    // One may have begun in the meantime.
    this.search.stop();
    this.question = { board: start, goal: this.info.goals.includes(question.goal) ? question.goal : goal };
    Object.assign(this, { wanted: this.question, goalBoard: goal, isSolvable: solvable, detail });
    this.forget();
    this.game.begin({ ...this.question, goalBoard: goal, known });
    this.setup.showGoal(this.question.goal, goal, { isTyped: isGoal && Array.isArray(question.goal) });
    byId('goal-view').replaceChildren(el('figcaption', {}, 'Goal'), grid(goal));
    if (hasBoard && !isTyped) this.editing.show(start);
    this.setup.shape = shape(start);
    this.repaint();
    this.blame(null);
    const text = said ?? (solvable ? 'The goal can be reached. Play, or have it solved.' : 'No moves lead from here to the goal.');
    this.tell(text, solvable ? '' : 'bad');
    announce(text);
    this.renew({ isLink });
  }

  /**
   * Waits until board and goal on the table are those of the question, whether they were typed or moved; false if one of
   * them has a fault, or the service does not answer.
   */
  async present() {
    if (this.editing.isOn && !await this.editing.finish()) return false;
    if (!await this.setup.finish()) return false;
    while (this.asking) if (await this.asking) return false;
    while (this.game.isAway && !this.isOnSolution) {
      const { board } = this.game;
      if (await this.ask({ board }, { isStillSo: () => this.game.board === board })) return false;
    }
    return true;
  }

  refuse(problem) {
    this.blame(problem);
    this.tell('');
    announce(faultText(problem));
  }

  /** Shows the faults of a board where they are; for null none, but what helps a board that has none and no solution. */
  blame(problem) {
    const isHelpless = !problem && !this.isSolvable;
    this.editing.blame(problem);
    byId('faults').hidden = !problem && !isHelpless;
    if (isHelpless) this.remedy();
  }

  /** What can be done about a board from which the goal cannot be reached. */
  async remedy() {
    const { board, goal } = this.question;
    const take = (part) => async () => {
      await this.ask(part);
      byId('stage').focus();
    };
    const button = (text, part) => el('button', { type: 'button', class: 'small', onclick: take(part) }, text);
    const ways = el('div', { class: 'row' }, button('Exchange 1 and 2', { board: exchanged(board) }));
    byId('faults').replaceChildren(el('p', {}, this.detail), ways);
    for (const [name, text] of GOALS.filter(([other]) => other !== goal && this.info.goals.includes(other))) {
      const isReached = await service.solvable({ board, goal: name }).then(({ solvable }) => solvable, () => false);
      if (isReached) ways.append(button(`Goal: ${text}`, { goal: name }));
    }
  }

  /** What follows from the question: the address, and what is there to paste. */
  renew({ isLink = false } = {}) {
    link.write(this.asked, { isLink });
    this.snippets.show(this.asked);
    this.adapt();
  }

  adapt() {
    byId('undo').disabled = !this.game.moves || this.editing.isOn;
    byId('restart').disabled = !this.game.moves && !this.editing.isOn;
    byId('board').classList.toggle('solved', this.game.isSolved);
  }

  /** Whether the board on the table is where the solution is watched. */
  get isOnSolution() {
    const { states, step } = this.player;
    return Boolean(states) && isSame(states[step].board, this.game.board);
  }

  play(moves) {
    // Whoever goes the way of the solution stays on it.
    const { states, step } = this.player;
    if (this.isOnSolution && !this.game.isOwn && states[step + 1]?.move === moves) this.player.go(step + 1);
    else {
      this.player.pause();
      this.game.play(moves);
    }
  }

  watch({ board }, step, still) {
    this.game.watch(board, this.moves.slice(0, step), still);
    this.adapt();
  }

  /** While a board is typed, nothing moves it. */
  hold(isOn) {
    this.player.pause();
    this.player.controls.hidden = isOn || !this.player.states;
    this.game.hush();
    this.adapt();
  }

  async hint() {
    this.player.pause();
    if (this.editing.isOn && !await this.editing.finish()) return;
    await this.game.hint();
  }

  undo() {
    this.player.pause();
    if (this.isOnSolution && !this.game.isOwn) this.player.go(this.player.step - 1);
    else this.game.undo();
  }

  restart() {
    this.player.pause();
    this.game.restart();
    this.editing.show(this.game.board);
    this.blame(null);
    if (this.player.states) this.player.go(0);
  }

  random() {
    return this.track(this.draw());
  }

  /** Another board; the problem, if there is none. */
  async draw() {
    this.turn += 1;
    this.wanted = this.question;
    const { turn } = this;
    const { wish } = this.setup;
    const goal = this.goalFor(wish);
    let drawn = null;
    const problem = await this.attempt(async () => { drawn = await service.random({ ...wish, goal: link.goalText(goal) }); });
    if (turn !== this.turn) return null;
    if (problem) {
      this.refuse(problem);
      return problem;
    }
    const { board, seed, length, lower_bound: low, upper_bound: high } = drawn;
    const known = length === undefined ? null : { length, optimal: true, lower_bound: length };
    const hardness = known ? `${counted(length, 'move')} at the shortest.` : `Between ${low} and ${high} moves at the shortest.`;
    const source = wish.seed ? `Seed: ${seed}, as it is set: always the same board.` : `Seed: ${seed}`;
    this.wanted = { board, goal };
    return this.take(this.wanted, { known, said: `${hardness} ${source}`, hasBoard: true });
  }

  /** The goal for boards of a shape: one of a person's own fits its own shape alone. */
  goalFor({ rows, cols }) {
    const { goal } = this.question;
    const isFit = typeof goal === 'string' || (goal.length === rows && goal[0].length === cols);
    return isFit ? goal : 'blank_last';
  }

  /** Returns the problem that comes in the way of something, or null. */
  async attempt(act) {
    try {
      await act();
      return null;
    } catch (error) {
      return error.name === 'AbortError' ? null : service.asProblem(error);
    }
  }

  /** Takes over what was pasted: a board alone, for which goal and method stay as they are, or a whole request. */
  async paste(text) {
    let fields = null;
    const unread = await this.attempt(() => { fields = understood(text); });
    if (unread) return unread;
    const { board, goal, rows, cols, encoding, ...method_ } = fields;
    const isAlone = goal === undefined && Object.keys(method_).length === 0;
    const part = { board, rows, cols, encoding };
    let problem = await this.ask({ ...part, goal: goal ?? (isAlone ? this.question.goal : 'blank_last') });
    if (isAlone && problem?.slug === 'goal-mismatch') problem = await this.ask({ ...part, goal: 'blank_last' });
    if (problem) {
      this.blame(null);
      return problem;
    }
    if (isAlone) return null;
    const left = this.setup.method.take(method_);
    this.renew();
    return left.length ? new service.Problem({ detail: leftOut('text', left) }) : null;
  }

  async paint(file) {
    const problem = await this.picture.take(file).then(() => null, () => true);
    if (problem) this.tell('This file is no picture that the browser can show.', 'bad');
    else {
      await this.repaint();
      if (file) this.tell('');
    }
  }

  /** Cuts the picture, if there is one, to the shape of the board. */
  async repaint() {
    await this.picture.fit(shape(this.question.board)).catch(() => this.tell('This picture cannot be cut into tiles.', 'bad'));
  }

  project(isOn = !document.documentElement.classList.contains('projected')) {
    document.documentElement.classList.toggle('projected', isOn);
    byId('project').setAttribute('aria-pressed', String(isOn));
    keep('projected', String(isOn), { forLong: true });
  }

  async solve() {
    if (this.isAboutTo) return;
    this.isAboutTo = true;
    const isReady = await this.present().finally(() => { this.isAboutTo = false; });
    if (!isReady) return;
    const { question } = this;
    this.game.hush();
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
    const text = verdict(answer);
    this.live.end(`${text} ${method(answer.search)}.`);
    this.report.append(figures(answer.search));
    this.game.known ??= answer;
    const isShown = this.load(answer, text, 'good');
    this.tabs.show('solution');
    if (isShown && !isStill()) this.player.play();
  }

  /** A search without an answer: it was stopped, or there is a problem; the best solution so far is shown all the same. */
  conclude(problem, isStopped) {
    if (!problem && !isStopped) return;
    const best = problem?.document.solution ?? this.live.best;
    const text = isStopped ? 'Stopped.' : shortfall(problem);
    const shown = best ? `${text} The best so far: ${verdict(best)}` : text;
    this.live.end(shown);
    if (problem?.document.search) this.report.append(figures(problem.document.search));
    const kind = isStopped ? '' : 'bad';
    if (best) this.load({ ...best, states: replay(this.question.board, best.moves), search: null }, shown, kind);
    else {
      this.tell(shown, kind);
      announce(shown);
    }
  }

  /** Has a solution ready to be watched; whoever went on playing is not taken back to the start. Whether it is shown. */
  load(solution, text, kind) {
    const isPlaying = this.game.isOwn && this.game.moves !== '';
    this.moves = solution.moves;
    this.player.load(solution, { summary: el('p', { class: 'now' }, verdict(solution)), isQuiet: isPlaying });
    const said = isPlaying ? `${text} You have moved on meanwhile: Play shows it from the start.` : text;
    this.tell(said, kind);
    announce(said);
    return !isPlaying;
  }
}

/** What is said of fields that nothing could be made of. */
const leftOut = (source, names) => `The ${source} asks for what there is not; left out: ${names.join(', ')}.`;

function askForToken() {
  if (byId('token').childElementCount === 0) byId('token').replaceChildren(tokenForm(() => location.reload()));
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
    const problem = service.asProblem(error);
    byId('status').textContent = problem.message;
    if (problem.slug === 'unauthorized') askForToken();
  }
}

main();
