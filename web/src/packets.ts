// The queue as boxes, one for each packet in the colour of its flow. Packets come from the left, leave to the right onto the link, and
// those that are dropped fall.

import type { RunFrame } from "./messages";
import { laneColour, type Theme } from "./theme";

const FIELDS = 5;
const FALLS = 700;
const MOST_FALLING = 80;

interface Falling {
  lane: number;
  x: number;
  y: number;
  began: number;
  drift: number;
}

export class Packets {
  readonly element = document.createElement("figure");
  private readonly canvas = document.createElement("canvas");
  private readonly words = document.createElement("figcaption");
  private frame: RunFrame | undefined;
  private dropped: number[] | undefined;
  private falling: Falling[] = [];
  private sent: { lane: number; at: number; marked: boolean }[] = [];
  private known = new Map<number, { lane: number; marked: boolean }>();
  private places = new Map<number, number>();

  constructor(title: string) {
    this.element.className = "packets";
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", `Packets that wait in ${title}`);
    this.element.append(this.words, this.canvas);
  }

  restart(): void {
    this.frame = undefined;
    this.dropped = undefined;
    this.falling = [];
    this.sent = [];
    this.known.clear();
    this.places.clear();
  }

  /** Takes what has happened since the last frame. */
  take(frame: RunFrame, now: number): void {
    const packets = frame.packets;
    if (!packets) return;
    const before = this.dropped;
    const lost = (frame.dropped ?? []).map((count, lane) => {
      const old = before?.[lane] ?? count;
      return count < old ? count : count - old;
    });
    const left = lost.slice();
    const waiting = new Map<number, { lane: number; marked: boolean }>();
    for (let at = 0; at < packets.length; at += FIELDS) {
      waiting.set(packets[at + 1] ?? -1, { lane: packets[at] ?? -1, marked: packets[at + 3] === 1 });
    }
    for (const [uid, packet] of this.known) {
      if (waiting.has(uid)) continue;
      // It is gone: dropped, if its flow lost one, or else sent.
      if ((left[packet.lane] ?? 0) > 0) {
        left[packet.lane] = (left[packet.lane] ?? 0) - 1;
        this.fall(packet.lane, this.places.get(uid), now);
      } else {
        this.sent.push({ lane: packet.lane, at: now, marked: packet.marked });
      }
    }
    // What never got in falls at the tail.
    for (const [lane, count] of left.entries()) {
      for (let number = 0; number < Math.min(count, 12); number++) this.fall(lane, undefined, now);
    }
    this.sent = this.sent.slice(-60);
    this.known = waiting;
    this.dropped = frame.dropped ?? [];
    this.frame = frame;
  }

  private fall(lane: number, x: number | undefined, now: number): void {
    this.falling.push({ lane, x: x ?? -1, y: 0, began: now, drift: ((this.falling.length * 7) % 11) - 5 });
    if (this.falling.length > MOST_FALLING) this.falling.shift();
  }

  /** Draws; true while something still moves. */
  draw(theme: Theme, now: number, still: boolean): boolean {
    const context = this.canvas.getContext("2d", { alpha: false });
    if (!context) return false;
    const box = this.canvas.getBoundingClientRect();
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    const width = Math.max(box.width, 120);
    const height = Math.max(box.height, 80);
    if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = theme.back;
    context.fillRect(0, 0, width, height);
    const link = 0.22 * width;
    const right = width - link;
    const packets = this.frame?.packets ?? new Float64Array(0);
    const count = packets.length / FIELDS;
    // As many rows as make boxes of a size that can be seen.
    const area = height * 0.62;
    let rows = 1;
    while (rows < 12 && (count / rows) * (area / rows) > right - 12) rows++;
    const size = Math.min(area / rows, 22);
    const top = 8;
    const columns = Math.max(1, Math.floor((right - 12) / size));
    this.places.clear();
    for (let index = 0; index < count; index++) {
      // The packet that came first is at the head, beside the link; columns fill from there.
      const column = Math.floor(index / rows);
      if (column >= columns) break;
      const x = right - (column + 1) * size;
      const y = top + (index % rows) * size;
      const at = index * FIELDS;
      this.places.set(packets[at + 1] ?? -1, x);
      this.box(context, theme, packets[at] ?? -1, x, y, size, packets[at + 3] === 1);
    }
    context.strokeStyle = theme.ink;
    context.lineWidth = 1.5;
    context.strokeRect(6, top - 3, right - 4, rows * size + 6);
    this.link(context, theme, right, top + (rows * size) / 2, width, size, now, still);
    const moves = this.drops(context, theme, top + rows * size + 6, height, size, now, still);
    const shown = Math.min(count, columns * rows);
    const text = `${count} packets wait${shown < count ? ` (${shown} shown)` : ""}`;
    if (this.words.textContent !== text) this.words.textContent = text;
    return moves;
  }

  private box(
    context: CanvasRenderingContext2D,
    theme: Theme,
    lane: number,
    x: number,
    y: number,
    size: number,
    marked: boolean,
  ): void {
    const inner = Math.max(size - 1.5, 1);
    context.fillStyle = laneColour(theme, lane);
    context.fillRect(x, y, inner, inner);
    if (marked && inner > 4) {
      context.strokeStyle = theme.mark;
      context.lineWidth = 2;
      context.strokeRect(x + 1, y + 1, inner - 2, inner - 2);
    }
  }

  /** Packets that have just been sent move along the link. */
  private link(
    context: CanvasRenderingContext2D,
    theme: Theme,
    from: number,
    y: number,
    to: number,
    size: number,
    now: number,
    still: boolean,
  ): void {
    context.strokeStyle = theme.line;
    context.lineWidth = 3;
    context.beginPath();
    context.moveTo(from + 4, y);
    context.lineTo(to, y);
    context.stroke();
    if (still) return;
    const inner = Math.min(size, 12);
    for (const packet of this.sent) {
      const age = (now - packet.at) / 500;
      if (age > 1) continue;
      this.box(context, theme, packet.lane, from + 4 + age * (to - from), y - inner / 2, inner, packet.marked);
    }
  }

  private drops(
    context: CanvasRenderingContext2D,
    theme: Theme,
    from: number,
    to: number,
    size: number,
    now: number,
    still: boolean,
  ): boolean {
    this.falling = this.falling.filter((one) => now - one.began < FALLS);
    const inner = Math.max(Math.min(size, 12), 4);
    for (const one of this.falling) {
      const age = still ? 0.4 : (now - one.began) / FALLS;
      const x = (one.x < 0 ? 10 : one.x) + one.drift * age * 3;
      const y = from + age * age * (to - from);
      context.globalAlpha = 1 - age * 0.5;
      this.box(context, theme, one.lane, x, y, inner, false);
      context.strokeStyle = theme.drop;
      context.lineWidth = 1.5;
      context.beginPath();
      context.moveTo(x, y);
      context.lineTo(x + inner, y + inner);
      context.moveTo(x + inner, y);
      context.lineTo(x, y + inner);
      context.stroke();
      context.globalAlpha = 1;
    }
    return this.falling.length > 0;
  }
}
