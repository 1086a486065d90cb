// A chart over the whole length of a run. The axis of time is fixed, so that only what is new has to be drawn; everything is drawn again
// when a value leaves the scale, or when size or colours change.

import type { Rows } from "./rows";
import { laneColour, laneDash, type Theme } from "./theme";

/** One line of a chart. */
export interface Line {
  column: number;
  colour: number | "ink" | "drop" | "mark";
  /** Smoothed over so many rows. */
  smooth: number;
  kind: "line" | "step" | "bars";
}

export interface Shape {
  title: string;
  unit: string;
  /** What a value is divided by to be in that unit. */
  factor: number;
  lines: Line[];
  /** A column drawn as a limit, such as the capacity. */
  limit?: number;
}

const LEFT = 44;
const BOTTOM = 18;
const TOP = 6;
const RIGHT = 8;

/** The next of 1, 2, 5, 10... */
function above(value: number): number {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  for (const step of [1, 1.5, 2, 3, 5, 7.5, 10]) if (value <= step * power * 1.0001) return step * power;
  return 10 * power;
}

export class Chart {
  readonly element = document.createElement("figure");
  private readonly canvas = document.createElement("canvas");
  private readonly caption = document.createElement("figcaption");
  private readonly value = document.createElement("span");
  private top = 1;
  private drawn = 0;
  private width = 0;
  private height = 0;
  private ratio = 1;
  private stale = true;
  private sums: number[] = [];
  private counts: number[] = [];
  private last: (readonly [number, number] | undefined)[] = [];

  constructor(
    readonly shape: Shape,
    private rows: Rows,
    private readonly peer: () => Chart | undefined = () => undefined,
  ) {
    this.element.className = "chart";
    const title = document.createElement("span");
    title.textContent = `${shape.title} (${shape.unit})`;
    title.className = "chart-title";
    this.value.className = "chart-value";
    this.caption.append(title, this.value);
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", `${shape.title} over simulated time`);
    this.element.append(this.caption, this.canvas);
  }

  /** The largest value of the scale; two charts of one kind share it. */
  get scale(): number {
    return this.top;
  }

  /** Everything is to be drawn again: size or colours have changed. */
  spoil(): void {
    this.stale = true;
  }

  /** Starts over with the rows of another run. */
  restart(rows: Rows): void {
    this.rows = rows;
    this.top = 1;
    this.stale = true;
  }

  /** Says a value beside the title, for those who do not see the canvas, too. */
  tell(text: string): void {
    if (this.value.textContent !== text) this.value.textContent = text;
  }

  draw(theme: Theme, end: number, warmup: number): void {
    const context = this.canvas.getContext("2d", { alpha: false });
    if (!context) return;
    const box = this.stale ? this.canvas.getBoundingClientRect() : undefined;
    if (box) {
      this.ratio = Math.min(window.devicePixelRatio || 1, 2);
      this.width = Math.max(box.width, 120);
      this.height = Math.max(box.height, 60);
      this.canvas.width = Math.round(this.width * this.ratio);
      this.canvas.height = Math.round(this.height * this.ratio);
    }
    const reached = this.reach();
    const shared = Math.max(reached, this.peer()?.scale ?? 0);
    if (shared > this.top || this.stale) {
      this.top = Math.max(shared, this.stale ? reached : this.top);
      this.clear(context, theme, end, warmup);
      this.stale = false;
    }
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.save();
    context.beginPath();
    context.rect(LEFT, 0, this.width - LEFT - RIGHT, this.height - BOTTOM + 1);
    context.clip();
    const from = this.drawn;
    for (const [index, line] of this.shape.lines.entries()) this.stroke(context, theme, line, index, from, end);
    context.restore();
    this.drawn = this.rows.length;
  }

  /** The scale that everything so far needs. */
  private reach(): number {
    let most = this.top;
    for (let row = this.stale ? 0 : this.drawn; row < this.rows.length; row++) {
      for (const line of this.shape.lines) {
        if (line.smooth > 1) continue;
        const value = this.rows.at(row, line.column) / this.shape.factor;
        if (value > most) most = value;
      }
      if (this.shape.limit !== undefined) {
        const value = (this.rows.at(row, this.shape.limit) / this.shape.factor) * 1.05;
        if (value > most) most = value;
      }
    }
    return above(most);
  }

  private x(time: number, end: number): number {
    return LEFT + (time / end) * (this.width - LEFT - RIGHT);
  }

  private y(value: number): number {
    return this.height - BOTTOM - (value / this.top) * (this.height - BOTTOM - TOP);
  }

  private clear(context: CanvasRenderingContext2D, theme: Theme, end: number, warmup: number): void {
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.fillStyle = theme.back;
    context.fillRect(0, 0, this.width, this.height);
    const right = this.width - RIGHT;
    if (warmup > 0) {
      context.fillStyle = theme.grid;
      context.globalAlpha = 0.5;
      context.fillRect(LEFT, TOP, this.x(Math.min(warmup, end), end) - LEFT, this.height - BOTTOM - TOP);
      context.globalAlpha = 1;
    }
    context.font = "11px system-ui, sans-serif";
    context.fillStyle = theme.soft;
    context.strokeStyle = theme.grid;
    context.lineWidth = 1;
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const part of [0, 0.5, 1]) {
      const y = Math.round(this.y(this.top * part)) + 0.5;
      context.beginPath();
      context.moveTo(LEFT, y);
      context.lineTo(right, y);
      context.stroke();
      context.fillText(String(Number((this.top * part).toPrecision(3))), LEFT - 5, Math.max(y, 8));
    }
    context.textBaseline = "alphabetic";
    const step = above(end / 6);
    for (let time = 0; time <= end * 1.0001; time += step) {
      context.textAlign = time === 0 ? "left" : time > end - step * 0.3 ? "right" : "center";
      context.fillText(time === 0 ? "0 s" : String(Number(time.toPrecision(4))), this.x(time, end), this.height - 5);
    }
    this.drawn = 0;
    this.sums = [];
    this.counts = [];
    this.last = [];
  }

  private stroke(
    context: CanvasRenderingContext2D,
    theme: Theme,
    line: Line,
    index: number,
    from: number,
    end: number,
  ): void {
    const { rows, shape } = this;
    if (rows.length === from) return;
    context.strokeStyle =
      typeof line.colour === "number" ? laneColour(theme, line.colour) : theme[line.colour];
    context.lineWidth = line.kind === "bars" ? 1.5 : 1.4;
    context.setLineDash(typeof line.colour === "number" ? laneDash(line.colour) : []);
    context.lineJoin = "round";
    context.beginPath();
    let last = this.last[index];
    if (last && line.kind !== "bars") context.moveTo(last[0], last[1]);
    // Of several rows in a column of pixels, the first, the least, the most and the last are drawn.
    let pixel = -1;
    let low = Infinity;
    let high = -Infinity;
    const flush = (x: number, y: number): void => {
      if (high - low > 1) {
        context.lineTo(x, low);
        context.lineTo(x, high);
      }
      context.lineTo(x, y);
    };
    for (let row = from; row < rows.length; row++) {
      const value = this.smoothed(row, line, index) / shape.factor;
      if (!Number.isFinite(value)) continue;
      const x = this.x(rows.time(row), end);
      const y = this.y(value);
      if (line.kind === "bars") {
        if (value > 0) {
          context.moveTo(x, this.y(0));
          context.lineTo(x, y);
        }
        continue;
      }
      const at = Math.floor(x);
      if (!last) context.moveTo(x, y);
      else if (at === pixel) {
        low = Math.min(low, y);
        high = Math.max(high, y);
      } else {
        flush(last[0], last[1]);
        if (line.kind === "step") context.lineTo(x, last[1]);
        context.lineTo(x, y);
        pixel = at;
        low = high = y;
      }
      last = [x, y];
    }
    if (last && line.kind !== "bars") flush(last[0], last[1]);
    this.last[index] = last;
    context.stroke();
    context.setLineDash([]);
  }

  /** A value, or the mean of the last ones. */
  private smoothed(row: number, line: Line, index: number): number {
    const value = this.rows.at(row, line.column);
    if (line.smooth <= 1) return value;
    let sum = this.sums[index] ?? 0;
    let count = this.counts[index] ?? 0;
    if (Number.isFinite(value)) {
      sum += value;
      count++;
    }
    const gone = row - line.smooth;
    if (gone >= 0) {
      const before = this.rows.at(gone, line.column);
      if (Number.isFinite(before)) {
        sum -= before;
        count--;
      }
    }
    this.sums[index] = sum;
    this.counts[index] = count;
    return count > 0 ? Math.max(sum / count, 0) : NaN;
  }
}
