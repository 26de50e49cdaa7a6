"""Pages of `nuggets score` and `nuggets diff` in a real browser: questions, signs and filters."""

from __future__ import annotations

import re
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from browser import CHROMIUM, ask, faults
from report.test_report_browser import CONTRAST, DARK

from karat.nuggets.report import matrix
from karat.nuggets.results.changes import diff_nuggets
from karat.nuggets.results.scoring import score_nuggets
from karat.nuggets.sets.judgements import JudgedResponse, Judgements
from karat.nuggets.sets.keys_and_runs import Nugget, Question, Response, make_key, make_run
from karat.nuggets.sets.nugget_set import NuggetSet

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
JUDGED = Judgements(
    (JudgedResponse("q1", "1", HOSTILE, 1.0, "one"), JudgedResponse("q1", "2", "Bees!", 0.5))
)


def saved(folder: Path, result: Any) -> Path:
    path = folder / "page.html"
    result.save(path)
    return path


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    nuggets = NuggetSet("s", KEY, MappingProxyType(RUNS), JUDGED)
    done = score_nuggets(nuggets, guess=False, details=True)
    return saved(tmp_path_factory.mktemp("score"), done)


@pytest.fixture(scope="module")
def versions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    nuggets = NuggetSet("s", KEY, MappingProxyType(RUNS), JUDGED)
    done = diff_nuggets(nuggets.select("one"), nuggets.select("two"), guess=False)
    return saved(tmp_path_factory.mktemp("diff"), done)


def test_the_pages_are_quiet_and_run_nothing_that_they_quote(page: Path, versions: Path) -> None:
    assert faults(page) == []
    assert faults(versions) == []


STEPS = """
  const all = (which) => [...document.querySelectorAll(which)];
  const texts = (which) => all(which).map((one) => one.textContent);
  const set = (which, value, event) => {
    const one = document.querySelector(which);
    one.value = value;
    one.dispatchEvent(new Event(event, { bubbles: true }));
  };
"""


def test_a_sign_shows_its_response_with_the_words_of_its_nugget(page: Path) -> None:
    program = """
      const seen = (label) => {
        all("table.matrix button").find((one) => one.title.startsWith(label)).click();
        return { asked: texts(".response .asked"), loud: texts(".response mark"),
          focus: document.activeElement.className };
      };
      const before = all(".response:not([hidden])").length;
      const still = texts("table.matrix tbody td:not(:has(button))");
      return { before, first: seen("one carries nugget 1"), partial: seen("two carries in part"),
        missed: texts("td.missed.vital"), still };
    """
    page_state = ask(page, STEPS + program)
    assert page_state["before"] == 0
    assert page_state["first"] == {
        "asked": [HOSTILE],
        "loud": ["lens", "red,"],
        "focus": "response",
    }
    assert (page_state["partial"]["asked"], page_state["partial"]["loud"]) == (["Bees!"], ["Bees!"])
    assert page_state["missed"] == []
    assert page_state["still"] == []


def test_one_question_at_a_time_by_search_order_and_kind_of_nugget(page: Path) -> None:
    program = """
      const shown = () => [texts(".question h3"), texts("table.matrix tbody th")];
      const found = [shown()];
      all(".questions .tools button")[1].click();
      found.push(shown());
      set(".questions input", "lens", "input");
      found.push(shown());
      set("select.kind", "vital", "change");
      found.push(shown());
      set(".questions input", "no such word", "input");
      found.push(texts(".questions .note:not(.first)")[0]);
      set(".questions input", "", "input");
      set("select.order", "hard", "change");
      found.push(texts("select.chosen option"));
      return found;
    """
    both = [["q1"], ["a red lens vital", "bees in 燈塔 okay"]]
    expected = [both, [["q2"], ["salt vital"]], both, [["q1"], ["a red lens vital"]]]
    page_state = ask(page, STEPS + program)
    assert page_state == [*expected, "No question fits.", ["q2", "q1"]]


def test_cards_are_filtered_and_the_lost_ones_come_first(versions: Path) -> None:
    program = """
      const cards = () => all(".case").map((one) => [one.querySelector("strong").textContent,
        one.querySelector(".nugget").textContent, one.querySelectorAll(".sides > div").length]);
      const found = [texts(".column h3"), cards()];
      set("select.importance", "vital", "input");
      found.push(cards());
      set("select.change", "missed", "input");
      found.push(cards());
      set("select.by", "judgement", "input");
      found.push(texts(".more"));
      return found;
    """
    lost, gained = ["▼ lost · vital", "a red lens", 2], ["▲ gained · okay", "bees in 燈塔", 2]
    assert ask(versions, STEPS + program) == [
        ["▼ lost: 1 vital", "▲ gained: 0 vital"],
        [lost, gained],
        [lost],
        [["✕ missed by both · vital", "salt", 0]],
        ["No nugget fits."],
    ]


@pytest.mark.parametrize("options", [(), (DARK,)], ids=["light", "dark"])
def test_every_letter_is_legible(page: Path, versions: Path, options: tuple[str, ...]) -> None:
    for path in (page, versions):
        contrasts: dict[str, Any] = ask(path, CONTRAST, *options)
        assert (contrasts["paper"] < 0.1) == bool(options)
        assert {color: ratio for color, ratio in contrasts["seen"].items() if ratio < 4.5} == {}


def test_the_first_questions_are_whole_without_a_script(page: Path) -> None:
    markup = page.read_text("utf-8").split('<script type="application/json">')[0]
    assert re.findall("<h3>(.*?)</h3>", markup) == ["q1", "q2"]
    places = re.findall('href="#(answer[^"]*)"', markup)
    assert len(places) == 5
    assert all(f'id="{place}"' in markup for place in places)
    assert "The <mark>lens</mark> &lt;script&gt;" in markup


def test_a_page_stays_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes for the responses of the better run alone, and cells for the first question."""
    monkeypatch.setattr(matrix, "MAX_BYTES", len(HOSTILE) + 30)
    monkeypatch.setattr(matrix, "MAX_CELLS", 1)
    nuggets = NuggetSet("s", KEY, MappingProxyType(RUNS), JUDGED)
    page = saved(tmp_path, score_nuggets(nuggets, guess=False)).read_text("utf-8")
    markup, data = page.split('<script type="application/json">')[:2]
    assert re.findall("<h3>(.*?)</h3>", markup) == ["q1"]
    assert "The first 1 of 2 questions; a script shows the others." in markup
    assert "has the responses of 1 of 2 runs, the best ones." in markup
    assert "No pepper." not in page
    assert '"title":"q2"' in data


def test_many_runs_stay_beside_their_nuggets(tmp_path: Path) -> None:
    runs = {f"run{k}": make_run(f"run{k}", [("q1", Response(f"No {k}."))]) for k in range(60)}
    nuggets = NuggetSet("s", KEY, MappingProxyType(runs), JUDGED)
    wide = saved(tmp_path, score_nuggets(nuggets, guess=False))
    program = """
      const frame = document.querySelector("table.matrix").closest(".scroll");
      frame.scrollLeft = 600;
      const left = (one) => Math.round(one.getBoundingClientRect().left);
      const whole = document.documentElement;
      return [frame.scrollLeft, left(frame), left(frame.querySelector("th[scope=row]")),
        whole.scrollWidth <= whole.clientWidth];
    """
    scrolled, frame, head, fits = ask(wide, program, "--window-size=700,900")
    assert (scrolled, head, fits) == (600, frame, True)


@pytest.mark.parametrize("width", [500, 1300])
def test_only_tables_scroll_sideways(page: Path, versions: Path, width: int) -> None:
    program = """
      for (const one of document.querySelectorAll("details")) one.open = true;
      const b = document.documentElement;
      const frames = document.querySelectorAll(".scroll:has(> .questions, > .changes)");
      return [b, ...frames].every((one) => one.scrollWidth <= one.clientWidth);
    """
    assert ask(page, program, f"--window-size={width},900")
    assert ask(versions, program, f"--window-size={width},900")


def test_the_scores_that_decide_are_open(page: Path) -> None:
    program = """
      const heads = [...document.querySelectorAll("#table-rows thead th")];
      const shown = () => heads.filter((one) => one.checkVisibility()).length;
      const found = [heads.filter((one) => one.checkVisibility()).map((one) => one.textContent)];
      document.querySelector("#table-rows input[type=checkbox]").click();
      return [...found, shown() === heads.length];
    """
    assert ask(page, program) == [["Run", "F macro", "Guessed"], True]
