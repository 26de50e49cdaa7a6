// Nuggets: whether a response supports each, with the words that do marked as evidence.

import { button, make } from "./dom.js";

const LABELS = [["support", "Support", "1"], ["partial", "Partial", "2"], ["none", "None", "3"]];
const KEYS = { 1: "support", y: "support", 2: "partial", p: "partial", 3: "none", n: "none" };

export class Nuggets {
  constructor(item, value, change, texts) {
    this.nuggets = item.nuggets;
    this.change = change;
    this.text = texts[0];
    this.active = 0;
    this.rows = this.nuggets.map((nugget, k) => this.row(nugget, k));
    this.element = make("ol", { class: "nuggets" }, ...this.rows.map((row) => row.element));
    this.show(value);
    this.activate(Math.max(0, this.nuggets.findIndex((nugget) => !this.labels[nugget.id])));
  }

  static keys = [["1 or y", "supported"], ["2 or p", "partly supported"], ["3 or n", "not supported"], ["↑ ↓", "another nugget"], ["← →, Shift", "select words of the response"], ["e", "mark them as evidence"], ["x", "remove the newest evidence"]];

  row(nugget, k) {
    const buttons = LABELS.map(([name, text, key]) => button(text, key, () => this.label(k, name), { "aria-pressed": "false" }));
    const evidence = make("p", { class: "note" });
    const text = make("p", {}, nugget.descriptions.join(" / "), " ", make("small", {}, nugget.importance));
    const mark = button("Mark evidence", "e", () => (this.activate(k), this.mark()));
    const group = make("div", { class: "choices", role: "group", "aria-label": nugget.descriptions.join(" / ") }, ...buttons, mark);
    return { buttons, evidence, element: make("li", { on: { focusin: () => this.activate(k) } }, text, group, evidence) };
  }

  show(value) {
    this.labels = structuredClone(value?.nuggets ?? {});
    this.draw();
  }

  draw() {
    const marks = [];
    this.nuggets.forEach((nugget, k) => {
      const given = this.labels[nugget.id];
      LABELS.forEach(([name], at) => this.rows[k].buttons[at].setAttribute("aria-pressed", String(given?.label === name)));
      const spans = given?.evidence ?? [];
      this.rows[k].evidence.textContent = spans.map((span) => this.text.textOf(span)).join(" … ");
      if (k === this.active) marks.push(...spans.map((span) => ({ ...span, look: "evidence" })));
    });
    this.text.show(marks);
  }

  value() {
    return { nuggets: this.labels };
  }

  missing() {
    const at = this.nuggets.findIndex((nugget) => !this.labels[nugget.id]);
    if (at < 0) return "";
    this.activate(at);
    return `Decide nugget ${at + 1} first.`;
  }

  activate(k) {
    this.active = k;
    this.rows.forEach((row, at) => {
      row.element.classList.toggle("active", at === k);
      row.element.ariaCurrent = String(at === k);
    });
    this.draw();
  }

  label(k, name) {
    const id = this.nuggets[k].id;
    this.labels = { ...this.labels, [id]: { ...this.labels[id], label: name } };
    this.draw();
    this.change();
  }

  mark() {
    const span = this.text.selected();
    if (!span) return;
    const id = this.nuggets[this.active].id;
    const given = this.labels[id] ?? { label: "support" };
    this.labels = { ...this.labels, [id]: { ...given, evidence: [...(given.evidence ?? []), { start: span.start, end: span.end }] } };
    this.text.clear();
    this.draw();
    this.change();
  }

  remove() {
    const id = this.nuggets[this.active].id;
    const evidence = this.labels[id]?.evidence;
    if (!evidence?.length) return;
    this.labels = { ...this.labels, [id]: { ...this.labels[id], evidence: evidence.slice(0, -1) } };
    this.draw();
    this.change();
  }

  move(step) {
    this.activate(Math.min(this.nuggets.length - 1, Math.max(0, this.active + step)));
    this.rows[this.active].element.scrollIntoView({ block: "nearest" });
  }

  obey(key, event) {
    if (!this.nuggets.length) return false;
    if (KEYS[key]) {
      this.label(this.active, KEYS[key]);
      this.move(1);
    } else if (key === "ArrowUp" || key === "ArrowDown") this.move(key === "ArrowUp" ? -1 : 1);
    else if (key === "e") this.mark();
    else if (key === "x") this.remove();
    else return this.text.obey(key, event);
    return true;
  }
}
