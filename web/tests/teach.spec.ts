// What a class does with the page: settings that are refused, files with mistakes, changes in mid-run, reading values, keys.

import { expect, test, type Page } from "@playwright/test";
import { clock, ended, FAST, file, open, show, state } from "./visitor";

async function put(page: Page, name: string, value: string): Promise<void> {
  const field = page.getByRole("textbox", { name, exact: true }).first();
  await field.fill(value);
  await field.blur();
}

/** Opens a file that a visitor has. */
async function choose(page: Page, name: string, text: string): Promise<void> {
  await page.setInputFiles("#open", { name, mimeType: "text/plain", buffer: Buffer.from(text) });
}

test("a refused value is told beside its field, what runs goes on, and later settings are taken", async ({ page }) => {
  await open(page);
  await show(page, state({ run: { duration: "100s", warmup: "2s", replications: 1 } }, { pace: 1 }));
  await page.waitForFunction(() => window.sojourn.time > 0.2);
  await put(page, "Buffer", "-5p");
  const field = page.getByRole("textbox", { name: "Buffer", exact: true });
  await expect(field).toHaveAttribute("aria-invalid", "true");
  await expect(page.locator(".control", { has: field }).getByRole("alert")).toContainText("cannot be negative");
  await expect(page.locator(".problem")).toHaveCount(1);
  const at = await clock(page);
  await page.waitForFunction((before) => window.sojourn.time > before + 0.2, at);
  expect(await page.evaluate(() => JSON.stringify(window.sojourn.state.doc))).not.toContain("-5p");
  await put(page, "Duration", "100d");
  await expect(page.locator(".problem").last()).toContainText("Allowed: 1us to 200h");
  await put(page, "Rate", "fast");
  await expect(page.getByRole("textbox", { name: "Rate" })).toHaveValue("fast");
  await put(page, "Duration", "6s");
  await expect(page.locator(".problem")).toHaveCount(0);
  await expect(field).toHaveValue("100p");
  await page.getByLabel("Speed").selectOption(FAST);
  expect(await ended(page)).toHaveLength(1);
});

test("a number of flows that does not fit is told beside it, and is shown whole", async ({ page }) => {
  await open(page);
  const count = page.getByRole("spinbutton", { name: "Flow 1, how many" });
  await count.fill("100000");
  await count.blur();
  await expect(page.locator(".flow-line .problem")).toContainText("needs about", { timeout: 30_000 });
  expect(await count.evaluate((field) => field.scrollWidth <= field.clientWidth)).toBe(true);
});

test("a scenario that cannot start leaves no curves of the one before", async ({ page }) => {
  await open(page);
  await show(page, state());
  await ended(page);
  await show(page, state({ topology: { rate: "10Mbps", buffer: "-5p" } }));
  await expect(page.locator(".clock")).toHaveText("Not started");
  await expect(page.locator(".chart")).toHaveCount(0);
  await expect(page.getByRole("button", { name: "Try again" })).toBeVisible();
  await put(page, "Buffer", "50p");
  expect(await ended(page)).toHaveLength(1);
  await expect(page.locator(".chart")).toHaveCount(6);
});

test("the limit of a queue is the buffer, where it has none of its own", async ({ page }) => {
  await open(page);
  await show(page, state());
  const limit = page.getByLabel("limit from Buffer");
  await expect(limit).toHaveValue("100p");
  await expect(limit).toBeDisabled();
  await show(page, state({ topology: { rate: "10Mbps", buffer: "100p", queue: "codel limit=33p" } }));
  await expect(page.getByRole("textbox", { name: "limit" })).toHaveValue("33p");
  await expect(page.getByRole("textbox", { name: "limit" })).toBeEnabled();
  await page.goto("lessons/phase-effects.html");
  await expect(page.getByRole("textbox", { name: "Buffer", exact: true })).toHaveValue("12p");
  await expect(page.getByLabel("limit from Buffer")).toHaveValue("12p");
});

test("an opened file with a mistake stands in the editor under its message, with its line selected and its own name", async ({ page }) => {
  await open(page);
  await page.getByRole("button", { name: "Copy command" }).click();
  await expect(page.locator("#status")).not.toHaveText("");
  const text = '# mine\nflows = ["cubic"]\n[run]\nduration = "5s"\n[topology]\nbufer = "200p"\n';
  await choose(page, "my lesson.toml", text);
  await expect(page.locator("#problem")).toContainText("my lesson.toml:6");
  await expect(page.locator("#problem")).toContainText('did you mean "buffer"');
  await expect(page.locator("#problem")).toBeInViewport();
  await expect(page.locator("#status")).toHaveText("");
  const editor = page.locator("#toml");
  await expect(editor).toHaveValue(text);
  const selected = await editor.evaluate((area: HTMLTextAreaElement) => area.value.slice(area.selectionStart, area.selectionEnd));
  expect(selected).toBe('bufer = "200p"');
  const [above, below] = [await page.locator("#problem").boundingBox(), await editor.boundingBox()];
  expect((below?.y ?? 0) - (above?.y ?? 0) - (above?.height ?? 0)).toBeLessThan(30);
  await editor.fill(text.replace("bufer", "buffer"));
  await page.getByRole("button", { name: "Run this file" }).click();
  await expect(page.locator("#problem")).toBeHidden();
  await expect(page.locator("#command")).toHaveText("sojourn run 'my lesson.toml'");
  const loaded = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download as TOML" }).click();
  expect((await loaded).suggestedFilename()).toBe("my lesson.toml");
});

test("of a file with several replications, the page says which one it runs", async ({ page }) => {
  await open(page);
  await expect(page.locator("#same")).toHaveText("The command gives the same numbers for this file, to the bit:");
  await choose(page, "five.toml", 'flows = ["cubic"]\n[run]\nduration = "5s"\nwarmup = "1s"\nreplications = 5\n');
  await expect(page.locator("#same")).toContainText("The page runs replication 1 of 5.");
  await page.getByLabel("Speed").selectOption(FAST);
  await ended(page);
  await expect(page.locator("caption")).toContainText("replication 1 of 5");
  await page.getByRole("button", { name: "Run one replication" }).click();
  await file(page, "replications = 1");
  await expect(page.locator("#same")).toHaveText("The command gives the same numbers for this file, to the bit:");
  await choose(page, "auto.toml", 'flows = ["cubic"]\n[run]\nduration = "5s"\nreplications = 1\n');
  await expect(page.locator("#same")).toContainText("numbers may differ");
  await choose(page, "study.toml", 'flows = ["cubic"]\n[run]\nduration = "5s"\nwarmup = "1s"\nreplications = 1\n[[experiment]]\nname = "e"\n[[experiment.factor]]\nname = "b"\npath = "topology.buffer"\nvalues = ["20p"]\n');
  await expect(page.locator("#status")).toContainText("sojourn study study.toml");
  // What the page runs is the scenario without the experiments.
  await expect(page.locator("#command")).toHaveText("sojourn run study.toml");
});

test("a lesson opens in the laboratory as one replication, which the command gives to the bit", async ({ page }) => {
  await page.goto("lessons/bufferbloat.html");
  await page.waitForSelector(".settings fieldset");
  await page.locator("#whole").click();
  await file(page, "replications = 1");
  await expect(page.locator("#same")).toHaveText("The command gives the same numbers for this file, to the bit:");
});

test("windows and throughput of many flows say for how many they stand", async ({ page }) => {
  await open(page);
  await show(page, state({ flows: ["30*reno", "20*cubic"] }));
  await ended(page);
  await expect(page.locator(".legend")).toContainText("reno (30 flows)");
  await expect(page.locator(".chart", { hasText: "Congestion window, mean" })).toContainText(/kB each, mean of 30 reno; \d+ kB each, mean of 20 cubic/);
  await expect(page.locator(".chart-title", { hasText: "Throughput, all of a kind" })).toBeVisible();
  await show(page, state({ flows: ["3*cubic"] }));
  await ended(page);
  await expect(page.locator(".chart", { hasText: "Congestion windows" })).toContainText("kB together");
  await expect(page.locator(".chart-title", { hasText: "Throughput per flow" })).toBeVisible();
});

test("each flow has its drops, its delay and its response time in the table, and drops are those of the queue", async ({ page }) => {
  await open(page);
  await show(page, state({ topology: { rate: "10Mbps", rtt: "40ms", buffer: "20p", queue: "droptail" } }));
  await ended(page);
  const value = async (name: string): Promise<number> =>
    Number(await page.locator(".results tr", { has: page.getByRole("rowheader", { name, exact: true }) }).locator("td").textContent());
  const all = await value("Dropped (packets)");
  const each = [await value("Dropped, cubic-1 (packets)"), await value("Dropped, cubic-2 (packets)"), await value("Dropped, udp_rr-1 (packets)")];
  expect(all).toBeGreaterThan(0);
  expect(each.reduce((sum, own) => sum + own, 0)).toBe(all);
  expect(await value("Response time, median, udp_rr-1 (ms)")).toBeGreaterThan(40);
  expect(await value("One-way delay, mean, cubic-1 (ms)")).toBeGreaterThan(20);
  await expect(page.locator(".results")).toContainText("The charts count drops and marks from the start");
  // Pointing at a bar reads the drops of each flow.
  const drops = page.getByRole("slider", { name: "Drops and marks, time" });
  await drops.focus();
  await page.keyboard.press("End");
  await expect(page.locator(".chart", { has: drops }).locator(".chart-value")).toHaveText(/cubic-1 \d+, cubic-2 \d+, udp_rr-1 \d+, marked 0 packets/);
});

test("a change in mid-run is marked, and playing again begins with the settings as they are", async ({ page }) => {
  await open(page);
  await show(page, state({ run: { duration: "20s", warmup: "2s", replications: 1 } }, { pace: 2 }));
  await page.waitForFunction(() => window.sojourn.time > 0.5);
  await put(page, "Rate", "4Mbps");
  await file(page, "4Mbps");
  await page.getByLabel("Discipline").selectOption("pie");
  await expect(page.locator(".panel h2")).toHaveText(/PIE \(.+\) from \d/);
  await expect(page.locator("#topology")).toContainText("4 Mbps");
  await expect(page.locator("#topology")).toContainText("PIE");
  await file(page, "[[changes]]");
  await page.getByLabel("Speed").selectOption(FAST);
  await ended(page);
  await page.getByRole("button", { name: "Play again" }).click();
  await expect(page.getByRole("textbox", { name: "Rate" })).toHaveValue("4Mbps");
  await expect(page.locator("#toml")).not.toHaveValue(/changes/);
  const doc = await page.evaluate(() => JSON.stringify(window.sojourn.state.doc));
  expect(doc).toContain('"rate":"4Mbps"');
  expect(doc).toContain('"queue":"pie"');
});

test("arrow keys in a closed menu choose one entry, not each on the way", async ({ page }) => {
  await open(page);
  await show(page, state({ run: { duration: "60s", warmup: "2s", replications: 1 }, topology: { rate: "10Mbps", buffer: "100p", queue: "droptail" } }, { pace: 1 }));
  await page.waitForFunction(() => window.sojourn.time > 0.2);
  const menu = page.getByLabel("Discipline");
  await menu.focus();
  for (let press = 0; press < 3; press++) await page.keyboard.press("ArrowDown");
  const chosen = await menu.inputValue();
  expect(chosen).not.toBe("droptail");
  await page.keyboard.press("Enter");
  const text = await file(page, `queue = "${chosen}"`);
  expect(text.match(/\[\[changes\]\]/g)).toHaveLength(1);
});

test("keys lead to the playback, from a removed flow to adding one, and along the charts", async ({ page }) => {
  await open(page);
  await show(page, state());
  await ended(page);
  await page.keyboard.press("Tab");
  await expect(page.getByRole("link", { name: "Skip to the figure" })).toBeFocused();
  const address = page.url();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  await expect(page.getByRole("button", { name: "Play again" })).toBeFocused();
  expect(page.url()).toBe(address);
  const chart = page.getByRole("slider", { name: "Time in the queue, time" });
  await chart.focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("Shift+ArrowRight");
  await page.keyboard.press("ArrowRight");
  await expect(chart).toHaveAttribute("aria-valuenow", "0.88");
  await expect(chart).toHaveAttribute("aria-valuetext", /^at 880\.0 ms: .+ ms$/);
  await page.keyboard.press("Escape");
  await expect(page.locator(".chart-value").first()).not.toContainText("at ");
  await page.getByRole("button", { name: "Remove Flow 2" }).press("Enter");
  await expect(page.getByRole("button", { name: "Add a flow" })).toBeFocused();
});

test("a lesson's tasks stand beside its question, and its controls after the first chart where it is narrow", async ({ page }) => {
  await page.goto("lessons/codel.html");
  await page.waitForSelector(".chart canvas");
  await page.waitForSelector(".settings fieldset");
  expect((await page.getByRole("heading", { name: "Try" }).boundingBox())?.y).toBeLessThan(300);
  await page.setViewportSize({ width: 400, height: 800 });
  const top = async (place: string): Promise<number> => (await page.locator(place).first().boundingBox())?.y ?? NaN;
  expect(await top(".chart")).toBeLessThan(await top(".side"));
  expect(await top(".side")).toBeLessThan((await page.locator(".chart").nth(1).boundingBox())?.y ?? NaN);
  // The first chart stays in sight while the controls pass below it.
  await page.getByLabel("Discipline").evaluate((menu) => menu.scrollIntoView({ block: "center" }));
  await expect.poll(() => top(".chart")).toBeGreaterThanOrEqual(0);
  await expect(page.locator(".chart").first()).toBeInViewport({ ratio: 0.99 });
  await expect(page.getByLabel("Discipline")).toBeInViewport();
});

test("the lessons link the exercise sheet, which has a file for each lesson", async ({ page }) => {
  await page.goto("lessons/index.html");
  await page.getByRole("link", { name: "exercise sheet" }).click();
  await expect(page.getByRole("heading", { name: "Exercises" })).toBeVisible();
  const files = await page.locator("a[href$='.toml']").evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).href));
  expect(new Set(files).size).toBeGreaterThanOrEqual(8);
  for (const address of files) expect((await page.request.get(address)).ok()).toBe(true);
});
