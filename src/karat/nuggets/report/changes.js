// Cards of nuggets that two versions of a system carry or not: filters, search, more on demand.
// Without this script the first of those that were lost or gained are shown.
(() => {
  "use strict";
  const MOST = 20;

  const setUp = (frame) => {
    const cards = JSON.parse(frame.querySelector(':scope > script[type="application/json"]').textContent)
      .map(([change, importance, by, markup]) => ({ change, importance, by, markup }));
    const tools = frame.querySelector(":scope > .tools");
    const place = frame.querySelector(":scope > .cards");
    const note = frame.querySelector(":scope > .more");
    const value = (which) => tools.querySelector(which).value;
    let shown = MOST;

    const parsed = (card) => {
      if (!card.element) {
        const template = document.createElement("template");
        template.innerHTML = card.markup;
        card.element = template.content.firstElementChild;
        card.text = card.element.textContent.toLowerCase();
      }
      return card;
    };

    const fits = (card) => {
      const change = value("select.change");
      const wanted = change === "all" || (change ? card.change === change : ["lost", "gained"].includes(card.change));
      const word = value("input").trim().toLowerCase();
      return wanted &&
        ["importance", "by"].every((key) => !value(`select.${key}`) || card[key] === value(`select.${key}`)) &&
        (!word || parsed(card).text.includes(word));
    };

    const draw = () => {
      const found = cards.filter(fits);
      const drawn = found.slice(0, shown);
      place.replaceChildren(...drawn.map((card) => parsed(card).element));
      note.textContent = found.length ? `${drawn.length.toLocaleString("en")} of ${found.length.toLocaleString("en")} nuggets ` : "No nugget fits.";
      if (drawn.length === found.length) return;
      const more = document.createElement("button");
      more.type = "button";
      more.textContent = "Show more";
      more.addEventListener("click", () => {
        shown += MOST;
        draw();
      });
      note.append(more);
    };

    tools.hidden = false;
    tools.addEventListener("input", () => {
      shown = MOST;
      draw();
    });
    draw();
  };

  for (const frame of document.querySelectorAll(".changes")) setUp(frame);
})();
