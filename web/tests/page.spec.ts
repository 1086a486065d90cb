// What a visitor does with the page, in Chromium.

import { expect, test } from "@playwright/test";
import { ended, FAST, file, open, show, state } from "./visitor";

test("a run ends with the metrics of the queue and of each flow", async ({ page }) => {
  await open(page);
  await show(page, state());
  await ended(page);
  await expect(page.locator(".results")).toContainText("Utilization");
  await expect(page.locator(".results")).toContainText("cubic-1");
});

test("pace, packets and pauses change nothing about the outcome", async ({ page }) => {
  await open(page);
  await show(page, state());
  const [fast] = await ended(page);
  await show(page, state({}, { pace: 20 }));
  await page.waitForTimeout(150);
  await page.getByRole("button", { name: "Pause" }).click();
  await page.waitForTimeout(100);
  await page.getByLabel("Show packets").check();
  await page.getByRole("button", { name: "Play" }).click();
  await page.waitForTimeout(300);
  await page.getByLabel("Show packets").uncheck();
  await page.getByLabel("Speed").selectOption(FAST);
  const [slow] = await ended(page);
  expect(slow).toBe(fast);
});

test("a change in the middle of a run stands in the file, which gives the same run again", async ({ page }) => {
  await open(page);
  await show(page, state({ run: { duration: "20s", warmup: "2s", replications: 1, seed: 3 } }, { pace: 2 }));
  await page.waitForTimeout(700);
  const rate = page.getByRole("textbox", { name: "Rate" }).first();
  await rate.fill("4Mbps");
  await rate.blur();
  await page.waitForTimeout(700);
  await page.getByLabel("Discipline").selectOption("pie");
  await page.waitForTimeout(400);
  await page.getByLabel("Speed").selectOption(FAST);
  const [watched] = await ended(page);
  const toml = await page.locator("#toml").inputValue();
  expect(toml).toContain("4Mbps");
  expect(toml).toContain('queue = "pie"');
  const again = await page.evaluate(
    async (text) => window.sojourn.client.call<{ digest: string }>({ op: "outcome", toml: text }),
    toml,
  );
  expect(again.digest).toBe(watched);
});

test("a slider that is dragged while the run goes on stays in the hand, and the queue reacts", async ({ page }) => {
  await open(page);
  await show(page, state({ topology: { rate: "10Mbps", rtt: "40ms", buffer: "100p", queue: "droptail" }, run: { duration: "60s", warmup: "2s", replications: 1 } }, { pace: 2 }));
  await page.waitForFunction(() => window.sojourn.time > 2);
  const slider = page.getByRole("slider", { name: "Rate, slider" });
  const box = await slider.boundingBox();
  if (!box) throw new Error("no slider");
  const middle = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width / 2, middle);
  await page.mouse.down();
  const values: number[] = [];
  for (const share of [0.45, 0.4, 0.35, 0.3]) {
    await page.mouse.move(box.x + share * box.width, middle, { steps: 4 });
    await page.waitForTimeout(250);
    values.push(Number(await slider.inputValue()));
  }
  await page.mouse.up();
  expect(values).toEqual([...values].sort((a, b) => b - a));
  expect(new Set(values).size).toBe(4);
  const waits = async (): Promise<number> => Number.parseFloat((await page.locator(".chart-value").first().textContent()) ?? "");
  await expect.poll(waits, { timeout: 15_000 }).toBeGreaterThan(250);
  await file(page, "[[changes]]");
});

test("pointing at a chart reads all charts at that time", async ({ page }) => {
  await open(page);
  await show(page, state());
  await ended(page);
  const before = await page.locator(".chart-value").allTextContents();
  await page.locator(".chart .plot").first().hover();
  for (const text of await page.locator(".chart-value").allTextContents()) expect(text).toMatch(/^at 3\.|^at 4\./);
  await page.mouse.move(0, 0);
  expect(await page.locator(".chart-value").allTextContents()).toEqual(before);
});

test("a flow has its parameters and its start in menus and sliders, and the file has them", async ({ page }) => {
  await open(page);
  await show(page, state());
  await page.locator(".flow").first().getByText("Parameters").click();
  const start = page.getByRole("textbox", { name: "start", exact: true });
  await start.fill("2s");
  await start.blur();
  await file(page, 'start = "2s"');
  await page.getByRole("spinbutton", { name: "Flow 1, how many" }).fill("3");
  await page.getByRole("spinbutton", { name: "Flow 1, how many" }).blur();
  await file(page, "3*cubic");
  await page.getByRole("button", { name: "Remove Flow 2" }).click();
  await expect(page.locator(".flow")).toHaveCount(1);
  expect(await ended(page)).toHaveLength(1);
});

test("of several queues, each can be shown", async ({ page }) => {
  await open(page);
  await show(page, state({ topology: { kind: "parking_lot", hops: 3, rate: "10Mbps", queue: "codel" }, flows: ["cubic"] }));
  await ended(page);
  const choose = page.getByLabel("Queue of");
  await expect(choose.locator("option")).toHaveCount(3);
  await choose.selectOption({ index: 2 });
  await expect(page.locator(".chart")).toHaveCount(6);
});

test("two queues run on the same traffic, and the file is a study of both", async ({ page }) => {
  await open(page);
  await show(page, state({}, { second: "droptail" }));
  const digests = await ended(page);
  expect(digests).toHaveLength(2);
  expect(digests[0]).not.toBe(digests[1]);
  await expect(page.locator(".panel")).toHaveCount(2);
  await page.getByRole("button", { name: "Copy link" }).click();
  await expect(page.locator("#command")).toHaveText("sojourn study page.toml");
  await expect(page.locator("#toml")).toHaveValue(/experiment/);
});

test("a file with keys that have no control runs unchanged", async ({ page }) => {
  await open(page);
  const toml = [
    'flows = ["2*reno"]',
    "[run]",
    'duration = "6s"',
    'warmup = "1s"',
    "replications = 1",
    "[topology]",
    'rate = "5Mbps"',
    "[[impairments]]",
    'link = "left-right"',
    'loss = "1%"',
    "",
  ].join("\n");
  await page.locator("#toml").fill(toml);
  await page.getByRole("button", { name: "Run this file" }).click();
  await page.getByLabel("Speed").selectOption(FAST);
  const [shown] = await ended(page);
  const direct = await page.evaluate((text) => window.sojourn.client.call<{ digest: string }>({ op: "outcome", toml: text }), toml);
  expect(shown).toBe(direct.digest);
});

test("a mistake in a file is told with its line and what is meant", async ({ page }) => {
  await open(page);
  await page.locator("#toml").fill('flows = ["reno"]\n[topology]\nqueue = "codell"\n');
  await page.getByRole("button", { name: "Run this file" }).click();
  await expect(page.getByRole("alert")).toContainText('did you mean "codel"');
  await expect(page.getByRole("alert")).toContainText("page.toml:3");
});

test("it can be used by keyboard alone", async ({ page }) => {
  await open(page);
  const play = page.getByRole("button", { name: /Pause|Play/ }).first();
  await play.focus();
  await page.keyboard.press("Enter");
  await expect(play).toHaveText("Play");
  const slider = page.getByRole("slider", { name: /^Rate/ });
  await slider.focus();
  const before = await page.getByRole("textbox", { name: "Rate" }).inputValue();
  for (let press = 0; press < 20; press++) await page.keyboard.press("ArrowRight");
  await expect(page.getByRole("textbox", { name: "Rate" })).not.toHaveValue(before);
});

test("it works without a network after the first visit", async ({ page, context }) => {
  await open(page);
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  await page.reload();
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  await context.setOffline(true);
  await page.goto("lessons/bufferbloat.html");
  await page.waitForSelector(".chart canvas");
  await open(page);
  await show(page, state());
  expect(await ended(page)).toHaveLength(1);
});

test("every lesson has a live figure", async ({ page }) => {
  await page.goto("lessons/index.html");
  const links = await page.locator(".lessons-list a").evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).href));
  expect(links).toHaveLength(8);
  for (const link of links) {
    await page.goto(link);
    await page.waitForSelector(".chart canvas");
    await page.getByLabel("Speed").selectOption(FAST);
    await ended(page);
    await expect(page.locator(".lesson ol > li")).toHaveCount(3);
    await expect(page.locator("details summary", { hasText: "Answer" })).toBeVisible();
  }
});
