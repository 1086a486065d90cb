// The live figure: runs in a Worker, charts, packets, controls.

import type { Catalogue } from "./catalogue";
import type { Chart } from "./chart";
import { Client, type Heard } from "./client";
import { make, words } from "./controls";
import type { Change, Doc, Ended, Meta, Pace, RunFrame } from "./messages";
import { countsOf, called } from "./lanes";
import { Refused, type Refusal } from "./module";
import { KINDS, Panel, type ChartKind } from "./panel";
import { Settings, type Edit, type Part } from "./settings";
import { documents, table, type State } from "./state";
import { resultsOf } from "./results";
import { stepOf } from "./rows";
import { laneColour, laneDash, theme, type Theme } from "./theme";
import { long, read, seconds } from "./units";
import { arg, of } from "./spec";

/** Simulated seconds per second that can be chosen. */
const PACES: readonly (readonly [string, string])[] = [
  ["0.001", "1/1000"],
  ["0.005", "1/200"],
  ["0.02", "1/50"],
  ["0.1", "1/10"],
  ["0.5", "1/2"],
  ["1", "Real time"],
  ["2", "2 times"],
  ["5", "5 times"],
  ["20", "20 times"],
  ["fast", "As fast as it goes"],
];

export interface Options {
  charts: readonly ChartKind[];
  parts: readonly Part[];
  /** The state changed by the user's hand, or by a change in the middle of a run. */
  changed: (state: State) => void;
}

export class App {
  readonly element = make("div", { className: "app" });
  readonly client: Client;
  private settings: Settings | undefined;
  private readonly side = make("div", { className: "side" });
  private readonly main = make("div", { className: "panels" });
  private readonly clock = make("output", { className: "clock" });
  private readonly play = make("button", { type: "button", className: "primary" });
  private readonly restart = make("button", { type: "button", textContent: "Start again" });
  private readonly paces = make("span");
  private readonly packetBox = make("input", { type: "checkbox" });
  private readonly twoBox = make("input", { type: "checkbox" });
  private readonly notice = make("div", { className: "notice", hidden: true });
  private readonly legend = make("ul", { className: "legend" });
  private readonly results = make("div", { className: "results" });
  private panels: Panel[] = [];
  private theme: Theme = theme();
  private run = 0;
  private now = 0;
  private ended = false;
  private playing = true;
  private spoiled = true;
  private painting = false;
  private drawn = false;
  private catalogue: Catalogue | undefined;
  private last: { digests: string[]; ends: Ended[] } | undefined;
  private readonly still = matchMedia("(prefers-reduced-motion: reduce)");
  /** The state of the run: with what it began, and its changes on the way. */
  private own: State;
  /** The state that the controls show, which is in force now: a new run begins with it. */
  private present: State;

  constructor(
    initial: State,
    private readonly options: Options,
  ) {
    this.own = initial;
    this.present = initial;
    this.client = new Client((message) => this.hear(message));
    this.build();
    this.begin();
    this.beat();
    void this.learn();
    const spoil = (): void => {
      this.theme = theme();
      this.spoiled = true;
      this.paint();
    };
    new ResizeObserver(spoil).observe(this.main);
    matchMedia("(prefers-color-scheme: dark)").onchange = spoil;
    new MutationObserver(spoil).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  }

  get state(): State {
    return this.own;
  }

  /** The scenario that is in force now. */
  get scenario(): Doc {
    return this.present.doc;
  }

  /** The checksums of the outcomes, once the runs have ended. */
  get digests(): string[] {
    return this.last?.digests ?? [];
  }

  get ends(): Ended[] {
    return this.last?.ends ?? [];
  }

  /** Where the run is, in simulated seconds. */
  get time(): number {
    return this.now;
  }

  /** How often the figure has been drawn with something new. */
  paints = 0;

  /** Simulated seconds per second of computing. */
  speed = 0;

  get titles(): string[] {
    return this.panels.map((panel) => panel.title);
  }

  /** Another scenario, from the beginning. */
  show(state: State): void {
    this.own = state;
    this.present = state;
    this.asking++;
    this.playing = true;
    this.packetBox.checked = state.packets;
    this.twoBox.checked = state.second !== null;
    this.settings?.show(state);
    this.showPace();
    this.onState(state);
    this.begin();
  }

  private async learn(): Promise<void> {
    const catalogue = await this.client.call<Catalogue>({ op: "catalogue" });
    this.catalogue = catalogue;
    this.settings = new Settings(catalogue, this.options.parts, (edit) => void this.edit(edit));
    this.side.replaceChildren(this.settings.element);
    this.settings.show(this.present);
  }

  private build(): void {
    this.play.onclick = () => this.toggle();
    this.restart.onclick = () => {
      this.playing = true;
      this.anew(this.present);
    };
    this.restart.title = "From the beginning, with the settings as they are now";
    this.packetBox.checked = this.own.packets;
    this.packetBox.onchange = () => this.watch(this.packetBox.checked);
    this.twoBox.checked = this.own.second !== null;
    this.twoBox.onchange = () => this.compare(this.twoBox.checked);
    this.notice.setAttribute("role", "alert");
    this.clock.setAttribute("aria-live", "off");
    const bar = make(
      "div",
      { className: "bar" },
      this.play,
      this.restart,
      this.paces,
      make("label", { className: "check" }, this.packetBox, "Show packets"),
      make("label", { className: "check" }, this.twoBox, "Compare two queues"),
      this.clock,
    );
    bar.id = "playback";
    bar.tabIndex = -1;
    bar.setAttribute("role", "group");
    bar.setAttribute("aria-label", "Playback");
    const stage = make("div", { className: "stage" }, bar, this.notice, this.legend, this.main, this.results);
    this.element.append(this.side, stage);
    this.showPace();
    this.label();
  }

  /** With every frame that the browser shows, asks the Worker to go on; not before it has answered the last time. */
  private readonly beat = (): void => {
    if (!this.asked && !this.opening && this.playing && !this.ended && this.own.pace !== "fast") {
      this.asked = true;
      this.client.send({ kind: "beat" });
    }
    requestAnimationFrame(this.beat);
  };
  private asked = false;

  private tellState(state: State): void {
    this.options.changed(state);
    this.onState(state);
  }

  private showPace(): void {
    this.paces.replaceChildren(
      words("Speed", PACES, String(this.own.pace), (value) => {
        const pace: Pace = value === "fast" ? "fast" : Number(value);
        this.own = { ...this.own, pace };
        this.client.send({ kind: "pace", pace });
        this.views();
        this.tellState(this.own);
      }),
    );
  }

  private label(): void {
    this.restart.hidden = this.ended;
    this.play.textContent = this.failed ? "Try again" : this.ended ? "Play again" : this.playing ? "Pause" : "Play";
  }

  private toggle(): void {
    if (this.ended) {
      this.restart.click();
      return;
    }
    this.playing = !this.playing;
    this.client.send({ kind: "play", playing: this.playing });
    this.label();
  }

  /** Shows packets, slowly enough to see them; or not. */
  private watch(packets: boolean): void {
    const slow = typeof this.own.pace === "number" && this.own.pace <= 0.02;
    const pace: Pace = packets ? (slow ? this.own.pace : 0.02) : slow ? 1 : this.own.pace;
    this.own = { ...this.own, packets, pace };
    this.views();
    this.client.send({ kind: "pace", pace });
    this.showPace();
    this.tellState(this.own);
  }

  private views(): void {
    for (const panel of this.panels) panel.packets.element.hidden = !this.own.packets;
    // Packets on links can be seen only where time is slow.
    const slow = typeof this.own.pace === "number" && this.own.pace <= 0.1;
    this.client.send({ kind: "views", views: { packets: this.own.packets, queue: this.queue, wires: slow ? this.wires : [] } });
  }

  /** Links whose packets somebody draws. */
  private wires: number[] = [];
  /** Somebody who draws packets on links. */
  onFrame: (frame: RunFrame) => void = () => undefined;
  /** Somebody who shows what does not move. */
  onState: (state: State) => void = () => undefined;

  watchLinks(links: number[]): void {
    this.wires = links;
    this.views();
  }

  private compare(two: boolean): void {
    const now = of(table(this.scenario, "topology")["queue"], "droptail").name;
    this.anew({ ...this.present, second: two ? (now === "fq_codel" ? "droptail" : "fq_codel") : null });
  }

  /** Begins a run with a scenario, without the changes that were made by hand in the one before. */
  private anew(state: State): void {
    this.own = { doc: this.fresh(state.doc), second: state.second, pace: this.own.pace, packets: this.own.packets };
    this.present = this.own;
    this.tellState(this.own);
    this.settings?.show(this.own);
    this.begin();
  }

  /** The document without the changes that were made by hand while it ran. */
  private fresh(doc: Doc): Doc {
    const changes = doc["changes"];
    if (!Array.isArray(changes)) return doc;
    const kept = changes.filter((change) => !this.made.has(JSON.stringify(change)));
    const next = { ...doc };
    if (kept.length > 0) next["changes"] = kept;
    else delete next["changes"];
    return next;
  }

  /** Changes made by hand, as they stand in the document. */
  private made = new Set<string>();

  /** Takes an edit over, unless its scenario is refused: then the field says why, and what runs goes on. */
  private async edit(edit: Edit): Promise<void> {
    const asked = ++this.asking;
    const problem = await this.problem(edit.state);
    if (asked !== this.asking) return;
    if (problem === undefined) this.take(edit);
    else this.settings?.refuse(problem);
  }

  /** Counts questions whether a scenario runs: only the answer to the last one counts. */
  private asking = 0;

  private async problem(state: State): Promise<string | undefined> {
    try {
      for (const doc of documents(state)) await this.client.call({ op: "check", doc });
      return undefined;
    } catch (error) {
      return because(error);
    }
  }

  private take(edit: Edit): void {
    const running = !this.ended && this.now > 0 && this.panels.length > 0;
    const link = this.panels[0]?.meta.queues[0]?.link;
    // Two runs are of one scenario that differs in its queue; a change of one queue alone would be a third thing.
    const queues = edit.queues !== undefined && edit.state.second === null;
    const mid = running && link !== undefined && (edit.rate !== undefined || queues);
    if (mid) {
      const change: Change = { link };
      if (edit.rate !== undefined) change.rate = edit.rate.split("/")[0] ?? edit.rate;
      if (edit.queues) change.queues = edit.queues;
      this.pending = edit;
      this.present = edit.state;
      this.client.send({ kind: "change", change });
      return;
    }
    this.anew(edit.state);
  }

  /** An edit of which the Worker has not said yet when it happens. */
  private pending: Edit | undefined;

  private duration(doc: Doc): number {
    const text = String(table(doc, "run")["duration"] ?? "60s");
    return read("duration", text)?.value ?? 60;
  }

  private begin(): void {
    this.run++;
    this.now = 0;
    this.ended = false;
    this.opening = true;
    this.failed = false;
    this.asked = false;
    this.pending = undefined;
    this.last = undefined;
    this.paint();
    this.results.replaceChildren();
    this.label();
    this.client.send({
      kind: "open",
      run: this.run,
      docs: documents(this.own),
      stepUs: stepOf(this.duration(this.own.doc)),
      pace: this.own.pace,
      playing: this.playing,
    });
  }

  private hear(message: Heard): void {
    switch (message.kind) {
      case "silent":
        this.silent(message.seconds);
        break;
      case "back":
        if (this.isSilent) this.say(undefined);
        break;
      case "pong":
        break;
      case "opened":
        if (message.run === this.run) this.opened(message.metas);
        break;
      case "frame":
        if (message.run !== this.run) break;
        this.asked = false;
        this.now = message.now;
        this.speed = message.speed;
        if (message.runs[0]) this.onFrame(message.runs[0]);
        for (const [index, frame] of message.runs.entries()) this.panels[index]?.take(frame, performance.now());
        this.paint();
        break;
      case "ended":
        if (message.run !== this.run) break;
        this.ended = true;
        this.finish(message.ends);
        this.label();
        break;
      case "changed":
        if (message.run === this.run) this.changed(message.docs, message.at, message.change);
        break;
      case "refused":
        this.refuse(message.refusal);
        break;
      case "trapped":
        this.trapped(message.text);
        break;
      case "answer":
        break;
    }
  }

  /** A run was asked for and has not begun yet: one of many flows takes seconds. */
  private opening = false;
  /** It did not begin. */
  private failed = false;

  private opened(metas: Meta[]): void {
    this.opening = false;
    if (!this.keep) this.say(undefined);
    this.keep = false;
    const two = metas.length > 1;
    const point = (time: number | undefined): void => {
      for (const panel of this.panels) panel.point(time);
    };
    const counts = metas[0] ? countsOf(this.own.doc, metas[0]) : undefined;
    this.counts = counts;
    this.panels = metas.map((meta, index) => {
      const peer = (kind: ChartKind): Chart | undefined => this.panels[1 - index]?.charts.get(kind);
      return new Panel(meta, two ? ("AB"[index] ?? "") : "", this.options.charts, counts, peer, () => this.chosen(index), point, () => this.paint());
    });
    const changes = Array.isArray(this.own.doc["changes"]) ? this.own.doc["changes"] : [];
    for (const change of changes) {
      const at = typeof change === "object" && !Array.isArray(change) ? read("duration", String(change["at"])) : undefined;
      if (at) for (const panel of this.panels) panel.changes(at.value);
    }
    this.queue = 0;
    this.main.replaceChildren(...this.panels.map((panel) => panel.element));
    this.main.classList.toggle("two", two);
    this.showLegend(metas[0]);
    this.views();
    this.spoiled = true;
    this.paint();
  }

  /** Another of several queues is shown. */
  private chosen(index: number): void {
    this.queue = this.panels[index]?.queue ?? 0;
    this.views();
    this.spoiled = true;
    this.paint();
  }

  /** Whose packets are shown. */
  private queue = 0;
  /** How many flows each lane stands for, where the scenario tells. */
  private counts: number[] | undefined;

  private showLegend(meta: Meta | undefined): void {
    const colours = this.theme;
    const items = (meta?.lanes ?? []).map((lane, index) => {
      const swatch = make("span", { className: "swatch" });
      swatch.style.borderTopColor = laneColour(colours, index);
      swatch.style.borderTopStyle = laneDash(index).length > 0 ? "dashed" : "solid";
      return make("li", {}, swatch, called(lane.name, this.counts?.[index]));
    });
    this.legend.replaceChildren(...items);
    this.legend.setAttribute("aria-label", "Flows");
  }

  private paint(): void {
    if (this.painting) return;
    this.painting = true;
    requestAnimationFrame((now) => {
      this.painting = false;
      this.paints++;
      if (this.spoiled) {
        this.spoiled = false;
        for (const panel of this.panels) panel.spoil();
        this.showLegend(this.panels[0]?.meta);
      }
      let moves = false;
      for (const panel of this.panels) moves = panel.draw(this.theme, now, this.still.matches) || moves;
      const end = this.panels[0]?.meta.end_s ?? 0;
      const text = this.failed ? "Not started" : this.opening ? "Preparing…" : end > 0 ? `${seconds(this.now)} of ${long(end)}` : "";
      if (this.clock.value !== text) this.clock.value = text;
      if (this.panels.length > 0 && !this.drawn) {
        this.drawn = true;
        performance.mark("figure-drawn");
      }
      if (moves && !this.still.matches) this.paint();
    });
  }

  /** The Worker has made a change; from now on it stands in the document. */
  private changed(docs: Doc[], at: number, change: Change): void {
    const edit = this.pending;
    this.pending = undefined;
    const first = docs[0];
    if (!first) return;
    const changes = Array.isArray(first["changes"]) ? first["changes"] : [];
    const before = Array.isArray(this.own.doc["changes"]) ? this.own.doc["changes"] : [];
    for (const own of changes) {
      const text = JSON.stringify(own);
      if (!before.some((other) => JSON.stringify(other) === text)) this.made.add(text);
    }
    // The controls show what is in force; the document has what it began with, and the change.
    this.own = { ...this.own, doc: first };
    if (edit) this.settings?.show({ ...edit.state, second: edit.state.second });
    const named = change.queues?.map((own, index) => [own, index] as const) ?? [];
    for (const [own, index] of named) {
      if (!own) continue;
      const entry = this.catalogue?.queues.find((known) => known.name === of(own, "").name);
      const dialect = arg(of(own, ""), "dialect");
      const release = (entry?.dialects.find((known) => known.name === dialect) ?? entry?.dialects[0])?.release;
      this.panels[index]?.rename(`${entry?.title ?? own}${release ? ` (${release})` : ""} from ${at.toFixed(2)} s on`);
    }
    for (const panel of this.panels) panel.changes(at);
    this.paint();
    this.tellState(this.own);
  }

  private finish(ends: Ended[]): void {
    this.last = { digests: ends.map((end) => end.digest), ends };
    for (const panel of this.panels) panel.tell();
    this.onFrame({ rows: new Float64Array(0) });
    const replications = table(this.own.doc, "run")["replications"];
    const warmup = this.panels[0]?.meta.warmup_s ?? 0;
    this.results.replaceChildren(...resultsOf(ends, this.titles, warmup, typeof replications === "number" ? replications : 1));
  }

  private refuse(refusal: Refusal): void {
    this.pending = undefined;
    if (this.opening) this.fail();
    else {
      this.present = this.own;
      this.settings?.show(this.own);
    }
    const place = refusal.excerpt ? `\n${refusal.excerpt}` : "";
    this.say(`${refusal.text}${place}`);
  }

  /** A run did not begin: what the one before has left would look like its result. */
  private fail(): void {
    this.opening = false;
    this.failed = true;
    this.ended = true;
    this.panels = [];
    this.main.classList.remove("two");
    this.main.replaceChildren(make("p", { className: "none", textContent: "This scenario has not started. Put the setting right that the message names." }));
    this.legend.replaceChildren();
    this.label();
    this.paint();
  }

  private trapped(text: string): void {
    this.stopped(
      `The simulator stopped at ${seconds(this.now)} of the run: ${text}\nIt has been started again, and you can go on. The scenario below is unchanged: run the same file with the command to see whether it stops there, too, and please report it.`,
    );
  }

  /** The Worker reads no messages: it may be at a part of a run that has very many packets, or it may never come back. */
  private silent(time: number): void {
    if (this.isSilent) return;
    const stop = make("button", { type: "button", textContent: "Stop it" });
    stop.onclick = () => {
      this.client.restart("it was stopped");
      this.stopped(`You stopped the simulator at ${seconds(this.now)} of the run.`);
    };
    this.say(
      `The simulator has been computing for ${time} s without a break at ${seconds(this.now)} of the run. You can wait, or stop it and make the scenario smaller: fewer flows, a lower rate.`,
    );
    this.isSilent = true;
    this.notice.append(" ", stop);
  }

  private isSilent = false;
  private keep = false;

  /** The run is over before its end. */
  private stopped(text: string): void {
    if (this.opening) this.fail();
    this.ended = true;
    this.label();
    this.paint();
    this.say(text);
    if (!this.catalogue) void this.learn();
  }

  /** Shows a notice, or none. One that is kept stays when the next run begins. */
  say(text: string | undefined, keep = false): void {
    this.isSilent = false;
    this.keep = keep;
    this.notice.hidden = text === undefined;
    this.notice.textContent = text ?? "";
  }
}

/** What a refused request says to a user. */
export function because(error: unknown): string {
  if (error instanceof Refused) {
    const { text, excerpt } = error.refusal;
    return excerpt ? `${text}\n${excerpt}` : text;
  }
  return error instanceof Error ? error.message : String(error);
}

export { KINDS };
