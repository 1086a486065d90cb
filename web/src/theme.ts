// Colours of canvases, from the style sheet, which knows light and dark.

export interface Theme {
  ink: string;
  soft: string;
  line: string;
  grid: string;
  back: string;
  drop: string;
  mark: string;
  lanes: string[];
}

const LANES = 8;

export function theme(): Theme {
  const style = getComputedStyle(document.documentElement);
  const get = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  return {
    ink: get("ink"),
    soft: get("soft"),
    line: get("line"),
    grid: get("grid"),
    back: get("back"),
    drop: get("drop"),
    mark: get("mark"),
    lanes: Array.from({ length: LANES }, (_, lane) => get(`lane${lane}`)),
  };
}

/** The colour of a lane. */
export function laneColour(own: Theme, lane: number): string {
  return lane < 0 ? own.line : (own.lanes[lane % own.lanes.length] ?? own.ink);
}

/** Strokes by which lanes of the same colour differ. */
export function laneDash(lane: number): number[] {
  const round = Math.floor(Math.max(lane, 0) / LANES);
  return round === 0 ? [] : round === 1 ? [6, 3] : [2, 2];
}
