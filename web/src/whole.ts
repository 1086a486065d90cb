// The link from a figure in a lesson or in a reference page to the laboratory, with the same scenario.

import { encode, type State } from "./state";

/** Writes the state into the link, if the page has it. */
export async function linkWhole(state: State): Promise<void> {
  const whole = document.getElementById("whole");
  if (whole instanceof HTMLAnchorElement) whole.href = `index.html#${await encode(state)}`;
}
