// What the tests of the page share: a visitor who opens it, and what the visitor sees.

import { expect, type Page } from "@playwright/test";
import type { App } from "../src/app";
import type { State } from "../src/state";

declare global {
  interface Window {
    sojourn: App;
  }
}

export const FAST = "fast";

/** A state with a short run. */
export function state(more: Partial<State["doc"]> = {}, others: Partial<State> = {}): State {
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

export async function open(page: Page, path = ""): Promise<void> {
  await page.goto(path || "./");
  await page.waitForFunction(() => window.sojourn !== undefined && document.querySelector(".settings fieldset") !== null);
}

export async function show(page: Page, what: State): Promise<void> {
  await page.evaluate((next) => window.sojourn.show(next), what);
}

/** The checksums of the runs, once they have ended. */
export async function ended(page: Page): Promise<string[]> {
  await page.waitForFunction(() => window.sojourn.digests.length > 0, undefined, { timeout: 60_000 });
  return page.evaluate(() => window.sojourn.digests);
}

/** Where the run is, in simulated seconds. */
export async function clock(page: Page): Promise<number> {
  return page.evaluate(() => window.sojourn.time);
}

/** The text of the scenario file, once the page has written it. */
export async function file(page: Page, part: string | RegExp): Promise<string> {
  await expect(page.locator("#toml")).toHaveValue(part instanceof RegExp ? part : new RegExp(part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")));
  return page.locator("#toml").inputValue();
}
