// A lesson's figure: the scenario of its study, with the charts and controls that the lesson is about.

import { App } from "./app";
import type { Doc, Pace } from "./messages";
import { KINDS, type ChartKind } from "./panel";
import type { Part } from "./settings";
import type { State } from "./state";
import { linkWhole } from "./whole";

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
  const state: State = { doc, second: figure.second ?? null, pace: figure.pace ?? 2, packets: figure.packets ?? false };
  const app = new App(state, {
    charts: figure.charts ?? KINDS,
    parts: figure.parts ?? ["queue"],
    changed: (next) => void linkWhole(next),
  });
  void linkWhole(state);
  place.replaceWith(app.element);
  Object.assign(window, { sojourn: app });
}
