// Nuggets: whether a response supports each nugget, with evidence marked in its text.

import { button, make } from "./dom.js";

const LABELS = [["support", "Support", "1"], ["partial", "Partial", "2"], ["none", "None", "3"]];
const KEYS = { 1: "support", y: "support", 2: "partial", p: "partial", 3: "none", n: "none" };

export class Nuggets {
  static outputNames = ["Response"];
  static sourceName = "Question";

  static subject(about) {
    return `nugget ${about}`;
  }

  static inWords(item, value) {
    const { label } = value.nuggets[item.about];
    return LABELS.find(([name]) => name === label)?.[1];
  }

  static marks(item, value) {
    return (value.nuggets[item.about].evidence ?? []).map((span) => ({ ...span, look: "evidence" }));
  }

  constructor(item, value, change, texts) {
    this.nuggets = item.nuggets;
    this.change = change;
    this.text = texts[0];
    this.active = 0;
    this.rows = this.nuggets.map((nugget, k) => this.row(nugget, k));
    this.hint = make("p", { class: "note hint", "aria-live": "polite" }); // in the active row
    this.element = make("ol", { class: "nuggets" }, ...this.rows.map((row) => row.element));
    this.show(value);
    this.activate(Math.max(0, this.firstUndecided()));
  }

  keys = [["1 or y", "supported"], ["2 or p", "partly supported"], ["3 or n", "not supported"], ["↑ ↓", "another nugget"], ["← →, Shift", "select words of the response"], ["e", "mark them as evidence (decides nothing)"], ["x", "remove the newest evidence"]];

  row(nugget, k) {
    const buttons = LABELS.map(([name, text, key]) => button(text, key, () => this.label(k, name), { "aria-pressed": "false" }));
    const evidence = make("p", { class: "note" });
    const text = make("p", {}, `${k + 1}. `, nugget.descriptions.join(" / "), " ", make("small", {}, nugget.importance));
    const mark = button("Mark evidence", "e", () => {
      this.activate(k);
      this.mark();
    });
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
      const decision = this.labels[nugget.id];
      LABELS.forEach(([name], at) => this.rows[k].buttons[at].setAttribute("aria-pressed", String(decision?.label === name)));
      const spans = decision?.evidence ?? [];
      this.rows[k].evidence.textContent = spans.map((span) => this.text.textOf(span)).join(" … ");
      if (k === this.active) marks.push(...spans.map((span) => ({ ...span, look: "evidence" })));
    });
    this.text.show(marks);
  }

  value() {
    return { nuggets: this.labels };
  }

  firstUndecided() {
    return this.nuggets.findIndex((nugget) => !this.labels[nugget.id]?.label);
  }

  missing() {
    const at = this.firstUndecided();
    return at < 0 ? "" : `Decide nugget ${at + 1} first.`;
  }

  goToMissing() {
    this.activate(this.firstUndecided());
    this.move(0);
  }

  activate(k) {
    this.active = k;
    this.hint.textContent = "";
    this.rows[k]?.element.append(this.hint);
    this.rows.forEach((row, at) => {
      row.element.classList.toggle("active", at === k);
      row.element.ariaCurrent = String(at === k);
    });
    this.draw();
  }

  label(k, name) {
    const id = this.nuggets[k].id;
    this.labels = { ...this.labels, [id]: { ...this.labels[id], label: name } };
    this.hint.textContent = "";
    this.draw();
    this.change();
  }

  // Evidence decides nothing: a nugget may have it before it has a label.
  mark() {
    const span = this.text.selected();
    if (!span) {
      this.hint.textContent = "Select words of the response first.";
      return;
    }
    const { id } = this.nuggets[this.active];
    const others = (this.labels[id]?.evidence ?? []).filter((other) => other.start !== span.start || other.end !== span.end);
    this.setEvidence(id, [...others, { start: span.start, end: span.end }]);
    this.text.clear();
    this.hint.textContent = this.labels[id].label ? "" : `Evidence is marked. Now decide nugget ${this.active + 1}.`;
    this.move(0);
  }

  setEvidence(id, evidence) {
    const { evidence: _, ...label } = this.labels[id] ?? {};
    const decision = { ...label, ...(evidence.length ? { evidence } : {}) };
    const { [id]: before, ...others } = this.labels;
    this.labels = Object.keys(decision).length ? { ...this.labels, [id]: decision } : others;
    this.draw();
    this.change();
  }

  remove() {
    const { id } = this.nuggets[this.active];
    const evidence = this.labels[id]?.evidence;
    if (evidence?.length) this.setEvidence(id, evidence.slice(0, -1));
  }

  move(step) {
    const to = Math.min(this.nuggets.length - 1, Math.max(0, this.active + step));
    if (to !== this.active) this.activate(to);
    this.rows[this.active].element.scrollIntoView({ block: "nearest" });
  }

  handleKey(key, event) {
    if (!this.nuggets.length) return false;
    if (KEYS[key]) {
      this.label(this.active, KEYS[key]);
      this.move(1);
    } else if (key === "ArrowUp" || key === "ArrowDown") this.move(key === "ArrowUp" ? -1 : 1);
    else if (key === "e") this.mark();
    else if (key === "x") this.remove();
    else return this.text.handleKey(key, event);
    return true;
  }
}
