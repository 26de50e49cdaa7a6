// A text in which places are marked: by the mouse, or by a cursor that moves by words.
// Places count code points, as the studio does; strings of JavaScript count UTF-16 units.

import { make } from "./dom.js";

export const codePoints = (text) => Array.from(text).length;

export function wordsOf(text) {
  const found = [];
  if (globalThis.Intl?.Segmenter) {
    for (const part of new Intl.Segmenter(undefined, { granularity: "word" }).segment(text))
      if (part.segment.trim()) found.push([part.index, part.index + part.segment.length]);
  } else for (const part of text.matchAll(/\S+/gu)) found.push([part.index, part.index + part[0].length]);
  return found.map(([start, end]) => {
    const before = codePoints(text.slice(0, start));
    return { start: before, end: before + codePoints(text.slice(start, end)) };
  });
}

export class MarkedText {
  constructor(text, label) {
    this.letters = Array.from(text);
    this.words = wordsOf(text);
    this.marks = [];
    this.anchor = this.focus = null;
    this.place = null; // where the cursor was before it was cleared
    this.element = make("p", { class: "text marked", tabindex: "0", "aria-label": label });
    this.spoken = make("p", { class: "unseen", "aria-live": "polite" });
    this.draw();
  }

  show(marks) {
    this.marks = marks;
    this.draw();
  }

  // Cut the text at every border, so that overlapping marks each keep their own.
  draw() {
    const chosen = this.cursor();
    const borders = new Set([0, this.letters.length]);
    for (const one of [...this.marks, ...(chosen ? [chosen] : [])]) borders.add(one.start).add(one.end);
    const places = [...borders].sort((a, b) => a - b);
    const parts = [];
    for (let k = 0; k + 1 < places.length; k++) {
      const [start, end] = [places[k], places[k + 1]];
      const over = this.marks.filter((one) => one.start <= start && end <= one.end);
      const within = chosen && chosen.start <= start && end <= chosen.end;
      const names = over.map((one) => one.look).concat(over.length > 1 ? ["several"] : [], within ? ["cursor"] : []);
      const text = this.letters.slice(start, end).join("");
      parts.push(names.length ? make("mark", { class: names.join(" ") }, text) : text);
    }
    this.element.replaceChildren(...parts);
  }

  cursor() {
    if (this.focus === null) return null;
    const [first, last] = [Math.min(this.anchor, this.focus), Math.max(this.anchor, this.focus)];
    return { start: this.words[first].start, end: this.words[last].end };
  }

  // What the mouse selected, else what the cursor covers.
  selected() {
    const selection = getSelection();
    if (selection.rangeCount && !selection.isCollapsed) {
      const range = selection.getRangeAt(0);
      if (this.element.contains(range.startContainer) && this.element.contains(range.endContainer)) {
        const before = range.cloneRange();
        before.selectNodeContents(this.element);
        before.setEnd(range.startContainer, range.startOffset);
        const start = codePoints(before.toString());
        const end = start + codePoints(range.toString());
        return start < end ? { start, end } : null;
      }
    }
    return this.cursor();
  }

  textOf(span) {
    return this.letters.slice(span.start, span.end).join("");
  }

  clear() {
    this.place = this.focus ?? this.place;
    this.anchor = this.focus = null;
    getSelection().removeAllRanges();
    this.draw();
  }

  // Left and right move by a word; with Shift they extend.
  obey(key, event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
    if (!step || !this.words.length) return false;
    const last = this.words.length - 1;
    if (this.focus === null && this.place === null) this.anchor = this.focus = step > 0 ? 0 : last;
    else {
      this.focus ??= this.place;
      this.focus = Math.min(last, Math.max(0, this.focus + step));
      if (!event.shiftKey || this.anchor === null) this.anchor = this.focus;
    }
    getSelection().removeAllRanges();
    this.draw();
    this.spoken.textContent = this.textOf(this.cursor());
    this.element.querySelector(".cursor")?.scrollIntoView({ block: "nearest" });
    return true;
  }
}
