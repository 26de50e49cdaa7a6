"""The ranking of a comparison page in a real browser: switches of the metric and the baseline."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from browser import CHROMIUM, ask, faults

import karat as kt
from karat.comparison import Comparison

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: apt-get install chromium")

WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
SIZE = 24
HOSTILE = "<img src=x onerror=window.hostile=1>\u202e"
SIGNS = {"better": "▲ better", "worse": "▼ worse", "undecided": "undecided"}


def texts(seed: int, errors: int) -> list[str]:
    """Sentences with some words wrong, more in some than in others."""
    lines = []
    for n in range(SIZE):
        n_wrong = (errors + (n * 7 + seed) % 3) % 10
        lines.append(" ".join([*WORDS[: 10 - n_wrong], *["x"] * n_wrong]))
    return lines


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    systems = {"atlas": texts(0, 1), "beacon": texts(1, 1), HOSTILE: texts(2, 4)}
    systems["drift"] = texts(3, 6)
    return kt.compare(systems, [" ".join(WORDS)] * SIZE, ["chrf", "ter"], margin={"ter": 30})


@pytest.fixture(scope="module")
def page(comparison: Comparison, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ranking") / "compare.html"
    path.write_text(comparison.render("html"), "utf-8")
    return path


STATE = """
  const frame = document.querySelector(".ranking").closest("section");
  const figures = () => [...frame.querySelectorAll("figure")];
  const table = (figure) => [...figure.querySelectorAll("tbody tr")].map((row) => [
    Number(row.dataset.system), row.querySelector(".difference span").textContent,
    row.querySelector(".verdict").textContent]);
  const strip = (figure) => [...figure.querySelectorAll("svg g:has(> g.bins)")].map((row) => [
    row.querySelector("text").textContent, row.querySelectorAll("text")[1].textContent,
    row.querySelectorAll("rect").length]);
  const strips = () => [...document.querySelectorAll("figure:has(g.bins)")].map(strip);
  const state = () => ({ shown: figures().map((one) => !one.hidden), tables: figures().map(table),
    strips: strips(), heads: figures().map((one) => one.querySelector("th b").textContent),
    note: frame.querySelector("[aria-live]").textContent,
    titles: [...document.querySelectorAll("h2")].map((one) => one.textContent),
    zero: figures().map((one) => [...one.querySelectorAll(".difference svg")]
      .map((bar) => bar.getAttribute("visibility"))) });
  const change = (label, value) => {
    const select = [...frame.querySelectorAll("label")]
      .find((one) => one.textContent.startsWith(label)).querySelector("select");
    select.value = value;
    select.dispatchEvent(new Event("change", { bubbles: true }));
  };
"""


def expected_table(comparison: Comparison, baseline: str, metric: str) -> list[list[Any]]:
    """The rows of a table, from the differences of all pairs."""
    by = kt.metric(metric)
    differences, rows = comparison.against(baseline, by), []
    for row in (row for row in comparison.rows if row.metric == by):
        number = comparison.systems.index(row.system)
        if row.system == baseline:
            rows.append([number, "", "baseline"])
            continue
        pair = differences[row.system]
        text = f"{pair.delta:+.1f} [{pair.low:.1f}, {pair.high:.1f}]"
        margin = {"loss": ", beyond margin", "undecided": "", None: ""}.get(
            pair.margin_verdict, f", {pair.margin_verdict}"
        )
        rows.append([number, text, SIGNS[pair.verdict] + margin])
    return rows


def test_the_page_is_quiet(page: Path) -> None:
    assert faults(page) == []


def test_one_metric_is_shown_at_a_time(page: Path) -> None:
    program = f'{STATE} const first = state(); change("Metric", 1); return [first, state()];'
    first, second = ask(page, program)
    assert first["shown"] == [True, False]
    assert second["shown"] == [False, True]
    assert first["tables"] == second["tables"]


def test_another_baseline_has_the_differences_of_all_pairs(
    page: Path, comparison: Comparison
) -> None:
    baseline = comparison.systems.index("drift")
    program = (
        f'{STATE} const first = state(); change("Baseline", {baseline}); const next = state();'
        f'change("Baseline", {comparison.systems.index("atlas")}); return [first, next, state()];'
    )
    first, then, again = ask(page, program)
    assert first["heads"] == ["atlas", "atlas"]
    assert then["heads"] == ["drift", "drift"]
    for at, metric in enumerate(("chrf", "ter")):
        assert then["tables"][at] == expected_table(comparison, "drift", metric)
    assert first["note"] == ""
    assert then["note"].startswith("Baseline drift: 12 differences between all pairs")
    assert "Differences from drift by segment" in then["titles"]
    for at, metric in enumerate(("chrf", "ter")):
        pairs = comparison.against("drift", kt.metric(metric))
        assert [text for _, text, _ in then["strips"][at]] == [
            f"▲ {pairs[row.system].wins} ▼ {pairs[row.system].losses}"
            for row in comparison.rows
            if row.system != "drift" and row.metric == kt.metric(metric)
        ]
        n_bins = [
            sum(map(bool, comparison.binned_differences(row.system, "drift", row.metric)))
            for row in comparison.rows
            if row.system != "drift" and row.metric == kt.metric(metric)
        ]
        assert [count for _, _, count in then["strips"][at]] == n_bins
    assert again == first


def test_the_bar_of_the_baseline_is_hidden(page: Path, comparison: Comparison) -> None:
    states = ask(page, f'{STATE} change("Baseline", 3); return state();')
    for at, metric in enumerate(("chrf", "ter")):
        names = [row.system for row in comparison.rows if row.metric == kt.metric(metric)]
        hidden = [shown == "hidden" for shown in states["zero"][at]]
        assert hidden == [name == comparison.systems[3] for name in names]


def test_the_controls_have_names_and_the_keyboard_reaches_them(page: Path) -> None:
    program = """
      const frame = document.querySelector(".ranking").closest("section");
      return [...frame.querySelectorAll("select")].map((one) => {
        one.focus();
        return [one.labels[0].firstChild.textContent.trim(), document.activeElement === one];
      });
    """
    assert ask(page, program) == [["Metric", True], ["Baseline", True]]


def test_phones_have_the_whole_table_in_sight(page: Path) -> None:
    program = """
      const box = document.querySelector(".ranking").closest(".scroll");
      return [box.scrollWidth - box.clientWidth,
        document.documentElement.scrollWidth - document.documentElement.clientWidth];
    """
    phone = page.with_name("phone.html")
    policy = '<meta http-equiv="Content-Security-Policy" content="script-src ">'
    frame = f'<iframe src="{page.name}" width="390" height="844"></iframe>'
    phone.write_text(f"<!doctype html>{policy}<body>{frame}</body>", "utf-8")
    inside = f"""
      const document_ = window.document.querySelector("iframe").contentDocument;
      return ((document) => {{ {program} }})(document_);
    """
    assert ask(phone, inside, "--allow-file-access-from-files") == [0, 0]


def test_two_systems_have_a_page_without_a_ranking() -> None:
    systems = {"atlas": texts(0, 1), "drift": texts(3, 6)}
    result = kt.compare(systems, [" ".join(WORDS)] * SIZE, "chrf")
    page = result.render("html")
    assert result.pairs == ()
    assert 'class="ranking"' not in page
    assert "drift minus atlas, segment by segment" in page


def test_more_than_twenty_systems_have_no_control_of_the_baseline() -> None:
    systems = {f"system-{n}": texts(n, n % 8) for n in range(21)}
    result = kt.compare(systems, [" ".join(WORDS)] * SIZE, "chrf")
    assert result.pairs == ()
    page = result.render("html")
    assert "the baseline of the page cannot be changed" in page
    assert page.count("<tr data-system=") == 21
