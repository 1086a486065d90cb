// Parts of the page that need no browser: rows, specifications, quantities.

import { expect, test } from "@playwright/test";
import type { Meta } from "../src/messages";
import { ROWS, Rows, stepOf } from "../src/rows";
import { arg, line, parse, withArg } from "../src/spec";
import { range, read, write } from "../src/units";
import type { Param } from "../src/catalogue";

function meta(end: number): Meta {
  return {
    queues: [{ link: "a", discipline: "droptail", title: "", release: "", rate_bps: 1e6 }],
    lanes: [{ name: "x", kind: "cubic", forward: true }],
    of_queue: ["backlog_packets", "drops_packets"],
    of_lane: ["throughput_bps", "dropped_packets"],
    step_s: stepOf(end) / 1e6,
    end_s: end,
    warmup_s: 0,
    flows: 1,
    bytes: 0,
    links: [],
  };
}

test("a run of any length is shown in a bounded number of rows, with every drop and the mean backlog", () => {
  const own = meta(3600);
  const rows = new Rows(own);
  const count = Math.round(own.end_s / own.step_s);
  let folds = 0;
  let most = 0;
  for (let row = 1; row <= count; row++) {
    if (rows.add(Float64Array.from([row * own.step_s, row, 1, row % 2 ? NaN : 10, 0]))) folds++;
    most = Math.max(most, rows.length);
  }
  expect(most).toBeLessThanOrEqual(ROWS + 1);
  expect(folds).toBe(6);
  expect(rows.span).toBe(3600);
  expect(rows.total(rows.ofQueue(0, "drops_packets"))).toBe(count);
  let drops = 0;
  for (let row = 0; row < rows.length; row++) {
    drops += rows.at(row, rows.ofQueue(0, "drops_packets"));
    // A row has the mean of what it stands for, and ends where that ends.
    const last = Math.round(rows.time(row) / own.step_s);
    const per = Math.round(rows.step / own.step_s);
    expect(rows.at(row, rows.ofQueue(0, "backlog_packets"))).toBeCloseTo(last - (per - 1) / 2, 6);
    expect(rows.at(row, rows.ofLane(0, "throughput_bps"))).toBe(10);
  }
  expect(drops).toBeGreaterThan(count - 64);
});

test("rows of a short run stay as they come", () => {
  const own = meta(3);
  const rows = new Rows(own);
  expect(rows.add(Float64Array.from([0.002, 1, 2, 3, 4, 0.004, 5, 6, 7, 8]))).toBe(false);
  expect(rows.length).toBe(2);
  expect(rows.at(1, 1)).toBe(5);
});

test("a specification is written as it was read", () => {
  for (const text of [
    "codel",
    "cbr 500kbps",
    "drr quantum=1500B each=(codel target=5ms)",
    "prio each=(codel target=3ms),(droptail)",
    'tbf filter="port 5 (a)" rate=6Mbps',
  ]) {
    expect(line(parse(text))).toBe(text);
  }
  expect(arg(parse("drr each=(codel target=5ms)"), "each")).toBe("(codel target=5ms)");
  expect(line(withArg(parse("codel target=5ms ecn=true"), "target", "8ms"))).toBe("codel target=8ms ecn=true");
  expect(line(withArg(parse("codel target=5ms ecn=true"), "target", undefined))).toBe("codel ecn=true");
});

test("a slider writes what the file format reads, to three digits", () => {
  const like = (text: string, kind: Param["kind"]) => read(kind, text) ?? { value: 0, unit: "" };
  expect(write("rate", 12_345_678, like("10Mbps", "rate"))).toBe("12.3Mbps");
  expect(write("duration", 0.0051, like("5ms", "duration"))).toBe("5.1ms");
  expect(write("limit", 99.6, like("100p", "limit"))).toBe("100p");
  expect(write("limit", 1.26, like("1bdp", "limit"))).toBe("1.26bdp");
  expect(write("fraction", 0.021, like("2%", "fraction"))).toBe("2.1%");
  expect(write("integer", 7.4, like("3", "integer"))).toBe("7");
});

test("a slider ends at the allowed range, and else within a factor of 64", () => {
  const param = { kind: "duration", default: "5ms", low: "1us", high: "10ms" } as Param;
  const [low, high] = range(param, { value: 5e-3, unit: "ms" });
  expect(low).toBeCloseTo(5e-3 / 64, 12);
  expect(high).toBe(10e-3);
});
