// What the page and its Worker say to each other.

import type { Refusal } from "./module";

/** A value of a document, as in TOML. */
export type Value = string | number | boolean | Value[] | Doc;
export interface Doc {
  [key: string]: Value;
}

/** What a watched run has. */
export interface Meta {
  queues: { link: string; discipline: string; title: string; release: string; rate_bps: number }[];
  lanes: { name: string; kind: string; forward: boolean }[];
  of_queue: string[];
  of_lane: string[];
  step_s: number;
  end_s: number;
  warmup_s: number;
  flows: number;
  bytes: number;
  links: string[];
}

export interface Metric {
  value: number;
  title: string;
  unit: string;
  shown: number;
}

export interface Numbers {
  measured_s: number;
  queues: {
    link: string;
    bottleneck: boolean;
    discipline: string;
    metrics: Record<string, Metric>;
  }[];
  flows: { flow: string; label: string; metrics: Record<string, Metric> }[];
}

/** The end of a run. */
export interface Ended {
  digest: string;
  numbers: Numbers;
}

/** Where the runs are: simulated seconds in a second, or as fast as it goes. */
export type Pace = number | "fast";

/** What is to be shown beside the rows. */
export interface Views {
  packets: boolean;
  /** Whose packets: a place in the list of queues. */
  queue: number;
  wires: number[];
}

/** A change of a link at a moment of a run. */
export interface Change {
  link: string;
  rate?: string;
  delay?: string;
  /** By run, since two runs may have two queues. */
  queues?: (string | null)[];
}

/** To the Worker. */
export type ToWorker =
  | { kind: "module"; module: WebAssembly.Module }
  | { kind: "ping" }
  /** The page is about to draw: a paced run goes on to where it should be now. */
  | { kind: "beat" }
  | { kind: "call"; id: number; request: object }
  | { kind: "open"; run: number; docs: Doc[]; stepUs: number; pace: Pace; playing: boolean }
  | { kind: "play"; playing: boolean }
  | { kind: "pace"; pace: Pace }
  | { kind: "views"; views: Views }
  | { kind: "change"; change: Change };

/** One run since the last frame. */
export interface RunFrame {
  rows: Float64Array<ArrayBuffer>;
  packets?: Float64Array<ArrayBuffer>;
  dropped?: number[];
  marked?: number[];
  wires?: Float64Array<ArrayBuffer>;
}

/** From the Worker. */
export type FromWorker =
  | { kind: "pong" }
  | { kind: "answer"; id: number; answer?: unknown; refusal?: Refusal }
  | { kind: "opened"; run: number; metas: Meta[] }
  | { kind: "frame"; run: number; now: number; ended: boolean; speed: number; runs: RunFrame[] }
  | { kind: "ended"; run: number; ends: Ended[] }
  | { kind: "changed"; run: number; docs: Doc[]; at: number; change: Change }
  | { kind: "refused"; run: number; refusal: Refusal }
  | { kind: "trapped"; text: string };
