import { existsSync } from "node:fs";
import { defineConfig } from "@playwright/test";

/** Chromium of the system: downloads of browsers are not needed. */
const chromium = [process.env["SOJOURN_CHROMIUM"], "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(
  (path) => path !== undefined && existsSync(path),
);
if (!chromium) throw new Error("no Chromium; set SOJOURN_CHROMIUM, or run: apt-get install chromium");

export default defineConfig({
  testDir: "tests",
  testMatch: "*.spec.ts",
  workers: 1,
  fullyParallel: false,
  timeout: 90_000,
  reporter: [["list"]],
  outputDir: "../target/page-test",
  use: {
    baseURL: "http://127.0.0.1:8127/",
    launchOptions: { executablePath: chromium, args: ["--no-sandbox"] },
    viewport: { width: 1400, height: 900 },
  },
  webServer: { command: "node tests/server.mjs ../target/page 8127", url: "http://127.0.0.1:8127/", reuseExistingServer: false },
});
