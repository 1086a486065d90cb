// The metrics of runs that have ended, as a table.

import { make } from "./controls";
import type { Ended, Metric } from "./messages";
import { seconds } from "./units";

/** The metrics of a queue. */
const OF_QUEUE = [
  "utilization_ratio",
  "sojourn_s_mean",
  "sojourn_s_p50",
  "sojourn_s_p95",
  "sojourn_s_p99",
  "backlog_packets_mean",
  "dropped_packets",
  "marked_packets",
];

/** The metrics of flows: those of a metric stand together, to be compared. A flow has only those of its kind. */
const OF_FLOW: readonly (readonly [name: string, title: string])[] = [
  ["goodput_bps_mean", "Goodput"],
  ["dropped_packets", "Dropped"],
  ["delay_s_mean", "One-way delay, mean"],
  ["fct_s_p50", "Response time, median"],
];

/** Flows that have rows. */
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
export function resultsOf(ends: Ended[], titles: string[], warmup: number, replications: number): HTMLElement[] {
  const queues = ends.map((end) => end.numbers.queues.find((queue) => queue.bottleneck) ?? end.numbers.queues[0]);
  const bodies = [make("tbody", {}, ...OF_QUEUE.flatMap((name) => row("", queues.map((queue) => queue?.metrics[name]))))];
  const flows = ends[0]?.numbers.flows ?? [];
  for (const [name, title] of OF_FLOW) {
    const rows = flows.slice(0, MOST_FLOWS).flatMap(({ flow }) => {
      const own = ends.map((end) => end.numbers.flows.find((other) => other.flow === flow)?.metrics[name]);
      return row(`${title}, ${flow}`, own);
    });
    if (rows.length > 0) bodies.push(make("tbody", {}, ...rows));
  }
  const heads = titles.map((title) => make("th", { scope: "col", textContent: title }));
  const head = make("thead", {}, make("tr", {}, make("td"), ...heads));
  const measured = seconds(ends[0]?.numbers.measured_s ?? 0);
  const one = replications > 1 ? `, replication 1 of ${replications}` : "";
  const caption = make("caption", { textContent: `Results${one}: ${measured} measured${warmup > 0 ? " after the warm-up" : ""}` });
  const notes = [
    ...(warmup > 0 ? ["The charts count drops and marks from the start, the table after the warm-up."] : []),
    ...(flows.length > MOST_FLOWS ? [`Of the flows, the first ${MOST_FLOWS} have rows.`] : []),
  ];
  const sums = ends.map((end) => end.digest).join(", ");
  return [
    make("table", {}, caption, head, ...bodies),
    ...(notes.length > 0 ? [make("p", { className: "note", textContent: notes.join(" ") })] : []),
    make("p", { className: "digest", textContent: `Checksum of every number of the outcome: ${sums}` }),
  ];
}
