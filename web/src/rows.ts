// The rows of a run, as they come.

import type { Meta } from "./messages";

/** Columns that grow. */
export class Rows {
  private values: Float64Array<ArrayBuffer>;
  length = 0;
  readonly width: number;

  constructor(readonly meta: Meta) {
    this.width = 1 + meta.queues.length * meta.of_queue.length + meta.lanes.length * meta.of_lane.length;
    this.values = new Float64Array(this.width * 1024);
  }

  add(rows: Float64Array<ArrayBuffer>): void {
    const count = Math.floor(rows.length / this.width);
    const needed = (this.length + count) * this.width;
    if (needed > this.values.length) {
      const larger = new Float64Array(Math.max(needed, this.values.length * 2));
      larger.set(this.values);
      this.values = larger;
    }
    this.values.set(rows.subarray(0, count * this.width), this.length * this.width);
    this.length += count;
  }

  at(row: number, column: number): number {
    return this.values[row * this.width + column] ?? NaN;
  }

  time(row: number): number {
    return this.at(row, 0);
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

  /** The sum of a column. */
  sum(column: number): number {
    let sum = 0;
    for (let row = 0; row < this.length; row++) sum += this.at(row, column) || 0;
    return sum;
  }
}
