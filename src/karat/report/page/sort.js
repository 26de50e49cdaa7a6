// Column heads become buttons that sort each group of rows: up, down, and back as it was.
// The page is complete without this script; missing values stay last in either direction.
(() => {
  "use strict";
  const STATES = ["none", "ascending", "descending"];

  const rowsOf = (body) => [...body.rows].filter((row) => !row.classList.contains("group"));

  const compare = (a, b, sign) => {
    const missing = (cell) => (cell.classList.contains("missing") ? 1 : 0);
    if (missing(a) || missing(b)) return missing(a) - missing(b);
    const [x, y] = [a.dataset.value, b.dataset.value];
    if (x !== undefined && y !== undefined) {
      const [p, q] = [x, y].map((value) => Number(value.replace("inf", "Infinity")));
      return sign * (p < q ? -1 : p > q ? 1 : 0);
    }
    return sign * a.textContent.localeCompare(b.textContent, undefined, { numeric: true });
  };

  const sort = (bodies, column, state) => {
    const sign = state === "descending" ? -1 : 1;
    for (const { body, rows } of bodies) {
      const order = state === "none"
        ? rows
        : [...rows].sort((a, b) => compare(a.cells[column], b.cells[column], sign));
      body.append(...order);
    }
  };

  for (const table of document.querySelectorAll("main table")) {
    const bodies = [...table.tBodies].map((body) => ({ body, rows: rowsOf(body) }));
    if (!bodies.some(({ rows }) => rows.length > 1)) continue;
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const now = STATES.indexOf(head.getAttribute("aria-sort"));
        const next = STATES[(now + 1) % STATES.length];
        heads.forEach((other) => other.setAttribute("aria-sort", "none"));
        head.setAttribute("aria-sort", next);
        sort(bodies, column, next);
      });
    });
  }
})();
