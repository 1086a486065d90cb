// Quantities with units, as the file format writes them: read for sliders, and written back.

import type { Param } from "./catalogue";

type Scale = readonly (readonly [unit: string, factor: number])[];

const SCALES: Partial<Record<Param["kind"], Scale>> = {
  duration: [
    ["h", 3600],
    ["min", 60],
    ["s", 1],
    ["ms", 1e-3],
    ["us", 1e-6],
    ["ns", 1e-9],
  ],
  rate: [
    ["Gbps", 1e9],
    ["Mbps", 1e6],
    ["kbps", 1e3],
    ["bps", 1],
  ],
  size: [
    ["GB", 1e9],
    ["MB", 1e6],
    ["kB", 1e3],
    ["B", 1],
  ],
  packets: [["p", 1]],
  limit: [
    ["MB", 1e6],
    ["kB", 1e3],
    ["B", 1],
    ["p", 1],
    ["ms", 1e-3],
    ["s", 1],
    ["bdp", 1],
  ],
};

/** The units in which sliders write: the first that makes a number of at least 1. */
const WRITTEN: Partial<Record<Param["kind"], string[]>> = {
  duration: ["s", "ms", "us", "ns"],
  rate: ["Gbps", "Mbps", "kbps", "bps"],
  size: ["MB", "kB", "B"],
  packets: ["p"],
};

export interface Quantity {
  value: number;
  unit: string;
}

/** A quantity in base units; undefined for a text that is none. */
export function read(kind: Param["kind"], text: string): Quantity | undefined {
  const match = /^\s*([0-9]+(?:\.[0-9]+)?(?:e-?[0-9]+)?)\s*([A-Za-zµ%]*)\s*$/i.exec(text);
  if (!match) return undefined;
  const number = Number(match[1]);
  const unit = match[2] ?? "";
  if (kind === "fraction") return { value: unit === "%" ? number / 100 : number, unit };
  if (kind === "integer" || kind === "number") return unit === "" ? { value: number, unit } : undefined;
  const factor = SCALES[kind]?.find(([name]) => name === unit)?.[1];
  return factor === undefined ? undefined : { value: number * factor, unit };
}

/** A number with three digits that count. */
function short(value: number): string {
  return String(Number(value.toPrecision(3)));
}

/** A value in base units as the file format writes it, in the unit of the text that it replaces where that is not free. */
export function write(kind: Param["kind"], value: number, like: Quantity): string {
  if (kind === "integer") return String(Math.max(0, Math.round(value)));
  if (kind === "number" || kind === "fraction") return short(like.unit === "%" ? value * 100 : value) + like.unit;
  const scale = SCALES[kind] ?? [];
  if (kind === "limit") {
    const factor = scale.find(([name]) => name === like.unit)?.[1] ?? 1;
    const number = value / factor;
    const whole = like.unit === "p" || like.unit === "B";
    return (whole ? String(Math.max(1, Math.round(number))) : short(number)) + like.unit;
  }
  for (const unit of WRITTEN[kind] ?? []) {
    const factor = scale.find(([name]) => name === unit)?.[1] ?? 1;
    if (value >= factor * 0.9995 || unit === (WRITTEN[kind] ?? []).at(-1)) {
      const whole = factor === 1 && kind !== "duration";
      return (whole ? String(Math.max(1, Math.round(value))) : short(value / factor)) + unit;
    }
  }
  return short(value);
}

/** Where a slider begins and ends: the allowed range, or what is within a factor of 64 of the default. */
export function range(param: Param, now: Quantity): [low: number, high: number] {
  const usual = read(param.kind, param.default)?.value || now.value || 1;
  const low = read(param.kind, param.low)?.value;
  const high = read(param.kind, param.high)?.value;
  if (param.kind === "fraction") return [low ?? 0, high ?? 1];
  const near = Math.max(low ?? 0, Math.min(usual, now.value || usual) / 64);
  const far = Math.min(high ?? Infinity, Math.max(usual, now.value) * 64);
  if (param.kind === "integer") return [Math.max(low ?? 0, Math.floor(near)), Math.max(Math.ceil(far), 2)];
  return [near, far];
}

/** A length of a run for a reader. */
export function long(value: number): string {
  if (value >= 3600) return `${Number((value / 3600).toPrecision(4))} h`;
  return value < 1 ? seconds(value) : `${Number(value.toPrecision(5))} s`;
}

/** Simulated seconds for a reader. */
export function seconds(value: number): string {
  return value < 1 ? `${(value * 1000).toFixed(1)} ms` : `${value.toFixed(2)} s`;
}

/** Bits per second for a reader. */
export function bits(value: number): string {
  if (!Number.isFinite(value)) return "–";
  if (value >= 1e9) return `${(value / 1e9).toFixed(2)} Gbps`;
  if (value >= 1e6) return `${(value / 1e6).toFixed(2)} Mbps`;
  return `${(value / 1e3).toFixed(0)} kbps`;
}
