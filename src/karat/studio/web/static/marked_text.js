// A text with marked spans. Words are selected by the mouse, or by a cursor that moves by words.
// Offsets count code points, as the studio does; JavaScript strings count UTF-16 units.

import { make } from "./dom.js";

export const codePoints = (text) => Array.from(text).length;

export function wordsOf(text) {
  const words = [];
  let [at, place] = [0, 0]; // in UTF-16 units, and in code points
  for (const [start, length] of parts(text)) {
    place += codePoints(text.slice(at, start));
    at = start + length;
    const end = place + codePoints(text.slice(start, at));
    words.push({ start: place, end });
    place = end;
  }
  return words;
}

// Words and punctuation; in browsers without a segmenter, the text between white space.
function parts(text) {
  if (!globalThis.Intl?.Segmenter) return [...text.matchAll(/\S+/gu)].map((part) => [part.index, part[0].length]);
  const cut = new Intl.Segmenter(undefined, { granularity: "word" }).segment(text);
  return [...cut].filter((part) => part.segment.trim()).map((part) => [part.index, part.segment.length]);
}

export class MarkedText {
  constructor(text, label) {
    this.letters = Array.from(text);
    this.words = wordsOf(text);
    this.marks = [];
    this.anchor = this.focus = null;
    this.lastFocus = null; // position of the cursor before it was cleared
    this.element = make("p", { class: "text marked", dir: "auto", tabindex: "0", "aria-label": label });
    this.spoken = make("p", { class: "unseen", "aria-live": "polite" });
    this.draw();
  }

  show(marks) {
    this.marks = marks;
    this.draw();
  }

  // Split the text at every border, because marks may overlap.
  draw() {
    const byMouse = this.byMouse();
    const chosen = this.cursor();
    const borders = new Set([0, this.letters.length]);
    for (const span of [...this.marks, ...(chosen ? [chosen] : [])]) borders.add(span.start).add(span.end);
    const places = [...borders].sort((a, b) => a - b);
    const parts = [];
    for (let k = 0; k + 1 < places.length; k++) {
      const [start, end] = [places[k], places[k + 1]];
      const over = this.marks.filter((mark) => mark.start <= start && end <= mark.end);
      const within = chosen && chosen.start <= start && end <= chosen.end;
      const names = over.flatMap((mark) => mark.look.split(" ")).concat(over.length > 1 ? ["several"] : [], within ? ["cursor"] : []);
      const text = this.letters.slice(start, end).join("");
      parts.push(names.length ? make("mark", { class: names.join(" ") }, text) : text);
    }
    this.element.replaceChildren(...parts);
    if (byMouse) this.select(byMouse);
  }

  cursor() {
    if (this.focus === null) return null;
    const [first, last] = [Math.min(this.anchor, this.focus), Math.max(this.anchor, this.focus)];
    return { start: this.words[first].start, end: this.words[last].end };
  }

  // The selection of the mouse, else that of the cursor.
  selected() {
    return this.byMouse() ?? this.cursor();
  }

  // The part of the mouse selection in this text.
  byMouse() {
    const selection = getSelection();
    if (!selection.rangeCount || selection.isCollapsed) return null;
    const range = selection.getRangeAt(0).cloneRange();
    if (!range.intersectsNode(this.element)) return null;
    if (!this.element.contains(range.startContainer)) range.setStart(this.element, 0);
    if (!this.element.contains(range.endContainer)) range.setEnd(this.element, this.element.childNodes.length);
    const before = document.createRange();
    before.selectNodeContents(this.element);
    before.setEnd(range.startContainer, range.startOffset);
    const start = codePoints(before.toString());
    const end = start + codePoints(range.toString());
    return start < end ? { start, end } : null;
  }

  // Restore the selection after drawing the text again.
  select(span) {
    const [start, end] = [this.nodeAt(span.start), this.nodeAt(span.end)];
    if (start && end) getSelection().setBaseAndExtent(...start, ...end);
  }

  nodeAt(offset) {
    let left = this.letters.slice(0, offset).join("").length;
    const nodes = document.createTreeWalker(this.element, NodeFilter.SHOW_TEXT);
    while (nodes.nextNode()) {
      const { length } = nodes.currentNode;
      if (left <= length) return [nodes.currentNode, left];
      left -= length;
    }
    return null;
  }

  textOf(span) {
    return this.letters.slice(span.start, span.end).join("");
  }

  clear() {
    this.lastFocus = this.focus ?? this.lastFocus;
    this.anchor = this.focus = null;
    getSelection().removeAllRanges();
    this.draw();
  }

  // Select the whole text.
  selectAll() {
    if (!this.words.length) return;
    [this.anchor, this.focus] = [0, this.words.length - 1];
    this.cursorMoved();
  }

  // Left and right move by a word, in the direction of the text; with Shift they extend.
  handleKey(key, event) {
    const direction = getComputedStyle(this.element).direction === "rtl" ? -1 : 1;
    const step = { ArrowLeft: -direction, ArrowRight: direction }[key];
    if (!step || !this.words.length) return false;
    const last = this.words.length - 1;
    if (this.focus === null && this.lastFocus === null) this.anchor = this.focus = step > 0 ? 0 : last;
    else {
      this.focus ??= this.lastFocus;
      this.focus = Math.min(last, Math.max(0, this.focus + step));
      if (!event.shiftKey || this.anchor === null) this.anchor = this.focus;
    }
    this.cursorMoved();
    return true;
  }

  cursorMoved() {
    getSelection().removeAllRanges();
    this.draw();
    this.spoken.textContent = this.textOf(this.cursor());
    this.element.querySelector(".cursor")?.scrollIntoView({ block: "nearest" });
  }
}
