// The charts of one run.

import { Chart, type Line, type Shape } from "./chart";
import type { Meta, RunFrame } from "./messages";
import { Packets } from "./packets";
import { make, words } from "./controls";
import { Rows } from "./rows";
import type { Theme } from "./theme";
import { bits } from "./units";

/** Which charts there are. */
export const KINDS = ["sojourn", "backlog", "throughput", "window", "rtt", "drops"] as const;
export type ChartKind = (typeof KINDS)[number];

/** A chart of a run, with one of its queues. */
function shape(kind: ChartKind, rows: Rows, queue: number, counts: number[] | undefined): Shape {
  const { meta } = rows;
  const lanes = meta.lanes.map((_, index) => index);
  const each = meta.flows <= meta.lanes.length;
  const ofLanes = (quantity: string, smooth: boolean, all: string): Line[] =>
    lanes.map((lane) => {
      const name = meta.lanes[lane]?.name ?? "";
      return { name: each ? name : `${all} ${name}`, column: rows.ofLane(lane, quantity), colour: lane, smooth, kind: "line" };
    });
  switch (kind) {
    case "sojourn":
      return {
        title: "Time in the queue",
        unit: "ms",
        factor: 1e-3,
        lines: [{ name: "", column: rows.ofQueue(queue, "sojourn_s"), colour: "ink", smooth: false, kind: "line" }],
      };
    case "backlog":
      return {
        title: "Waiting in the queue",
        unit: "packets",
        factor: 1,
        lines: [{ name: "", column: rows.ofQueue(queue, "backlog_packets"), colour: "ink", smooth: false, kind: "line" }],
      };
    case "throughput":
      return {
        title: each ? "Throughput per flow" : counts?.length === 1 ? `Throughput of all ${meta.lanes[0]?.name ?? ""}` : "Throughput, all of a kind",
        unit: "Mbps",
        factor: 1e6,
        lines: ofLanes("throughput_bps", true, "all"),
        limit: rows.ofQueue(queue, "capacity_bps"),
      };
    case "window":
      return {
        title: each ? "Congestion windows" : "Congestion window, mean",
        unit: "kB",
        factor: 1e3,
        lines: ofLanes("cwnd_bytes", false, "mean"),
      };
    case "rtt":
      return {
        title: each ? "Round trip per flow" : "Round trip, mean",
        unit: "ms",
        factor: 1e-3,
        lines: ofLanes("srtt_s", false, "mean"),
      };
    case "drops": {
      const marked: Line = { name: "marked", column: rows.ofQueue(queue, "marks_packets"), colour: "soft", smooth: false, kind: "bars" };
      // Where there are several queues, a flow may lose packets in any of them.
      const drops: Line[] =
        meta.queues.length === 1
          ? ofLanes("dropped_packets", false, "all").map((line) => ({ ...line, kind: "bars" }))
          : [{ name: "dropped", column: rows.ofQueue(queue, "drops_packets"), colour: "drop", smooth: false, kind: "bars" }];
      return {
        title: "Drops and marks",
        unit: "packets",
        factor: 1,
        lines: [...drops, marked],
      };
    }
  }
}

export class Panel {
  readonly element = document.createElement("section");
  private readonly heading = document.createElement("h2");
  readonly rows: Rows;
  readonly charts = new Map<ChartKind, Chart>();
  readonly packets: Packets;
  private readonly charted = document.createElement("div");
  private told = 0;
  /** Which of the queues is shown. */
  queue = 0;

  constructor(
    readonly meta: Meta,
    private readonly letter: string,
    private readonly kinds: readonly ChartKind[],
    /** How many flows each lane stands for, where that is known. */
    private readonly counts: number[] | undefined,
    private readonly peer: (kind: ChartKind) => Chart | undefined,
    chosen: () => void,
    private readonly pointed: (time: number | undefined) => void,
    private readonly appeared: () => void,
  ) {
    this.rows = new Rows(meta);
    this.element.className = "panel";
    this.packets = new Packets();
    this.packets.element.hidden = true;
    this.charted.className = "charts";
    const head = make("div", { className: "panel-head" }, this.heading);
    if (meta.queues.length > 1) {
      const links = meta.queues.map((queue, index) => [String(index), queue.link] as const);
      head.append(
        words("Queue of", links, "0", (value) => {
          this.queue = Number(value);
          this.build();
          chosen();
        }),
      );
    }
    this.element.append(head, this.packets.element, this.charted);
    this.build();
  }

  /** Makes the charts of the queue that is shown. */
  private build(): void {
    const queue = this.meta.queues[this.queue];
    this.rename(queue ? `${queue.title} (${queue.release})` : "No queue");
    this.packets.restart();
    this.charts.clear();
    for (const kind of this.kinds) {
      this.charts.set(kind, new Chart(shape(kind, this.rows, this.queue, this.counts), this.rows, () => this.peer(kind), this.pointed, this.appeared));
    }
    this.charted.replaceChildren(...[...this.charts.values()].map((chart) => chart.element));
  }

  /** Another queue has taken over. */
  rename(text: string): void {
    this.heading.textContent = this.letter ? `${this.letter}: ${text}` : text;
    this.element.setAttribute("aria-label", this.heading.textContent);
  }

  /** A link changes at a time. */
  changes(at: number): void {
    this.rows.moments.push(at);
    this.spoil();
  }

  get title(): string {
    return this.heading.textContent ?? "";
  }

  take(frame: RunFrame, now: number): void {
    if (this.rows.add(frame.rows)) this.spoil();
    if (frame.packets) this.packets.take(frame, now);
  }

  /** Shows the values at a time, or the latest ones again. */
  point(time: number | undefined): void {
    for (const chart of this.charts.values()) chart.point(time);
  }

  spoil(): void {
    for (const chart of this.charts.values()) chart.spoil();
  }

  draw(theme: Theme, now: number, still: boolean): boolean {
    for (const chart of this.charts.values()) chart.draw(theme, this.meta.warmup_s);
    if (now - this.told > 200 || this.told === 0) {
      this.told = now;
      this.tell();
    }
    return this.packets.element.hidden ? false : this.packets.draw(theme, now, still);
  }

  /** Says the latest values in words. */
  tell(): void {
    const { rows, meta, queue } = this;
    if (rows.length === 0) return;
    const about = rows.quarter;
    const sojourn = rows.mean(rows.ofQueue(queue, "sojourn_s"), about) * 1000;
    const number = (value: number, digits: number): string => (Number.isFinite(value) ? value.toFixed(digits) : "–");
    this.charts.get("sojourn")?.tell(`${number(sojourn, 1)} ms`);
    this.charts.get("backlog")?.tell(`${number(rows.latest(rows.ofQueue(queue, "backlog_packets")), 0)} packets`);
    this.charts.get("throughput")?.tell(bits(rows.mean(rows.ofQueue(queue, "carried_bps"), about)));
    const windows = meta.lanes.map((_, lane) => rows.latest(rows.ofLane(lane, "cwnd_bytes")));
    const sum = windows.reduce((all, own) => all + (Number.isFinite(own) ? own : 0), 0);
    this.charts.get("window")?.tell(meta.flows <= meta.lanes.length ? `${number(sum / 1000, 0)} kB together` : this.each(windows, 1000, "kB"));
    const trips = meta.lanes.map((_, lane) => rows.mean(rows.ofLane(lane, "srtt_s"), about) * 1000);
    const known = trips.filter((own) => Number.isFinite(own));
    const [least, most] = [Math.min(...known), Math.max(...known)];
    const span = number(least, 0) === number(most, 0) ? number(least, 0) : `${number(least, 0)} to ${number(most, 0)}`;
    this.charts.get("rtt")?.tell(meta.flows <= meta.lanes.length ? (known.length > 0 ? `${span} ms` : "–") : this.each(trips, 1, "ms"));
    const drops = rows.total(rows.ofQueue(queue, "drops_packets"));
    const marks = rows.total(rows.ofQueue(queue, "marks_packets"));
    this.charts.get("drops")?.tell(`${drops} dropped${marks > 0 ? `, ${marks} marked (grey)` : ""} so far`);
  }

  /** Means of flows that are drawn together. */
  private each(values: number[], factor: number, unit: string): string {
    const all = values.flatMap((value, lane) => {
      const count = this.counts?.[lane];
      const of = count !== undefined ? ` each, mean of ${count}` : " each";
      return Number.isFinite(value) ? [`${(value / factor).toFixed(0)} ${unit}${of}${values.length > 1 ? ` ${this.meta.lanes[lane]?.name ?? ""}` : ""}`] : [];
    });
    return all.slice(0, 2).join("; ");
  }
}
