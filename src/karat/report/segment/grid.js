// Hover and keyboard for bitext grids and edit alignments; the page is complete without it.
// A grid is one stop of the Tab key; the arrows go from run to run, Home and End to either end.
(() => {
  "use strict";
  const NS = "http://www.w3.org/2000/svg";

  const band = (grid, box) => {
    const rect = document.createElementNS(NS, "rect");
    rect.setAttribute("class", "band");
    for (const [name, value] of Object.entries(box)) rect.setAttribute(name, value);
    grid.append(rect);
    return rect;
  };

  const wire = (grid) => {
    const told = document.createElement("p");
    told.className = "told";
    told.setAttribute("aria-live", "polite");
    grid.closest("figure").append(told);

    const edge = grid.querySelector(".edge");
    const [left, top, wide, high] = ["x", "y", "width", "height"]
      .map((name) => Number(edge.getAttribute(name)));
    const lengths = grid.dataset.references.split(" ").map(Number);
    // From the whole width: coordinates are rounded, and one word would err for thousands.
    const cell = wide / lengths.reduce((sum, length) => sum + length + 1, -1);
    const row = band(grid, { x: left, width: wide, height: cell, visibility: "hidden" });
    const column = band(grid, { y: top, height: high, width: cell, visibility: "hidden" });

    const clear = () => {
      for (const rect of [row, column]) rect.setAttribute("visibility", "hidden");
      for (const text of grid.querySelectorAll("text.lit")) text.classList.remove("lit");
    };

    // The word at the edge, lit, in brackets; large grids have none.
    const word = (kind, index) => {
      const text = grid.querySelector(`text[data-${kind}="${index}"]`);
      if (text) text.classList.add("lit");
      return text ? ` (${text.textContent})` : "";
    };

    const pair = (i, j) => {
      let [number, at] = [0, j];
      while (at > lengths[number]) { at -= lengths[number] + 1; number += 1; }
      if (at === lengths[number]) return `the barrier after reference ${number + 1}`;
      const whose = lengths.length > 1 ? `reference ${number + 1}` : "the reference";
      return `word ${i + 1} of the candidate${word("row", i)}, ` +
        `word ${at + 1} of ${whose}${word("column", j)}`;
    };

    const point = (event) => {
      const at = new DOMPoint(event.clientX, event.clientY)
        .matrixTransform(grid.getScreenCTM().inverse());
      const i = Math.floor((at.y - top) / cell);
      const j = Math.floor((at.x - left) / cell);
      clear();
      if (i < 0 || j < 0 || i * cell >= high || j * cell >= wide) {
        told.textContent = "";
        return;
      }
      row.setAttribute("y", top + i * cell);
      column.setAttribute("x", left + j * cell);
      for (const rect of [row, column]) rect.setAttribute("visibility", "visible");
      const here = pair(i, j);
      const run = event.target.closest(".run");
      told.textContent = run ? run.getAttribute("aria-label") : here;
    };
    grid.addEventListener("pointermove", point);
    grid.addEventListener("pointerleave", () => { clear(); told.textContent = ""; });

    const runs = [...grid.querySelectorAll(".run")];
    runs.forEach((run, at) => {
      run.setAttribute("tabindex", at === 0 ? "0" : "-1");
      run.addEventListener("focus", () => { told.textContent = run.getAttribute("aria-label"); });
      run.addEventListener("blur", () => { told.textContent = ""; });
    });
    const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity };
    grid.addEventListener("keydown", (event) => {
      const at = runs.indexOf(document.activeElement);
      if (at < 0 || !(event.key in STEPS)) return;
      event.preventDefault();
      const next = Math.min(Math.max(at + STEPS[event.key], 0), runs.length - 1);
      runs[at].setAttribute("tabindex", "-1");
      runs[next].setAttribute("tabindex", "0");
      runs[next].focus();
    });
  };
  document.querySelectorAll("svg.grid").forEach(wire);

  for (const list of document.querySelectorAll(".edits")) {
    const light = (event) => {
      const step = event.target.closest("[data-move]");
      for (const other of list.querySelectorAll("[data-move]")) {
        other.classList.toggle("lit", step !== null && other.dataset.move === step.dataset.move);
      }
    };
    list.addEventListener("pointerover", light);
    list.addEventListener("pointerleave", light);
  }
})();
