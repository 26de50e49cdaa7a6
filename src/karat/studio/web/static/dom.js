// Elements of a page. Texts become text nodes, never markup.

export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") for (const [event, handler] of Object.entries(value)) element.addEventListener(event, handler);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export function button(text, key, act, more = {}) {
  const label = key ? [text, " ", make("kbd", {}, key)] : [text];
  return make("button", { type: "button", on: { click: act }, ...more }, ...label);
}

export const byId = (id) => document.getElementById(id);

// Show a sentence in the bar at the top.
export function showStatus(sentence, failed = false) {
  byId("saved").className = failed ? "failed" : "";
  byId("saved").textContent = sentence;
}
