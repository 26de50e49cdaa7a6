// Ratings: one value on each scale; a digit rates the active dimension and moves to the next.

import { make } from "./dom.js";

const MAX_BUTTONS = 10; // scales with more values have a number field

export class Ratings {
  static outputNames = ["Output"];
  static sourceName = "Source";

  static subject(about) {
    return about;
  }

  static inWords(item, value) {
    const [scale] = item.settings.scales;
    const rating = value.ratings[item.about];
    const words = scale?.labels[String(rating)];
    return words ? `${rating}: ${words}` : String(rating);
  }

  constructor(item, value, change) {
    this.scales = item.settings.scales;
    this.change = change;
    this.active = 0;
    this.element = make("div", { class: "dimensions" }, ...this.scales.map((scale, k) => this.field(scale, k)));
    this.show(value);
    this.activate(Math.max(0, this.scales.findIndex((scale) => !(scale.dimension in this.ratings))), false);
  }

  get keys() {
    const withButtons = this.scales.filter((scale) => this.hasButtons(scale));
    const lowest = Math.min(...withButtons.map((scale) => scale.low)), highest = Math.max(...withButtons.map((scale) => scale.high));
    return [
      ...(withButtons.length ? [[`${lowest}-${highest}`, "rate the active dimension"]] : []),
      ...(withButtons.length < this.scales.length ? [["0-9", "type a number, where there are no buttons"]] : []),
      ...(this.scales.length > 1 ? [["↑ ↓", "another dimension"]] : []),
    ];
  }

  field(scale, k) {
    const name = `d${k}`;
    const head = make("legend", {}, make("strong", {}, scale.dimension), scale.guideline ? ` ${scale.guideline}` : "");
    const inner = this.hasButtons(scale) ? this.radios(scale, name, k) : this.number(scale, name, k);
    return make("fieldset", { "data-dimension": String(k), on: { focusin: () => this.activate(k, false) } }, head, inner);
  }

  hasButtons(scale) {
    return (scale.high - scale.low) / scale.step < MAX_BUTTONS && scale.step === 1;
  }

  radios(scale, name, k) {
    const values = [];
    for (let value = scale.low; value <= scale.high; value++) values.push(value);
    const points = values.map((value) => {
      const radio = make("input", { type: "radio", name, value: String(value), on: { change: () => this.rate(k, value) } });
      const words = scale.labels[String(value)];
      return make("label", {}, radio, make("b", {}, String(value)), words ? make("small", {}, words) : null);
    });
    const labelled = values.filter((value) => scale.labels[String(value)]);
    // Narrow pages have no room for labels below the values, and show this list instead.
    const list = make("p", { class: "words", "aria-hidden": "true" }, ...labelled.map((value) => make("span", {}, make("b", {}, String(value)), ` ${scale.labels[String(value)]}`)));
    return make("div", {}, make("div", { class: "points" }, ...points), list);
  }

  number(scale, name, k) {
    const limits = { min: scale.low, max: scale.high, step: scale.step };
    const ends = [scale.low, scale.high].map((end) => scale.labels[String(end)]);
    const read = (event) => {
      const value = Number(event.target.value);
      if (event.target.value !== "" && event.target.validity.valid) this.rate(k, value);
    };
    const field = make("input", { type: "number", inputmode: "numeric", name, ...limits, "aria-label": scale.dimension, on: { change: read } });
    const slider = make("input", { type: "range", ...limits, tabindex: "-1", "aria-label": `${scale.dimension} (slider)`, on: { change: read } });
    return make("div", { class: "range" }, field, make("small", {}, `${scale.low} ${ends[0] ?? ""}`), slider, make("small", {}, `${scale.high} ${ends[1] ?? ""}`));
  }

  show(value) {
    this.ratings = { ...(value?.ratings ?? {}) };
    this.scales.forEach((scale, k) => {
      const rating = this.ratings[scale.dimension];
      for (const radio of this.fieldset(k).querySelectorAll("[type=radio]")) radio.checked = Number(radio.value) === rating;
      for (const field of this.fieldset(k).querySelectorAll("[type=number], [type=range]")) field.value = rating ?? "";
      this.fieldset(k).classList.toggle("unset", rating === undefined);
    });
  }

  fieldset(k) {
    return this.element.children[k];
  }

  value() {
    return { ratings: this.ratings };
  }

  missing() {
    const wrong = this.scales.find((scale, k) => this.differs(scale, k));
    if (wrong) return `Type a number from ${wrong.low} to ${wrong.high} for ${wrong.dimension}.`;
    const lacking = this.scales.find((scale) => !(scale.dimension in this.ratings));
    return lacking ? `Rate ${lacking.dimension} first.` : "";
  }

  goToMissing() {
    const at = this.scales.findIndex((scale, k) => this.differs(scale, k) || !(scale.dimension in this.ratings));
    this.activate(at);
  }

  // Whether a field differs from the rating because its number is not on the scale.
  differs(scale, k) {
    const field = this.fieldset(k).querySelector("[type=number]");
    return Boolean(field) && (field.validity.badInput || field.value !== String(this.ratings[scale.dimension] ?? ""));
  }

  activate(k, focus = true) {
    this.active = k;
    [...this.element.children].forEach((fieldset, at) => fieldset.classList.toggle("active", at === k));
    const field = this.fieldset(k).querySelector("[type=number]");
    if (focus && field) field.focus();
    if (focus) this.fieldset(k).scrollIntoView({ block: "nearest" });
  }

  rate(k, value) {
    const name = this.scales[k].dimension;
    if (this.ratings[name] === value) return;
    this.ratings = { ...this.ratings, [name]: value };
    this.show({ ratings: this.ratings });
    this.change();
  }

  handleKey(key) {
    const step = { ArrowUp: -1, ArrowDown: 1 }[key];
    if (step) {
      this.activate(Math.min(this.scales.length - 1, Math.max(0, this.active + step)));
      return true;
    }
    const scale = this.scales[this.active];
    if (!/^[0-9]$/.test(key)) return false;
    if (!this.hasButtons(scale)) {
      const field = this.fieldset(this.active).querySelector("[type=number]");
      field.focus();
      field.value = key;
      return true;
    }
    const value = Number(key);
    if (value < scale.low || value > scale.high) return true;
    this.rate(this.active, value);
    if (this.active + 1 < this.scales.length) this.activate(this.active + 1, this.hasButtons(this.scales[this.active + 1]));
    return true;
  }
}
