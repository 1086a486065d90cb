// Scenarios that go wrong: what the visitor sees, and that the page goes on.

import { expect, test } from "@playwright/test";
import { clock, ended, open, show, state } from "./visitor";

test("a scenario of a hundred thousand flows says how much memory it needs, and the page goes on", async ({ page }) => {
  await open(page);
  await show(page, state({ flows: ["100000*cubic"] }));
  await expect(page.getByRole("alert")).toContainText("needs about", { timeout: 30_000 });
  await expect(page.getByRole("alert")).toContainText("run it with the command instead");
  await show(page, state());
  expect(await ended(page)).toHaveLength(1);
  await expect(page.getByRole("alert")).toBeHidden();
});

test("thousands of flows run, and those of one kind are drawn together", async ({ page }) => {
  await open(page);
  await show(page, state({ flows: ["3000*cubic", "udp_rr"], topology: { rate: "100Mbps", rtt: "40ms", buffer: "1000p", queue: "fq_codel" }, run: { duration: "3s", warmup: "1s", replications: 1 } }));
  expect(await ended(page)).toHaveLength(1);
  await expect(page.locator(".legend li")).toHaveCount(2);
});

test("a run without an end goes on until it is paused, and its figure has room for it", async ({ page }) => {
  await open(page);
  await show(page, state({ run: { duration: "200h", warmup: "0s", replications: 1 } }));
  await expect(page.locator(".clock")).toContainText("of 200 h");
  await page.waitForFunction(() => window.sojourn.time > 120, undefined, { timeout: 60_000 });
  await page.getByRole("button", { name: "Pause" }).click();
  await page.waitForTimeout(100);
  const at = await clock(page);
  await page.waitForTimeout(500);
  expect(await clock(page)).toBe(at);
});

test("a Worker that does not answer is told after some seconds, and can be stopped", async ({ page }) => {
  await open(page);
  await show(page, state({}, { pace: 1 }));
  // One request that takes for ever: what a fault of the simulator that never comes back looks like from outside.
  const toml = 'flows = ["20*cubic"]\n[run]\nduration = "199h"\nwarmup = "0s"\nreplications = 1\n[topology]\nrate = "1Gbps"\n';
  await page.evaluate((text) => window.sojourn.client.send({ kind: "call", id: -1, request: { op: "outcome", toml: text } }), toml);
  await expect(page.getByRole("alert")).toContainText("without a break", { timeout: 15_000 });
  await page.getByRole("button", { name: "Stop it" }).click();
  await expect(page.getByRole("alert")).toContainText("You stopped the simulator");
  await show(page, state());
  expect(await ended(page)).toHaveLength(1);
});

test("a trap is told with its time and its reason, and the next run works", async ({ page }) => {
  await open(page);
  await show(page, state({}, { pace: 1 }));
  await page.waitForFunction(() => window.sojourn.time > 0.2);
  await page.evaluate(() => window.sojourn.client.send({ kind: "call", id: -1, request: { op: "trap" } }));
  const alert = page.getByRole("alert");
  await expect(alert).toContainText("a trap was asked for");
  await expect(alert).toContainText(/stopped at \d/);
  await expect(alert).toContainText("has been started again");
  // The controls still work, without a visit anew.
  await page.getByRole("button", { name: "Play again" }).click();
  await page.waitForFunction(() => window.sojourn.time > 0.2);
  await show(page, state());
  expect(await ended(page)).toHaveLength(1);
});

test("an address that was cut off says so, and the page begins with the first scenario", async ({ page }) => {
  await open(page, "#s1=abcdef");
  await expect(page.getByRole("alert")).toContainText("cannot be read");
});
