// How the page looks: axe, widths, and pictures in target/page-test for people to look at.

import AxeBuilder from "@axe-core/playwright";
import { expect, test } from "@playwright/test";
import { ended, open, show, state } from "./visitor";

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

const OUT = "../target/page-test";

for (const width of [400, 1400]) {
  for (const colorScheme of ["light", "dark"] as const) {
    test(`nothing is wider than ${width} pixels, ${colorScheme}`, async ({ page }) => {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme });
      const fits = async (name: string): Promise<void> => {
        await page.waitForTimeout(300);
        await page.screenshot({ path: `${OUT}/${name}-${width}-${colorScheme}.png`, fullPage: true });
        expect(await page.evaluate(() => document.documentElement.scrollWidth), name).toBeLessThanOrEqual(width);
      };
      await open(page);
      await show(page, state({ run: { duration: "20s", warmup: "5s", replications: 1 } }));
      await ended(page);
      await page.getByRole("button", { name: "Copy link" }).click();
      await fits("laboratory");
      await show(page, state({ topology: { rate: "5Mbps", rtt: "40ms", buffer: "60p", queue: "droptail" } }, { pace: 1 }));
      await page.waitForFunction(() => window.sojourn.time > 1.5);
      await page.getByLabel("Show packets").check();
      await page.waitForTimeout(2500);
      await fits("packets");
      await show(page, state({}, { second: "droptail" }));
      await ended(page);
      await fits("compare");
      for (const lesson of ["bufferbloat", "fair-queueing"]) {
        await page.goto(`lessons/${lesson}.html`);
        await page.waitForSelector(".chart canvas");
        await page.waitForTimeout(2500);
        await fits(lesson);
      }
      await page.goto("lessons/index.html");
      await fits("lessons");
      await open(page, "embed.html?queue=codel");
      await page.waitForTimeout(1500);
      await fits("embed");
    });
  }
}
