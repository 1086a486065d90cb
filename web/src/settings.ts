// The controls for a scenario: link, queue, flows, run.

import type { Catalogue, Entry, Param } from "./catalogue";
import { control, entries, make, words } from "./controls";
import type { Doc, Value } from "./messages";
import { arg, line, of, parse, withArg, type Spec } from "./spec";
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
const USUAL = ["cubic", "reno", "bbr", "bbr3", "prague", "dctcp", "ledbat", "cbr", "poisson", "onoff", "udp_rr", "web"];

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
  }

  /** Makes the controls for a state. The focus stays where it is. */
  show(state: State): void {
    const active = document.activeElement;
    const at = active && this.element.contains(active) ? this.path(active) : undefined;
    const groups: HTMLElement[] = [];
    if (this.parts.includes("link")) groups.push(this.link(state));
    if (this.parts.includes("queue")) groups.push(...this.queues(state));
    if (this.parts.includes("flows")) groups.push(this.flows(state));
    if (this.parts.includes("run")) groups.push(this.run(state));
    this.element.replaceChildren(...groups);
    if (at !== undefined) (this.fields()[at] as HTMLElement | undefined)?.focus();
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
    const own = table(state.doc, "topology");
    const keys = kind === "dumbbell" ? OF_LINK : ["hops", "rate", "delay", "buffer"];
    const controls = keys.flatMap((key) => {
      const param = params.find((info) => info.name === key);
      if (!param) return [];
      const usual = key === "buffer" && param.default === "none" ? "100p" : param.default;
      const set_ = (value: string): void => {
        const doc = set(state.doc, "topology", key, value === "" || value === "none" ? undefined : whole(param, value));
        this.edit(key === "rate" ? { state: { ...state, doc }, rate: value } : { state: { ...state, doc } });
      };
      return [control(param, NAMES[key] ?? key, text(own[key]), usual, set_)];
    });
    return this.group("Link", ...controls);
  }

  private queues(state: State): HTMLElement[] {
    const { kind } = this.topology(state);
    if (kind === "graph") return [];
    const now = of(table(state.doc, "topology")["queue"], "droptail");
    const two = state.second !== null;
    const own = this.queue(two ? "Queue A" : "Queue", now, (spec) => {
      const queue = line(spec);
      this.edit({
        state: { ...state, doc: set(state.doc, "topology", "queue", queue) },
        queues: two ? [queue, null] : [queue],
      });
    });
    if (state.second === null) return [own];
    const other = this.queue("Queue B", parse(state.second), (spec) => {
      this.edit({ state: { ...state, second: line(spec) }, queues: [null, line(spec)] });
    });
    return [own, other];
  }

  private queue(title: string, spec: Spec, change: (spec: Spec) => void): HTMLElement {
    const all = this.catalogue.queues;
    const entry = all.find((own) => own.name === spec.name);
    const choose = entries("Discipline", all, spec.name, (name) => change({ name, args: [] }));
    if (!entry) return this.group(title, choose);
    const dialect = arg(spec, "dialect") ?? entry.dialects[0]?.name ?? "";
    const about = make("p", { className: "about", textContent: entry.about });
    const controls: HTMLElement[] = [];
    if (entry.dialects.length > 1) {
      const names = entry.dialects.map((own) => [own.name, own.release] as const);
      controls.push(dialects(names, dialect, (name) => {
        const usual = name === entry.dialects[0]?.name;
        change(withArg(spec, "dialect", usual ? undefined : name));
      }));
    }
    controls.push(...this.params(title, entry, spec, dialect, change));
    return this.group(title, choose, about, ...controls);
  }

  private params(title: string, entry: Entry, spec: Spec, dialect: string, change: (spec: Spec) => void): HTMLElement[] {
    const known = entry.params.filter((param) => !param.known || param.known.length === 0 || param.known.includes(dialect));
    const all = known.map((param) => {
      const usual = param.defaults?.[dialect] ?? param.default;
      return control(param, param.name, arg(spec, param.name), usual, (value) => {
        change(withArg(spec, param.name, value === usual || value === "" ? undefined : bracketed(value)));
      });
    });
    return this.few(`${title} ${entry.name}`, all, FIRST);
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
    const write = (next: Value[]): void => this.edit({ state: { ...state, doc: { ...state.doc, flows: next } } });
    const rows = flows.map((flow, index) => {
      const put = (next: Value): void => write(flows.map((own, at) => (at === index ? next : own)));
      return this.flow(flow, index, kinds, put, () => write(flows.filter((_, at) => at !== index)));
    });
    const add = make("button", { type: "button", textContent: "Add a flow" });
    add.onclick = () => write([...flows, "cubic"]);
    return this.group("Flows", ...rows, add);
  }

  private kinds(): Entry[] {
    const all = [...this.catalogue.flows, ...this.catalogue.sources];
    const place = (entry: Entry): number => (USUAL.includes(entry.name) ? USUAL.indexOf(entry.name) : USUAL.length);
    return all.filter((entry, at) => all.findIndex((other) => other.name === entry.name) === at).sort((a, b) => place(a) - place(b));
  }

  private flow(flow: Value, index: number, kinds: Entry[], put: (flow: Value) => void, remove: () => void): HTMLElement {
    const row = flowOf(flow);
    const place = this.catalogue.tables.place.find((param) => param.name === "count");
    const label = `Flow ${index + 1}`;
    const choose = entries(label, kinds, row.kind, (kind) => put(row.rewritten(kind, row.count, kind === "cbr" || kind === "poisson" ? " rate=2Mbps" : "")));
    const gone = make("button", { type: "button", textContent: "Remove", title: `Remove ${label}` });
    gone.setAttribute("aria-label", `Remove ${label}`);
    gone.onclick = remove;
    choose.append(gone);
    const inside: HTMLElement[] = [choose];
    if (place) {
      inside.push(control(place, `Number of ${row.kind}`, String(row.count), "1", (value) => put(row.rewritten(row.kind, Number(value) || 1))));
    }
    if (row.rest) {
      const others = { ...(place as Param), kind: "text", doc: "Parameters of the flow, as in the file.", low: "", high: "" } as Param;
      inside.push(control(others, `Parameters of ${row.kind}`, row.rest, "", (value) => put(row.rewritten(row.kind, row.count, value ? ` ${value}` : ""))));
    }
    return make("div", { className: "flow" }, ...inside);
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
    return this.group("Run", ...controls);
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

function dialects(names: readonly (readonly [string, string])[], now: string, choose: (name: string) => void): HTMLElement {
  return words("Dialect", names.map(([name, release]) => [name, `${name} (${release})`] as const), now, choose);
}

interface FlowRow {
  kind: string;
  count: number;
  rest: string;
  rewritten(kind: string, count: number, rest?: string): Value;
}

/** A flow of a document, as a line or as a table. */
function flowOf(flow: Value): FlowRow {
  if (typeof flow === "object" && !Array.isArray(flow)) {
    const own = flow;
    if (typeof own["spec"] === "string") {
      const inner = flowOf(own["spec"]);
      return { ...inner, rewritten: (kind, count, rest) => ({ ...own, spec: inner.rewritten(kind, count, rest) }) };
    }
    const kind = String(own["kind"] ?? "cubic");
    return {
      kind,
      count: Number(own["count"] ?? 1),
      rest: "",
      rewritten: (next, count) => {
        // Parameters of one kind are not those of another.
        const kept: Doc = next === kind ? { ...own } : { kind: next };
        kept["count"] = count;
        return kept;
      },
    };
  }
  const spec = String(flow).trim();
  const match = /^(?:(\d+)\s*\*\s*)?(\S+)\s*(.*)$/s.exec(spec);
  const [, number, kind = "cubic", rest = ""] = match ?? [];
  return {
    kind,
    count: Number(number ?? 1),
    rest,
    rewritten: (next, count, other) => {
      const tail = other ?? (next === kind && rest ? ` ${rest}` : "");
      return `${count > 1 ? `${count}*` : ""}${next}${tail}`;
    },
  };
}
