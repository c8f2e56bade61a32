// The playground: connects the board, the panels and the service.

import { Aids } from './aids.js';
import { BoardView } from './board.js';
import { Comparison } from './compare.js';
import { announce, byId, counted, el, isStill } from './dom.js';
import { Editing } from './editing.js';
import { errorText } from './editor.js';
import { Expansions } from './expansions.js';
import { Jobs } from './jobs.js';
import * as link from './link.js';
import { Picture } from './picture.js';
import { Game } from './play.js';
import { Player } from './player.js';
import { swapped, grid, isSame, replay, shape } from './puzzle.js';
import { LiveSearch, describeMethod, describeProblem, describeSolution, statistics } from './search.js';
import * as service from './service.js';
import { GOALS, Setup, understood } from './setup.js';
import { Snippets } from './snippets.js';
import { Stoppable } from './stoppable.js';
import { keep, kept } from './storage.js';
import { Tabs } from './tabs.js';
import { tokenForm } from './token.js';
import { Track } from './track.js';

/** Text of the search panel before the first search. */
const NOTHING_YET = 'Solve a board to see statistics of the search.';

/** The first board: 31 moves from its goal, the maximum of its shape. */
const FIRST = [[8, 6, 7], [2, 5, 4], [3, 0, 1]];

class Playground {
  constructor(info) {
    this.info = info;
    this.puzzle = { board: FIRST, goal: 'blank_last' };
    // `requested` is the puzzle of the last request, whose response may be pending.
    Object.assign(this, { requested: this.puzzle, pending: null, revision: 0, isSolvable: true });
    byId('tab-jobs').hidden = !info.limits.jobs;
    this.tabs = new Tabs(document.querySelector('[role=tablist]'), (panel) => this.jobs?.show(panel === 'jobs'));
    this.view = new BoardView(byId('board'), (moves) => this.play(moves));
    this.aids = new Aids(this.view, { moves: byId('good-moves'), share: byId('share') });
    this.track = new Track(() => this.game);
    this.game = new Game(this.view, {
      setStatus: (text) => this.setStatus(text), change: () => this.updateButtons(), shown: (puzzle) => this.aids.change(puzzle),
      finished: () => this.track.check(),
    });
    const solution = el('div', {});
    byId('solution').replaceChildren(solution, this.track.element);
    this.player = new Player(byId('player'), solution, (state, step, still) => this.showStep(state, step, still));
    this.editing = new Editing(this.view.frame, {
      board: () => this.game.board, isThere: (board) => this.requested === this.puzzle && isSame(board, this.game.board),
      submit: (board) => this.setPuzzle({ board }, { isTyped: true }), showProblem: (problem) => this.showProblem(problem),
      paste: (text) => this.paste(text), toggled: (isOn) => this.setEditing(isOn),
    });
    this.picture = new Picture((url) => this.view.setImage(url, this.goalBoard));
    this.setup = new Setup(byId('setup'), info, {
      random: () => this.random(), goal: (goal, isTyped) => this.setPuzzle({ goal }, { isGoal: true, isTyped }), method: () => this.updateLink(),
      known: (puzzle) => this.setPuzzle(puzzle), edited: () => this.showProblem(null), distance: (isOn) => this.game.toggleDistance(isOn),
      good: (isOn) => this.aids.toggleMoves(isOn), shares: (heuristic) => this.aids.chooseShares(heuristic),
      paste: (text) => this.paste(text), show: () => this.tabs.show('setup'), picture: (file) => this.setPicture(file),
      numbers: (isOn) => byId('board').classList.toggle('unnumbered', !isOn),
    });
    const access = { commitInput: () => this.commitInput(), puzzle: () => this.puzzle };
    this.comparison = new Comparison(byId('compare'), info, { ...access, choose: (puzzle) => this.setPuzzle(puzzle) });
    if (info.limits.jobs) this.jobs = new Jobs(byId('jobs'), info, access);
    this.snippets = new Snippets(byId('code'));
    this.search = new Stoppable((act) => this.attempt(act));
    this.createSearchPanel(access);
    this.listen();
  }

  /** Creates the search panel: statistics, progress and the tree. */
  createSearchPanel({ commitInput }) {
    this.report = el('div', {});
    this.live = new LiveSearch(this.report, (text) => this.setStatus(text));
    this.expansions = new Expansions({
      commitInput, request: (as) => ({ ...(as.algorithm ? this.puzzle : this.request), ...as }), search: (act) => this.search.run(act),
    });
    byId('search').replaceChildren(this.report, this.expansions.element);
    this.clearResults();
  }

  /** Clears all results of the previous puzzle. */
  clearResults() {
    this.player.clear();
    this.track.clear();
    this.comparison.clear();
    this.live.cancelDrawing();
    this.report.replaceChildren(el('p', { class: 'empty' }, NOTHING_YET));
    this.expansions.clear();
  }

  listen() {
    const actions = {
      random: () => this.random(), solve: () => this.solve(), hint: () => this.hint(),
      undo: () => this.undo(), restart: () => this.restart(), edit: () => this.editing.toggle(), project: () => this.toggleProjector(),
    };
    for (const [id, act] of Object.entries(actions)) byId(id).addEventListener('click', act);
    byId('board').addEventListener('keydown', (event) => this.press(event));
    // The fragment holds the puzzle, so a link within the page must not replace it.
    document.querySelector('.skip').addEventListener('click', (event) => {
      event.preventDefault();
      byId('stage').focus();
    });
    // The frame of another page shows only the board; its link opens the whole page at the same puzzle.
    byId('whole').addEventListener('click', () => { byId('whole').href = `./#${link.parameters(this.request)}`; });
    addEventListener('hashchange', () => this.open());
    service.onTokenRequired(askForToken);
    this.toggleProjector(kept('projected', { forLong: true }) === 'true');
  }

  /** Handles keys on the board except arrows. In the editor, keys enter text. */
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

  setStatus(text, kind = '') {
    byId('status').textContent = text;
    byId('status').className = `status ${kind}`;
  }

  /** The puzzle with its method: the body of a request, and the content of links and snippets. */
  get request() {
    return { ...this.puzzle, ...this.setup.method.fields };
  }

  /** Loads the puzzle in the address, or the first board. */
  async open() {
    document.documentElement.classList.toggle('embedded', link.isEmbedded());
    const fields = link.read();
    const { board = FIRST, goal = 'blank_last', rows, cols, encoding, ...method } = fields;
    const before = this.setup.method.fields;
    const ignored = this.setup.method.setFields(method);
    const problem = await this.setPuzzle({ board, goal, rows, cols, encoding }, { isLink: true });
    if (!problem && ignored.length) this.setStatus(ignoredFields('link', ignored), 'bad');
    // Only these statuses say that the link is wrong.
    if (!problem || ![400, 422].includes(problem.document.status)) return;
    const message = 'This link is not valid. Its content is under “Any notation”, where you can correct it.';
    if (this.goalBoard) {
      this.setup.method.setFields(before);
      this.updateLink({ isLink: true });
      this.showProblem(null);
      this.setStatus(message, 'bad');
    } else await this.setPuzzle({ board: FIRST, goal: 'blank_last' }, { isLink: true, message });
    this.setup.showInvalidText(JSON.stringify(fields), problem);
  }

  /**
   * Replaces the puzzle, or parts of it, if the service accepts it. Returns the problem if it does not, or null; also null
   * if another request replaced this one. `isTyped`: typed into the board; `isGoal`: chosen or typed as a goal;
   * `isStillSo()`: whether the puzzle is still wanted when the response arrives.
   */
  setPuzzle(part, options = {}) {
    const { rows, cols, encoding, ...rest } = this.requested;
    const hasBoard = 'board' in part;
    this.requested = { ...(hasBoard ? rest : this.requested), ...part };
    return this.remember(this.loadPuzzle(this.requested, { hasBoard, ...options }));
  }

  /** Remembers the pending request for another puzzle. */
  remember(request) {
    this.pending = request;
    const end = () => {
      if (this.pending === request) this.pending = null;
    };
    request.then(end, end);
    return request;
  }

  async loadPuzzle(puzzle, options) {
    this.search.stop();
    this.revision += 1;
    const { revision } = this;
    try {
      const reachability = await service.solvable(puzzle);
      if (revision !== this.revision) return null;
      if (options.isStillSo?.() === false) this.requested = this.puzzle;
      else this.startPuzzle(puzzle, reachability, options);
      return null;
    } catch (error) {
      const problem = service.asProblem(error);
      if (revision !== this.revision) return problem;
      this.requested = this.puzzle;
      if (options.isGoal) this.setup.showGoalProblem(problem);
      else this.reportProblem(problem);
      return problem;
    }
  }

  /** Starts a puzzle that the service accepted. */
  startPuzzle(puzzle, { start, goal, solvable, detail, reachable_goals, read_as }, { known = null, message = null, isTyped = false, isGoal = false, isLink = false, hasBoard }) {
    // A search may have started since the request.
    this.search.stop();
    this.puzzle = { board: start, goal: this.info.goals.includes(puzzle.goal) ? puzzle.goal : goal };
    Object.assign(this, { requested: this.puzzle, goalBoard: goal, isSolvable: solvable, detail, reachableGoals: reachable_goals });
    this.clearResults();
    this.game.begin({ ...this.puzzle, goalBoard: goal, known });
    this.setup.showGoal(this.puzzle.goal, goal, { isTyped: isGoal && isTyped });
    byId('goal-view').replaceChildren(el('figcaption', {}, 'Goal'), grid(goal));
    if (hasBoard && !isTyped) this.editing.show(start);
    this.setup.shape = shape(start);
    this.fitPicture();
    this.showProblem(null);
    const reading = read_as ? `Read as ${read_as}. ` : '';
    const text = message ?? reading + (solvable ? 'The goal can be reached. Play, or press Solve.' : 'The goal cannot be reached from this board.');
    this.setStatus(text, solvable ? '' : 'bad');
    announce(text);
    this.updateLink({ isLink });
  }

  /**
   * Makes the displayed board and goal the puzzle, whether they were typed or moved. Returns false if one of them is
   * invalid or the service does not respond.
   */
  async commitInput() {
    if (this.editing.isOn && !await this.editing.finish()) return false;
    if (!await this.setup.finish()) return false;
    while (this.pending) if (await this.pending) return false;
    while (this.game.isAway && !this.isOnSolution) {
      const { board } = this.game;
      if (await this.setPuzzle({ board }, { isStillSo: () => this.game.board === board })) return false;
    }
    return true;
  }

  reportProblem(problem) {
    this.showProblem(problem);
    this.setStatus('');
    announce(errorText(problem));
  }

  /** Shows the errors of a board at their cells. For null: no errors, or fixes if the board is unsolvable. */
  showProblem(problem) {
    const isUnsolvable = !problem && !this.isSolvable;
    this.editing.showProblem(problem);
    byId('errors').hidden = !problem && !isUnsolvable;
    if (isUnsolvable) this.showFixes();
  }

  /** Offers changes that make an unsolvable board solvable. */
  showFixes() {
    const { board } = this.puzzle;
    const apply = (part) => async () => {
      await this.setPuzzle(part);
      byId('stage').focus();
    };
    const button = (text, part) => el('button', { type: 'button', class: 'small', onclick: apply(part) }, text);
    const fixes = el('div', { class: 'row' }, button('Swap 1 and 2', { board: swapped(board) }));
    byId('errors').replaceChildren(el('p', {}, this.detail), fixes);
    for (const [name, text] of GOALS.filter(([other]) => this.reachableGoals.includes(other))) {
      fixes.append(button(`Goal: ${text}`, { goal: name }));
    }
  }

  /** Updates the address and the snippets. */
  updateLink({ isLink = false } = {}) {
    link.write(this.request, { isLink });
    this.snippets.show(this.request);
    this.updateButtons();
  }

  updateButtons() {
    this.track.update();
    byId('undo').disabled = !this.game.moves || this.editing.isOn;
    byId('restart').disabled = !this.game.moves && !this.editing.isOn;
    byId('board').classList.toggle('solved', this.game.isSolved);
  }

  /** True if the displayed board is the current step of the solution. */
  get isOnSolution() {
    const { states, step } = this.player;
    return Boolean(states) && isSame(states[step].board, this.game.board);
  }

  play(moves) {
    // A move along the solution steps the player.
    const { states, step } = this.player;
    if (this.isOnSolution && !this.game.isOwn && states[step + 1]?.move === moves) this.player.go(step + 1);
    else {
      this.player.pause();
      this.game.play(moves);
    }
  }

  showStep({ board }, step, still) {
    this.game.watch(board, this.moves.slice(0, step), still);
    this.updateButtons();
  }

  /** Pauses playback, and hides the player while the editor is open. */
  setEditing(isOn) {
    this.player.pause();
    this.player.controls.hidden = isOn || !this.player.states;
    this.game.cancelRequest();
    this.updateButtons();
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
    this.showProblem(null);
    if (this.player.states) this.player.go(0);
  }

  random() {
    return this.remember(this.loadRandom());
  }

  /** Requests a random board. Returns the problem if there is none. */
  async loadRandom() {
    this.revision += 1;
    this.requested = this.puzzle;
    const { revision } = this;
    const { randomParameters: parameters } = this.setup;
    const goal = this.goalFor(parameters);
    let drawn = null;
    const problem = await this.attempt(async () => { drawn = await service.random({ ...parameters, goal: link.goalText(goal) }); });
    if (revision !== this.revision) return null;
    if (problem) {
      this.reportProblem(problem);
      return problem;
    }
    const { board, seed, length, lower_bound: low, upper_bound: high } = drawn;
    const known = length === undefined ? null : { length, optimal: true, lower_bound: length };
    const hardness = known ? `Shortest solution: ${counted(length, 'move')}.` : `Shortest solution: between ${low} and ${high} moves.`;
    const source = parameters.seed ? `Seed: ${seed}. Clear the seed field for other boards.` : `Seed: ${seed}`;
    this.requested = { board, goal };
    return this.loadPuzzle(this.requested, { known, message: `${hardness} ${source}`, hasBoard: true });
  }

  /** Returns the goal for boards of a shape. A custom goal fits only its own shape. */
  goalFor({ rows, cols }) {
    const { goal } = this.puzzle;
    const isFit = typeof goal === 'string' || (goal.length === rows && goal[0].length === cols);
    return isFit ? goal : 'blank_last';
  }

  /** Runs an action. Returns the problem that stopped it, or null. */
  async attempt(act) {
    try {
      await act();
      return null;
    } catch (error) {
      return error.name === 'AbortError' ? null : service.asProblem(error);
    }
  }

  /** Loads a pasted board, which keeps goal and method, or a pasted request. Returns the problem or null. */
  async paste(text) {
    let fields = null;
    const unreadable = await this.attempt(() => { fields = understood(text); });
    if (unreadable) return unreadable;
    const { board, goal, rows, cols, encoding, ...method } = fields;
    const isAlone = goal === undefined && Object.keys(method).length === 0;
    const part = { board, rows, cols, encoding };
    let problem = await this.setPuzzle({ ...part, goal: goal ?? (isAlone ? this.puzzle.goal : 'blank_last') });
    if (isAlone && problem?.slug === 'goal-mismatch') problem = await this.setPuzzle({ ...part, goal: 'blank_last' });
    if (problem) {
      this.showProblem(null);
      return problem;
    }
    if (isAlone) return null;
    const ignored = this.setup.method.setFields(method);
    this.updateLink();
    return ignored.length ? new service.Problem({ detail: ignoredFields('text', ignored) }) : null;
  }

  async setPicture(file) {
    const problem = await this.picture.setFile(file).then(() => null, () => true);
    if (problem) this.setStatus('The browser cannot display this file as an image.', 'bad');
    else {
      await this.fitPicture();
      if (file) this.setStatus('');
    }
  }

  /** Crops the image, if there is one, to the shape of the board. */
  async fitPicture() {
    await this.picture.fit(shape(this.puzzle.board)).catch(() => this.setStatus('The image cannot be divided into tiles.', 'bad'));
  }

  toggleProjector(isOn = !document.documentElement.classList.contains('projected')) {
    document.documentElement.classList.toggle('projected', isOn);
    byId('project').setAttribute('aria-pressed', String(isOn));
    keep('projected', String(isOn), { forLong: true });
  }

  async solve() {
    if (this.isStarting) return;
    this.isStarting = true;
    const isReady = await this.commitInput().finally(() => { this.isStarting = false; });
    if (!isReady) return;
    const { puzzle } = this;
    this.game.cancelRequest();
    this.setStatus('Searching…');
    this.live.begin();
    const timer = setTimeout(() => this.tabs.show('search'), 700);
    const { problem, isStopped } = await this.search.run(async (signal) => {
      const result = await service.watch({ ...this.request, include: ['states'] }, (name, data) => this.live.record(name, data), signal);
      if (this.puzzle === puzzle) this.showSolution(result);
    }).finally(() => clearTimeout(timer));
    if (this.puzzle === puzzle) this.showUnfinished(problem, isStopped);
  }

  showSolution(result) {
    const text = describeSolution(result);
    this.live.end(`${text} ${describeMethod(result.search)}.`);
    this.report.append(statistics(result.search));
    this.game.known ??= result;
    // A response lists the first states of a very long path. Those have estimates, and the player needs all.
    const isWhole = result.states.length > result.moves.length;
    const states = isWhole ? result.states : replay(this.puzzle.board, result.moves);
    const isShown = this.load({ ...result, states }, text, 'good');
    this.tabs.show('solution');
    if (isShown && !isStill()) this.player.play();
  }

  /** Ends a search without a result, stopped or failed. Shows the best solution so far, if there is one. */
  showUnfinished(problem, isStopped) {
    if (!problem && !isStopped) return;
    const best = problem?.document.solution ?? this.live.best;
    const text = isStopped ? 'Stopped.' : describeProblem(problem);
    const shown = best ? `${text} Best so far: ${describeSolution(best)}` : text;
    this.live.end(shown);
    if (problem?.document.search) this.report.append(statistics(problem.document.search));
    const kind = isStopped ? '' : 'bad';
    if (best) this.load({ ...best, states: replay(this.puzzle.board, best.moves), search: null }, shown, kind);
    else {
      this.setStatus(shown, kind);
      announce(shown);
    }
  }

  /** Loads a solution into the player. Returns false if it is not shown because the user has moved tiles. */
  load(solution, text, kind) {
    const isPlaying = this.game.isOwn && this.game.moves !== '';
    this.moves = solution.moves;
    this.player.load(solution, { summary: el('p', { class: 'now' }, describeSolution(solution)), isQuiet: isPlaying });
    const message = isPlaying ? `${text} Press Play to watch it from the start.` : text;
    this.setStatus(message, kind);
    announce(message);
    return !isPlaying;
  }
}

const ignoredFields = (source, names) => `Ignored unknown or invalid fields of the ${source}: ${names.join(', ')}.`;

function askForToken() {
  if (byId('token').childElementCount === 0) byId('token').replaceChildren(tokenForm(() => location.reload()));
}

// Requested first, so that the response arrives while the page is built.
const pendingInfo = service.info();

async function main() {
  try {
    const info = await pendingInfo;
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
