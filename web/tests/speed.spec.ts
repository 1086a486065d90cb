// How fast the page is: what benches/README.md says is printed here, and written to target/page-test/measured.json.

import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { expect, test, type Page } from "@playwright/test";
import { clock, open, show, state } from "./visitor";

const measured: Record<string, number> = {};
const OUT = "../target/page-test";

function note(name: string, value: number): void {
  measured[name] = value;
  console.log(`${name}: ${value}`);
}

test.afterAll(() => {
  mkdirSync(OUT, { recursive: true });
  writeFileSync(`${OUT}/measured.json`, `${JSON.stringify(measured, null, 2)}\n`);
});

/** A run at 50 Mbps in real time. */
const busy = state(
  { topology: { rate: "50Mbps", rtt: "40ms", buffer: "400p", queue: "fq_codel" }, run: { duration: "60s", warmup: "5s", replications: 1 } },
  { pace: 1 },
);

interface Frames {
  /** Frames that the browser showed, those in which the figure was drawn with something new, and those later than 50 ms after the one before. */
  shown: number;
  drawn: number;
  late: number;
}

/** Frames per second over some seconds. */
async function frames(page: Page, seconds: number): Promise<Frames> {
  return page.evaluate(
    (length) =>
      new Promise<Frames>((done) => {
        let shown = 0;
        let late = 0;
        let last = performance.now();
        const began = last;
        const before = window.sojourn.paints;
        const next = (now: number): void => {
          shown++;
          if (now - last > 50) late++;
          last = now;
          const took = (now - began) / 1000;
          if (took < length) requestAnimationFrame(next);
          else done({ shown: shown / took, drawn: (window.sojourn.paints - before) / took, late: late / took });
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
  const [ready, drawn] = await page.evaluate(() =>
    ["module-ready", "figure-drawn"].map((name) => performance.getEntriesByName(name)[0]?.startTime ?? NaN),
  );
  note("module ready at 10 Mbps (ms)", Math.round(ready ?? NaN));
  note("first figure at 10 Mbps (ms)", Math.round(drawn ?? NaN));
  expect(ready).toBeLessThan(2000);
  expect(drawn).toBeLessThan((ready ?? NaN) + 300);
});

test("a first visit loads at most 1 MB with Brotli and 1.32 MB with gzip, and nothing from elsewhere", async ({ page }) => {
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  await open(page);
  await page.waitForFunction(() => document.querySelector("#topology svg") !== null);
  const own = new URL(page.url()).origin;
  expect(asked.filter((url) => !url.startsWith(own) && !url.startsWith("blob:"))).toEqual([]);
  const files = new Set(asked.map((url) => new URL(url).pathname.slice(1) || "index.html"));
  const folder = "../target/page";
  const sizes = [...files]
    .filter((name) => readdirSync(folder).includes(name))
    .map((name) => {
      const content = readFileSync(`${folder}/${name}`);
      return { raw: content.length, gzip: gzipSync(content, { level: 9 }).length, brotli: brotliCompressSync(content).length };
    });
  for (const kind of ["raw", "gzip", "brotli"] as const) {
    note(`first visit (bytes, ${kind})`, sizes.reduce((all, one) => all + one[kind], 0));
  }
  expect(measured["first visit (bytes, brotli)"]).toBeLessThan(1_000_000);
  expect(measured["first visit (bytes, gzip)"]).toBeLessThan(1_320_000);
});

test("the figure is drawn 60 times a second at 50 Mbps", async ({ page }) => {
  await open(page);
  await show(page, busy);
  await page.waitForTimeout(1500);
  const from = await clock(page);
  const began = Date.now();
  const rate = await frames(page, 5);
  const pace = ((await clock(page)) - from) / ((Date.now() - began) / 1000);
  note("frames per second at 50 Mbps", Number(rate.shown.toFixed(1)));
  note("frames with something new per second at 50 Mbps", Number(rate.drawn.toFixed(1)));
  note("late frames per second at 50 Mbps", Number(rate.late.toFixed(1)));
  note("simulated seconds per second of the Worker at 50 Mbps", Number((await page.evaluate(() => window.sojourn.speed)).toFixed(1)));
  expect(rate.shown).toBeGreaterThan(55);
  expect(rate.drawn).toBeGreaterThan(50);
  expect(pace).toBeGreaterThan(0.9);
  expect(pace).toBeLessThan(1.1);
});

test("the figure is drawn 30 times a second on a narrow screen with a processor four times slower", async ({ page }) => {
  await page.setViewportSize({ width: 400, height: 800 });
  await open(page);
  const session = await page.context().newCDPSession(page);
  // It slows the page's own thread; the Worker has a speed of its own, which the test above prints.
  await session.send("Emulation.setCPUThrottlingRate", { rate: 4 });
  await show(page, busy);
  await page.waitForTimeout(1500);
  const rate = await frames(page, 5);
  note("frames per second at 50 Mbps, 400 pixels, processor 4 times slower", Number(rate.shown.toFixed(1)));
  note("frames with something new per second, 400 pixels, processor 4 times slower", Number(rate.drawn.toFixed(1)));
  expect(rate.shown).toBeGreaterThan(30);
  expect(rate.drawn).toBeGreaterThan(30);
});

test("packets are drawn 60 times a second", async ({ page }) => {
  await open(page);
  await show(page, { ...busy, pace: 0.02, packets: true });
  await page.waitForTimeout(1500);
  const rate = await frames(page, 4);
  note("frames per second with packets", Number(rate.shown.toFixed(1)));
  note("frames with something new per second with packets", Number(rate.drawn.toFixed(1)));
  expect(rate.drawn).toBeGreaterThan(50);
});
