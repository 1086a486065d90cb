// Names with parameters on one line, such as `codel target=5ms`, and the same as tables of a document.

import type { Doc, Value } from "./messages";

export interface Spec {
  name: string;
  args: [key: string, value: string][];
}

/** The key of a value that stands without one: the rate of a flow, as in `cbr 2Mbps`. */
export const BARE = "";

/** Parts of a text between spaces that stand neither in parentheses nor in quotes. */
function parts(text: string): string[] {
  const all: string[] = [];
  let word = "";
  let depth = 0;
  let quoted = false;
  for (const sign of text) {
    if (sign === '"' && !word.endsWith("\\")) quoted = !quoted;
    if (!quoted && sign === "(") depth++;
    if (!quoted && sign === ")") depth--;
    if (/\s/.test(sign) && depth === 0 && !quoted) {
      if (word) all.push(word);
      word = "";
    } else word += sign;
  }
  if (word) all.push(word);
  return all;
}

/** Reads a specification on one line. */
export function parse(text: string): Spec {
  let inner = text.trim();
  if (inner.startsWith("(") && inner.endsWith(")")) inner = inner.slice(1, -1);
  const [name = "", ...rest] = parts(inner);
  const args = rest.map((word): [string, string] => {
    const at = word.indexOf("=");
    return at < 0 ? [BARE, word] : [word.slice(0, at), word.slice(at + 1)];
  });
  return { name, args };
}

/** A specification of a document, whether a line or a table. */
export function of(value: Value | undefined, usual: string): Spec {
  if (typeof value === "object" && !Array.isArray(value)) {
    const { kind, ...others } = value;
    const args = Object.entries(others).map(([key, own]): [string, string] => [key, text(own)]);
    return { name: String(kind ?? usual), args };
  }
  return parse(typeof value === "string" ? value : usual);
}

/** A value as it stands in a specification on one line. */
function text(value: Value): string {
  if (Array.isArray(value)) return value.map(text).join(",");
  if (typeof value === "object") return `(${line(of(value as Doc, ""))})`;
  const plain = String(value);
  return /\s/.test(plain) && !plain.startsWith("(") ? `(${plain})` : plain;
}

/** A specification on one line. */
export function line(spec: Spec): string {
  return [spec.name, ...spec.args.map(([key, value]) => (key === BARE ? value : `${key}=${value}`))].join(" ");
}

/** A specification with another value of a parameter; without it where the value is undefined. */
export function withArg(spec: Spec, key: string, value: string | undefined): Spec {
  const args = spec.args.filter(([own]) => own !== key);
  const at = spec.args.findIndex(([own]) => own === key);
  if (value !== undefined) args.splice(at < 0 ? args.length : at, 0, [key, value]);
  return { name: spec.name, args };
}

export function arg(spec: Spec, key: string): string | undefined {
  return spec.args.find(([own]) => own === key)?.[1];
}
