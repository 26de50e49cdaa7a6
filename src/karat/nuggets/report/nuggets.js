// One question at a time: nuggets by runs, and the responses behind each sign. The first questions
// of a page are complete without this script.
(() => {
  "use strict";
  const WORD = /[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u{20000}-\u{3ffff}]|[^\s\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u{20000}-\u{3ffff}]+/gu;
  const made = (name, text = "", look = "") => {
    const one = document.createElement(name);
    one.textContent = text;
    if (look) one.className = look;
    return one;
  };

  const setUp = (frame) => {
    const data = JSON.parse(frame.querySelector(':scope > script[type="application/json"]').textContent);
    const head = frame.querySelector("table.matrix thead");
    const tools = frame.querySelector(":scope > .tools");
    const [search, chosen, order, kind] = ["input", "select.chosen", "select.order", "select.kind"]
      .map((which) => tools.querySelector(which));
    const [previous, next] = tools.querySelectorAll("button");
    const place = made("div", "", "question");
    const guessed = (state) => state in data.guesses;

    const told = (question, j, run) => {
      const state = question.states[j][run];
      const verb = data.states[data.guesses[state] ?? state][1];
      const by = guessed(state) ? ` (${data.guessed})` : "012".includes(state) ? " (judged)" : "";
      const fact = question.contradictions.find(([a, b]) => a === j && b === run)?.[2];
      return `${data.runs[run]} ${verb} nugget ${question.nuggets[j][1]}${by}${fact ? `; ${fact}` : ""}`;
    };

    // The text with the words that a nugget has too as marks.
    const marked = (text, words, j) => {
      const parts = [];
      let end = 0;
      for (const { 0: word, index } of text.matchAll(WORD)) {
        if (!Object.hasOwn(words, word) || !words[word].includes(j)) continue;
        parts.push(text.slice(end, index), made("mark", word));
        end = index + word.length;
      }
      return [...parts, text.slice(end)];
    };

    const answer = (question, j, run, panel) => {
      const texts = question.answers[run];
      const at = question.later.find(([a, b]) => a === j && b === run)?.[2] ?? 0;
      const title = made("p", `${told(question, j, run)}: `);
      title.append(made("em", question.nuggets[j][0]));
      const shown = texts.map((text, number) => {
        const one = made("p", "", number === at ? "asked" : "");
        one.append(...marked(text, question.words, j));
        return one;
      });
      panel.replaceChildren(title, ...shown);
      panel.hidden = false;
      panel.focus({ preventScroll: true });
      panel.scrollIntoView({ block: "nearest" });
    };

    const cell = (question, j, run, panel) => {
      const state = question.states[j][run];
      const [sign, , look] = data.states[data.guesses[state] ?? state];
      const vital = question.nuggets[j][2] === "vital";
      const shown = vital && look === "missed" ? data.missed : sign;
      const text = guessed(state) ? `(${shown})` : shown;
      const one = made("td", "", vital && look === "missed" ? "missed vital" : look);
      if (!question.answers[run]?.length) {
        one.textContent = text;
        one.title = told(question, j, run);
        return one;
      }
      const button = made("button", text);
      button.type = "button";
      button.title = told(question, j, run);
      button.setAttribute("aria-label", button.title);
      button.addEventListener("click", () => answer(question, j, run, panel));
      one.append(button);
      return one;
    };

    const wanted = {
      "": () => true,
      vital: (nugget) => nugget[2] === "vital",
      missed: (_, states) => !/[12bc]/.test(states),
      guessed: (_, states) => /[abc]/.test(states),
    };

    const draw = (question) => {
      const table = made("table", "", "matrix");
      const panel = made("div", "", "response");
      panel.hidden = true;
      panel.tabIndex = -1;
      const body = table.createTBody();
      question.nuggets.forEach((nugget, j) => {
        if (!wanted[kind.value](nugget, question.states[j])) return;
        const row = body.insertRow();
        const name = made("th", nugget[0]);
        name.scope = "row";
        name.append(made("em", ` ${nugget[2]}`));
        row.append(name, ...data.runs.map((_, run) => cell(question, j, run, panel)));
      });
      table.prepend(head.cloneNode(true));
      const foot = table.createTFoot().insertRow();
      const name = made("th", data.score);
      name.scope = "row";
      foot.append(name, ...question.scores.map((f) => made("td", f === null ? "–" : f.toFixed(2))));
      const scroll = made("div", "", "scroll");
      scroll.append(table);
      const none = body.rows.length ? [] : [made("p", "No nugget of this kind.", "note")];
      place.replaceChildren(made("h3", question.title), scroll, ...none, panel);
    };

    const show = () => {
      const number = Number(chosen.value || -1);
      previous.disabled = chosen.selectedIndex <= 0;
      next.disabled = chosen.selectedIndex >= chosen.options.length - 1;
      if (number < 0) place.replaceChildren(made("p", "No question fits.", "note"));
      else draw(data.questions[number]);
    };

    const mean = (question) => {
      const known = question.scores.filter((f) => f !== null);
      return known.length ? known.reduce((sum, f) => sum + f, 0) / known.length : Infinity;
    };

    // The questions that hold the words that are searched for, in the chosen order.
    const list = () => {
      const word = search.value.trim().toLowerCase();
      const text = ({ title, nuggets }) => [title, ...nuggets.map(([name]) => name)].join("\n");
      const found = data.questions.map((question, number) => ({ question, number }))
        .filter(({ question }) => !word || text(question).toLowerCase().includes(word));
      if (order.value) found.sort((a, b) => mean(a.question) - mean(b.question));
      chosen.replaceChildren(...found.map(({ question, number }) => {
        const option = made("option", question.title);
        option.value = number;
        return option;
      }));
      show();
    };

    const step = (by) => () => {
      chosen.selectedIndex += by;
      show();
    };

    for (const one of frame.querySelectorAll(":scope > .question, :scope > .first")) one.remove();
    tools.hidden = false;
    tools.after(place);
    previous.addEventListener("click", step(-1));
    next.addEventListener("click", step(1));
    search.addEventListener("input", list);
    order.addEventListener("change", list);
    chosen.addEventListener("change", show);
    kind.addEventListener("change", show);
    list();
  };

  for (const frame of document.querySelectorAll(".questions")) setUp(frame);
})();
