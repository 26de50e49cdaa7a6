"""The report of a meta-evaluation in a real browser: links, light, dark, narrow, on paper."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser import CHROMIUM, ask, chromium, printed_page
from test_report_charts_browser import CONTRAST, DARK

import karat as kt
from karat.report.render.renderers import render

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: apt-get install chromium")

ALIKE = {"atlas": "M.1", "beacon": "m-1", "cinder": "M 1", "drift": "M_1"}


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the demo set, its systems renamed to what a careless address would confuse."""
    demo = kt.load_evalset("demo")
    evalset = kt.make_evalset(
        "demo",
        {ALIKE[name]: texts for name, texts in demo.systems.items()},
        references=demo.references,
        segments=demo.segments,
        judgements=[row._replace(system=ALIKE[row.system]) for row in demo.judgements],
        dimensions=list(demo.dimensions.values()),
    )
    experiment = kt.Experiment(
        "demo", ("bleu", "ter"), ("fluency", "errors"), resamples=20, trials=20
    )
    path = tmp_path_factory.mktemp("page") / "meta.html"
    path.write_text(
        render(kt.meta_report(experiment, evalset).document("karat meta"), "html"), "utf-8"
    )
    return path


def test_every_case_leads_to_its_grid_which_is_folded_up(page: Path) -> None:
    program = """
      const ids = [...document.querySelectorAll("[id]")].map((one) => one.id);
      const cases = [...document.querySelectorAll(".case a")].map((link) => {
        const figure = document.getElementById(decodeURIComponent(link.hash.slice(1)));
        return { title: link.textContent, drawn: !!figure?.querySelector("svg.grid"),
          open: figure?.closest("details").open,
          grid: figure?.querySelector("figcaption").textContent };
      });
      return { cases, ids: ids.length, different: new Set(ids).size };
    """
    links = ask(page, program)
    assert links["ids"] == links["different"]
    assert len(links["cases"]) == 12
    assert len({case["title"] for case in links["cases"]}) == 12
    for case in links["cases"]:
        assert case["drawn"]
        assert not case["open"]
        assert case["grid"].endswith(f": {case['title']}: matching")


def test_the_first_screen_has_the_answer_and_all_ranks(page: Path) -> None:
    program = """
      const low = (one) => one.getBoundingClientRect().bottom;
      const maps = [...document.querySelectorAll("#figure-Ranks-of-metrics svg")];
      return [low(document.querySelector(".answer")), ...maps.map(low)];
    """
    measures = ask(page, program, "--window-size=1300,900")
    assert len(measures) == 3
    assert max(measures) < 900


def test_what_too_few_systems_say_is_folded_up(page: Path) -> None:
    program = """
      const folds = [...document.querySelectorAll("details")].filter((one) => !one.open);
      return folds.map((one) => one.querySelector("h2")?.textContent ?? "");
    """
    folded = ask(page, program)
    assert "System level: 4 systems are too few to rank metrics" in folded
    assert "Systems by human and metric scores: 4 systems, too few to rank metrics" in folded


def test_the_page_is_quiet_and_asks_for_nothing(page: Path) -> None:
    done = chromium(page, "--dump-dom", "--virtual-time-budget=1000")
    assert "CONSOLE" not in done.stderr
    assert ask(page, "return performance.getEntriesByType('resource').length") == 0


@pytest.mark.parametrize("options", [(), (DARK,)], ids=["light", "dark"])
def test_every_letter_is_legible(page: Path, options: tuple[str, ...]) -> None:
    measures = ask(page, CONTRAST, *options)
    assert (measures["paper"] < 0.1) == bool(options)
    assert len(measures["texts"]) > 100
    assert [(text, ratio) for text, ratio in measures["texts"] if ratio < 4.5] == []


@pytest.mark.parametrize("width", [500, 1300])
def test_only_pictures_and_tables_scroll_sideways(page: Path, width: int) -> None:
    program = "const b = document.documentElement; return [b.scrollWidth, b.clientWidth]"
    scroll_width, visible_width = ask(page, program, f"--window-size={width},900")
    assert scroll_width <= visible_width


def test_nothing_is_cut_off_on_paper(page: Path) -> None:
    paper = page.with_name("paper.html")
    paper.write_text(printed_page(page), "utf-8")
    program = """
      const room = document.documentElement.clientWidth;
      return [...document.querySelectorAll("table, svg")]
        .filter((one) => one.getBoundingClientRect().right > room + 1)
        .map((one) => one.tagName + " " + one.textContent.slice(0, 60));
    """
    assert ask(paper, program, "--window-size=800,900") == []
