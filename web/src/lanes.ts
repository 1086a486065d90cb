// How many flows a line of a chart stands for: few flows have a line each, many have one for each kind.

import type { Doc, Meta, Value } from "./messages";
import { of } from "./spec";

/** The name under which flows of an entry are drawn together, and how many they are. */
function entry(flow: Value): [name: string, count: number] {
  if (typeof flow === "object" && !Array.isArray(flow)) {
    const [name, count] = typeof flow["spec"] === "string" ? entry(flow["spec"]) : [of(flow, "").name, Number(flow["count"] ?? 1)];
    return [typeof flow["label"] === "string" ? flow["label"] : name, count];
  }
  const match = /^(?:(\d+)\s*\*\s*)?(.*)$/s.exec(String(flow).trim());
  return [of(match?.[2] ?? "", "").name, Number(match?.[1] ?? 1)];
}

/** The flows of each lane; none where the scenario does not tell. */
export function countsOf(doc: Doc, meta: Meta): number[] | undefined {
  if (meta.flows <= meta.lanes.length) return meta.lanes.map(() => 1);
  if (meta.lanes.length === 1) return [meta.flows];
  const counts = new Map<string, number>();
  for (const flow of Array.isArray(doc["flows"]) ? doc["flows"] : []) {
    const [name, count] = entry(flow);
    counts.set(name, (counts.get(name) ?? 0) + count);
  }
  const own = meta.lanes.map((lane) => counts.get(lane.name) ?? NaN);
  return own.reduce((sum, count) => sum + count, 0) === meta.flows ? own : undefined;
}

/** What a lane is called: with the number of its flows, where they are several. */
export function called(name: string, count: number | undefined): string {
  return count !== undefined && count > 1 ? `${name} (${count} flows)` : name;
}
