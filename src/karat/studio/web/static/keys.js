// Keys: one listener. A key typed into a field belongs to the field; Escape leaves it.

import { byId, make } from "./dom.js";

const FIELDS = "input:not([type=radio], [type=range]), textarea, select";
const SLIDES = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "PageUp", "PageDown"];

export function listen(obey) {
  document.addEventListener("keydown", (event) => {
    if (event.isComposing || event.altKey) return;
    if (event.target.type === "range" && SLIDES.includes(event.key)) return;
    const field = event.target.closest?.(FIELDS);
    if (event.repeat && event.key === "Enter" && field?.tagName !== "TEXTAREA") {
      event.preventDefault(); // a key that is held down finishes one item, not those that follow
      return;
    }
    if (field && event.key === "Escape") {
      field.blur();
      document.getElementById("judge").focus();
      event.preventDefault();
      return;
    }
    const leaves = field && event.key === "Enter" && (event.ctrlKey || field.type === "number");
    if (field && !leaves) return;
    const named = event.ctrlKey || event.metaKey ? `Ctrl+${event.key}` : event.key;
    const presses = event.target.closest?.("button, a, summary") && ["Enter", " "].includes(event.key);
    if (presses) return;
    if (leaves) field.dispatchEvent(new Event("change"));
    if (obey(named === "Ctrl+Enter" ? "Enter" : named, event)) event.preventDefault();
  });
}

// Show the list of keys, or hide it again; rows are pairs of a key and what it does.
export function toggleKeys(rows) {
  const keys = byId("keys");
  keys.hidden = !keys.hidden;
  byId("help").setAttribute("aria-expanded", String(!keys.hidden));
  keys.replaceChildren(make("dl", {}, ...rows.flatMap(([key, does]) => [make("dt", {}, make("kbd", {}, key)), make("dd", {}, does)])));
}
