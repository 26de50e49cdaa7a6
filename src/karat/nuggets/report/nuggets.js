// A sign in a matrix leads to a response; there, only the words that speak for its nugget stay
// marked. The page is complete without this script.
(() => {
  "use strict";
  const show = (link) => {
    const response = document.getElementById(link.hash.slice(1));
    if (!response) return;
    response.closest("details").open = true;
    for (const mark of response.querySelectorAll("mark")) {
      const speaks = mark.dataset.nuggets.split(" ").includes(link.dataset.nugget);
      mark.classList.toggle("quiet", !speaks);
    }
    for (const other of document.querySelectorAll(".answer p.asked")) other.classList.remove("asked");
    response.classList.add("asked");
    response.setAttribute("tabindex", "-1");
    response.focus();
  };
  for (const link of document.querySelectorAll("table.matrix a")) {
    link.addEventListener("click", () => show(link));
  }
})();
