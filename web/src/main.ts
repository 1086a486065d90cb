// The page with everything: the live figure, the file, the topology, sharing.

import { App, because } from "./app";
import { make } from "./controls";
import type { Doc } from "./messages";
import { KINDS } from "./panel";
import { decode, encode, first, study, type State } from "./state";

function element<T extends HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`no element ${id}`);
  return found as T;
}

const status = element("status");
const editor = element<HTMLTextAreaElement>("toml");
const command = element("command");

/** Whether the file has been edited by hand and not taken over yet. */
let edited = false;

function tell(text: string): void {
  status.textContent = text;
}

/** Writes the state into the address and the file. */
async function keep(app: App, state: State): Promise<void> {
  history.replaceState(null, "", `#${await encode(state)}`);
  command.textContent = state.second === null ? "sojourn run page.toml" : "sojourn study page.toml";
  if (!edited) editor.value = await toml(app, state);
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

/** Takes a file over: everything in it runs, whether it has a control or not. */
async function open(app: App, text: string): Promise<void> {
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
    history.replaceState(null, "", `#${await encode(state)}`);
    editor.value = text;
    command.textContent = others.length > 0 ? "sojourn study page.toml" : "sojourn run page.toml";
    const more = others.length > 0 ? [`It has ${others.join(", ")} for sojourn study, too: here its scenario runs alone.`] : [];
    tell(["Opened.", ...notes, ...more].join(" "));
  } catch (error) {
    app.say(because(error));
  }
}

async function begin(): Promise<void> {
  let state = first();
  let problem: string | undefined;
  try {
    state = (await decode(location.hash)) ?? state;
  } catch {
    problem = "The address has a scenario that cannot be read. It may have been cut off. This is the first scenario instead.";
  }
  let due: ReturnType<typeof setTimeout> | undefined;
  const app: App = new App(state, {
    charts: KINDS,
    parts: ["link", "queue", "flows", "run"],
    changed: (next) => {
      if (due !== undefined) clearTimeout(due);
      due = setTimeout(() => void keep(app, next), 200);
    },
  });
  element("app").replaceWith(app.element);
  if (problem) app.say(problem, true);
  Object.assign(window, { sojourn: app });
  element("share").onclick = async () => {
    await keep(app, app.state);
    await copy(location.href, "Link");
  };
  element("download").onclick = async () => download("page.toml", await toml(app, app.state));
  element("copy-command").onclick = () => void copy(command.textContent ?? "", "Command");
  element("apply").onclick = () => void open(app, editor.value);
  const file = element<HTMLInputElement>("open");
  file.onchange = async () => {
    const chosen = file.files?.[0];
    if (chosen) await open(app, await chosen.text());
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
