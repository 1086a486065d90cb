// Menus and sliders, made of what the module declares.

import type { Entry, Param } from "./catalogue";
import { range, read, write } from "./units";

let numbers = 0;

/** An identifier that nothing else has. */
export function unique(): string {
  return `c${++numbers}`;
}

export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Partial<HTMLElementTagNameMap[K]> = {},
  ...inside: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  Object.assign(element, properties);
  element.append(...inside);
  return element;
}

/**
 * Applies the choices of a menu. A closed menu changes with every press of an arrow key: that waits for Enter, for the focus to go, or for a
 * second without a press.
 */
function applies(select: HTMLSelectElement, set: (value: string) => void): void {
  let pressed = false;
  let due: ReturnType<typeof setTimeout> | undefined;
  const apply = (): void => {
    if (due !== undefined) clearTimeout(due);
    due = undefined;
    pressed = false;
    set(select.value);
  };
  select.onkeydown = (event) => {
    if (event.key === "Enter" && due !== undefined) {
      event.preventDefault();
      apply();
    } else pressed = /^(Arrow|Page|Home|End|.$)/.test(event.key) && event.key !== " ";
  };
  select.onpointerdown = () => (pressed = false);
  select.onblur = () => {
    if (due !== undefined) apply();
  };
  select.onchange = () => {
    if (due !== undefined) clearTimeout(due);
    if (pressed) due = setTimeout(apply, WAITS);
    else apply();
  };
}

/** Milliseconds after the last press of a key in a menu. */
const WAITS = 1000;

/** A parameter that has its value from elsewhere, and cannot be set here. */
export function given(param: Param, label: string, value: string, from: string): HTMLElement {
  const id = unique();
  const help = `${param.doc} ${from} sets it.`;
  const text = make("input", { type: "text", id, value, title: help, disabled: true, size: 8 });
  const caption = make("label", { htmlFor: id, title: help }, label, make("span", { className: "from", textContent: ` from ${from}` }));
  return make("div", { className: "control quantity given" }, caption, text);
}

/** A control for one parameter. `value` is what stands in the document; undefined is the default. */
export function control(param: Param, label: string, value: string | undefined, usual: string, set: (value: string) => void): HTMLElement {
  const id = unique();
  const row = make("div", { className: "control" });
  if (param.low || param.high) row.dataset["allowed"] = `${param.low || "…"} to ${param.high || "…"}`;
  const range = param.low || param.high ? ` Allowed: ${param.low || "…"} to ${param.high || "…"}.` : "";
  const help = `${param.doc}${range} Default: ${usual}.`;
  const caption = make("label", { htmlFor: id, textContent: label, title: help });
  row.append(caption);
  const now = value ?? usual;
  if (param.kind === "flag") {
    row.classList.add("flag");
    const box = make("input", { type: "checkbox", id, checked: now === "true", title: help });
    box.onchange = () => set(String(box.checked));
    row.append(box);
  } else if (param.kind === "choice") {
    const words = param.choices.map((choice) => choice.word);
    row.append(menu(id, help, param.optional ? ["none", ...words] : words, now, set));
  } else {
    row.classList.add("quantity");
    row.append(...slider(param, id, help, label, now, usual, set));
  }
  return row;
}

function menu(id: string, help: string, words: string[], now: string, set: (value: string) => void): HTMLSelectElement {
  const select = make("select", { id, title: help });
  if (!words.includes(now)) select.append(new Option(now, now));
  for (const word of words) select.append(new Option(word, word));
  select.value = now;
  applies(select, set);
  return select;
}

/** A text, and a slider beside it where the value is a quantity. */
function slider(
  param: Param,
  id: string,
  help: string,
  label: string,
  now: string,
  usual: string,
  set: (value: string) => void,
): HTMLElement[] {
  const text = make("input", { type: "text", id, value: now, title: help, spellcheck: false, size: 8 });
  text.autocomplete = "off";
  const quantity = read(param.kind, now) ?? read(param.kind, usual);
  text.onchange = () => set(text.value.trim());
  if (!quantity) return [text];
  const like = read(param.kind, now) ?? quantity;
  const [low, high] = range({ ...param, default: usual }, quantity);
  const linear = param.kind === "fraction" || low <= 0;
  const ratio = high / low;
  const steps = param.kind === "integer" && high - low < 400 ? Math.round(high - low) : 400;
  const toValue = (part: number): number => (linear ? low + part * (high - low) : low * ratio ** part);
  const toPart = (value: number): number =>
    linear ? (value - low) / (high - low) : Math.log(Math.max(value, low) / low) / Math.log(ratio);
  const bar = make("input", { type: "range", min: "0", max: String(steps), step: "1", title: help });
  bar.value = String(Math.round(Math.min(Math.max(toPart(quantity.value), 0), 1) * steps));
  bar.setAttribute("aria-label", `${label}, slider`);
  const told = (): void => bar.setAttribute("aria-valuetext", text.value);
  told();
  let due: ReturnType<typeof setTimeout> | undefined;
  bar.oninput = () => {
    text.value = write(param.kind, toValue(Number(bar.value) / steps), like);
    told();
    if (due !== undefined) clearTimeout(due);
    due = setTimeout(() => set(text.value), 120);
  };
  text.onchange = () => {
    const value = read(param.kind, text.value);
    if (value) bar.value = String(Math.round(Math.min(Math.max(toPart(value.value), 0), 1) * steps));
    told();
    set(text.value.trim());
  };
  return [bar, text];
}

/** A menu of entries of the catalogue, without a label. */
export function menuOf(all: readonly Entry[], now: string, set: (name: string) => void): HTMLSelectElement {
  const select = make("select", {});
  if (!all.some((entry) => entry.name === now)) select.append(new Option(now, now));
  for (const entry of all) {
    const option = new Option(entry.title === entry.name ? entry.name : `${entry.title} (${entry.name})`, entry.name);
    option.title = entry.about;
    select.append(option);
  }
  select.value = now;
  applies(select, set);
  return select;
}

/** A menu of entries of the catalogue. */
export function entries(label: string, all: readonly Entry[], now: string, set: (name: string) => void): HTMLElement {
  const select = menuOf(all, now, set);
  select.id = unique();
  return make("div", { className: "control" }, make("label", { htmlFor: select.id, textContent: label }), select);
}

/** A menu of words. */
export function words(label: string, all: readonly (readonly [value: string, text: string])[], now: string, set: (value: string) => void): HTMLElement {
  const id = unique();
  const select = make("select", { id });
  for (const [value, text] of all) select.append(new Option(text, value));
  select.value = now;
  applies(select, set);
  return make("div", { className: "control" }, make("label", { htmlFor: id, textContent: label }), select);
}
