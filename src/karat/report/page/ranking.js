// The ranking of a comparison: switches for the metric and for the baseline. Differences from every
// baseline are data of the page. Without this script, all metrics are shown for one baseline.
(() => {
  "use strict";
  const source = document.querySelector('.ranking > script[type="application/json"]');
  if (!source) return;
  const page = JSON.parse(source.textContent);
  const frame = source.closest("section");
  const figures = [...frame.querySelectorAll("figure")];
  const strips = [...document.querySelectorAll("svg:has(g.bins)")];
  const KINDS = Object.keys(page.signs);
  const SVG = "http://www.w3.org/2000/svg";
  const WIDTH = 140, MARGIN = 6;

  const choice = (label, options) => {
    const one = document.createElement("label");
    const select = document.createElement("select");
    select.append(...options.map((text, at) => new Option(text, at)));
    one.append(`${label} `, select);
    return [one, select];
  };

  const drawBar = (bar, found, [low, high]) => {
    const at = (value) =>
      MARGIN + ((value - low) * (WIDTH - 2 * MARGIN)) / (high - low || 1);
    const [zero, line] = bar.querySelectorAll("line");
    const dot = bar.querySelector("circle");
    const set = (item, values) =>
      Object.entries(values).forEach(([name, value]) => item.setAttribute(name, value));
    set(zero, { x1: at(0), x2: at(0) });
    if (!found) return bar.setAttribute("visibility", "hidden");
    bar.removeAttribute("visibility");
    set(line, { x1: at(found[1]), x2: at(found[2]) });
    set(dot, { cx: at(found[0]) });
  };

  const drawTable = (figure, metric, base) => {
    const view = metric.views[base] ?? metric.views[0];
    const ends = view.filter(Boolean).flatMap((found) => found.slice(0, 3));
    const span = [Math.min(0, ...ends), Math.max(0, ...ends)];
    figure.querySelector("th b").textContent = page.names[base];
    for (const row of figure.querySelectorAll("tbody tr")) {
      const found = view[row.dataset.system];
      const difference = row.querySelector(".difference");
      const verdict = row.querySelector(".verdict");
      const kind = found ? found[4] : "missing";
      for (const cell of [difference, verdict]) {
        cell.classList.remove(...KINDS, "missing");
        cell.classList.add(kind);
      }
      difference.querySelector("span").textContent = found ? found[3] : "";
      difference.dataset.value = found ? found[0] : 0;
      const margin = found && found[5] ? `, ${found[5]}` : "";
      verdict.textContent = found ? page.signs[kind] + margin : "baseline";
      drawBar(difference.querySelector("svg"), found, span);
    }
  };

  // Segments won and lost, and those in each bin, of a system against another. The page has those
  // of the later system of each pair; the others are mirrored.
  const stripOf = (metric, system, base) => {
    if (base < system) return metric.strips[base][system - base - 1];
    const [won, lost, ...bins] = metric.strips[system][base - system - 1];
    return [lost, won, ...bins.reverse()];
  };

  const drawStrips = (drawing, metric, base) => {
    const rows = [...drawing.querySelectorAll("g:has(> g.bins)")];
    const others = metric.order.filter((system) => system !== base);
    rows.forEach((row, at) => {
      const [won, lost, ...bins] = stripOf(metric, others[at], base);
      const [label, text] = row.querySelectorAll(":scope > text");
      label.textContent = page.labels[others[at]];
      text.textContent = `▲ ${won} ▼ ${lost}`;
      row.querySelector(":scope > title").textContent =
        `${page.names[others[at]]}: ${won} won, ${lost} lost`;
      const group = row.querySelector("g.bins");
      const [left, width, y] = ["left", "width", "y"].map((name) => Number(group.dataset[name]));
      const most = Math.max(1, ...bins);
      const middle = (bins.length - 1) / 2;
      group.replaceChildren(...bins.flatMap((count, k) => {
        if (!count) return [];
        const bin = document.createElementNS(SVG, "rect");
        const color = k > middle ? "--up" : k < middle ? "--down" : "--none";
        const look = { x: left + k * width, y, width, height: 16, fill: `var(${color})`,
          "fill-opacity": 0.15 + 0.85 * Math.sqrt(count / most) };
        Object.entries(look).forEach(([name, value]) => bin.setAttribute(name, value));
        return [bin];
      }));
    });
    const name = [...drawing.querySelectorAll(":scope > text")]
      .find((one) => one.textContent === drawing.dataset.base);
    drawing.dataset.base = page.labels[base];
    if (name) name.textContent = page.labels[base];
  };

  const [metricLabel, metricSelect] = choice("Metric", page.metrics.map((metric) => metric.label));
  const [baseLabel, baseSelect] = choice("Baseline", page.names);
  baseSelect.value = page.baseline;
  const tools = document.createElement("p");
  tools.className = "tools";
  if (page.metrics.length > 1) tools.append(metricLabel);
  if (page.note) tools.append(baseLabel);
  const note = document.createElement("p");
  note.className = "note";
  note.setAttribute("aria-live", "polite");
  frame.querySelector("h2").after(tools, note);
  for (const drawing of strips) drawing.dataset.base = page.labels[page.baseline];

  const showMetric = () => {
    figures.forEach((figure, at) => { figure.hidden = at !== Number(metricSelect.value); });
  };
  const showBaseline = () => {
    const base = Number(baseSelect.value);
    figures.forEach((figure, at) => drawTable(figure, page.metrics[at], base));
    const drawn = page.metrics.filter((metric) => metric.strips.length);
    strips.forEach((drawing, at) => drawStrips(drawing, drawn[at], base));
    const title = strips[0]?.closest("section")?.querySelector("h2");
    if (title) title.textContent = `Differences from ${page.names[base]} by segment`;
    note.textContent = base === page.baseline ? "" : `Baseline ${page.names[base]}: ${page.note}`;
  };
  metricSelect.addEventListener("change", showMetric);
  baseSelect.addEventListener("change", showBaseline);
  showMetric();
})();
