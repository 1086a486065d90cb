// The link from a figure in a lesson or in a reference page to the laboratory, with the same scenario.

import { encode, set, type State } from "./state";

/** Writes the state into the link, if the page has it. The figure is one run, and so is the scenario of the laboratory. */
export async function linkWhole(state: State): Promise<void> {
  const whole = document.getElementById("whole");
  if (whole instanceof HTMLAnchorElement) whole.href = `index.html#${await encode({ ...state, doc: set(state.doc, "run", "replications", 1) })}`;
}
