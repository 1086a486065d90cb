// Addresses that are shared: opened elsewhere, they give the same run, and the command gives the same numbers for the file that is downloaded there.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "@playwright/test";
import type { Ended } from "../src/messages";
import type { State } from "../src/state";
import { ended, open, show, state } from "./visitor";

/** The native build of the module, and the command: `make page-test` builds both. */
const NATIVE = resolve(process.env["SOJOURN_OUTCOME"] ?? "../target/debug/examples/outcome");
const COMMAND = resolve(process.env["SOJOURN_BIN"] ?? "../target/debug/sojourn");

const link = (more: State["doc"]): State["doc"] => ({ topology: { rate: "8Mbps", rtt: "30ms", buffer: "80p", ...more } });

const SHARED: [name: string, what: State][] = [
  ["a long buffer", state(link({ buffer: "400p", queue: "droptail" }))],
  ["CoDel with another target", state(link({ queue: "codel target=10ms" }))],
  ["fair queueing", state({ ...link({ queue: "fq_codel" }), flows: ["3*reno", "udp_rr", "cbr 1Mbps"] })],
  ["PIE under BBR", state({ ...link({ queue: "pie" }), flows: ["2*bbr"] })],
  ["RED with marks", state({ ...link({ queue: "red ecn=true" }), flows: ["2*dctcp"] })],
  ["L4S", state({ ...link({ queue: "dualpi2", rate: "20Mbps" }), flows: ["prague", "cubic"] })],
  ["queues inside a scheduler", state({ ...link({ queue: "drr each=(codel target=3ms)" }), flows: ["2*cubic", "web"] })],
  [
    "changes in the middle",
    state({
      ...link({ queue: "cake" }),
      changes: [
        { at: "3s", link: "left-right", rate: "3Mbps" },
        { at: "5s", link: "left-right", queue: "pie", rate: "6Mbps" },
      ],
    }),
  ],
  [
    "what has no control",
    state({
      ...link({ queue: "droptail" }),
      flows: [{ spec: "2*cubic", start: "1s", rtt: "60ms" }, { kind: "ledbat", label: "late", start: "2s" }],
      impairments: [{ link: "left-right", loss: "0.5%" }],
    }),
  ],
  ["two queues", state(link({ queue: "codel" }), { second: "fq_codel" })],
];

/** The values that the command prints, in SI units: by metric, one for each queue. */
function table(text: string): Map<string, number[]> {
  const [head = [], ...rows] = text.trim().split("\n").map((line) => line.split(/,(?=(?:[^"]*"[^"]*")*[^"]*$)/));
  const [metric, value] = [head.indexOf("metric"), head.indexOf("value")];
  const found = new Map<string, number[]>();
  for (const row of rows) {
    const name = row[metric] ?? "";
    found.set(name, [...(found.get(name) ?? []), Number(row[value])]);
  }
  return found;
}

for (const [name, what] of SHARED) {
  test(`shared, opened elsewhere and run by the command: ${name}`, async ({ page, browser }, info) => {
    await open(page);
    await show(page, what);
    const here = await ended(page);
    await page.getByRole("button", { name: "Copy link" }).click();
    await expect(page).toHaveURL(/#s1=/);
    await expect(page.locator("#status")).not.toBeEmpty();
    // Another visitor has nothing but the address.
    const elsewhere = await browser.newContext({ baseURL: info.project.use.baseURL ?? "" });
    const other = await elsewhere.newPage();
    await open(other, page.url());
    expect(await ended(other)).toEqual(here);
    const shown: Ended[] = await other.evaluate(() => window.sojourn.ends);
    const waiting = other.waitForEvent("download");
    await other.getByRole("button", { name: "Download as TOML" }).click();
    const folder = info.outputPath();
    mkdirSync(folder, { recursive: true });
    const path = join(folder, "page.toml");
    await (await waiting).saveAs(path);
    const command = (await other.locator("#command").textContent()) ?? "";
    await elsewhere.close();
    // The same code, native: every bit of the first run.
    const native = JSON.parse(execFileSync(NATIVE, [path], { encoding: "utf8" })) as { digest: string };
    expect(native.digest).toBe(here[0]);
    test.skip(!existsSync(COMMAND), `the same bits as the native build; not compared with the command, which is not at ${COMMAND}`);
    // The command, as the page shows it.
    const [program, ...rest] = command.split(" ");
    expect(program).toBe("sojourn");
    const printed = table(execFileSync(COMMAND, [...rest, "--format", "csv"], { encoding: "utf8", cwd: folder }));
    let compared = 0;
    for (const [column, end] of shown.entries()) {
      const queue = end.numbers.queues.find((own) => own.bottleneck);
      for (const [metric, own] of Object.entries(queue?.metrics ?? {})) {
        const value = printed.get(metric)?.[column];
        if (value === undefined) continue;
        expect(value, `${metric} in ${readFileSync(path, "utf8")}`).toBe(own.value);
        compared++;
      }
    }
    expect(compared).toBeGreaterThanOrEqual(4 * shown.length);
  });
}
