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
    this.said = make("p", { class: "note hint", "aria-live": "polite" }); // in the active row
    this.element = make("ol", { class: "nuggets" }, ...this.rows.map((row) => row.element));
    this.show(value);
    this.activate(Math.max(0, this.undecided()));
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

  undecided() {
    return this.nuggets.findIndex((nugget) => !this.labels[nugget.id]?.label);
  }

  missing() {
    const at = this.undecided();
    return at < 0 ? "" : `Decide nugget ${at + 1} first.`;
  }

  // Go to what is missing.
  lead() {
    this.activate(this.undecided());
    this.move(0);
  }

  activate(k) {
    this.active = k;
    this.said.textContent = "";
    this.rows[k]?.element.append(this.said);
    this.rows.forEach((row, at) => {
      row.element.classList.toggle("active", at === k);
      row.element.ariaCurrent = String(at === k);
    });
    this.draw();
  }

  label(k, name) {
    const id = this.nuggets[k].id;
    this.labels = { ...this.labels, [id]: { ...this.labels[id], label: name } };
    this.said.textContent = "";
    this.draw();
    this.change();
  }

  // Evidence decides nothing: a nugget may have it before it has a label.
  mark() {
    const span = this.text.selected();
    if (!span) {
      this.said.textContent = "Select words of the response first.";
      return;
    }
    const { id } = this.nuggets[this.active];
    const known = (this.labels[id]?.evidence ?? []).filter((one) => one.start !== span.start || one.end !== span.end);
    this.support(id, [...known, { start: span.start, end: span.end }]);
    this.text.clear();
    this.said.textContent = this.labels[id].label ? "" : `Evidence is marked. Now decide nugget ${this.active + 1}.`;
    this.move(0);
  }

  support(id, evidence) {
    const { evidence: _, ...label } = this.labels[id] ?? {};
    const given = { ...label, ...(evidence.length ? { evidence } : {}) };
    const { [id]: before, ...others } = this.labels;
    this.labels = Object.keys(given).length ? { ...this.labels, [id]: given } : others;
    this.draw();
    this.change();
  }

  remove() {
    const { id } = this.nuggets[this.active];
    const evidence = this.labels[id]?.evidence;
    if (evidence?.length) this.support(id, evidence.slice(0, -1));
  }

  move(step) {
    const to = Math.min(this.nuggets.length - 1, Math.max(0, this.active + step));
    if (to !== this.active) this.activate(to);
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
