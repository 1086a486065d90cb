// The controls for a scenario: link, queue, flows, run.

import type { Catalogue, Entry, Param } from "./catalogue";
import { control, entries, given, make, menuOf, unique, words } from "./controls";
import type { Doc, Value } from "./messages";
import { arg, BARE, line, of, parse, withArg, type Spec } from "./spec";
import { set, table, type State } from "./state";

/** A change by the user: the state that follows, and the change of a link that it is in the middle of a run. */
export interface Edit {
  state: State;
  /** What changes at a moment of the run; without it the run starts again. */
  rate?: string;
  queues?: (string | null)[];
}

/** Which parts of a scenario have controls. */
export type Part = "link" | "queue" | "flows" | "run";

/** Keys of the tables that have a control. The rest of the file has its editor. */
const OF_LINK = ["rate", "rtt", "buffer"];
const OF_RUN = ["duration", "warmup", "seed"];

/** Parameters of a queue that have a control at once; the others come with "All parameters". */
const FIRST = 5;

/** Kinds of flow in the menu before the others. */
const USUAL = ["cubic", "reno", "bbr", "bbr3", "prague", "dctcp", "ledbat", "cbr", "poisson", "on_off", "udp_rr", "web"];

/** Flows that do not run without a rate. */
const NEEDS_RATE = new Set(["cbr", "poisson"]);

/** What of a flow's place has a control: when it is there, and how far it has to go. */
const OF_PLACE = ["start", "stop", "rtt", "direction"];

/** The text of a value of a document. */
function text(value: Value | undefined): string | undefined {
  return value === undefined || typeof value === "object" ? undefined : String(value);
}

export class Settings {
  readonly element = make("form", { className: "settings" });
  /** Which sections show all parameters. */
  private readonly open = new Set<string>();

  constructor(
    private readonly catalogue: Catalogue,
    private readonly parts: readonly Part[],
    private readonly edit: (edit: Edit) => void,
  ) {
    this.element.onsubmit = (event) => event.preventDefault();
    this.element.setAttribute("aria-label", "Scenario");
    const touch = (event: Event): void => {
      if (event.target instanceof Element) this.touched = event.target;
    };
    for (const kind of ["input", "change", "click"]) this.element.addEventListener(kind, touch, { capture: true });
    this.element.addEventListener("pointerdown", (event) => {
      if (!(event.target instanceof HTMLInputElement) || event.target.type !== "range") return;
      this.held = true;
      const released = (): void => {
        this.held = false;
        if (this.later) this.show(this.later);
      };
      addEventListener("pointerup", released, { once: true });
      addEventListener("pointercancel", released, { once: true });
    });
  }

  /** The field that the user touched last, whose value may be refused. */
  private touched: Element | undefined;
  /** The focus goes to the button that adds a flow: what had it is gone. */
  private toAdd = false;

  /** Says beside the field that was touched last that its value is refused; the value stays there to be put right. */
  refuse(text: string): void {
    this.toAdd = false;
    const place = this.touched?.isConnected ? this.touched.closest<HTMLElement>(".control, .flow-line") : null;
    const field = place?.querySelector("input:not([type=range]), select") ?? undefined;
    for (const old of this.element.querySelectorAll(".problem")) if (!place || old.parentElement === place) old.remove();
    const allowed = place?.dataset["allowed"];
    const range = allowed && !text.includes("allowed") ? ` Allowed: ${allowed}.` : "";
    const problem = make("p", { className: "problem", id: unique(), textContent: `${text.replace(/^page\.toml: /, "")}${range}` });
    problem.setAttribute("role", "alert");
    (place ?? this.element).append(problem);
    place?.classList.add("bad");
    field?.setAttribute("aria-invalid", "true");
    field?.setAttribute("aria-describedby", problem.id);
  }

  /** A slider is in the user's hand: new controls would take it away. */
  private held = false;
  private later: State | undefined;

  /** Makes the controls for a state. The focus stays where it is. */
  show(state: State): void {
    this.later = this.held ? state : undefined;
    if (this.held) return;
    const active = document.activeElement;
    const at = active && this.element.contains(active) ? this.path(active) : undefined;
    const groups: HTMLElement[] = [];
    if (this.parts.includes("link")) groups.push(this.link(state));
    if (this.parts.includes("queue")) groups.push(...this.queues(state));
    if (this.parts.includes("flows")) groups.push(this.flows(state));
    if (this.parts.includes("run")) groups.push(this.run(state));
    this.element.replaceChildren(...groups);
    if (this.toAdd) this.element.querySelector<HTMLElement>(".add")?.focus();
    else if (at !== undefined) (this.fields()[at] as HTMLElement | undefined)?.focus();
    this.toAdd = false;
  }

  private fields(): Element[] {
    return [...this.element.querySelectorAll("input, select, button, summary")];
  }

  private path(element: Element): number {
    return this.fields().indexOf(element);
  }

  private group(title: string, ...inside: Node[]): HTMLElement {
    return make("fieldset", {}, make("legend", { textContent: title }), ...inside);
  }

  private hint(textContent: string): HTMLElement {
    return make("p", { className: "about acts", textContent });
  }

  private topology(state: State): { kind: string; params: Param[] } {
    const kind = String(table(state.doc, "topology")["kind"] ?? "dumbbell");
    const tables = this.catalogue.tables;
    const params = kind === "parking_lot" || kind === "chain" ? tables[kind] : tables.dumbbell;
    return { kind, params };
  }

  private link(state: State): HTMLElement {
    const { kind, params } = this.topology(state);
    if (kind === "graph") {
      return this.group("Links", make("p", { textContent: "This topology has its links in the file below." }));
    }
    const keys = kind === "dumbbell" ? OF_LINK : ["hops", "rate", "delay", "buffer"];
    const hint = this.hint("A change of the rate acts at once. Another change starts the run again.");
    return this.group("Link", hint, ...this.ofTopology(state, params, keys));
  }

  private ofTopology(state: State, params: Param[], keys: string[]): HTMLElement[] {
    const own = table(state.doc, "topology");
    return keys.flatMap((key) => {
      const param = params.find((info) => info.name === key);
      if (!param) return [];
      const usual = key === "buffer" && param.default === "none" ? "100p" : param.default;
      const set_ = (value: string): void => {
        const doc = set(state.doc, "topology", key, value === "" || value === "none" ? undefined : whole(param, value));
        this.edit(key === "rate" ? { state: { ...state, doc }, rate: value } : { state: { ...state, doc } });
      };
      return [control(param, NAMES[key] ?? key, text(own[key]), usual, set_)];
    });
  }

  /** The buffer stands with the queue where the link has no controls, and the scenario has one. */
  private buffer(state: State): HTMLElement[] {
    if (this.parts.includes("link") || table(state.doc, "topology")["buffer"] === undefined) return [];
    return this.ofTopology(state, this.topology(state).params, ["buffer"]);
  }

  private queues(state: State): HTMLElement[] {
    const { kind } = this.topology(state);
    if (kind === "graph") return [];
    const now = of(table(state.doc, "topology")["queue"], "droptail");
    const two = state.second !== null;
    const buffer = text(table(state.doc, "topology")["buffer"]);
    const hint = two ? "A change starts both runs again." : "A change acts at once.";
    const own = this.queue(two ? "Queue A" : "Queue", now, buffer, (spec) => {
      const queue = line(spec);
      this.edit({
        state: { ...state, doc: set(state.doc, "topology", "queue", queue) },
        queues: two ? [queue, null] : [queue],
      });
    });
    own.querySelector("legend")?.after(this.hint(this.parts.includes("link") || two ? hint : `${hint} One of the buffer starts the run again.`), ...this.buffer(state));
    if (state.second === null) return [own];
    const other = this.queue("Queue B", parse(state.second), buffer, (spec) => {
      this.edit({ state: { ...state, second: line(spec) }, queues: [null, line(spec)] });
    });
    return [own, other];
  }

  private queue(title: string, spec: Spec, buffer: string | undefined, change: (spec: Spec) => void): HTMLElement {
    const all = this.catalogue.queues;
    const entry = all.find((own) => own.name === spec.name);
    const choose = entries("Discipline", all, spec.name, (name) => change({ name, args: [] }));
    if (!entry) return this.group(title, choose);
    const dialect = arg(spec, "dialect") ?? entry.dialects[0]?.name ?? "";
    const about = make("p", { className: "about", textContent: entry.about });
    const controls: HTMLElement[] = [];
    if (entry.dialects.length > 1) controls.push(this.dialects(entry, spec, dialect, change));
    controls.push(...this.few(`${title} ${entry.name}`, this.params(entry, spec, dialect, change, buffer), FIRST));
    return this.group(title, choose, about, ...controls);
  }

  private dialects(entry: Entry, spec: Spec, now: string, change: (spec: Spec) => void): HTMLElement {
    const names = entry.dialects.map((own) => [own.name, own.name === own.release ? own.name : `${own.name} (${own.release})`] as const);
    return words("Dialect", names, now, (name) => {
      const usual = name === entry.dialects[0]?.name;
      change(withArg(spec, "dialect", usual ? undefined : name));
    });
  }

  private params(entry: Entry, spec: Spec, dialect: string, change: (spec: Spec) => void, buffer?: string): HTMLElement[] {
    const known = entry.params.filter((param) => !param.known || param.known.length === 0 || param.known.includes(dialect));
    return known.map((param) => {
      // The buffer of the link is the limit of a queue that has none of its own.
      if (buffer !== undefined && param.name === "limit" && arg(spec, "limit") === undefined) return given(param, param.name, buffer, "Buffer");
      const usual = param.defaults?.[dialect] ?? param.default;
      return control(param, param.name, arg(spec, param.name), usual, (value) => {
        change(withArg(spec, param.name, value === usual || value === "" ? undefined : bracketed(value)));
      });
    });
  }

  /** The first controls, and the others on demand. */
  private few(key: string, all: HTMLElement[], first: number): HTMLElement[] {
    if (all.length <= first + 1) return all;
    const more = make("details", { open: this.open.has(key) });
    more.append(make("summary", { textContent: `${all.length - first} more parameters` }), ...all.slice(first));
    more.ontoggle = () => (more.open ? this.open.add(key) : this.open.delete(key));
    return [...all.slice(0, first), more];
  }

  private flows(state: State): HTMLElement {
    const flows = Array.isArray(state.doc["flows"]) ? state.doc["flows"] : [];
    const kinds = this.kinds();
    const hint = this.hint("How many, and which. A change starts the run again.");
    const write = (next: Value[]): void => this.edit({ state: { ...state, doc: { ...state.doc, flows: next } } });
    const rows = flows.map((flow, index) => {
      const put = (next: Value): void => write(flows.map((own, at) => (at === index ? next : own)));
      return this.flow(flow, index, kinds, put, () => {
        this.toAdd = true;
        write(flows.filter((_, at) => at !== index));
      });
    });
    const add = make("button", { type: "button", className: "add", textContent: "Add a flow" });
    add.onclick = () => write([...flows, "cubic"]);
    return this.group("Flows", hint, ...rows, add);
  }

  private kinds(): Entry[] {
    const place = (entry: Entry): number => (USUAL.includes(entry.name) ? USUAL.indexOf(entry.name) : USUAL.length);
    return [...this.catalogue.flows].sort((a, b) => place(a) - place(b));
  }

  private flow(flow: Value, index: number, kinds: Entry[], put: (flow: Value) => void, remove: () => void): HTMLElement {
    const row = flowOf(flow, new Set(this.catalogue.tables.place.map((param) => param.name)));
    const name = `Flow ${index + 1}`;
    const count = make("input", { type: "number", className: "count", min: "1", step: "1", value: String(row.count) });
    count.setAttribute("aria-label", `${name}, how many`);
    count.onchange = () => put(row.rewritten(row.spec, Math.max(1, Math.round(Number(count.value)) || 1)));
    const choose = menuOf(kinds, row.spec.name, (kind) =>
      put(row.rewritten({ name: kind, args: NEEDS_RATE.has(kind) ? [["rate", "2Mbps"]] : [] }, row.count)),
    );
    choose.setAttribute("aria-label", name);
    const gone = make("button", { type: "button", className: "quiet", textContent: "✕", title: `Remove ${name}` });
    gone.setAttribute("aria-label", `Remove ${name}`);
    gone.onclick = remove;
    const line = make("div", { className: "flow-line" }, count, make("span", { textContent: "×" }), choose, gone);
    const entry = kinds.find((known) => known.name === row.spec.name);
    const inside: HTMLElement[] = [line];
    if (entry && entry.params.length > 0) inside.push(this.flowParams(name, entry, row, put));
    return make("div", { className: "flow" }, ...inside);
  }

  /** The parameters of a flow, made when they are opened: a transport has dozens. */
  private flowParams(name: string, entry: Entry, row: FlowRow, put: (flow: Value) => void): HTMLElement {
    const key = `${name} ${entry.name}`;
    const set_ = row.spec.args.length + OF_PLACE.filter((own) => row.place[own] !== undefined).length;
    const more = make("details", { open: this.open.has(key) }, make("summary", { textContent: set_ > 0 ? `Parameters (${set_} set)` : "Parameters" }));
    let filled = false;
    const fill = (): void => {
      if (filled) return;
      filled = true;
      more.append(make("p", { className: "about", textContent: entry.about }));
      // A rate may stand without its key.
      const spec: Spec = { ...row.spec, args: row.spec.args.map(([own, value]) => [own === BARE ? "rate" : own, value]) };
      const dialect = arg(spec, "dialect") ?? entry.dialects[0]?.name ?? "";
      const change = (next: Spec): void => put(row.rewritten(next, row.count));
      if (entry.dialects.length > 1) more.append(this.dialects(entry, spec, dialect, change));
      for (const param of this.catalogue.tables.place.filter((own) => OF_PLACE.includes(own.name))) {
        const own = row.place[param.name];
        more.append(control(param, param.name, text(own), param.default, (value) => put(row.placed(param.name, value === param.default || value === "" ? undefined : value))));
      }
      more.append(...this.params(entry, spec, dialect, change));
    };
    more.ontoggle = () => {
      if (more.open) this.open.add(key);
      else this.open.delete(key);
      fill();
    };
    if (more.open) fill();
    return more;
  }

  private run(state: State): HTMLElement {
    const own = table(state.doc, "run");
    const controls = OF_RUN.flatMap((key) => {
      const param = this.catalogue.tables.run.find((info) => info.name === key);
      if (!param) return [];
      return [
        control(param, NAMES[key] ?? key, text(own[key]), param.default, (value) =>
          this.edit({ state: { ...state, doc: set(state.doc, "run", key, whole(param, value)) } }),
        ),
      ];
    });
    return this.group("Run", this.hint("A change starts the run again."), ...controls);
  }
}

/** Headings of controls where the key alone does not say it. */
const NAMES: Record<string, string> = {
  rate: "Rate",
  rtt: "Base round trip",
  buffer: "Buffer",
  hops: "Hops",
  delay: "Delay per hop",
  duration: "Duration",
  warmup: "Warm-up",
  seed: "Seed",
};

/** Whole numbers stand in a document as numbers. */
function whole(param: Param, value: string): Value {
  return param.kind === "integer" && /^\d+$/.test(value) ? Number(value) : value;
}

/** A value with spaces stands in parentheses. */
function bracketed(value: string): string {
  return /\s/.test(value) && !value.startsWith("(") ? `(${value})` : value;
}

interface FlowRow {
  spec: Spec;
  count: number;
  /** What a table says of the flow's place in the network. */
  place: Doc;
  /** The flow with something else that runs. */
  rewritten(spec: Spec, count: number): Value;
  /** The flow with another value of its place; without it where it is undefined. */
  placed(key: string, value: string | undefined): Value;
}

/** A flow of a document, as a line or as a table. */
function flowOf(flow: Value, places: Set<string>): FlowRow {
  const written = (spec: Spec, count: number, place: Doc): Value => {
    const short = `${count > 1 ? `${count}*` : ""}${line(spec)}`;
    return Object.keys(place).length === 0 ? short : { spec: short, ...place };
  };
  const row = (spec: Spec, count: number, place: Doc): FlowRow => ({
    spec,
    count,
    place,
    rewritten: (next, number) => written(next, number, place),
    placed: (key, value) => {
      const others = Object.fromEntries(Object.entries(place).filter(([own]) => own !== key));
      return written(spec, count, value === undefined ? others : { ...others, [key]: value });
    },
  });
  if (typeof flow === "object" && !Array.isArray(flow)) {
    const entries = Object.entries(flow).filter(([key]) => key !== "count");
    const place = Object.fromEntries(entries.filter(([key]) => places.has(key)));
    if (typeof flow["spec"] === "string") {
      const inner = flowOf(flow["spec"], places);
      return row(inner.spec, inner.count, place);
    }
    const spec = of(Object.fromEntries(entries.filter(([key]) => !places.has(key))), "cubic");
    return row(spec, Number(flow["count"] ?? 1), place);
  }
  const match = /^(?:(\d+)\s*\*\s*)?(.*)$/s.exec(String(flow).trim());
  return row(parse(match?.[2] ?? "cubic"), Number(match?.[1] ?? 1), {});
}
