// The metrics of runs that have ended, as a table.

import { make } from "./controls";
import type { Ended, Metric } from "./messages";
import { seconds } from "./units";

/** The metrics of the table below the charts. */
const TABLE = [
  "utilization_ratio",
  "sojourn_s_mean",
  "sojourn_s_p50",
  "sojourn_s_p95",
  "sojourn_s_p99",
  "backlog_packets_mean",
  "dropped_packets",
  "marked_packets",
];

/** Flows that have a row. */
const MOST_FLOWS = 12;

/** A value with its digits that count. */
function shown(metric: Metric): string {
  const value = metric.shown;
  if (Number.isInteger(value)) return String(value);
  return String(Number(value.toPrecision(4)));
}

function row(title: string, values: (Metric | undefined)[]): HTMLElement[] {
  const known = values.find((metric) => metric !== undefined);
  if (!known) return [];
  const unit = known.unit && known.unit !== "1" ? ` (${known.unit})` : "";
  const cells = values.map((metric) => make("td", { textContent: metric ? shown(metric) : "–" }));
  return [make("tr", {}, make("th", { scope: "row", textContent: `${title || known.title}${unit}` }), ...cells)];
}

/** The table, with a column for each run, and the checksums. */
export function resultsOf(ends: Ended[], titles: string[]): HTMLElement[] {
  const queues = ends.map((end) => end.numbers.queues.find((queue) => queue.bottleneck) ?? end.numbers.queues[0]);
  const body = make("tbody");
  for (const name of TABLE) body.append(...row("", queues.map((queue) => queue?.metrics[name])));
  for (const { flow } of ends[0]?.numbers.flows.slice(0, MOST_FLOWS) ?? []) {
    const own = ends.map((end) => end.numbers.flows.find((other) => other.flow === flow)?.metrics["goodput_bps_mean"]);
    body.append(...row(`Goodput of ${flow}`, own));
  }
  const heads = titles.map((title) => make("th", { scope: "col", textContent: title }));
  const head = make("thead", {}, make("tr", {}, make("td"), ...heads));
  const measured = seconds(ends[0]?.numbers.measured_s ?? 0);
  const caption = make("caption", { textContent: `Results: ${measured} measured after the warm-up` });
  const sums = ends.map((end) => end.digest).join(", ");
  return [
    make("table", {}, caption, head, body),
    make("p", { className: "digest", textContent: `Checksum of every number of the outcome: ${sums}` }),
  ];
}
