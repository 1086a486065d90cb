// Builds the page: node build.mjs MODULE.wasm OUT. The module is made smaller by wasm-opt; everything else is bundled, and nothing is loaded
// from elsewhere.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { build } from "esbuild";
import { lessonPage, lessonsPage, readLesson, sheetPage } from "./lessons.mjs";
import { load } from "./node-module.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const [wasm, out] = process.argv.slice(2);
if (!wasm || !out) {
  console.error("usage: node build.mjs MODULE.wasm OUT");
  process.exit(2);
}

rmSync(out, { recursive: true, force: true });
mkdirSync(join(out, "lessons"), { recursive: true });

const optimizer = join(here, "node_modules/.bin/wasm-opt");
// What rustc's baseline for the target has, and every browser of the last years.
const features = ["bulk-memory", "multivalue", "mutable-globals", "nontrapping-float-to-int", "reference-types", "sign-ext"];
// It takes longer than all the rest: a module that has not changed is not made smaller again.
const small = `${wasm}.small`;
const newest = Math.max(...[wasm, fileURLToPath(import.meta.url)].map((path) => statSync(path).mtimeMs));
if (!existsSync(small) || statSync(small).mtimeMs < newest) {
  // Written anew without nested expressions first, the module ends 10 kB smaller after gzip, and runs as fast.
  const passes = ["--flatten", "--rereloop", "-Oz", "-Oz"];
  const flags = [...passes, ...features.map((name) => `--enable-${name}`), "--strip-debug", "--strip-producers"];
  execFileSync(optimizer, [...flags, wasm, "-o", small], { stdio: "inherit" });
}
cpSync(small, join(out, "sojourn.wasm"));

const { metafile } = await build({
  metafile: true,
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

/** What a page loads first, all at once: the module, the script and what the script imports. */
function preload(script) {
  const found = Object.entries(metafile.outputs).find(([path]) => basename(path) === `${script}.js`);
  const imported = (found?.[1].imports ?? []).filter((one) => one.kind === "import-statement").map((one) => basename(one.path));
  return [
    '<link rel="preload" href="sojourn.wasm" as="fetch" crossorigin>',
    ...[`${script}.js`, ...imported].map((name) => `<link rel="modulepreload" href="${name}">`),
  ].join("\n");
}

for (const [name, script] of [["index.html", "main"], ["embed.html", "embed"]]) {
  writeFileSync(join(out, name), readFileSync(join(here, name), "utf8").replace("<!-- PRELOAD -->", preload(script)));
}
cpSync(join(here, "style.css"), join(out, "style.css"));
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
  writeFileSync(join(out, "lessons", `${lesson.name}.html`), lessonPage(lesson, lessons, preload("lesson")));
  cpSync(join(folder, lesson.folder, "study.toml"), join(out, "lessons", `${lesson.name}.toml`));
}
writeFileSync(join(out, "lessons", "index.html"), lessonsPage(lessons));
writeFileSync(join(out, "lessons", "exercises.html"), sheetPage(readFileSync(join(here, "../docs/exercises.md"), "utf8")));

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

const first = all.filter((file) => !file.startsWith("lessons/") && !/^(lesson|embed)\b/.test(file));
const total = { raw: 0, gzip: 0, brotli: 0 };
const line = (name, { raw, gzip, brotli }) =>
  console.log(name.padEnd(24) + [raw, gzip, brotli].map((bytes) => String(bytes).padStart(12)).join(""));
console.log(`${"bytes".padEnd(24)}         raw        gzip      Brotli`);
for (const file of first) {
  const content = readFileSync(join(out, file));
  const sizes = { raw: content.length, gzip: gzipSync(content, { level: 9 }).length, brotli: brotliCompressSync(content).length };
  for (const [kind, bytes] of Object.entries(sizes)) total[kind] += bytes;
  line(file, sizes);
}
line("first visit", total);
