// Error spans: select words, then a severity, then a category; spans may overlap.

import { button, make } from "./dom.js";

const LETTERS = "abcdefghijklmnopqrstuvwxyz";

const kindOf = (span) => [span.severity, span.category].filter(Boolean).join(", ");

export class Spans {
  static outputNames = ["Output"];
  static sourceName = "Source";

  static subject() {
    return "errors";
  }

  static inWords(item, value) {
    const score = value.score === undefined ? "" : `, score ${value.score}`;
    const count = value.spans.length;
    return `${count} error${count === 1 ? "" : "s"}${score}`;
  }

  static marks(item, value) {
    const rank = (span) => item.settings.severities?.indexOf(span.severity) ?? 0;
    return value.spans.map((span) => ({ ...span, look: `severity-${rank(span) + 1}` }));
  }

  constructor(item, value, change, texts) {
    this.settings = item.settings;
    this.change = change;
    this.text = texts[0];
    this.pending = null;
    this.chosen = null; // index of the error that keys change
    this.hint = make("p", { class: "note", "aria-live": "polite" }, "Select words, then press the key of a severity.");
    this.severities = make("div", { class: "choices", role: "group", "aria-label": "Severity" }, ...this.settings.severities.map((name, k) => button(name, String(k + 1), () => this.mark(name), { "aria-pressed": "false" })));
    this.categories = make("div", { class: "choices dense", role: "group", "aria-label": "Category", hidden: true }, ...this.settings.categories.map((name, k) => button(name, LETTERS[k], () => this.setCategory(name))));
    this.list = make("ol", { class: "spans", "aria-label": "Marked errors" });
    this.score = this.settings.scale ? this.scoreField(this.settings.scale) : null;
    this.element = make("div", {}, this.hint, this.severities, this.categories, this.list, this.score && make("label", { class: "range" }, make("strong", {}, this.settings.scale.guideline), " ", this.score, ` ${this.settings.scale.low}-${this.settings.scale.high} `, make("kbd", {}, "s")));
    this.show(value);
  }

  // Keys of the scheme, which may lack categories or a score.
  get keys() {
    return [
      ["← →", "move by a word"], ["Shift + ← →", "select more words"], ["w", "select the whole output"],
      [`1-${this.settings.severities.length}`, "mark the selection with a severity"],
      ...(this.settings.categories.length ? [["a-z", "then: its category"]] : []),
      ["↑ ↓", "choose a marked error; a digit changes it"], ["x", "remove the chosen error, else the newest"],
      ...(this.score ? [["s", "score"]] : []),
    ];
  }

  scoreField(scale) {
    const read = (event) => {
      if (event.target.value === "" || !event.target.validity.valid) return;
      this.scoreValue = Number(event.target.value);
      this.change();
    };
    return make("input", { type: "number", inputmode: "numeric", min: scale.low, max: scale.high, step: scale.step, "aria-label": "Score", on: { change: read } });
  }

  show(value) {
    this.spans = [...(value?.spans ?? [])];
    this.scoreValue = value?.score;
    this.cancel();
    this.chosen = null;
    if (this.score) this.score.value = this.scoreValue ?? "";
    this.draw();
  }

  draw() {
    const rank = (span) => this.settings.severities.indexOf(span.severity);
    const look = (span, k) => `severity-${rank(span) + 1}${k === this.chosen ? " chosen" : ""}`;
    this.text.show(this.spans.map((span, k) => ({ ...span, look: look(span, k) })));
    this.list.replaceChildren(...this.spans.map((span, k) => {
      const remove = button("Remove", k === this.chosen ? "x" : "", () => this.remove(k), { "aria-label": `Remove ${this.describe(span)}` });
      return make("li", { class: k === this.chosen ? "active" : "" }, make("q", { dir: "auto" }, this.text.textOf(span)), ` ${kindOf(span)} `, remove);
    }));
  }

  describe(span) {
    return `${this.text.textOf(span)}, ${kindOf(span)}`;
  }

  value() {
    return { spans: this.spans, ...(this.score && this.scoreValue !== undefined ? { score: this.scoreValue } : {}) };
  }

  missing() {
    if (this.pending) return "Choose a category for the marked words first; Escape cancels.";
    if (this.score && (this.score.validity.badInput || this.score.value !== String(this.scoreValue ?? ""))) {
      return `Type a score from ${this.settings.scale.low} to ${this.settings.scale.high}.`;
    }
    return this.score && this.scoreValue === undefined ? "Give a score first." : "";
  }

  mark(severity) {
    const span = this.text.selected() ?? this.spans[this.chosen];
    if (!span) {
      this.hint.textContent = "Select words first.";
      return;
    }
    this.pending = { start: span.start, end: span.end, severity };
    this.replaces = this.text.selected() ? null : this.chosen;
    if (!this.settings.categories.length) return this.add(this.pending);
    this.categories.hidden = false;
    this.pressSeverity(severity);
    this.hint.textContent = "Press the key of a category; Escape cancels.";
  }

  setCategory(category) {
    if (this.pending) this.add({ ...this.pending, category });
  }

  add(span) {
    const isEqual = (other) => ["start", "end", "severity", "category"].every((name) => other[name] === span[name]);
    const duplicate = this.spans.findIndex(isEqual);
    const at = this.replaces ?? (duplicate < 0 ? this.spans.length : duplicate);
    this.cancel();
    this.chosen = null;
    this.spans = [...this.spans.slice(0, at), span, ...this.spans.slice(at + 1)];
    this.text.clear();
    this.draw();
    this.hint.textContent = `Marked: ${this.text.textOf(span)}`;
    this.change();
  }

  remove(k) {
    this.spans = this.spans.filter((_, at) => at !== k);
    this.cancel();
    this.chosen = null;
    this.draw();
    this.hint.textContent = "Removed.";
    this.change();
  }

  // Up and down choose a marked error, so that overlapping ones can be distinguished.
  choose(step) {
    if (!this.spans.length) return;
    const last = this.spans.length - 1;
    this.chosen = this.chosen === null ? (step > 0 ? 0 : last) : Math.min(last, Math.max(0, this.chosen + step));
    this.text.clear();
    this.draw();
    this.hint.textContent = `Chosen: ${this.describe(this.spans[this.chosen])}`;
    this.list.children[this.chosen].scrollIntoView({ block: "nearest" });
  }

  cancel() {
    this.pending = null;
    this.replaces = null;
    this.categories.hidden = true;
    this.pressSeverity(null);
  }

  pressSeverity(severity) {
    this.settings.severities.forEach((name, k) => this.severities.children[k].setAttribute("aria-pressed", String(name === severity)));
  }

  handleKey(key, event) {
    if (this.pending) {
      const category = this.settings.categories[LETTERS.indexOf(key)];
      if (key === "Escape") {
        this.cancel();
        this.hint.textContent = "Nothing was marked.";
      }
      else if (key.length === 1 && category) this.setCategory(category);
      return key.length === 1 || key === "Escape";
    }
    const severity = /^[1-9]$/.test(key) && this.settings.severities[Number(key) - 1];
    if (severity) this.mark(severity);
    else if (key === "x" && this.spans.length) this.remove(this.chosen ?? this.spans.length - 1);
    else if (key === "ArrowUp" || key === "ArrowDown") this.choose(key === "ArrowUp" ? -1 : 1);
    else if (key === "w") this.text.selectAll();
    else if (key === "s" && this.score) this.score.focus();
    else return this.text.handleKey(key, event);
    return true;
  }
}
