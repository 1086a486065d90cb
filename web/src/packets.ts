// The queue as boxes, one for each packet in the colour of its flow. Packets come from the left, leave to the right onto the link, and
// those that are dropped fall.

import type { RunFrame } from "./messages";
import { laneColour, type Theme } from "./theme";

const FIELDS = 5;
/** Milliseconds for which a dropped packet falls, and a sent one moves along the link. */
const FALLS = 900;
const MOVES = 600;
/** Pixels: above the queue, and together with what is below it for packets that fall. */
const TOP = 10;
const ROOM = 84;
const LARGEST = 26;
const MOST_ROWS = 12;
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
  private rows = 1;

  constructor() {
    this.element.className = "packets";
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", "Packets that wait in the queue");
    this.element.append(this.words, this.canvas);
  }

  restart(): void {
    this.frame = undefined;
    this.dropped = undefined;
    this.falling = [];
    this.sent = [];
    this.known.clear();
    this.places.clear();
    this.rows = 1;
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
    const right = width - 0.2 * width;
    const left = Math.min(56, width * 0.1);
    const packets = this.frame?.packets ?? new Float64Array(0);
    const count = packets.length / FIELDS;
    const area = height - ROOM;
    const { rows, size, columns } = this.grid(count, right - left - 4, area);
    const tall = rows * size;
    const top = TOP + (area - tall) / 2;
    this.places.clear();
    for (let index = 0; index < Math.min(count, columns * rows); index++) {
      // The packet that came first is at the head, beside the link; columns fill from there.
      const x = right - 2 - (Math.floor(index / rows) + 1) * size;
      const y = top + (index % rows) * size;
      const at = index * FIELDS;
      this.places.set(packets[at + 1] ?? -1, x);
      this.box(context, theme, packets[at] ?? -1, x, y, size, packets[at + 3] === 1);
    }
    this.frameOf(context, theme, left, right, top, tall);
    const middle = top + tall / 2;
    this.link(context, theme, right, middle, width, size, now, still);
    context.font = "12px system-ui, sans-serif";
    context.fillStyle = theme.soft;
    context.textBaseline = "alphabetic";
    context.textAlign = "left";
    context.fillText("in", 6, middle - 8);
    context.textAlign = "right";
    context.fillText("link", width - 4, middle - Math.min(size, 14) / 2 - 6);
    const falls = this.drops(context, theme, left, top + tall + 4, height, size, now, still);
    const shown = Math.min(count, columns * rows);
    const text = `${count} packets wait${shown < count ? `, ${shown} of them shown` : ""}. The one on the right leaves next.`;
    if (this.words.textContent !== text) this.words.textContent = text;
    return falls || this.sent.some((packet) => now - packet.at < MOVES);
  }

  /** As many rows as make boxes of a size that can be seen. They become fewer only when there is much room, so that boxes do not jump. */
  private grid(count: number, wide: number, tall: number): { rows: number; size: number; columns: number } {
    const sizeOf = (rows: number): number => Math.min(tall / rows, LARGEST);
    const fit = (rows: number): number => Math.max(1, Math.floor(wide / sizeOf(rows))) * rows;
    while (this.rows < MOST_ROWS && fit(this.rows) < count) this.rows++;
    while (this.rows > 1 && fit(this.rows - 1) * 0.6 > count) this.rows--;
    const size = sizeOf(this.rows);
    return { rows: this.rows, size, columns: Math.max(1, Math.floor(wide / size)) };
  }

  /** The queue: a box that is open where packets come in. */
  private frameOf(context: CanvasRenderingContext2D, theme: Theme, left: number, right: number, top: number, tall: number): void {
    context.strokeStyle = theme.ink;
    context.lineWidth = 1.5;
    context.lineJoin = "round";
    context.beginPath();
    context.moveTo(left, top - 3);
    context.lineTo(right, top - 3);
    context.lineTo(right, top + tall + 2);
    context.lineTo(left, top + tall + 2);
    context.moveTo(6, top + tall / 2);
    context.lineTo(left - 6, top + tall / 2);
    context.lineTo(left - 11, top + tall / 2 - 4);
    context.moveTo(left - 6, top + tall / 2);
    context.lineTo(left - 11, top + tall / 2 + 4);
    context.stroke();
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
    context.fillStyle = theme.line;
    context.beginPath();
    context.moveTo(to, y);
    context.lineTo(to - 9, y - 5);
    context.lineTo(to - 9, y + 5);
    context.fill();
    if (still) return;
    const inner = Math.min(size, 12);
    for (const packet of this.sent) {
      const age = (now - packet.at) / MOVES;
      if (age > 1) continue;
      this.box(context, theme, packet.lane, from + 4 + age * (to - from), y - inner / 2, inner, packet.marked);
    }
  }

  private drops(
    context: CanvasRenderingContext2D,
    theme: Theme,
    left: number,
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
      const x = (one.x < 0 ? left : one.x) + one.drift * age * 3;
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
