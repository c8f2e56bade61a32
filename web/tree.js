// The search tree: drawing, selection and playback of the first expanded or generated nodes.

import { announce, choice, counted, el, formatNumber, svg } from './dom.js';
import { grid, isSame, placeOf, shape, toText } from './puzzle.js';

/** Up to this number, nodes are drawn as boards; more are drawn as dots. */
const AS_BOARDS = 40;
const CELL = 17;
const ZOOMS = [0.15, 0.25, 0.4, 0.6, 0.8, 1, 1.4];

/** What is said about the nodes of each kind. `f` is the order of the search; generated nodes have only g + h. */
const KINDS = {
  expansions: {
    noun: 'expansion', slider: 'Expansions shown', order: 'order of expansion', f: 'f',
    facts: ({ isGoal, open, closed }, place) => [
      ['expanded', isGoal ? 'no (goal)' : place], ...(Number.isInteger(open) ? [['open list', open], ['closed list', closed]] : []),
    ],
  },
  generated: {
    noun: 'node', slider: 'Nodes shown', order: 'order of generation', f: 'g + h',
    facts: ({ verdict, manhattan }, place) => [['generated', place], ['verdict', verdict], ['Manhattan', manhattan]],
  },
};

/** Returns generated nodes in the form of expansions. */
const asNodes = (generated) => generated.map(({ board, parent, g, h, verdict, ...rest }) => ({
  board, parent, g, h, f: g + h, verdict, isGoal: verdict === 'goal', tile: parent === null ? null : slid(generated[parent].board, board), ...rest,
}));

/** The tile that slid from one board to the next, to where the blank was. */
function slid(from, to) {
  const [row, col] = placeOf(from, 0);
  return to[row][col];
}

/** Places the nodes: leaves side by side, parents centered above their children. */
function layout(expansions) {
  const nodes = expansions.map((expansion, index) => ({ ...expansion, index, children: [], depth: 0, x: 0 }));
  const roots = [];
  for (const node of nodes) {
    const parent = nodes[node.parent ?? -1];
    if (!parent) {
      roots.push(node);
      continue;
    }
    node.up = parent;
    node.depth = parent.depth + 1;
    parent.children.push(node);
  }
  let leaves = 0;
  const waiting = roots.toReversed().map((node) => [node, false]);
  while (waiting.length) {
    const [node, areChildrenPlaced] = waiting.pop();
    if (node.children.length === 0) node.x = leaves++;
    else if (areChildrenPlaced) node.x = (node.children[0].x + node.children.at(-1).x) / 2;
    else waiting.push([node, true], ...node.children.toReversed().map((child) => [child, false]));
  }
  return { nodes, roots, width: leaves, height: Math.max(...nodes.map(({ depth }) => depth)) + 1 };
}

/** Returns the goal as a child of its parent, if the parent was expanded. The goal itself is not expanded. */
function goalNode(expansions, states) {
  if (states.length < 2) return [];
  const before = states.at(-2);
  const parent = expansions.findLastIndex(({ g, board }) => g === before.g && isSame(board, before.board));
  return parent < 0 ? [] : [{ ...states.at(-1), parent, isGoal: true }];
}

/** Marks the nodes of the solution. */
function markPath({ nodes, roots }, states) {
  let level = roots;
  for (const { board } of states) {
    const on = level.filter((node) => isSame(node.board, board));
    on.forEach((node) => { node.isOnPath = true; });
    level = on.flatMap((node) => node.children);
  }
  return nodes;
}

export class Tree {
  constructor(container) {
    this.container = container;
  }

  clear() {
    this.selected = null;
    this.container.replaceChildren();
  }

  /** Draws the first `count` nodes, `expansions` or `generated` as `kind` says. `states` are the states of the solution. */
  load(nodes, states, count, kind = 'expansions') {
    this.kind = KINDS[kind];
    const isGenerated = kind === 'generated';
    const first = isGenerated ? asNodes(nodes.slice(0, count)) : nodes.slice(0, count);
    this.count = first.length;
    // The goal is generated, but not expanded.
    this.plan = layout(isGenerated ? first : [...first, ...goalNode(first, states)]);
    this.nodes = markPath(this.plan, states);
    const { rows, cols } = shape(first[0].board);
    this.areBoards = first.length <= AS_BOARDS && rows * cols <= 16;
    this.step = this.areBoards ? [cols * CELL + 22, rows * CELL + 50] : [16, 34];
    this.frame();
    this.draw();
    this.until = this.count;
    this.zoom(this.fittingScale());
    this.select(this.nodes[0], { isQuiet: true });
  }

  /** Name of a node, as the first word of a sentence. */
  get noun() {
    return this.kind.noun.replace(/^./, (letter) => letter.toUpperCase());
  }

  frame() {
    const last = this.count;
    this.slider = el('input', {
      type: 'range', min: 1, max: last, value: last, 'aria-label': this.kind.slider, oninput: () => this.grow(Number(this.slider.value)),
    });
    this.shown = el('output', {}, `${last} / ${last}`);
    const button = (label, act, text) => el('button', { type: 'button', class: 'small', 'aria-label': label, title: label, onclick: act }, text);
    const by = (step) => () => this.zoom(ZOOMS[Math.max(0, Math.min(ZOOMS.length - 1, ZOOMS.indexOf(this.scale) + step))]);
    this.detail = el('div', { class: 'node-detail' });
    this.view = el('div', {
      class: 'tree', tabindex: 0, role: 'application', 'aria-roledescription': 'search tree',
      'aria-label': `Tree of ${counted(last, this.kind.noun)}. Up: parent; down: child; left and right: siblings; Page Up and Page Down: ${this.kind.order}.`,
      onkeydown: (event) => this.navigate(event), onclick: (event) => this.pick(event),
    });
    this.container.replaceChildren(
      el('div', { class: 'scrub' }, button('First node', () => this.walk(-last), '«'), button('One node back', () => this.walk(-1), '‹'), button('One node forward', () => this.walk(1), '›'),
        this.slider, this.shown, button('Smaller', by(-1), '−'), button('Larger', by(1), '+')),
      this.view, this.detail);
  }

  draw() {
    const [across, down] = this.step;
    const at = (node) => [(node.x + 0.5) * across, (node.depth + 0.5) * down];
    this.size = [this.plan.width * across, this.plan.height * down];
    const costs = this.nodes.map(({ f }) => f);
    const [low, high] = [Math.min(...costs), Math.max(...costs)];
    const edges = svg('g', { class: 'edges' });
    const dots = svg('g', {});
    for (const node of this.nodes) {
      const [x, y] = at(node);
      if (node.up) {
        const [fromX, fromY] = at(node.up);
        const [from, to] = this.areBoards ? [fromY + down / 2 - 9, y - down / 2 + 10] : [fromY, y];
        const middle = (from + to) / 2;
        node.edge = svg('path', { d: `M${fromX} ${from}C${fromX} ${middle} ${x} ${middle} ${x} ${to}`, class: node.isOnPath ? 'on-path' : null });
        edges.append(node.edge);
      }
      node.mark = svg('g', { transform: `translate(${x} ${y})`, class: `node${node.isOnPath ? ' on-path' : ''}${node.isGoal ? ' goal' : ''}${node.verdict === 'duplicate' ? ' duplicate' : ''}`, 'data-node': node.index },
        this.areBoards ? miniature(node) : svg('circle', { r: node.isGoal ? 8 : 6 }));
      node.mark.style.setProperty('--heat', high === low ? 0 : (node.f - low) / (high - low));
      node.place = [x, y];
      dots.append(node.mark);
    }
    this.drawing = svg('svg', { viewBox: `0 0 ${this.size[0]} ${this.size[1]}`, 'aria-hidden': 'true' }, edges, dots);
    this.view.replaceChildren(this.drawing);
  }

  /** Returns the largest scale at which the tree fits the width, or the smallest legible one. */
  fittingScale() {
    const room = this.view.clientWidth || 600;
    const fits = ZOOMS.filter((scale) => scale <= 1 && this.size[0] * scale <= room);
    return fits.at(-1) ?? (this.areBoards ? 0.6 : 0.4);
  }

  zoom(scale) {
    this.scale = scale;
    this.drawing.setAttribute('width', this.size[0] * scale);
    this.drawing.setAttribute('height', this.size[1] * scale);
    if (this.selected) this.reveal(this.selected);
  }

  /** Shows the tree after a number of expansions. */
  grow(until) {
    for (let at = Math.min(until, this.until); at < Math.max(until, this.until); at += 1) {
      const { mark, edge } = this.nodes[at];
      mark.classList.toggle('later', at >= until);
      edge?.classList.toggle('later', at >= until);
    }
    for (const { mark, edge } of this.nodes.slice(this.count)) {
      mark.classList.toggle('later', until < this.count);
      edge.classList.toggle('later', until < this.count);
    }
    this.until = until;
    this.shown.value = `${until} / ${this.count}`;
    this.select(this.nodes[until - 1], { isQuiet: true });
  }

  /** Shows more nodes, or fewer if `step` is negative, and describes the last one shown. */
  walk(step) {
    const until = Math.max(1, Math.min(this.count, this.until + step));
    this.slider.value = until;
    this.grow(until);
    this.select(this.selected);
  }

  pick(event) {
    const mark = event.target.closest('[data-node]');
    if (mark) this.select(this.nodes[Number(mark.dataset.node)]);
  }

  navigate(event) {
    const { selected } = this;
    const siblings = selected.up ? selected.up.children : this.plan.roots;
    const beside = (step) => siblings[siblings.indexOf(selected) + step] ?? this.level(selected, step);
    const next = {
      ArrowUp: () => selected.up, ArrowDown: () => selected.children[0], ArrowLeft: () => beside(-1), ArrowRight: () => beside(1),
      PageUp: () => this.nodes[selected.index - 1], PageDown: () => this.nodes[selected.index + 1],
      Home: () => this.nodes[0], End: () => this.nodes.at(-1),
    }[event.key];
    if (!next) return;
    event.preventDefault();
    const node = next();
    if (node) this.select(node);
  }

  /** Returns the nearest node of the same depth beyond the siblings. */
  level({ depth, x }, step) {
    const ahead = this.nodes.filter((node) => node.depth === depth && (node.x - x) * step > 0);
    return ahead.sort((one, other) => Math.abs(one.x - x) - Math.abs(other.x - x))[0];
  }

  select(node, { isQuiet = false } = {}) {
    this.highlight(this.selected, false);
    this.selected = node;
    this.highlight(node, true);
    this.reveal(node);
    const { index, g, h, f, tile, children, board, isGoal, verdict } = node;
    this.detail.replaceChildren(grid(board), el('dl', {},
      [...this.kind.facts(node, `${formatNumber(index + 1)} of ${formatNumber(this.count)}`), ['reached', tile ? `by sliding ${tile}` : 'start'],
        ['g', g], ['h', h], [this.kind.f, Math.round(f * 1000) / 1000], ['children shown', children.length]]
        .map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', {}, String(value))))));
    if (!isQuiet) announce(`${isGoal ? 'The goal' : `${this.noun} ${index + 1}`}${verdict ? `, ${verdict}` : ''}: g ${g}, h ${h}, ${this.kind.f} ${f}, ${counted(children.length, 'child').replace('childs', 'children')}; ${toText(board)}`);
  }

  /** Marks a node and the path to it. */
  highlight(node, isOn) {
    node?.mark.classList.toggle('selected', isOn);
    for (let at = node; at; at = at.up) at.edge?.classList.toggle('lit', isOn);
  }

  reveal({ place: [x, y] }) {
    const [left, top] = [x * this.scale, y * this.scale];
    const { scrollLeft, scrollTop, clientWidth, clientHeight } = this.view;
    if (left < scrollLeft + 30 || left > scrollLeft + clientWidth - 30) this.view.scrollLeft = left - clientWidth / 2;
    if (top < scrollTop + 30 || top > scrollTop + clientHeight - 30) this.view.scrollTop = top - clientHeight / 2;
  }
}

/** Draws a board with its costs below. */
function miniature({ board, g, h, f }) {
  const { rows, cols } = shape(board);
  const [width, height] = [cols * CELL + 6, rows * CELL + 6];
  const tiles = board.flatMap((row, down) => row.map((tile, right) => tile && svg('text', {
    x: (right - cols / 2 + 0.5) * CELL, y: (down - rows / 2 + 0.5) * CELL - 4, 'text-anchor': 'middle',
  }, String(tile))));
  return [svg('rect', { x: -width / 2, y: -height / 2 - 8, width, height, rx: 4 }), ...tiles.filter(Boolean),
    svg('text', { class: 'costs', y: height / 2 + 4, 'text-anchor': 'middle' }, `${g} + ${h}${f === g + h ? '' : ` → ${Math.round(f * 10) / 10}`}`)];
}

/** Creates the select for the number of nodes. */
export const counts = () => choice([40, 200, 500, 2000].map((count) => [count, `first ${count}`]), 200, { 'aria-label': 'Nodes to draw' });
