// Builds the page: node build.mjs MODULE.wasm OUT. The module is made smaller by wasm-opt; everything else is bundled, and nothing is loaded
// from elsewhere.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { lessonPage, lessonsPage, readLesson } from "./lessons.mjs";
import { load } from "./node-module.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const [wasm, out] = process.argv.slice(2);
if (!wasm || !out) {
  console.error("usage: node build.mjs MODULE.wasm OUT");
  process.exit(2);
}

/** Most bytes of what the first visit loads, compressed. */
const MOST = 1_000_000;

rmSync(out, { recursive: true, force: true });
mkdirSync(join(out, "lessons"), { recursive: true });

const optimizer = join(here, "node_modules/.bin/wasm-opt");
// What rustc's baseline for the target has, and every browser of the last years.
const features = ["bulk-memory", "multivalue", "mutable-globals", "nontrapping-float-to-int", "reference-types", "sign-ext"];
execFileSync(
  optimizer,
  [
    "-O3",
    ...features.map((name) => `--enable-${name}`),
    "--strip-debug",
    "--strip-producers",
    wasm,
    "-o",
    join(out, "sojourn.wasm"),
  ],
  { stdio: "inherit" },
);

await build({
  entryPoints: ["main", "lesson", "embed", "worker"].map((name) => join(here, `src/${name}.ts`)),
  bundle: true,
  splitting: true,
  format: "esm",
  target: ["es2022"],
  minify: true,
  outdir: out,
  legalComments: "none",
  logLevel: "warning",
});

for (const name of ["index.html", "embed.html", "style.css"]) cpSync(join(here, name), join(out, name));
cpSync(join(here, "../.ci/site/favicon.svg"), join(out, "favicon.svg"));

const folder = join(here, "lessons");
const lessons = readdirSync(folder)
  .filter((name) => existsSync(join(folder, name, "lesson.md")))
  .sort()
  .map((name) => readLesson(folder, name));
const call = await load(join(out, "sojourn.wasm"));
for (const lesson of lessons) {
  // The figure begins with the scenario of the study, which has to run.
  const toml = readFileSync(join(folder, lesson.folder, "study.toml"), "utf8");
  const answer = call({ op: "read", toml });
  const checked = call({ op: "check", toml });
  if (answer.error ?? checked.error) throw new Error(`${lesson.folder}: ${(answer.error ?? checked.error).text}`);
  for (const key of answer.study) delete answer.doc[key];
  lesson.doc = answer.doc;
  writeFileSync(join(out, "lessons", `${lesson.name}.html`), lessonPage(lesson, lessons));
  cpSync(join(folder, lesson.folder, "study.toml"), join(out, "lessons", `${lesson.name}.toml`));
}
writeFileSync(join(out, "lessons", "index.html"), lessonsPage(lessons));

/** Every file, relative to the page. */
function files(at) {
  return readdirSync(at, { withFileTypes: true }).flatMap((entry) => {
    const path = join(at, entry.name);
    return entry.isDirectory() ? files(path) : [relative(out, path).replaceAll("\\", "/")];
  });
}

const all = files(out).sort();
const hash = createHash("sha256");
for (const file of all) hash.update(file).update(readFileSync(join(out, file)));
const worker = readFileSync(join(here, "sw.js"), "utf8")
  .replace('"VERSION"', JSON.stringify(hash.digest("hex").slice(0, 16)))
  .replace("[/* FILES */]", JSON.stringify(["./", ...all]));
writeFileSync(join(out, "sw.js"), worker);

const compressed = (file) => gzipSync(readFileSync(join(out, file)), { level: 9 }).length;
const first = all.filter((file) => !file.startsWith("lessons/") && !/^(lesson|embed)\b/.test(file));
let total = 0;
for (const file of first) {
  const bytes = compressed(file);
  total += bytes;
  console.log(`${file.padEnd(24)} ${String(statSync(join(out, file)).size).padStart(9)} bytes, ${String(bytes).padStart(8)} compressed`);
}
console.log(`${"first visit".padEnd(24)} ${" ".repeat(15)} ${String(total).padStart(9)} compressed`);
if (total > MOST) {
  console.error(`The first visit loads ${total} bytes; at most ${MOST} are allowed.`);
  process.exit(1);
}
