// What assessors said, side by side: as words, and as an answer that can be taken over.

import { button, make } from "./dom.js";
import { MarkedText } from "./marked_text.js";

const LABELS = { support: "Support", partial: "Partial", none: "None" };
const CHOICES = { first: "First is better", second: "Second is better", tie: "As good" };

export function inWords(item, value) {
  if (item.task === "ratings") {
    const [scale] = item.settings.scales;
    const rated = value.ratings[item.about];
    const words = scale?.labels[String(rated)];
    return words ? `${rated}: ${words}` : String(rated);
  }
  if (item.task === "nuggets") return LABELS[value.nuggets[item.about].label];
  if (item.task === "pairs") return CHOICES[value.choice];
  const score = value.score === undefined ? "" : `, score ${value.score}`;
  const count = value.spans.length;
  return `${count} error${count === 1 ? "" : "s"}${score}`;
}

// The output with the evidence or the errors of one assessor marked.
function marked(item, value) {
  const spans = item.task === "spans" ? value.spans : item.task === "nuggets" ? (value.nuggets[item.about].evidence ?? []) : [];
  if (!spans.length) return null;
  const rank = (span) => item.settings.severities?.indexOf(span.severity) ?? 0;
  const text = new MarkedText(item.outputs[0].text, "Marked text");
  text.element.removeAttribute("tabindex");
  text.show(spans.map((span) => ({ ...span, look: item.task === "spans" ? `severity-${rank(span) + 1}` : "evidence" })));
  const told = spans.map((span) => [text.textOf(span), span.severity, span.category].filter(Boolean).join(", "));
  return make("div", {}, text.element, make("p", { class: "note" }, told.join("; ")));
}

export function statement(item, said, take) {
  const words = inWords(item, said.value);
  return make("section", { class: "statement" },
    make("h2", {}, "Assessor ", make("span", { "data-letter": said.letter }, said.letter)),
    make("p", { class: "said" }, words),
    marked(item, said.value),
    said.comment ? make("p", { class: "text note" }, said.comment) : null,
    button("Take this", /^[A-Z]$/.test(said.letter) ? `Shift+${said.letter}` : "", () => take(said), { "aria-label": `Take what ${said.letter} said: ${words}` }));
}
