// The page with everything: the live figure, the file, the topology, sharing.

import { App, because } from "./app";
import { make } from "./controls";
import type { Doc } from "./messages";
import { Refused } from "./module";
import { KINDS } from "./panel";
import { decode, encode, first, set, study, table, type State } from "./state";

function element<T extends HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`no element ${id}`);
  return found as T;
}

const status = element("status");
const editor = element<HTMLTextAreaElement>("toml");
const command = element("command");

const same = element("same");
const one = element("one");
const problem = element("problem");

/** What the file is called until one is opened that has a name. */
const UNNAMED = "page.toml";
let name = UNNAMED;

/** Whether the file has been edited by hand and not taken over yet. */
let edited = false;

function tell(text: string): void {
  status.textContent = text;
}

/** Counts what has been written into the file: an answer that comes after something newer is not written. */
let written = 0;
let due: ReturnType<typeof setTimeout> | undefined;

/** Nothing that was due is written any more. */
function anew(): number {
  if (due !== undefined) clearTimeout(due);
  return ++written;
}

/** Writes the state into the address and the file. */
async function keep(app: App, state: State): Promise<void> {
  const own = anew();
  const hash = await encode(state);
  const text = await toml(app, state);
  if (own !== written) return;
  history.replaceState(null, "", `#${hash}`);
  if (!edited) editor.value = text;
  await compare(app, state);
}

interface Checked {
  replications: number;
  warmup_s: number;
}

/** Says which command runs the file, and whether its numbers are those of the page. */
async function compare(app: App, state: State): Promise<void> {
  const plain = /^[\w.+-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`;
  command.textContent = `sojourn ${state.second === null ? "run" : "study"} ${plain}`;
  let checked: Checked;
  try {
    checked = await app.client.call<Checked>({ op: "check", doc: state.doc });
  } catch {
    // The figure says what is wrong with it.
    return;
  }
  const { replications, warmup_s } = checked;
  const words = [
    replications > 1
      ? `The page runs replication 1 of ${replications}. The command runs all ${replications} and prints their means:`
      : "The command gives the same numbers for this file, to the bit:",
  ];
  if ((table(state.doc, "run")["warmup"] ?? "auto") === "auto") {
    words.unshift(`The file leaves the warm-up open: the page takes ${warmup_s} s, the command measures how long it has to be.`);
    if (replications === 1) words[1] = "So their numbers may differ:";
  }
  same.textContent = words.join(" ");
  one.hidden = replications === 1;
}

async function toml(app: App, state: State): Promise<string> {
  const titles = app.titles.map((title) => title.replace(/^[AB]: /, ""));
  const doc = study(state, [titles[0] ?? "A", titles[1] ?? "B"]);
  return (await app.client.call<{ toml: string }>({ op: "write", doc })).toml;
}

function download(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: "application/toml" }));
  const link = make("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    tell(`${what} copied.`);
  } catch {
    tell(`Copy it by hand: ${text}`);
  }
}

/** Takes a file over: everything in it runs, whether it has a control or not. A file with a mistake stands in the editor, to be put right. */
async function open(app: App, text: string): Promise<void> {
  anew();
  tell("");
  problem.hidden = true;
  try {
    const { doc, notes, study: others } = await app.client.call<{ doc: Doc; notes: string[]; study: string[] }>({
      op: "read",
      toml: text,
    });
    await app.client.call({ op: "check", toml: text });
    app.say(undefined);
    edited = false;
    const state: State = { ...app.state, doc, second: null };
    app.show(state);
    anew();
    history.replaceState(null, "", `#${await encode(state)}`);
    editor.value = text;
    await compare(app, state);
    const more = others.length > 0 ? [`It has ${others.join(", ")}, too, which sojourn study ${name} runs. Here its scenario runs alone.`] : [];
    tell(["Opened.", ...notes, ...more].map((note) => note.replaceAll(UNNAMED, name)).join(" "));
  } catch (error) {
    edited = true;
    editor.value = text;
    problem.textContent = `${because(error).replaceAll(UNNAMED, name)}\nThe file does not run. The figure still shows the scenario before it.`;
    problem.hidden = false;
    if (error instanceof Refused && error.refusal.line !== null) select(error.refusal.line);
    else editor.focus();
    problem.scrollIntoView({ block: "nearest" });
  }
}

/** Selects a line of the file. */
function select(line: number): void {
  const lines = editor.value.split("\n");
  const start = lines.slice(0, line - 1).reduce((sum, own) => sum + own.length + 1, 0);
  editor.focus();
  editor.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
  editor.scrollTop = (editor.scrollHeight / Math.max(lines.length, 1)) * Math.max(line - 4, 0);
}

async function begin(): Promise<void> {
  let state = first();
  let lost: string | undefined;
  try {
    state = (await decode(location.hash)) ?? state;
  } catch {
    lost = "The address has a scenario that cannot be read. It may have been cut off. This is the first scenario instead.";
  }
  const app: App = new App(state, {
    charts: KINDS,
    parts: ["link", "queue", "flows", "run"],
    changed: (next) => {
      anew();
      due = setTimeout(() => void keep(app, next), 200);
    },
  });
  element("app").replaceWith(app.element);
  if (lost) app.say(lost, true);
  Object.assign(window, { sojourn: app });
  element("share").onclick = async () => {
    await keep(app, app.state);
    await copy(location.href, "Link");
  };
  element("download").onclick = async () => download(name, await toml(app, app.state));
  element("copy-command").onclick = () => void copy(command.textContent ?? "", "Command");
  element("apply").onclick = () => void open(app, editor.value);
  one.onclick = async () => {
    const single = { ...app.state, doc: set(app.state.doc, "run", "replications", 1) };
    app.show(single);
    await keep(app, single);
    tell("The file has replications = 1 now.");
  };
  // Without a visit to the anchor: the address has the scenario.
  const skip = document.querySelector<HTMLElement>(".skip");
  if (skip) {
    skip.onclick = (event) => {
      event.preventDefault();
      element("playback").focus();
    };
  }
  const file = element<HTMLInputElement>("open");
  file.onchange = async () => {
    const chosen = file.files?.[0];
    if (chosen) {
      name = chosen.name;
      await open(app, await chosen.text());
    }
    file.value = "";
  };
  editor.oninput = () => {
    edited = true;
    tell("Edited. Press Run this file.");
  };
  window.onhashchange = async () => {
    try {
      const next = await decode(location.hash);
      if (next) {
        edited = false;
        name = UNNAMED;
        problem.hidden = true;
        app.show(next);
        await keep(app, next);
      }
    } catch {
      app.say("The address has a scenario that cannot be read.");
    }
  };
  await keep(app, state);
  const { Wires } = await import("./wires");
  element("topology").append(new Wires(app).element);
  if ("serviceWorker" in navigator && location.protocol !== "file:") {
    void navigator.serviceWorker.register(new URL("sw.js", document.baseURI));
  }
}

void begin();
