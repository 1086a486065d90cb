// Whether the module gives the same outcomes as the native build: node tests/identity.mjs MODULE.wasm CASES.jsonl
//
// Each scenario runs twice: as a whole, and watched, row by row, as the page does it.

import { readFileSync } from "node:fs";
import { load } from "../node-module.mjs";

const [wasm, cases] = process.argv.slice(2);
const call = await load(wasm);
const families = new Map();
const wrong = [];
for (const line of readFileSync(cases, "utf8").trim().split("\n")) {
  const known = JSON.parse(line);
  const name = `${known.family} ${known.name}`;
  const count = families.get(known.family) ?? { all: 0, same: 0 };
  families.set(known.family, count);
  count.all++;
  if (known.toml === undefined) {
    wrong.push(`${name}: no scenario of it runs: ${known.refusals.join("; ")}`);
    continue;
  }
  const whole = call({ op: "outcome", toml: known.toml });
  const opened = call({ op: "open", toml: known.toml, step_us: 7_777 });
  let place = opened;
  while (!place.error && !place.ended) place = call({ op: "rows", count: 50 });
  const watched = place.error ? place : call({ op: "finish" });
  const seen = { whole: whole.digest ?? whole.error?.text, watched: watched.digest ?? watched.error?.text };
  const differs = Object.entries(seen).filter(([, digest]) => digest !== known.digest);
  if (differs.length === 0) count.same++;
  else wrong.push(`${name}: native ${known.digest}, ${differs.map(([how, digest]) => `${how} ${digest}`).join(", ")}`);
}
let all = 0;
let same = 0;
for (const [family, count] of families) {
  console.log(`${family}: ${count.same} of ${count.all} equal to the bit`);
  all += count.all;
  same += count.same;
}
console.log(`identity: ${same} of ${all}`);
for (const text of wrong) console.error(text);
process.exit(wrong.length === 0 && all > 0 ? 0 : 1);
