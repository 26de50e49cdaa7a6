// The answers of assessors side by side, each as words and as an answer that can be adopted.

import { button, make } from "./dom.js";
import { MarkedText } from "./marked_text.js";
import { TASKS } from "./tasks.js";

export const inWords = (item, value) => TASKS[item.task].inWords(item, value);

// The output with the evidence or the errors of one assessor marked.
function markedOutput(item, value) {
  const marks = TASKS[item.task].marks?.(item, value) ?? [];
  if (!marks.length) return null;
  const text = new MarkedText(item.outputs[0].text, "Marked text");
  text.element.removeAttribute("tabindex");
  text.show(marks);
  const descriptions = marks.map((mark) => [text.textOf(mark), mark.severity, mark.category].filter(Boolean).join(", "));
  return make("div", {}, text.element, make("p", { class: "note" }, descriptions.join("; ")));
}

export function statement(item, vote, adopt) {
  const words = inWords(item, vote.value);
  return make("section", { class: "statement" },
    make("h2", {}, "Assessor ", make("span", { "data-letter": vote.letter }, vote.letter)),
    make("p", { class: "said" }, words),
    markedOutput(item, vote.value),
    vote.comment ? make("p", { class: "text note" }, vote.comment) : null,
    button("Take this", /^[A-Z]$/.test(vote.letter) ? `Shift+${vote.letter}` : "", () => adopt(vote), { "aria-label": `Take what ${vote.letter} said: ${words}` }));
}
