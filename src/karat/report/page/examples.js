// Switches above examples: cases of one choice at a time. Without this script all are shown.
(() => {
  "use strict";
  for (const section of document.querySelectorAll("section.examples")) {
    const tools = section.querySelector(".tools");
    if (!tools) continue;
    const switches = [...tools.querySelectorAll("select")];
    const cases = [...section.querySelectorAll(".case")];
    const show = () => {
      for (const one of cases) {
        one.hidden = switches.some((select) =>
          one.getAttribute(`data-tag-${select.dataset.tag}`) !== select.value);
      }
    };
    tools.hidden = false;
    tools.addEventListener("change", show);
    show();
  }
})();
