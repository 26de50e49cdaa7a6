// Pairs: the first output (left) is better, the second (right), or both are equally good.

import { button, make } from "./dom.js";

const CHOICES = [["first", "First is better", "1"], ["tie", "As good", "0"], ["second", "Second is better", "2"]];

export class Pairs {
  static outputNames = ["First", "Second"];
  static sourceName = "Source";

  static subject() {
    return "pair";
  }

  static inWords(item, value) {
    return CHOICES.find(([name]) => name === value.choice)?.[1];
  }

  constructor(item, value, change) {
    this.change = change;
    this.choices = CHOICES.filter(([name]) => name !== "tie" || item.settings.ties);
    this.buttons = this.choices.map(([name, text, key]) => button(text, key, () => this.choose(name), { "aria-pressed": "false" }));
    this.element = make("div", { role: "group", "aria-label": item.settings.question }, make("p", { class: "question" }, item.settings.question), make("div", { class: "choices" }, ...this.buttons));
    this.show(value);
  }

  keys = [["1 or ←", "the first is better"], ["2 or →", "the second is better"], ["0, = or t", "as good as each other"]];

  show(value) {
    this.choice = value?.choice;
    this.choices.forEach(([name], k) => this.buttons[k].setAttribute("aria-pressed", String(name === this.choice)));
  }

  value() {
    return this.choice ? { choice: this.choice } : {};
  }

  missing() {
    return this.choice ? "" : "Choose one first.";
  }

  choose(name) {
    if (!this.choices.some(([choice]) => choice === name)) return;
    this.show({ choice: name });
    this.change();
  }

  handleKey(key) {
    const name = { 1: "first", ArrowLeft: "first", 2: "second", ArrowRight: "second", 0: "tie", "=": "tie", t: "tie" }[key];
    if (name) this.choose(name);
    return Boolean(name);
  }
}
