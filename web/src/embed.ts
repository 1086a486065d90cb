// The figure alone, for the reference page of a queue or a congestion control: embed.html?queue=codel or embed.html?flow=cubic.

import { App } from "./app";
import { first, set, type State } from "./state";
import { linkWhole } from "./whole";

const asked = new URLSearchParams(location.search);
const queue = asked.get("queue");
const flow = asked.get("flow");
const word = /^[a-z0-9_+.-]+$/;

let state: State = first();
if (queue && word.test(queue)) state = { ...state, doc: set(state.doc, "topology", "queue", queue) };
if (flow && word.test(flow)) state = { ...state, doc: { ...state.doc, flows: [flow, "udp_rr"] } };

const app = new App(state, {
  charts: ["sojourn", "throughput", "window", "drops"],
  parts: ["link", "queue"],
  changed: (next) => void linkWhole(next),
});
document.getElementById("app")?.replaceWith(app.element);
Object.assign(window, { sojourn: app });
void linkWhole(state);
