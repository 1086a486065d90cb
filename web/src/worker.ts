// Owns the runs: advances them by slices of simulated time, in step with each other, and hands over what happened.

import type { Change, Doc, Ended, FromWorker, Meta, Pace, RunFrame, ToWorker, Views } from "./messages";
import { Module, Refused } from "./module";

declare const self: DedicatedWorkerGlobalScope;

/** Milliseconds for which the Worker computes between two frames at most. */
const BUSY = 13;

/** Milliseconds that one call of the module should take: messages are read between calls. */
const SHORT = 1.5;
const LONG = 4;

/** Simulated microseconds of the first call of a run, and of the longest. */
const FIRST_CHUNK = 1000;
const MOST_CHUNK = 60_000_000;

interface Place {
  now_s: number;
  ended: boolean;
}

/** The compiled module, which the page sends. */
let compiled: WebAssembly.Module | undefined;
let arrived: (own: WebAssembly.Module) => void = () => undefined;
const arrival = new Promise<WebAssembly.Module>((done) => (arrived = done));
let desk: Module | undefined;

/** The runs under way, which are all at the same simulated time. */
interface Runs {
  number: number;
  docs: Doc[];
  modules: Module[];
  metas: Meta[];
  rows: Float64Array<ArrayBuffer>[][];
  /** Simulated microseconds: where the runs are, where they should be, and how many one call advances them. */
  at: number;
  wanted: number;
  chunk: number;
  ended: boolean;
}

let runs: Runs | undefined;
let playing = false;
let pace: Pace = 1;
let views: Views = { packets: false, queue: 0, wires: [] };
let last = 0;
/** Simulated seconds per second of computing. */
let speed = 0;

/** Comes back at once, but after the messages that wait; timers may not come sooner than 4 ms. */
const soon = new MessageChannel();
soon.port1.onmessage = () => {
  if (waits) tick();
};
let waits = false;

function post(message: FromWorker, transfer: Transferable[] = []): void {
  self.postMessage(message, transfer);
}

async function module(): Promise<Module> {
  return Module.of(compiled ?? (await arrival));
}

/** What is wrong with a request goes to the page; a trap ends this Worker. */
function report(error: unknown): void {
  if (error instanceof Refused) {
    post({ kind: "refused", run: runs?.number ?? 0, refusal: error.refusal });
  } else {
    post({ kind: "trapped", text: error instanceof Error ? error.message : String(error) });
  }
}

/** The scenario that was asked for last. */
let newest = 0;

async function open(message: ToWorker & { kind: "open" }): Promise<void> {
  stop();
  runs = undefined;
  newest = message.run;
  const modules: Module[] = [];
  const metas: Meta[] = [];
  for (const doc of message.docs) {
    const own = await module();
    modules.push(own);
    metas.push(own.call<Meta>({ op: "open", doc, step_us: message.stepUs }));
  }
  // Another scenario may have been asked for meanwhile.
  if (message.run !== newest) return;
  runs = {
    number: message.run,
    docs: message.docs,
    modules,
    metas,
    rows: modules.map(() => []),
    at: 0,
    wanted: 0,
    chunk: FIRST_CHUNK,
    ended: false,
  };
  pace = message.pace;
  playing = message.playing;
  post({ kind: "opened", run: message.run, metas });
  last = performance.now();
  tick();
}

function stop(): void {
  waits = false;
}

function tick(): void {
  stop();
  const own = runs;
  if (!own || own.ended) return;
  const began = performance.now();
  const passed = Math.min(began - last, 250) * 1000;
  last = began;
  if (playing) own.wanted = pace === "fast" ? Infinity : own.wanted + passed * pace;
  const from = own.at;
  try {
    advance(own, began + BUSY);
    const took = performance.now() - began;
    if (own.at > from) speed = (own.at - from) / Math.max(took * 1000, 1);
    // Where it cannot keep the pace, it does not try to make up for it later.
    if (pace !== "fast" && own.wanted > own.at && took >= BUSY) own.wanted = own.at;
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
  // A paced run goes on with the next frame of the page, and so exactly as often as there is something to draw.
  if (playing && pace === "fast") {
    waits = true;
    soon.port2.postMessage(0);
  }
}

/** Goes on until the time wanted, or until the frame is over. Rows come where their times are passed. */
function advance(own: Runs, deadline: number): void {
  while (own.at < own.wanted && !own.ended) {
    const before = performance.now();
    if (before >= deadline) return;
    const to = Math.floor(Math.min(own.at + own.chunk, own.wanted));
    if (to <= own.at) return;
    for (const [index, module] of own.modules.entries()) {
      const place = module.call<Place>({ op: "creep", to_us: to });
      const rows = module.numbers();
      if (rows.length > 0) own.rows[index]?.push(rows);
      own.ended = place.ended;
      own.at = place.ended ? Math.round(place.now_s * 1e6) : to;
    }
    const took = performance.now() - before;
    if (took < SHORT) own.chunk = Math.min(own.chunk * 2, MOST_CHUNK);
    else if (took > LONG) own.chunk = Math.max(Math.floor(own.chunk / 2), 1);
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
      const waiting = module.call<{ dropped: number[]; marked: number[] }>({ op: "waiting", queue: views.queue });
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
  post({ kind: "frame", run: own.number, now: own.at / 1e6, ended: own.ended, speed, runs: frames }, transfer);
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
  const ms = Math.floor(own.at / 1000) + 2;
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
    else report(error);
  }
}

self.onmessage = (event: MessageEvent<ToWorker>): void => {
  const message = event.data;
  switch (message.kind) {
    case "module":
      compiled = message.module;
      arrived(message.module);
      break;
    case "beat":
      if (playing && pace !== "fast") tick();
      break;
    case "ping":
      post({ kind: "pong" });
      break;
    case "call":
      void answer(message.id, message.request);
      break;
    case "open":
      open(message).catch(report);
      break;
    case "play":
      playing = message.playing;
      if (runs) runs.wanted = runs.at;
      last = performance.now();
      tick();
      break;
    case "pace":
      pace = message.pace;
      if (runs) runs.wanted = runs.at;
      if (playing) tick();
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
