// The listener for keys. Keys typed into a field belong to the field; Escape leaves it.

import { byId, make } from "./dom.js";

const FIELDS = "input:not([type=radio], [type=range]), textarea, select";
const SLIDER_KEYS = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "PageUp", "PageDown"];

export function listen(handleKey) {
  document.addEventListener("keydown", (event) => {
    if (event.isComposing || event.altKey) return;
    if (event.target.type === "range" && SLIDER_KEYS.includes(event.key)) return;
    const field = event.target.closest?.(FIELDS);
    if (event.repeat && event.key === "Enter" && field?.tagName !== "TEXTAREA") {
      event.preventDefault(); // holding the key finishes only one item
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
    const key = event.ctrlKey || event.metaKey ? `Ctrl+${event.key}` : event.key;
    const presses = event.target.closest?.("button, a, summary") && ["Enter", " "].includes(event.key);
    if (presses) return;
    if (leaves) field.dispatchEvent(new Event("change"));
    if (handleKey(key === "Ctrl+Enter" ? "Enter" : key, event)) event.preventDefault();
  });
}

// Show or hide the list of keys; rows are pairs of a key and its effect.
export function toggleKeys(rows) {
  const keys = byId("keys");
  keys.hidden = !keys.hidden;
  byId("help").setAttribute("aria-expanded", String(!keys.hidden));
  keys.replaceChildren(make("dl", {}, ...rows.flatMap(([key, effect]) => [make("dt", {}, make("kbd", {}, key)), make("dd", {}, effect)])));
}
