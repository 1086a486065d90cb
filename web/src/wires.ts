// The topology, drawn by the code of the reports, with the packets that are on its links.

import type { App } from "./app";
import { because } from "./app";
import { make } from "./controls";
import { laneColour, theme } from "./theme";

interface Picture {
  svg: string;
  /** Of each link of the picture: the points of its path from one end to the other. */
  paths: [number, number][][];
  /** Link directions of the network: which, on which link of the picture, and whether against it. */
  ways: [direction: number, link: number, back: boolean][];
}

const FIELDS = 6;
const SVG = "http://www.w3.org/2000/svg";

export class Wires {
  readonly element = make("div");
  private picture: Picture | undefined;
  private layer: SVGGElement | undefined;
  private of = "";

  constructor(private readonly app: App) {
    app.onFrame = (frame) => this.take(frame.wires);
    app.onState = () => void this.show();
    this.element.className = "wires";
    // On a narrow screen it is wider than its place.
    this.element.tabIndex = 0;
    this.element.setAttribute("role", "group");
    this.element.setAttribute("aria-label", "Topology");
    void this.show();
  }

  private async show(): Promise<void> {
    const doc = this.app.scenario;
    const of = JSON.stringify([doc["topology"], doc["links"], doc["flows"]]);
    if (of === this.of) return;
    this.of = of;
    try {
      const picture = await this.app.client.call<Picture>({ op: "picture", doc });
      this.picture = picture;
      this.element.innerHTML = picture.svg;
      // Packets have the colours of the figure, where each flow has its own; the picture's legend has one for all of a kind.
      for (const sign of this.element.querySelectorAll(".lane, .tip")) sign.remove();
      for (const word of this.element.querySelectorAll("tspan.strong")) word.parentElement?.remove();
      this.layer = document.createElementNS(SVG, "g");
      this.element.querySelector("svg")?.append(this.layer);
      this.app.watchLinks(picture.ways.map(([direction]) => direction));
    } catch (error) {
      this.element.textContent = because(error);
      this.picture = undefined;
      this.app.watchLinks([]);
    }
  }

  private take(wires: Float64Array<ArrayBuffer> | undefined): void {
    const { picture, layer } = this;
    if (!picture || !layer) return;
    if (!wires) {
      if (layer.childElementCount > 0) layer.replaceChildren();
      return;
    }
    const colours = theme();
    const dots: SVGElement[] = [];
    for (let at = 0; at < wires.length && dots.length < 300; at += FIELDS) {
      const [, link = -1, back = false] = picture.ways[wires[at + 4] ?? -1] ?? [];
      const path = picture.paths[link];
      if (!path) continue;
      const share = wires[at + 5] ?? 0;
      const [x, y] = along(path, back ? 1 - share : share);
      const dot = document.createElementNS(SVG, "circle");
      dot.setAttribute("cx", x.toFixed(1));
      dot.setAttribute("cy", (y + (back ? 4 : -4)).toFixed(1));
      dot.setAttribute("r", (wires[at + 2] ?? 0) > 200 ? "3.2" : "1.8");
      dot.setAttribute("fill", laneColour(colours, wires[at] ?? -1));
      dots.push(dot);
    }
    layer.replaceChildren(...dots);
  }
}

/** The point of a path that has a share of it behind it. */
function along(path: [number, number][], share: number): [number, number] {
  const lengths = path.slice(1).map((point, index) => {
    const from = path[index] ?? point;
    return Math.hypot(point[0] - from[0], point[1] - from[1]);
  });
  let left = share * lengths.reduce((sum, own) => sum + own, 0);
  for (const [index, length] of lengths.entries()) {
    const from = path[index] ?? [0, 0];
    const to = path[index + 1] ?? from;
    if (left <= length || index === lengths.length - 1) {
      const part = length > 0 ? Math.min(left / length, 1) : 0;
      return [from[0] + part * (to[0] - from[0]), from[1] + part * (to[1] - from[1])];
    }
    left -= length;
  }
  return path[0] ?? [0, 0];
}
