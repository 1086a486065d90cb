// What a visitor sees, in Chromium.

import AxeBuilder from "@axe-core/playwright";
import { expect, test, type Page } from "@playwright/test";
import type { App } from "../src/app";
import type { State } from "../src/state";

declare global {
  interface Window {
    sojourn: App;
  }
}

const FAST = "fast";

/** A state with a short run. */
function state(more: Partial<State["doc"]> = {}, others: Partial<State> = {}): State {
  return {
    doc: {
      flows: ["2*cubic", "udp_rr"],
      run: { duration: "8s", warmup: "2s", replications: 1, seed: 1 },
      topology: { rate: "10Mbps", rtt: "40ms", buffer: "100p", queue: "codel" },
      ...more,
    },
    second: null,
    pace: FAST,
    packets: false,
    ...others,
  };
}

async function open(page: Page, path = ""): Promise<void> {
  await page.goto(path || "./");
  await page.waitForFunction(() => window.sojourn !== undefined && document.querySelector(".settings fieldset") !== null);
}

async function show(page: Page, what: State): Promise<void> {
  await page.evaluate((next) => window.sojourn.show(next), what);
}

async function ended(page: Page): Promise<string[]> {
  await page.waitForFunction(() => window.sojourn.digests.length > 0, undefined, { timeout: 60_000 });
  return page.evaluate(() => window.sojourn.digests);
}

/** Frames per second over some seconds, as requestAnimationFrame counts them. */
async function frames(page: Page, seconds: number): Promise<number> {
  return page.evaluate(
    (length) =>
      new Promise<number>((done) => {
        let count = 0;
        const began = performance.now();
        const next = (now: number): void => {
          count++;
          if (now - began > length * 1000) done((count * 1000) / (now - began));
          else requestAnimationFrame(next);
        };
        requestAnimationFrame(next);
      }),
    seconds,
  );
}

test("the first figure is there in 2 s on a link of 10 Mbps", async ({ page }) => {
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  await session.send("Network.emulateNetworkConditions", {
    offline: false,
    latency: 20,
    downloadThroughput: 10e6 / 8,
    uploadThroughput: 10e6 / 8,
  });
  await page.goto("./");
  await page.waitForFunction(() => performance.getEntriesByName("figure-drawn").length > 0);
  const [ready, drawn] = await page.evaluate(() => [
    performance.getEntriesByName("module-ready")[0]?.startTime ?? 0,
    performance.getEntriesByName("figure-drawn")[0]?.startTime ?? 0,
  ]);
  console.log(`module ready after ${ready?.toFixed(0)} ms, first figure after ${drawn?.toFixed(0)} ms`);
  expect(ready).toBeLessThan(2000);
  expect((drawn ?? 0) - (ready ?? 0)).toBeLessThan(300);
});

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
  const rate = page.getByRole("textbox", { name: "Rate" });
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

test("an address opened elsewhere shows the same run", async ({ page, context }) => {
  await open(page);
  const queues = ["droptail", "codel", "fq_codel", "pie", "red", "cake", "dualpi2", "sfq", "drr each=(codel)", "gsp"];
  for (const queue of queues) {
    await show(page, state({ topology: { rate: "8Mbps", rtt: "30ms", buffer: "80p", queue } }));
    const [here] = await ended(page);
    await page.getByRole("button", { name: "Copy link" }).click();
    await page.waitForTimeout(300);
    const other = await context.newPage();
    await open(other, page.url());
    const [there] = await ended(other);
    expect(there, queue).toBe(here);
    await other.close();
  }
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
  await expect(page.getByRole("alert")).toContainText("3");
});

test("a run of a hundred thousand flows says what it would need, or runs", async ({ page }) => {
  await open(page);
  await show(page, state({ flows: ["100000*cubic"] }));
  await expect(page.getByRole("alert")).toContainText("needs about", { timeout: 30_000 });
});

test("a run without an end goes on until it is paused, and the page answers meanwhile", async ({ page }) => {
  await open(page);
  await show(page, state({ run: { duration: "200h", warmup: "0s", replications: 1 } }));
  await page.waitForTimeout(1500);
  await page.getByRole("button", { name: "Pause" }).click();
  const at = await page.locator(".clock").textContent();
  await page.waitForTimeout(500);
  expect(await page.locator(".clock").textContent()).toBe(at);
});

test("a trap is told, and the next run works", async ({ page }) => {
  // A module whose memory ends: what a fault of the simulator looks like from outside.
  await open(page);
  await page.evaluate(() => window.sojourn.client.send({ kind: "call", id: -1, request: { op: "trap" } }));
  await expect(page.getByRole("alert")).toContainText("has been started again");
  await show(page, state());
  expect(await ended(page)).toHaveLength(1);
});

test("60 frames a second at 50 Mbps", async ({ page }) => {
  await open(page);
  await show(
    page,
    state({ topology: { rate: "50Mbps", rtt: "40ms", queue: "fq_codel" }, run: { duration: "60s", warmup: "5s", replications: 1 } }, { pace: 1 }),
  );
  await page.waitForTimeout(1000);
  const rate = await frames(page, 4);
  console.log(`${rate.toFixed(1)} frames a second at 50 Mbps`);
  expect(rate).toBeGreaterThan(50);
});

test("30 frames a second on a slow phone", async ({ page }) => {
  await page.setViewportSize({ width: 400, height: 800 });
  await open(page);
  const session = await page.context().newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate: 4 });
  await show(
    page,
    state({ topology: { rate: "50Mbps", rtt: "40ms", queue: "fq_codel" }, run: { duration: "60s", warmup: "5s", replications: 1 } }, { pace: 1 }),
  );
  await page.waitForTimeout(1000);
  const rate = await frames(page, 4);
  console.log(`${rate.toFixed(1)} frames a second at 50 Mbps, processor four times slower`);
  expect(rate).toBeGreaterThan(28);
});

for (const path of ["", "lessons/index.html", "lessons/bufferbloat.html", "embed.html?queue=codel"]) {
  for (const colorScheme of ["light", "dark"] as const) {
    test(`no violations that axe knows: ${path || "index.html"}, ${colorScheme}`, async ({ page }) => {
      await page.emulateMedia({ colorScheme });
      await page.goto(path || "./");
      if (!path.endsWith("lessons/index.html")) await page.waitForSelector(".settings fieldset");
      const { violations } = await new AxeBuilder({ page }).analyze();
      expect(violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.html).join(" ")}`)).toEqual([]);
    });
  }
}

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

for (const width of [400, 1400]) {
  test(`screenshots at ${width} pixels`, async ({ page }) => {
    await page.setViewportSize({ width, height: 900 });
    await open(page);
    await show(page, state({ run: { duration: "20s", warmup: "5s", replications: 1 } }));
    await ended(page);
    await page.screenshot({ path: `../target/page-test/laboratory-${width}.png`, fullPage: true });
    await show(page, state({}, { pace: 0.02, packets: true }));
    await page.waitForTimeout(2500);
    await page.screenshot({ path: `../target/page-test/packets-${width}.png` });
    await show(page, state({}, { second: "droptail" }));
    await ended(page);
    await page.screenshot({ path: `../target/page-test/compare-${width}.png`, fullPage: true });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    await page.goto("lessons/bufferbloat.html");
    await page.waitForSelector(".chart canvas");
    await page.waitForTimeout(2500);
    await page.screenshot({ path: `../target/page-test/lesson-${width}.png`, fullPage: true });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
  });
}
