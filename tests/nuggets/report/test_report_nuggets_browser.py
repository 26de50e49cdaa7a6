"""The page of `nuggets score` in a real browser: from a sign to the words that speak for it."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from browser import CHROMIUM, ask, faults
from report.test_report_browser import CONTRAST, DARK

from karat.nuggets.report.matrix import score_page
from karat.nuggets.report.scores import score_document
from karat.nuggets.results.scoring import score_nuggets
from karat.nuggets.sets.judgements import Judged, Judgements
from karat.nuggets.sets.keys import Nugget, Question, make_key
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.nuggets.sets.runs import Response, make_run
from karat.report.render.renderers import render

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: apt-get install chromium")

KEY = make_key(
    [
        Question("q1", (Nugget("1", ("a red lens",)), Nugget("2", ("bees in 燈塔",), False))),
        Question("q2", (Nugget("1", ("salt",)),)),
    ]
)
HOSTILE = "The lens <script>window.hostile=1</script> was red, near the 燈塔."
RUNS = {
    "one": make_run("one", [("q1", Response("Nothing here.")), ("q1", Response(HOSTILE))]),
    "two": make_run("two", [("q1", Response("Bees!")), ("q2", Response("No pepper."))]),
}
JUDGED = Judgements((Judged("q1", "1", HOSTILE, 1.0, "one"), Judged("q1", "2", "Bees!", 0.5)))

CLICK = """
  const link = (label) => [...document.querySelectorAll("table.matrix a")]
    .find((a) => a.getAttribute("aria-label").startsWith(label));
  const loud = () => [...document.querySelectorAll("p.asked mark")]
    .filter((mark) => getComputedStyle(mark).textDecorationLine === "underline")
    .map((mark) => mark.textContent);
  const seen = (label) => {
    link(label).click();
    const asked = [...document.querySelectorAll("p.asked")];
    return { asked: asked.map((p) => p.textContent), loud: loud(),
      open: asked.every((p) => p.closest("details").open && p.checkVisibility()),
      focus: document.activeElement === asked[0], hash: location.hash };
  };
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    nuggets = NuggetSet("s", KEY, MappingProxyType(RUNS), JUDGED)
    done = score_nuggets(nuggets, details=True)
    whole = score_page(score_document(done, "karat"), done)
    path = tmp_path_factory.mktemp("page") / "nuggets.html"
    path.write_text(render(whole, "html"), "utf-8")
    return path


def test_the_page_is_quiet_and_runs_nothing_that_it_quotes(page: Path) -> None:
    assert faults(page) == []


def test_the_table_of_questions_leads_to_the_matrices(page: Path) -> None:
    program = """
      const way = [...document.querySelectorAll("table:not(.matrix) td a")]
        .find((a) => a.textContent === "q1");
      way.click();
      const there = document.querySelector(location.hash);
      return { there: there !== null, text: there?.textContent.slice(0, 200) };
    """
    found = ask(page, program)
    assert found["there"]
    assert "Question q1" in found["text"]


def test_a_sign_leads_to_its_response_and_only_its_words_stay_marked(page: Path) -> None:
    program = """
      const before = document.querySelectorAll("details.answer[open]").length;
      return { before, first: seen("one carries nugget 1"), second: seen("one does not") };
    """
    found = ask(page, CLICK + program)
    assert found["before"] == 0
    first, second = found["first"], found["second"]
    assert first["asked"] == [HOSTILE]
    assert first["loud"] == ["lens", "red,"]
    assert (first["open"], first["focus"], first["hash"]) == (True, True, "#answer-0-0-1")
    assert len(second["asked"]) == 1
    assert "red," not in second["loud"]
    assert second["open"]


def test_partial_support_and_questions_without_an_answer(page: Path) -> None:
    program = """
      const partial = seen("two carries in part nugget 2");
      const none = [...document.querySelectorAll("table.matrix td")]
        .filter((td) => !td.querySelector("a")).map((td) => [td.textContent, td.title]);
      return { partial, none };
    """
    found = ask(page, CLICK + program)
    assert found["partial"]["asked"] == ["Bees!"]
    assert found["partial"]["loud"] == ["Bees!"]
    assert found["none"] == [["–", "one does not carry nugget 1 (no response)"]]


@pytest.mark.parametrize("options", [(), (DARK,)], ids=["light", "dark"])
def test_every_letter_is_legible(page: Path, options: tuple[str, ...]) -> None:
    found: dict[str, Any] = ask(page, CONTRAST, *options)
    assert (found["paper"] < 0.1) == bool(options)
    assert {color: ratio for color, ratio in found["seen"].items() if ratio < 4.5} == {}


@pytest.mark.parametrize(("width", "stays"), [(700, True), (400, False)])
def test_nuggets_stay_in_view_beside_many_runs(tmp_path: Path, width: int, stays: bool) -> None:
    runs = {f"run{k}": make_run(f"run{k}", [("q1", Response(f"No {k}."))]) for k in range(60)}
    nuggets = NuggetSet("s", KEY, MappingProxyType(runs), JUDGED)
    done = score_nuggets(nuggets, guess=False)
    wide = tmp_path / "wide.html"
    whole = score_page(score_document(done, "karat"), done)
    wide.write_text(render(whole, "html"), "utf-8")
    program = """
      const frame = document.querySelector("table.matrix").closest(".scroll");
      frame.scrollLeft = 600;
      const left = (one) => Math.round(one.getBoundingClientRect().left);
      return [frame.scrollLeft, left(frame), left(frame.querySelector("th[scope=row]"))];
    """
    scrolled, frame, head = ask(wide, program, f"--window-size={width},900")
    assert scrolled == 600
    assert (head == frame) == stays


@pytest.mark.parametrize("width", [360, 1300])
def test_only_tables_scroll_sideways(page: Path, width: int) -> None:
    program = """
      for (const one of document.querySelectorAll("details")) one.open = true;
      const b = document.documentElement; return [b.scrollWidth, b.clientWidth]
    """
    wide, room = ask(page, program, f"--window-size={width},900")
    assert wide <= room


def test_all_scores_of_runs_are_in_sight(page: Path) -> None:
    program = """
      const frame = document.querySelector(".scroll");
      frame.querySelector("tbody td").textContent = "a_run_of_a_very_long_name".repeat(4);
      return [frame.querySelectorAll("thead th").length, frame.scrollWidth, frame.clientWidth];
    """
    columns, wide, room = ask(page, program, "--window-size=1300,900")
    assert columns >= 17
    assert wide <= room
