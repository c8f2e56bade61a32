// Line chart over steps or time, with a cursor.

import { formatNumber, svg } from './dom.js';

const WIDEST = 640;
const HEIGHT = 200;
const LEFT = 40;
const [TOP, RIGHT, BOTTOM] = [14, 14, 24];

/** Returns a round distance between grid lines, for about five lines. */
function stride(span, least = 1) {
  const raw = span / 4;
  const magnitude = 10 ** Math.floor(Math.log10(raw || 1));
  return Math.max(least, [1, 2, 5, 10].map((factor) => factor * magnitude).find((step) => step >= raw) ?? 1);
}

/**
 * A chart. `series`: `{ name, points: [[x, y], …], isStepped }`; `label`: text for screen readers; `pick(x)`: called
 * with the position of a click or drag, optional.
 */
export class Chart {
  constructor({ series, label, unit, low = 0, pick }) {
    const points = series.flatMap((line) => line.points);
    // Drawn at display size in narrow windows, so that text stays legible.
    this.width = Math.min(WIDEST, innerWidth - 24);
    const greatest = (axis) => points.reduce((most, point) => Math.max(most, point[axis]), 1);
    this.maxX = greatest(0);
    const top = greatest(1);
    const step = stride(top - low);
    this.low = Math.floor(low / step) * step;
    this.top = Math.ceil(top / step) * step;
    this.cursor = svg('line', { class: 'cursor', y1: TOP, y2: HEIGHT - BOTTOM, x1: 0, x2: 0 });
    this.element = svg('svg', { class: 'chart', viewBox: `0 0 ${this.width} ${HEIGHT}`, role: 'img', 'aria-label': label },
      this.grid(step), this.ticks(unit === 'step' ? 1 : 0.01), svg('text', { x: this.width - RIGHT, y: HEIGHT - 5, 'text-anchor': 'end' }, unit),
      series.map((line) => this.line(line)), pick && this.cursor);
    if (pick) this.listen(pick);
  }

  x(value) {
    return LEFT + (value / this.maxX) * (this.width - LEFT - RIGHT);
  }

  y(value) {
    return HEIGHT - BOTTOM - ((value - this.low) / (this.top - this.low)) * (HEIGHT - TOP - BOTTOM);
  }

  grid(step) {
    const lines = [];
    for (let value = this.low; value <= this.top; value += step) {
      lines.push(svg('line', { class: 'grid', x1: LEFT, x2: this.width - RIGHT, y1: this.y(value), y2: this.y(value) }),
        svg('text', { x: LEFT - 8, y: this.y(value) + 4, 'text-anchor': 'end' }, formatNumber(value)));
    }
    return lines;
  }

  /** Numbers of the horizontal axis, up to the unit. */
  ticks(least) {
    const step = stride(this.maxX, least);
    const count = Math.floor(this.maxX / step);
    return Array.from({ length: count }, (_, at) => (at + 1) * step).filter((value) => this.x(value) < this.width - RIGHT - 70)
      .map((value) => svg('text', { x: this.x(value), y: HEIGHT - 5, 'text-anchor': 'middle' }, formatNumber(Number(value.toFixed(2)))));
  }

  line({ name, points, isStepped }) {
    const at = ([x, y]) => `${this.x(x).toFixed(1)} ${this.y(y).toFixed(1)}`;
    const path = points.map((point, index) => {
      if (index === 0) return `M${at(point)}`;
      return isStepped ? `H${this.x(point[0]).toFixed(1)}V${this.y(point[1]).toFixed(1)}` : `L${at(point)}`;
    });
    return svg('path', { class: `line ${name}`, d: path.join('') });
  }

  /** Moves the cursor without redrawing the chart. */
  moveCursor(x) {
    this.cursor.setAttribute('transform', `translate(${this.x(x).toFixed(1)})`);
  }

  listen(pick) {
    const act = (event) => {
      const box = this.element.getBoundingClientRect();
      const part = (((event.clientX - box.left) / box.width) * this.width - LEFT) / (this.width - LEFT - RIGHT);
      pick(Math.round(Math.max(0, Math.min(1, part)) * this.maxX));
    };
    this.element.classList.add('live');
    this.element.addEventListener('pointerdown', (event) => {
      this.element.setPointerCapture(event.pointerId);
      act(event);
    });
    this.element.addEventListener('pointermove', (event) => event.buttons && act(event));
  }
}
