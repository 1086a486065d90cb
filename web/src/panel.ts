// The charts of one run.

import { Chart, type Shape } from "./chart";
import type { Meta, RunFrame } from "./messages";
import { Packets } from "./packets";
import { Rows } from "./rows";
import type { Theme } from "./theme";
import { bits } from "./units";

/** Rows over which throughputs are smoothed: about a quarter of a second. */
function window(meta: Meta): number {
  return Math.max(1, Math.round(0.25 / meta.step_s));
}

/** Which charts there are. */
export const KINDS = ["sojourn", "backlog", "throughput", "window", "drops"] as const;
export type ChartKind = (typeof KINDS)[number];

/** The charts of a run with these queues and lanes. Of several queues, the first is drawn. */
function shape(kind: ChartKind, rows: Rows): Shape {
  const { meta } = rows;
  const lanes = meta.lanes.map((_, index) => index);
  switch (kind) {
    case "sojourn":
      return {
        title: "Time in the queue",
        unit: "ms",
        factor: 1e-3,
        lines: [{ column: rows.ofQueue(0, "sojourn_s"), colour: "ink", smooth: 1, kind: "line" }],
      };
    case "backlog":
      return {
        title: "Waiting in the queue",
        unit: "packets",
        factor: 1,
        lines: [{ column: rows.ofQueue(0, "backlog_packets"), colour: "ink", smooth: 1, kind: "line" }],
      };
    case "throughput":
      return {
        title: "Throughput per flow",
        unit: "Mbps",
        factor: 1e6,
        lines: lanes.map((lane) => ({
          column: rows.ofLane(lane, "throughput_bps"),
          colour: lane,
          smooth: window(meta),
          kind: "line",
        })),
        limit: rows.ofQueue(0, "capacity_bps"),
      };
    case "window":
      return {
        title: "Congestion windows",
        unit: "kB",
        factor: 1e3,
        lines: lanes.map((lane) => ({
          column: rows.ofLane(lane, "cwnd_bytes"),
          colour: lane,
          smooth: 1,
          kind: "line",
        })),
      };
    case "drops":
      return {
        title: "Drops and marks",
        unit: "packets",
        factor: 1,
        lines: [
          { column: rows.ofQueue(0, "marks_packets"), colour: "mark", smooth: 1, kind: "bars" },
          { column: rows.ofQueue(0, "drops_packets"), colour: "drop", smooth: 1, kind: "bars" },
        ],
      };
  }
}

export class Panel {
  readonly element = document.createElement("section");
  private readonly heading = document.createElement("h2");
  readonly rows: Rows;
  readonly charts = new Map<ChartKind, Chart>();
  readonly packets: Packets;
  private readonly charted = document.createElement("div");
  private tolds = 0;

  constructor(
    readonly meta: Meta,
    letter: string,
    kinds: readonly ChartKind[],
    peer: (kind: ChartKind) => Chart | undefined,
  ) {
    this.rows = new Rows(meta);
    const queue = meta.queues[0];
    const title = queue ? `${queue.title} (${queue.release})` : "no queue";
    this.heading.textContent = letter ? `${letter}: ${title}` : title;
    this.element.className = "panel";
    this.element.setAttribute("aria-label", this.heading.textContent);
    this.packets = new Packets(title);
    this.packets.element.hidden = true;
    this.charted.className = "charts";
    for (const kind of kinds) {
      const own = new Chart(shape(kind, this.rows), this.rows, () => peer(kind));
      this.charts.set(kind, own);
      this.charted.append(own.element);
    }
    this.element.append(this.heading, this.packets.element, this.charted);
  }

  /** Another queue has taken over. */
  rename(text: string): void {
    this.heading.textContent = text;
  }

  get title(): string {
    return this.heading.textContent ?? "";
  }

  take(frame: RunFrame, now: number): void {
    this.rows.add(frame.rows);
    if (frame.packets) this.packets.take(frame, now);
  }

  spoil(): void {
    for (const chart of this.charts.values()) chart.spoil();
  }

  draw(theme: Theme, now: number, still: boolean): boolean {
    for (const chart of this.charts.values()) chart.draw(theme, this.meta.end_s, this.meta.warmup_s);
    if (now - this.tolds > 200 || this.tolds === 0) {
      this.tolds = now;
      this.tell();
    }
    return this.packets.element.hidden ? false : this.packets.draw(theme, now, still);
  }

  /** Says the latest values in words. */
  tell(): void {
    const { rows, meta } = this;
    if (rows.length === 0) return;
    const about = window(meta);
    const sojourn = rows.mean(rows.ofQueue(0, "sojourn_s"), about) * 1000;
    const number = (value: number, digits: number): string => (Number.isFinite(value) ? value.toFixed(digits) : "–");
    this.charts.get("sojourn")?.tell(`${number(sojourn, 1)} ms`);
    this.charts.get("backlog")?.tell(`${number(rows.latest(rows.ofQueue(0, "backlog_packets")), 0)} packets`);
    this.charts.get("throughput")?.tell(bits(rows.mean(rows.ofQueue(0, "carried_bps"), about)));
    const windows = meta.lanes.map((_, lane) => rows.latest(rows.ofLane(lane, "cwnd_bytes")));
    const sum = windows.reduce((all, own) => all + (Number.isFinite(own) ? own : 0), 0);
    this.charts.get("window")?.tell(`${number(sum / 1000, 0)} kB together`);
    const drops = rows.sum(rows.ofQueue(0, "drops_packets"));
    const marks = rows.sum(rows.ofQueue(0, "marks_packets"));
    this.charts.get("drops")?.tell(`${drops} dropped, ${marks} marked`);
  }
}
