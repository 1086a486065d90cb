// Owns the runs: advances them by slices of simulated time, in step with each other, and hands over what happened.

import type { Change, Doc, Ended, FromWorker, Meta, Pace, RunFrame, ToWorker, Views } from "./messages";
import { Module, Refused, Trapped } from "./module";

declare const self: DedicatedWorkerGlobalScope;

/** Milliseconds between frames, and how long one computes at most. */
const FRAME = 1000 / 60;
const BUSY = 12;

interface Place {
  now_s: number;
  ended: boolean;
}

let compiled: Promise<WebAssembly.Module> | undefined;
let desk: Module | undefined;

/** At this pace and slower, single packets can be seen. */
const SLOW = 0.1;

/** The runs under way. */
interface Runs {
  number: number;
  docs: Doc[];
  modules: Module[];
  metas: Meta[];
  rows: Float64Array<ArrayBuffer>[][];
  now: number;
  wanted: number;
  ended: boolean;
}

let runs: Runs | undefined;
let playing = false;
let pace: Pace = 1;
let views: Views = { packets: false, wires: [] };
let last = 0;
let timer: ReturnType<typeof setTimeout> | undefined;
let speed = 0;

function post(message: FromWorker, transfer: Transferable[] = []): void {
  self.postMessage(message, transfer);
}

async function load(): Promise<WebAssembly.Module> {
  const answer = await fetch(new URL("sojourn.wasm", self.location.href));
  if (!answer.ok) throw new Error(`sojourn.wasm: ${answer.status}`);
  return WebAssembly.compileStreaming(answer);
}

async function module(): Promise<Module> {
  compiled ??= load();
  return Module.of(await compiled);
}

/** What is wrong with a request goes to the page; a trap ends this Worker. */
function report(error: unknown): void {
  if (error instanceof Refused) {
    post({ kind: "refused", run: runs?.number ?? 0, refusal: error.refusal });
  } else {
    post({ kind: "trapped", text: error instanceof Error ? error.message : String(error) });
  }
}

async function open(message: ToWorker & { kind: "open" }): Promise<void> {
  stop();
  runs = undefined;
  const modules: Module[] = [];
  const metas: Meta[] = [];
  for (const doc of message.docs) {
    const own = await module();
    modules.push(own);
    metas.push(own.call<Meta>({ op: "open", doc, step_us: message.stepUs }));
  }
  runs = {
    number: message.run,
    docs: message.docs,
    modules,
    metas,
    rows: modules.map(() => []),
    now: 0,
    wanted: 0,
    ended: false,
  };
  pace = message.pace;
  playing = message.playing;
  post({ kind: "opened", run: message.run, metas });
  last = performance.now();
  tick();
}

function stop(): void {
  if (timer !== undefined) clearTimeout(timer);
  timer = undefined;
}

function tick(): void {
  timer = undefined;
  const own = runs;
  if (!own || own.ended) return;
  const began = performance.now();
  const passed = Math.min(began - last, 250) / 1000;
  last = began;
  if (playing) own.wanted = pace === "fast" ? Infinity : Math.max(own.wanted, own.now) + passed * pace;
  const from = own.now;
  try {
    if (pace !== "fast" && pace <= SLOW) creep(own);
    else advance(own, began + BUSY);
    const step = own.metas[0]?.step_s ?? 0.02;
    // Where it cannot keep the pace, it does not try to make up for it later.
    if (pace !== "fast" && own.wanted - own.now > Math.max(pace / 4, step * 4)) own.wanted = own.now;
    const took = (performance.now() - began) / 1000;
    if (own.now > from) speed = (own.now - from) / Math.max(took, 1e-6);
    send(own);
    if (own.ended) {
      const ends = own.modules.map((module) => module.call<Ended>({ op: "finish" }));
      post({ kind: "ended", run: own.number, ends });
      return;
    }
  } catch (error) {
    runs = undefined;
    report(error);
    return;
  }
  const busy = own.wanted > own.now;
  if (playing || busy) timer = setTimeout(tick, Math.max(0, FRAME - (performance.now() - began)));
}

/** Goes on by rows until the time wanted, or until the frame is over. */
function advance(own: Runs, deadline: number): void {
  let count = 1;
  while (own.now < own.wanted && !own.ended && performance.now() < deadline) {
    const before = performance.now();
    for (const [index, module] of own.modules.entries()) {
      const place = module.call<Place>({ op: "rows", count });
      own.rows[index]?.push(module.numbers());
      own.now = place.now_s;
      own.ended = place.ended;
    }
    const step = own.metas[0]?.step_s ?? 0.02;
    const took = performance.now() - before;
    // Several rows in a call where they are quick.
    if (took < 1) count = Math.min(count * 2, 64, Math.max(1, Math.ceil((own.wanted - own.now) / step)));
    else if (took > 4) count = 1;
  }
}

/** Goes on by a part of a row, so that single packets can be seen. */
function creep(own: Runs): void {
  const us = Math.round((own.wanted - own.now) * 1e6);
  if (us < 1) return;
  for (const [index, module] of own.modules.entries()) {
    const place = module.call<Place>({ op: "creep", us });
    const rows = module.numbers();
    if (rows.length > 0) own.rows[index]?.push(rows);
    own.now = place.now_s;
    own.ended = place.ended;
  }
}

function send(own: Runs): void {
  const transfer: Transferable[] = [];
  const frames = own.modules.map((module, index) => {
    const parts = own.rows[index] ?? [];
    own.rows[index] = [];
    const rows = joined(parts);
    const frame: RunFrame = { rows };
    transfer.push(rows.buffer);
    if (views.packets) {
      const waiting = module.call<{ dropped: number[]; marked: number[] }>({ op: "waiting", queue: 0 });
      frame.packets = module.numbers();
      frame.dropped = waiting.dropped;
      frame.marked = waiting.marked;
      transfer.push(frame.packets.buffer);
    }
    if (views.wires.length > 0) {
      module.call({ op: "wires", links: views.wires });
      frame.wires = module.numbers();
      transfer.push(frame.wires.buffer);
    }
    return frame;
  });
  post({ kind: "frame", run: own.number, now: own.now, ended: own.ended, speed, runs: frames }, transfer);
}

function joined(parts: Float64Array<ArrayBuffer>[]): Float64Array<ArrayBuffer> {
  const first = parts[0];
  if (parts.length === 1 && first) return first;
  const all = new Float64Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Makes a change a little later than now, in every run at the same time, and writes it into their documents. */
function change(what: Change): void {
  const own = runs;
  if (!own || own.ended) return;
  const ms = Math.floor(own.now * 1000) + 2;
  const docs = own.docs.map((doc, index) => changed(doc, what, index, ms));
  for (const [index, module] of own.modules.entries()) module.call({ op: "change", doc: docs[index] });
  own.docs = docs;
  post({ kind: "changed", run: own.number, docs, at: ms / 1000, change: what });
}

/** The document with one change more. One of the same time and kind is replaced. */
function changed(doc: Doc, what: Change, run: number, ms: number): Doc {
  const entry: Doc = { at: `${ms}ms`, link: what.link };
  if (what.rate !== undefined) entry["rate"] = what.rate;
  if (what.delay !== undefined) entry["delay"] = what.delay;
  const queue = what.queues?.[run];
  if (queue) entry["queue"] = queue;
  if (Object.keys(entry).length === 2) return doc;
  const known = Array.isArray(doc["changes"]) ? doc["changes"] : [];
  const kept = known.filter((other) => {
    const same = other as Doc;
    const collides = Object.keys(entry).some((key) => key !== "at" && key !== "link" && key in same);
    return !(same["at"] === entry["at"] && same["link"] === entry["link"] && collides);
  });
  return { ...doc, changes: [...kept, entry] };
}

async function answer(id: number, request: object): Promise<void> {
  try {
    desk ??= await module();
    post({ kind: "answer", id, answer: desk.call(request) });
  } catch (error) {
    if (error instanceof Refused) post({ kind: "answer", id, refusal: error.refusal });
    else report(error instanceof Trapped ? error : error);
  }
}

self.onmessage = (event: MessageEvent<ToWorker>): void => {
  const message = event.data;
  switch (message.kind) {
    case "call":
      void answer(message.id, message.request);
      break;
    case "open":
      open(message).catch(report);
      break;
    case "play":
      playing = message.playing;
      if (runs && !playing) runs.wanted = runs.now;
      last = performance.now();
      if (timer === undefined) tick();
      break;
    case "pace":
      pace = message.pace;
      if (runs) runs.wanted = runs.now;
      break;
    case "views":
      views = message.views;
      if (runs && !runs.ended) {
        try {
          send(runs);
        } catch (error) {
          report(error);
        }
      }
      break;
    case "change":
      try {
        change(message.change);
      } catch (error) {
        report(error);
      }
  }
};

module().then(
  (own) => {
    desk ??= own;
    post({ kind: "ready", ms: performance.now() });
  },
  report,
);
