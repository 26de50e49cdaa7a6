// Tasks by name, and the texts of an assignment as every task shows them.

import { make } from "./dom.js";
import { MarkedText } from "./marked_text.js";
import { Nuggets } from "./nuggets.js";
import { Pairs } from "./pairs.js";
import { Ratings } from "./ratings.js";
import { Spans } from "./spans.js";

export const TASKS = { ratings: Ratings, pairs: Pairs, spans: Spans, nuggets: Nuggets };

// The texts of the outputs, and the sections that show them.
export function outputTexts(item) {
  const names = TASKS[item.task].outputNames;
  const texts = item.outputs.map((output, k) => new MarkedText(output.text, names[k]));
  const sections = texts.map((text, k) => make("section", { class: "output" }, make("h2", {}, names[k]), text.element, text.spoken));
  return { texts, sections };
}

export const sourceText = (item) => accompanyingText(TASKS[item.task].sourceName, item.source);

// A text beside the outputs; nothing if there is none.
export function accompanyingText(name, text, kind = "") {
  if (!text) return "";
  return make("section", { class: `beside ${kind}` }, make("h2", {}, name), make("p", { class: "text", dir: "auto", tabindex: "0", "aria-label": name }, text));
}

// The answer of a form, with its comment.
export function answerWithComment(task, comment) {
  const text = comment.value.trim();
  return { ...task.value(), ...(text ? { comment: text } : {}) };
}
