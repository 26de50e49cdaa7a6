// Error spans: select words, then a severity, then a category; spans may overlap.

import { button, make } from "./dom.js";

const LETTERS = "abcdefghijklmnopqrstuvwxyz";

export class Spans {
  constructor(item, value, change, texts) {
    this.settings = item.settings;
    this.change = change;
    this.text = texts[0];
    this.pending = null;
    this.said = make("p", { class: "note", "aria-live": "polite" }, "Select words, then press the key of a severity.");
    this.severities = make("div", { class: "choices", role: "group", "aria-label": "Severity" }, ...this.settings.severities.map((name, k) => button(name, String(k + 1), () => this.mark(name))));
    this.categories = make("div", { class: "choices", role: "group", "aria-label": "Category", hidden: true }, ...this.settings.categories.map((name, k) => button(name, LETTERS[k], () => this.sort(name))));
    this.list = make("ol", { class: "spans", "aria-label": "Marked errors" });
    this.score = this.settings.scale ? this.scoreField(this.settings.scale) : null;
    this.element = make("div", {}, this.severities, this.categories, this.said, this.list, this.score && make("label", { class: "range" }, make("strong", {}, this.settings.scale.guideline), " ", this.score, ` ${this.settings.scale.low}-${this.settings.scale.high} `, make("kbd", {}, "s")));
    this.show(value);
  }

  static keys = [["← →", "move by a word"], ["Shift + ← →", "select more words"], ["1-9", "mark the selection with a severity"], ["a-z", "then: its category"], ["x", "remove the newest span"], ["s", "score"]];

  scoreField(scale) {
    const read = (event) => {
      if (event.target.value === "" || !event.target.validity.valid) return;
      this.given = Number(event.target.value);
      this.change();
    };
    return make("input", { type: "number", inputmode: "numeric", min: scale.low, max: scale.high, step: scale.step, "aria-label": "Score", on: { change: read } });
  }

  show(value) {
    this.spans = [...(value?.spans ?? [])];
    this.given = value?.score;
    if (this.score) this.score.value = this.given ?? "";
    this.draw();
  }

  draw() {
    const rank = (span) => this.settings.severities.indexOf(span.severity);
    this.text.show(this.spans.map((span) => ({ ...span, look: `severity-${rank(span) + 1}` })));
    this.list.replaceChildren(...this.spans.map((span, k) => {
      const told = [span.severity, span.category].filter(Boolean).join(", ");
      return make("li", {}, make("q", {}, this.text.textOf(span)), ` ${told} `, button("Remove", "", () => this.remove(k)));
    }));
  }

  value() {
    return { spans: this.spans, ...(this.score && this.given !== undefined ? { score: this.given } : {}) };
  }

  missing() {
    if (this.pending) return "Choose a category for the marked words first; Escape cancels.";
    if (this.score && (this.score.validity.badInput || this.score.value !== String(this.given ?? ""))) {
      return `Type a score from ${this.settings.scale.low} to ${this.settings.scale.high}.`;
    }
    return this.score && this.given === undefined ? "Give a score first." : "";
  }

  mark(severity) {
    const span = this.text.selected();
    if (!span) {
      this.said.textContent = "Select words first.";
      return;
    }
    this.pending = { start: span.start, end: span.end, severity };
    if (!this.settings.categories.length) return this.add(this.pending);
    this.categories.hidden = false;
    this.said.textContent = "Press the key of a category; Escape cancels.";
  }

  sort(category) {
    if (this.pending) this.add({ ...this.pending, category });
  }

  add(span) {
    this.cancel();
    this.spans = [...this.spans, span];
    this.text.clear();
    this.draw();
    this.said.textContent = `Marked: ${this.text.textOf(span)}`;
    this.change();
  }

  remove(k) {
    this.spans = this.spans.filter((_, at) => at !== k);
    this.draw();
    this.said.textContent = "Removed.";
    this.change();
  }

  cancel() {
    this.pending = null;
    this.categories.hidden = true;
  }

  obey(key, event) {
    if (this.pending) {
      const category = this.settings.categories[LETTERS.indexOf(key)];
      if (key === "Escape") this.cancel();
      else if (key.length === 1 && category) this.sort(category);
      return key.length === 1 || key === "Escape";
    }
    const severity = /^[1-9]$/.test(key) && this.settings.severities[Number(key) - 1];
    if (severity) this.mark(severity);
    else if (key === "x" && this.spans.length) this.remove(this.spans.length - 1);
    else if (key === "s" && this.score) this.score.focus();
    else return this.text.obey(key, event);
    return true;
  }
}
