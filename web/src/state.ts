// What the page shows, in its address: the scenario as a document, the second queue, the pace, the view.

import type { Doc, Pace, Value } from "./messages";

export interface State {
  doc: Doc;
  /** The queue of the second run, where two are compared. */
  second: string | null;
  pace: Pace;
  packets: boolean;
}

/** What a visitor sees first: bufferbloat, and CoDel one menu away. */
export function first(): State {
  return {
    doc: {
      flows: ["2*cubic", "udp_rr"],
      run: { duration: "30s", warmup: "5s", replications: 1, seed: 1 },
      topology: { rate: "10Mbps", rtt: "40ms", buffer: "200p", queue: "droptail" },
    },
    second: null,
    pace: 1,
    packets: false,
  };
}

const VERSION = "s1=";

/** The state as the part of an address behind its #. */
export async function encode(state: State): Promise<string> {
  const short = { d: state.doc, b: state.second ?? undefined, p: state.pace, v: state.packets || undefined };
  const bytes = await through(new TextEncoder().encode(JSON.stringify(short)), new CompressionStream("deflate-raw"));
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return VERSION + btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** The state of an address; undefined where it has none. Throws where it has one that cannot be read. */
export async function decode(hash: string): Promise<State | undefined> {
  const text = hash.replace(/^#/, "");
  if (!text.startsWith(VERSION)) return undefined;
  const binary = atob(text.slice(VERSION.length).replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(binary, (sign) => sign.charCodeAt(0));
  const plain = await through(bytes, new DecompressionStream("deflate-raw"));
  const short = JSON.parse(new TextDecoder().decode(plain)) as { d: Doc; b?: string; p?: Pace; v?: boolean };
  if (typeof short.d !== "object" || short.d === null) throw new Error("the address has no scenario");
  return { doc: short.d, second: short.b ?? null, pace: short.p ?? 1, packets: short.v ?? false };
}

async function through(
  bytes: Uint8Array<ArrayBuffer>,
  stream: CompressionStream | DecompressionStream,
): Promise<Uint8Array<ArrayBuffer>> {
  const writer = stream.writable.getWriter();
  const written = writer.write(bytes).then(() => writer.close());
  const all = await new Response(stream.readable).arrayBuffer();
  await written;
  return new Uint8Array(all);
}

/** The table of a document under a key; an empty one where it has none. */
export function table(doc: Doc, key: string): Doc {
  const value = doc[key];
  return typeof value === "object" && !Array.isArray(value) ? value : {};
}

/** The document with another value at a key of a table; without the key where the value is undefined. */
export function set(doc: Doc, section: string, key: string, value: Value | undefined): Doc {
  const own = { ...table(doc, section) };
  if (value === undefined) delete own[key];
  else own[key] = value;
  return { ...doc, [section]: own };
}

/** The documents that run: the scenario, and with a second queue the same scenario with that. */
export function documents(state: State): Doc[] {
  if (state.second === null) return [state.doc];
  return [state.doc, set(state.doc, "topology", "queue", state.second)];
}

/** The scenario as a study of both queues, so that one file has both. */
export function study(state: State, titles: [string, string]): Doc {
  if (state.second === null) return state.doc;
  const first = table(state.doc, "topology")["queue"] ?? "droptail";
  return {
    ...state.doc,
    experiment: [
      {
        name: "queues",
        title: "Two queues, the same traffic",
        factor: [
          { name: "queue", title: "Queue", path: "topology.queue", values: [first, state.second], labels: titles },
        ],
      },
    ],
  };
}
