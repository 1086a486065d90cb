// A chart of a run from its beginning. Only what is new is drawn; everything is drawn again when a value or the time leaves its scale, or
// when size or colours change.

import type { Rows } from "./rows";
import { laneColour, laneDash, type Theme } from "./theme";
import { seconds } from "./units";

/** One line of a chart. */
export interface Line {
  /** What it is called where a chart has several. */
  name: string;
  column: number;
  colour: number | "ink" | "drop" | "soft";
  /** Drawn as the mean of about a quarter of a second. */
  smooth: boolean;
  /** All lines of a chart are lines, or all are parts of its bars, one upon the other. */
  kind: "line" | "bars";
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

/** Pixels that a bar needs at least, with the gap to the next one. */
const BAR = 5;

/** Lines whose values are read out. */
const MOST_READ = 4;

const LEFT = 44;
const BOTTOM = 18;
const TOP = 6;
const RIGHT = 8;

/** Steps of a scale of values, and of an axis of time. */
const STEPS = [1, 1.5, 2, 3, 4, 5, 6, 8, 10];
const OF_TIME = [1, 2, 5, 10];

/** The next step that is not below a value. */
function above(value: number, steps: readonly number[] = STEPS): number {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  for (const step of steps) if (value <= step * power * 1.0001) return step * power;
  return 10 * power;
}

export class Chart {
  readonly element = document.createElement("figure");
  private readonly canvas = document.createElement("canvas");
  private readonly caption = document.createElement("figcaption");
  private readonly value = document.createElement("span");
  private readonly title = document.createElement("span");
  private readonly plot = document.createElement("div");
  private readonly cursor = document.createElement("div");
  /** What nobody sees is not drawn: on a narrow screen most charts are below its end. */
  private inSight = true;
  private said = "";
  private pointed: number | undefined;
  private top = 1;
  private drawn = 0;
  private width = 0;
  private height = 0;
  private ratio = 1;
  private stale = true;
  private sums: number[] = [];
  private counts: number[] = [];
  private last: (readonly [number, number] | undefined)[] = [];
  private readonly bars: boolean;
  /** Simulated seconds of a bar; the one that is drawn, and what each line has in it. */
  private bin = 0;
  private inBin = -1;
  private parts: number[] = [];
  /** The bar up to which the scale has been measured, and what it has. */
  private measured = -1;
  private piled = 0;

  constructor(
    readonly shape: Shape,
    private readonly rows: Rows,
    private readonly peer: () => Chart | undefined,
    /** The reader points at a time, or at none any more. */
    point: (time: number | undefined) => void,
    /** The chart has come into sight and is to be drawn. */
    appeared: () => void,
  ) {
    this.element.className = "chart";
    this.bars = shape.lines[0]?.kind === "bars";
    this.title.className = "chart-title";
    this.value.className = "chart-value";
    this.caption.append(this.title, this.value);
    this.entitle();
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", `${shape.title} over simulated time`);
    this.cursor.className = "cursor";
    this.cursor.hidden = true;
    const { plot } = this;
    plot.className = "plot";
    plot.tabIndex = 0;
    plot.setAttribute("role", "slider");
    plot.setAttribute("aria-label", `${shape.title}, time`);
    plot.setAttribute("aria-valuemin", "0");
    plot.setAttribute("aria-valuenow", "0");
    plot.onkeydown = (event) => {
      const to = this.pressed(event);
      if (to === undefined) return;
      event.preventDefault();
      point(to === "none" ? undefined : to);
    };
    plot.onblur = () => point(undefined);
    plot.append(this.canvas, this.cursor);
    plot.onpointermove = (event) => {
      const x = event.clientX - plot.getBoundingClientRect().left;
      const share = (x - LEFT) / (this.width - LEFT - RIGHT);
      point(share >= 0 && share <= 1 ? share * this.rows.span : undefined);
    };
    plot.onpointerleave = () => point(undefined);
    this.element.append(this.caption, plot);
    const watch = (entries: IntersectionObserverEntry[]): void => {
      this.inSight = entries.at(-1)?.isIntersecting ?? true;
      if (this.inSight) appeared();
    };
    new IntersectionObserver(watch, { rootMargin: "25%" }).observe(plot);
  }

  /** The time to which a key leads from the one that is pointed at. */
  private pressed(event: KeyboardEvent): number | "none" | undefined {
    const end = this.rows.length > 0 ? this.rows.time(this.rows.length - 1) : 0;
    const step = (this.rows.span / 100) * (event.shiftKey ? 10 : 1);
    const at = this.pointed ?? end;
    const within = (time: number): number => Math.min(Math.max(time, 0), end);
    switch (event.key) {
      case "ArrowLeft":
        return within(at - step);
      case "ArrowRight":
        return within(at + step);
      case "Home":
        return 0;
      case "End":
        return end;
      case "Escape":
        return "none";
      default:
        return undefined;
    }
  }

  private entitle(): void {
    const { title, unit } = this.shape;
    const per = this.bin < 1 ? `${Number((this.bin * 1000).toPrecision(3))} ms` : `${this.bin} s`;
    this.title.textContent = this.bars && this.bin > 0 ? `${title}, in ${per}` : `${title} (${unit})`;
  }

  /** Shows the values at a time, or the latest ones again. */
  point(time: number | undefined): void {
    this.pointed = time;
    this.cursor.hidden = time === undefined;
    if (time !== undefined) {
      this.cursor.style.transform = `translateX(${this.x(time, this.rows.span).toFixed(1)}px)`;
      this.readOut(time);
      this.plot.setAttribute("aria-valuemax", this.rows.span.toFixed(2));
      this.plot.setAttribute("aria-valuenow", time.toFixed(2));
      this.plot.setAttribute("aria-valuetext", this.value.textContent ?? "");
    } else this.value.textContent = this.said;
  }

  private readOut(time: number): void {
    const row = this.rows.find(time);
    const values = this.shape.lines.slice(0, MOST_READ).flatMap((line) => {
      const value = (this.bars ? this.sum(time, line) : this.rows.at(row, line.column)) / this.shape.factor;
      const text = Number.isFinite(value) ? String(Number(value.toPrecision(3))) : "–";
      return this.shape.lines.length > 1 ? `${line.name} ${text}` : text;
    });
    const more = this.shape.lines.length > MOST_READ ? ", …" : "";
    this.value.textContent = row < 0 ? "" : `at ${seconds(time)}: ${values.join(", ")}${more} ${this.shape.unit}`;
  }

  /** What the bar at a time has of a line. */
  private sum(time: number, line: Line): number {
    if (this.bin === 0) return NaN;
    const bin = Math.floor(time / this.bin);
    let sum = 0;
    for (let row = Math.max(this.rows.find(bin * this.bin), 0); row < this.rows.length; row++) {
      const own = this.binOf(row);
      if (own > bin) break;
      if (own === bin) sum += this.rows.at(row, line.column) || 0;
    }
    return sum;
  }

  /** The bar of a row, which stands for the time before its own. */
  private binOf(row: number): number {
    return Math.floor((this.rows.time(row) - this.rows.step / 2) / this.bin);
  }

  /** The largest value of the scale; two charts of one kind share it. */
  get scale(): number {
    return this.top;
  }

  /** Everything is to be drawn again: size or colours have changed. */
  spoil(): void {
    this.stale = true;
  }

  /** Says a value beside the title, for those who do not see the canvas, too. */
  tell(text: string): void {
    this.said = text;
    if (this.pointed !== undefined) this.readOut(this.pointed);
    else if (this.value.textContent !== text) this.value.textContent = text;
  }

  draw(theme: Theme, warmup: number): void {
    if (!this.inSight) return;
    const context = this.canvas.getContext("2d", { alpha: false });
    if (!context) return;
    const end = this.rows.span;
    const box = this.stale ? this.canvas.getBoundingClientRect() : undefined;
    if (box) {
      this.ratio = Math.min(window.devicePixelRatio || 1, 2);
      this.width = Math.max(box.width, 120);
      this.height = Math.max(box.height, 60);
      this.canvas.width = Math.round(this.width * this.ratio);
      this.canvas.height = Math.round(this.height * this.ratio);
      if (this.bars) {
        this.bin = above(Math.max((end * BAR) / Math.max(this.width - LEFT - RIGHT, 1), this.rows.step), OF_TIME);
        this.measured = -1;
        this.entitle();
      }
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
    if (this.bars) this.pile(context, theme, from, end);
    else for (const [index, line] of this.shape.lines.entries()) this.stroke(context, theme, line, index, from, end);
    context.restore();
    this.drawn = this.rows.length;
  }

  /** The scale that everything so far needs. */
  private reach(): number {
    let most = this.top;
    if (this.bars) return above(Math.max(most, this.highest()));
    for (let row = this.stale ? 0 : this.drawn; row < this.rows.length; row++) {
      for (const line of this.shape.lines) {
        if (line.smooth) continue;
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

  /** The highest bar so far. */
  private highest(): number {
    let most = 0;
    for (let row = this.measured < 0 ? 0 : this.drawn; row < this.rows.length; row++) {
      const bin = this.binOf(row);
      if (bin !== this.measured) this.piled = 0;
      this.measured = bin;
      for (const line of this.shape.lines) this.piled += (this.rows.at(row, line.column) || 0) / this.shape.factor;
      most = Math.max(most, this.piled);
    }
    return most;
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
    if (warmup > 0 && this.x(Math.min(warmup, end), end) - LEFT > 90) {
      context.textAlign = "right";
      context.textBaseline = "top";
      context.fillText("warm-up", this.x(Math.min(warmup, end), end) - 5, TOP + 4);
    }
    context.strokeStyle = theme.grid;
    context.lineWidth = 1;
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const part of [0, 0.5, 1]) {
      if (this.shape.unit === "packets" && !Number.isInteger(this.top * part)) continue;
      const y = Math.round(this.y(this.top * part)) + 0.5;
      context.beginPath();
      context.moveTo(LEFT, y);
      context.lineTo(right, y);
      context.stroke();
      context.fillText(String(Number((this.top * part).toPrecision(3))), LEFT - 5, Math.max(y, 8));
    }
    context.textBaseline = "alphabetic";
    context.strokeStyle = theme.line;
    context.setLineDash([3, 3]);
    for (const time of this.rows.moments) {
      if (time > end) continue;
      const x = Math.round(this.x(time, end)) + 0.5;
      context.beginPath();
      context.moveTo(x, TOP);
      context.lineTo(x, this.height - BOTTOM);
      context.stroke();
    }
    context.setLineDash([]);
    const step = above(end / 6, OF_TIME);
    for (let time = 0; time <= end * 1.0001; time += step) {
      context.textAlign = time === 0 ? "left" : time > end - step * 0.3 ? "right" : "center";
      context.fillText(time === 0 ? "0 s" : String(Number(time.toPrecision(4))), this.x(time, end), this.height - 5);
    }
    this.drawn = 0;
    this.sums = [];
    this.counts = [];
    this.last = [];
    this.inBin = -1;
    this.parts = [];
  }

  /** Draws bars. The last one grows: it is drawn over itself. */
  private pile(context: CanvasRenderingContext2D, theme: Theme, from: number, end: number): void {
    const { rows, shape } = this;
    for (let row = from; row < rows.length; row++) {
      const bin = this.binOf(row);
      if (bin !== this.inBin) this.bar(context, theme, end);
      if (bin !== this.inBin) this.parts = shape.lines.map(() => 0);
      this.inBin = bin;
      for (const [index, line] of shape.lines.entries()) this.parts[index]! += (rows.at(row, line.column) || 0) / shape.factor;
    }
    this.bar(context, theme, end);
  }

  private bar(context: CanvasRenderingContext2D, theme: Theme, end: number): void {
    const left = this.x(this.inBin * this.bin, end);
    const width = Math.max(this.x((this.inBin + 1) * this.bin, end) - left - 1, 1);
    let below = 0;
    for (const [index, line] of this.shape.lines.entries()) {
      const part = this.parts[index] ?? 0;
      if (part <= 0) continue;
      context.fillStyle = typeof line.colour === "number" ? laneColour(theme, line.colour) : theme[line.colour];
      context.fillRect(left, this.y(below + part), width, this.y(below) - this.y(below + part));
      below += part;
    }
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
    context.lineWidth = 1.4;
    context.setLineDash(typeof line.colour === "number" ? laneDash(line.colour) : []);
    context.lineJoin = "round";
    context.beginPath();
    let last = this.last[index];
    if (last) context.moveTo(last[0], last[1]);
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
      const at = Math.floor(x);
      if (!last) context.moveTo(x, y);
      else if (at === pixel) {
        low = Math.min(low, y);
        high = Math.max(high, y);
      } else {
        flush(last[0], last[1]);
        context.lineTo(x, y);
        pixel = at;
        low = high = y;
      }
      last = [x, y];
    }
    if (last) flush(last[0], last[1]);
    this.last[index] = last;
    context.stroke();
    context.setLineDash([]);
  }

  /** A value, or the mean of the last ones. */
  private smoothed(row: number, line: Line, index: number): number {
    const value = this.rows.at(row, line.column);
    const over = line.smooth ? this.rows.quarter : 1;
    if (over <= 1) return value;
    let sum = this.sums[index] ?? 0;
    let count = this.counts[index] ?? 0;
    if (Number.isFinite(value)) {
      sum += value;
      count++;
    }
    const gone = row - over;
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
