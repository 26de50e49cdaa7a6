// Tables that sort, search, filter and turn pages. The page is complete without this script but
// for the later rows of long tables, which it carries as data. Missing values stay last.
(() => {
  "use strict";
  const STATES = ["none", "ascending", "descending"];
  const MOST = 100;

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

  const parsed = (markup) => {
    const template = document.createElement("template");
    template.innerHTML = markup;
    return template.content.firstElementChild;
  };

  const setUp = (table) => {
    const frame = table.closest("section, details");
    const tools = frame?.querySelector(":scope > .tools");
    const pages = frame?.querySelector(":scope > .pages");
    const data = frame?.querySelector(':scope > script[type="application/json"]');
    const bodies = [...table.tBodies].map((body) => {
      const head = body.querySelector(":scope > tr.group");
      return { body, head, rows: [...body.rows].filter((row) => row !== head) };
    });
    let first = 0;
    let sorted = { column: 0, state: "none" };
    let whole = !data;

    // The rows that are data become elements when somebody asks for more than the first page.
    const complete = () => {
      if (whole) return;
      whole = true;
      JSON.parse(data.textContent).forEach(([name, rows], at) => {
        if (!bodies[at]) {
          const body = document.createElement("tbody");
          const head = name === null ? null : bodies[0].head.cloneNode(true);
          if (head) head.cells[0].innerHTML = name;
          bodies.push({ body, head, rows: [] });
          table.append(body);
        }
        const known = bodies[at].rows;
        known.push(...rows.slice(known.length).map(parsed));
      });
    };

    const wanted = () => {
      const word = tools?.querySelector('input[type="search"]')?.value.trim().toLowerCase() ?? "";
      const chosen = [...(tools?.querySelectorAll("select") ?? [])].filter((one) => one.value);
      return (row) =>
        (!word || row.textContent.toLowerCase().includes(word)) &&
        chosen.every((one) => row.cells[one.dataset.column]?.textContent === one.value);
    };

    const draw = () => {
      const keep = wanted();
      const sign = sorted.state === "descending" ? -1 : 1;
      const order = (a, b) => compare(a.cells[sorted.column], b.cells[sorted.column], sign);
      const found = bodies.map(({ rows }) => {
        const kept = rows.filter(keep);
        return sorted.state === "none" ? kept : kept.sort(order);
      });
      const total = found.reduce((sum, rows) => sum + rows.length, 0);
      first = Math.min(first, Math.max(0, Math.floor((total - 1) / MOST) * MOST));
      let from = 0;
      bodies.forEach(({ body, head }, at) => {
        const rows = pages
          ? found[at].slice(Math.max(0, first - from), Math.max(0, first + MOST - from))
          : found[at];
        from += found[at].length;
        body.replaceChildren(...(head && rows.length ? [head] : []), ...rows);
      });
      if (pages) tell(total);
    };

    const turn = (label, to, off) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = label;
      button.disabled = off;
      button.addEventListener("click", () => {
        complete();
        first = to;
        draw();
        table.closest(".scroll").scrollTop = 0;
        [...pages.querySelectorAll("button")].find((one) => !one.disabled)?.focus();
      });
      return button;
    };

    const tell = (total) => {
      const last = Math.min(first + MOST, total);
      const told = total ? `Rows ${(first + 1).toLocaleString("en")} to ${last.toLocaleString("en")} of ${total.toLocaleString("en")} ` : "No row fits. ";
      pages.replaceChildren(told, turn("Previous", first - MOST, first === 0), " ",
        turn("Next", first + MOST, last >= total));
    };

    if (pages) tell(Number(pages.dataset.rows));
    if (tools) {
      tools.hidden = false;
      tools.addEventListener("input", (event) => {
        if (event.target.type === "checkbox") {
          table.classList.toggle("all", event.target.checked);
          return;
        }
        complete();
        first = 0;
        draw();
      });
    }
    if (!data && !bodies.some(({ rows }) => rows.length > 1)) return;
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      if (!head.textContent.trim()) return; // a button would have no name
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const next = STATES[(STATES.indexOf(head.getAttribute("aria-sort")) + 1) % STATES.length];
        heads.forEach((other) => other.setAttribute("aria-sort", "none"));
        head.setAttribute("aria-sort", next);
        sorted = { column, state: next };
        complete();
        draw();
      });
    });
  };

  for (const table of document.querySelectorAll("main table:not(.matrix)")) if (table.tHead) setUp(table);
})();
