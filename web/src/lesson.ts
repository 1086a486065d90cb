// A lesson's figure: the scenario of its study, with the charts and controls that the lesson is about.

import { App } from "./app";
import type { Doc, Pace } from "./messages";
import { KINDS, type ChartKind } from "./panel";
import type { Part } from "./settings";

interface Figure {
  charts?: ChartKind[];
  parts?: Part[];
  second?: string;
  pace?: Pace;
  packets?: boolean;
}

const place = document.getElementById("app");
if (place) {
  const figure = JSON.parse(place.dataset["figure"] ?? "{}") as Figure;
  const doc = JSON.parse(place.dataset["doc"] ?? "{}") as Doc;
  const app = new App(
    { doc, second: figure.second ?? null, pace: figure.pace ?? 2, packets: figure.packets ?? false },
    { charts: figure.charts ?? KINDS, parts: figure.parts ?? ["queue"], changed: () => undefined },
  );
  place.replaceWith(app.element);
  Object.assign(window, { sojourn: app });
}
