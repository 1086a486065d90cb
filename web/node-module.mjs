// The module outside a browser: requests and answers, as in src/module.ts.

import { readFileSync } from "node:fs";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A new instance of a module; what it returns carries out requests. */
export async function load(wasm) {
  const { exports } = await WebAssembly.instantiate(await WebAssembly.compile(readFileSync(wasm)), {});
  const bytes = (at, length) => new Uint8Array(exports.memory.buffer, at, length);
  return (request) => {
    const text = encoder.encode(JSON.stringify(request));
    const at = exports.sojourn_input(text.length);
    bytes(at, text.length).set(text);
    const length = exports.sojourn_call();
    return JSON.parse(decoder.decode(bytes(exports.sojourn_output(), length)));
  };
}
