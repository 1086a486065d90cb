// The rows of a run, as they come. A run of any length fits: once the rows fill what is shown, twice the time is shown, and two rows become one.

import type { Meta } from "./messages";

/** Simulated seconds that are shown at first, and rows for them: enough for a wide chart. */
const FIRST_SPAN = 60;
export const ROWS = 1500;

/** Quantities that are counts, of which rows that become one have the sum; of others they have the mean. */
const COUNTS = new Set(["drops_packets", "marks_packets", "dropped_packets"]);

/** Simulated microseconds between rows of a run that takes so many seconds. */
export function stepOf(duration: number): number {
  return Math.max(100, Math.round((Math.min(duration, FIRST_SPAN) * 1e6) / ROWS));
}

export class Rows {
  readonly width: number;
  length = 0;
  /** Simulated seconds that are shown. */
  span: number;
  /** Rows as they come that make one. */
  private per = 1;
  private values: Float64Array<ArrayBuffer>;
  /** The row that is not full yet: sums, and how many values are in them. */
  private readonly sums: Float64Array<ArrayBuffer>;
  private readonly numbers: Float64Array<ArrayBuffer>;
  private pending = 0;
  private readonly totals: Float64Array<ArrayBuffer>;
  private readonly isCount: boolean[];
  /** Simulated seconds at which a link changes. */
  readonly moments: number[] = [];

  constructor(readonly meta: Meta) {
    const names = ["time", ...meta.queues.flatMap(() => meta.of_queue), ...meta.lanes.flatMap(() => meta.of_lane)];
    this.width = names.length;
    this.isCount = names.map((name) => COUNTS.has(name));
    this.values = new Float64Array(this.width * 2 * ROWS);
    this.sums = new Float64Array(this.width);
    this.numbers = new Float64Array(this.width);
    this.totals = new Float64Array(this.width);
    this.span = Math.min(meta.end_s, FIRST_SPAN);
  }

  /** Simulated seconds between two rows. */
  get step(): number {
    return this.meta.step_s * this.per;
  }

  /** Rows in about a quarter of a second. */
  get quarter(): number {
    return Math.max(1, Math.round(0.25 / this.step));
  }

  /** Adds rows; true if all rows have changed, because they have become fewer. */
  add(rows: Float64Array<ArrayBuffer>): boolean {
    let folded = false;
    for (let at = 0; at + this.width <= rows.length; at += this.width) {
      for (let column = 1; column < this.width; column++) this.totals[column]! += rows[at + column] || 0;
      this.gather(rows, at);
      if (this.pending === this.per) this.commit();
      while ((rows[at] ?? 0) > this.span && this.span < this.meta.end_s) {
        this.fold();
        folded = true;
      }
    }
    return folded;
  }

  private gather(from: Float64Array<ArrayBuffer>, at: number): void {
    this.sums[0] = from[at] ?? 0;
    for (let column = 1; column < this.width; column++) {
      const value = from[at + column] ?? NaN;
      if (!Number.isFinite(value)) continue;
      this.sums[column]! += value;
      this.numbers[column]!++;
    }
    this.pending++;
  }

  private commit(): void {
    if ((this.length + 1) * this.width > this.values.length) {
      const larger = new Float64Array(this.values.length * 2);
      larger.set(this.values);
      this.values = larger;
    }
    const to = this.length * this.width;
    this.values[to] = this.sums[0] ?? 0;
    for (let column = 1; column < this.width; column++) {
      const number = this.numbers[column] ?? 0;
      const sum = this.sums[column] ?? 0;
      this.values[to + column] = number === 0 ? NaN : this.isCount[column] ? sum : sum / number;
    }
    this.length++;
    this.clear();
  }

  private clear(): void {
    this.sums.fill(0);
    this.numbers.fill(0);
    this.pending = 0;
  }

  /** Shows twice the time: two rows become one. */
  private fold(): void {
    const all = this.values.slice(0, this.length * this.width);
    const kept = { sums: this.sums.slice(), numbers: this.numbers.slice(), pending: this.pending };
    const [before, count] = [this.per, this.length];
    this.clear();
    this.length = 0;
    for (let row = 0; row < count; row++) {
      this.gather(all, row * this.width);
      if (row % 2 === 1) this.commit();
    }
    // A row without its second waits for it, with what had begun after it.
    const odd = count % 2 === 1;
    for (let column = 1; column < this.width; column++) {
      if (odd && !this.isCount[column]) {
        this.sums[column]! *= before;
        this.numbers[column]! *= before;
      }
      this.sums[column]! += kept.sums[column] ?? 0;
      this.numbers[column]! += kept.numbers[column] ?? 0;
    }
    if (kept.pending > 0) this.sums[0] = kept.sums[0] ?? 0;
    this.pending = (odd ? before : 0) + kept.pending;
    this.per = before * 2;
    this.span = Math.min(this.span * 2, this.meta.end_s);
  }

  at(row: number, column: number): number {
    return this.values[row * this.width + column] ?? NaN;
  }

  time(row: number): number {
    return this.at(row, 0);
  }

  /** The row that has a time in it; -1 where there is none yet. */
  find(time: number): number {
    let [low, high] = [0, this.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.time(middle) < time) low = middle + 1;
      else high = middle;
    }
    return low < this.length ? low : -1;
  }

  /** The column of a queue's quantity. */
  ofQueue(queue: number, quantity: string): number {
    return 1 + queue * this.meta.of_queue.length + this.meta.of_queue.indexOf(quantity);
  }

  /** The column of a lane's quantity. */
  ofLane(lane: number, quantity: string): number {
    const queues = this.meta.queues.length * this.meta.of_queue.length;
    return 1 + queues + lane * this.meta.of_lane.length + this.meta.of_lane.indexOf(quantity);
  }

  /** The last finite value of a column. */
  latest(column: number): number {
    for (let row = this.length - 1; row >= Math.max(0, this.length - 200); row--) {
      const value = this.at(row, column);
      if (Number.isFinite(value)) return value;
    }
    return NaN;
  }

  /** The mean of a column over the last rows. */
  mean(column: number, rows: number): number {
    let sum = 0;
    let count = 0;
    for (let row = Math.max(0, this.length - rows); row < this.length; row++) {
      const value = this.at(row, column);
      if (Number.isFinite(value)) {
        sum += value;
        count++;
      }
    }
    return count > 0 ? sum / count : NaN;
  }

  /** The sum of a column over the whole run. */
  total(column: number): number {
    return this.totals[column] ?? 0;
  }
}
