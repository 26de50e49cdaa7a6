"""Pages in a real browser: hover, keyboard, what is read out, light, dark, narrow, on paper."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from browser import CHROMIUM, ask, chromium, faults, printed_page

import karat as kt
from karat.explanation import ExplainedSegment, SegmentExplanations
from karat.report.model import (
    Column,
    Document,
    ExampleCase,
    Examples,
    Figure,
    Gallery,
    Table,
    TextPassage,
)
from karat.report.render.renderers import render

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: apt-get install chromium")

CANDIDATE = "on the mat the big cat sat <script>window.hostile=1</script>"
REFERENCES = ("the cat sat on the mat", "a big cat was on the mat")
DARK = "--blink-settings=preferredColorScheme=0"

CONTRAST = """
  const luminance = (color) => {
    const parts = color.match(/[\\d.]+/g).slice(0, 3).map((x) => x / 255)
      .map((x) => (x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const paper = luminance(getComputedStyle(document.body).backgroundColor);
  const contrast = (color) => {
    const ink = luminance(color);
    return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
  };
  const seen = {};
  for (const element of document.querySelectorAll("main *")) {
    const text = [...element.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!text || /^(script|title|desc|style)$/i.test(element.tagName)) continue;
    const style = getComputedStyle(element);
    const color = element instanceof SVGElement ? style.fill : style.color;
    seen[color] = contrast(color);
  }
  return { paper, seen };
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with two grids, the second in need of much room."""
    metric = kt.GTM(e=2)
    long = " ".join(f"word{i}" for i in range(60))
    explained_segments = [
        ExplainedSegment(1, metric.explain(CANDIDATE, REFERENCES)),
        ExplainedSegment(2, metric.explain(long, long)),
    ]
    path = tmp_path_factory.mktemp("page") / "grid.html"
    path.write_text(
        render(
            SegmentExplanations("x", kt.metric("gtm:e=2"), tuple(explained_segments)).document(
                "karat"
            ),
            "html",
        ),
        "utf-8",
    )
    return path


def test_the_page_is_quiet_and_runs_nothing_that_it_quotes(page: Path) -> None:
    assert faults(page) == []


def test_the_keyboard_goes_from_run_to_run_and_each_is_told(page: Path) -> None:
    program = """
      const runs = [...document.querySelector("svg.grid").querySelectorAll(".run")];
      const told = document.querySelector(".told");
      const steps = [];
      const press = (key) => document.activeElement.dispatchEvent(
        new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
      const note = () => steps.push([runs.indexOf(document.activeElement), told.textContent]);
      runs[0].focus(); note();
      const keys = ["ArrowRight", "ArrowDown", "ArrowLeft", "End", "ArrowRight", "Home", "x"];
      for (const key of keys) { press(key); note(); }
      return { steps, labels: runs.map((run) => run.getAttribute("aria-label")),
        stops: runs.filter((run) => run.tabIndex === 0).length, live: told.ariaLive };
    """
    state = ask(page, program)
    last = len(state["labels"]) - 1
    assert last >= 2
    assert [at for at, _ in state["steps"]] == [0, 1, 2, 1, last, last, 0, 0]
    assert [announcement for at, announcement in state["steps"]] == [
        state["labels"][at] for at, _ in state["steps"]
    ]
    assert (state["stops"], state["live"]) == (1, "polite")


def test_hover_lights_the_row_and_the_column_and_tells_the_run(page: Path) -> None:
    program = """
      const grid = document.querySelector("svg.grid");
      const run = grid.querySelector(".run");
      const box = run.querySelector("rect").getBoundingClientRect();
      const at = { clientX: box.left + 3, clientY: box.top + 3, bubbles: true };
      run.querySelector("rect").dispatchEvent(new PointerEvent("pointermove", at));
      const seen = (rect) => rect.getAttribute("visibility");
      const bands = () => [...grid.querySelectorAll(".band")].map(seen);
      const during = { bands: bands(), told: document.querySelector(".told").textContent,
        lit: [...grid.querySelectorAll("text.lit")].map((text) => text.textContent) };
      grid.dispatchEvent(new PointerEvent("pointerleave"));
      return { during, after: bands(), lit: grid.querySelectorAll("text.lit").length };
    """
    state = ask(page, program)
    assert state["during"]["bands"] == ["visible", "visible"]
    assert state["during"]["lit"] == ["on", "on"]
    assert state["during"]["told"].startswith("on the mat: 3 words, candidate 1-3")
    assert (state["after"], state["lit"]) == (["hidden", "hidden"], 0)


def test_hover_tells_which_two_words_meet(tmp_path: Path) -> None:
    path = tmp_path / "cells.html"
    texts = [("a b", ["x a", "y"]), ("a " * 2500 + "b", ["c " * 2500])]
    explained_segments = [
        ExplainedSegment(n, kt.GTM().explain(*pair)) for n, pair in enumerate(texts, 1)
    ]
    path.write_text(
        render(
            SegmentExplanations("x", kt.metric("gtm"), tuple(explained_segments)).document("karat"),
            "html",
        ),
        "utf-8",
    )
    program = """
      return [[0, 1.5, 0.5], [0, 2.5, 0.5], [0, 3.5, 1.5], [1, 2499.5, 2500.5]]
        .map(([number, x, y]) => {
          const grid = document.querySelectorAll("svg.grid")[number];
          const box = grid.querySelector(".edge").getBoundingClientRect();
          const [wide, high] = number ? [2500, 2501] : [4, 2];
          const at = { clientX: box.left + x * box.width / wide,
            clientY: box.top + y * box.height / high, bubbles: true };
          grid.dispatchEvent(new PointerEvent("pointermove", at));
          return grid.closest("figure").querySelector(".told").textContent;
        })
    """
    assert ask(path, program) == [
        "word 1 of the candidate (a), word 2 of reference 1 (a)",
        "the barrier after reference 1",
        "word 2 of the candidate (b), word 1 of reference 2 (y)",
        "word 2501 of the candidate, word 2500 of the reference",
    ]


def test_a_moved_word_lights_its_other_place(page: Path) -> None:
    program = """
      const moved = [...document.querySelectorAll("[data-move='0']")];
      moved[0].dispatchEvent(new PointerEvent("pointerover", { bubbles: true }));
      const lit = moved.map((step) => step.classList.contains("lit"));
      moved[0].parentElement.dispatchEvent(new PointerEvent("pointerleave"));
      return { lit, left: document.querySelectorAll(".step.lit").length };
    """
    state = ask(page, program)
    assert state == {"lit": [True, True], "left": 0}


@pytest.mark.parametrize("options", [(), (DARK,)], ids=["light", "dark"])
def test_every_letter_is_legible(page: Path, options: tuple[str, ...]) -> None:
    measures: dict[str, Any] = ask(page, CONTRAST, *options)
    assert (measures["paper"] < 0.1) == bool(options)
    assert len(measures["seen"]) >= 5
    assert {color: ratio for color, ratio in measures["seen"].items() if ratio < 4.5} == {}


@pytest.mark.parametrize("width", [360, 1300])
def test_only_pictures_and_tables_scroll_sideways(page: Path, width: int) -> None:
    program = "const b = document.documentElement; return [b.scrollWidth, b.clientWidth]"
    scroll_width, visible_width = ask(page, program, f"--window-size={width},900")
    assert scroll_width <= visible_width


def test_it_prints_whole(page: Path) -> None:
    program = """
      const grid = document.querySelectorAll("svg.grid")[1];
      const whole = [grid, ...document.querySelectorAll("table")];
      const room = document.documentElement.clientWidth;
      return whole.every((one) => one.getBoundingClientRect().right <= room)
    """
    assert not ask(page, program, "--window-size=800,900")  # on the screen it scrolls
    paper = page.with_name("paper.html")
    paper.write_text(printed_page(page), "utf-8")
    assert ask(paper, program, "--window-size=800,900")
    printed = page.with_name("page.pdf")
    chromium(page, f"--print-to-pdf={printed}")
    assert printed.read_bytes().startswith(b"%PDF")


def test_a_column_sorts_up_down_and_back(page: Path) -> None:
    program = """
      const table = [...document.querySelectorAll("table")][0];
      const head = table.querySelector("th button");
      const cells = () => [...table.tBodies[0].rows].map((row) => row.cells[0].textContent);
      const seen = [cells()];
      for (let k = 0; k < 3; k += 1) { head.click(); seen.push(cells()); }
      return seen
    """
    assert ask(page, program) == [["1", "2"], ["1", "2"], ["2", "1"], ["1", "2"]]


def test_words_of_wide_letters_are_not_cut_off(tmp_path: Path) -> None:
    words = "compensated Urlaubskampagne Kommunikationsprogramm"
    explained_segments = [ExplainedSegment(1, kt.GTM(e=2).explain(words, [words]))]
    path = tmp_path / "wide.html"
    path.write_text(
        render(
            SegmentExplanations("x", kt.metric("gtm:e=2"), tuple(explained_segments)).document(
                "karat"
            ),
            "html",
        ),
        "utf-8",
    )
    program = """
      const drawing = document.querySelector("svg.grid").getBoundingClientRect();
      const words = [...document.querySelectorAll("svg.grid text[data-row]")];
      words.forEach((word) => word.classList.add("lit"));
      return words.map((word) => word.getBoundingClientRect().left - drawing.left)
    """
    assert min(ask(path, program, "--window-size=1300,900")) >= 0


def test_long_texts_keep_some_room_in_a_narrow_window(tmp_path: Path) -> None:
    texts = dict.fromkeys("ab", "A long text of many words that should not be one word a line.")
    columns = (*(Column(key, key) for key in "ab"), Column("c", "c"))
    table = Table("rows", "Texts", columns, ({**texts, "c": "short"},))
    path = tmp_path / "long.html"
    path.write_text(render(Document("Texts", (table,), "karat", {}), "html"), "utf-8")
    program = """
      const cells = [...document.querySelectorAll("td")];
      return cells.map((cell) => cell.getBoundingClientRect().width)
    """
    *long, short = ask(path, program, "--window-size=400,900")
    assert min(long) >= 15 * 16 > short


def test_a_long_name_does_not_widen_the_page(tmp_path: Path) -> None:
    name = "w" * 3000
    table = Table("rows", name, (Column("x", name),), ({"x": name},), notes=(name,))
    figure = Figure(name, lambda: "<svg></svg>", name)
    case = ExampleCase(name, name, (TextPassage(name, name),), {"system": name})
    blocks = (
        Gallery("Small", (figure,), name),
        Examples("Cases", (case,), table, {"system": "System"}),
    )
    document = Document(name, blocks, f"karat {name}", {name: name}, (name,), answer=(name,))
    path = tmp_path / "long-name.html"
    path.write_text(render(document, "html"), "utf-8")
    program = "const page = document.documentElement; return page.scrollWidth - page.clientWidth"
    assert ask(path, program, "--window-size=500,900") == 0
