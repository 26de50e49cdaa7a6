"""The page of `meta challenge` in a real browser: heat maps at desk and phone width."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser import CHROMIUM, ask

import karat as kt

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: apt-get install chromium")

PROGRAM = """
  const maps = [...document.querySelectorAll("main svg")].map((svg) => ({
    cells: svg.querySelectorAll(".cell").length,
    titles: [...svg.querySelectorAll(".cell title")].map((title) => title.textContent),
    open: !svg.closest("details"),
  }));
  const root = document.documentElement;
  return { maps, wide: root.scrollWidth - root.clientWidth,
    answer: document.querySelector(".answer").textContent };
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("challenge") / "page.html"
    kt.meta_challenge(kt.make_challenge("demo"), ["bleu", "chrf", "rouge1", "ter"]).save(path)
    return path


@pytest.mark.parametrize("width", [1300, 390])
def test_maps_have_a_cell_for_each_metric_and_phenomenon(page: Path, width: int) -> None:
    shown = ask(page, PROGRAM, f"--window-size={width},2000")
    assert shown["wide"] <= 0
    assert [chart["cells"] for chart in shown["maps"]] == [8, 16, 12] * 2
    assert [chart["open"] for chart in shown["maps"]] == [True] * 3 + [False] * 3
    stories = [title for chart in shown["maps"] for title in chart["titles"]]
    assert any("phenomenon word order, metric ROUGE-1: 0.50 (missed" in title for title in stories)
    assert "ROUGE-1 misses" in shown["answer"]


def test_signs_of_low_cells_are_beside_their_numbers(tmp_path: Path) -> None:
    text = "one two three"
    rows = [
        {"id": i, "reference": text, "good": f"{text} A", "bad": f"{text} a", "phenomenon": f"p{k}"}
        for k in range(30)
        for i in range(10)
    ]
    path = tmp_path / "page.html"
    kt.meta_challenge(rows, ["rouge1", "chrf"]).save(path)
    program = """
      const cells = [...document.querySelectorAll("main svg .cell")].slice(0, 60);
      const spilled = cells.filter((cell) => {
        const { top, bottom } = cell.querySelector("rect").getBoundingClientRect();
        const [a, b] = [...cell.querySelectorAll("text")].map((t) => t.getBoundingClientRect());
        return b && (Math.max(a.bottom, b.bottom) > bottom + 1 || Math.min(a.top, b.top) < top - 1
          || (a.left < b.right && b.left < a.right));
      });
      return { spilled: spilled.length, cells: cells.length,
        signs: document.querySelectorAll("main svg .cell text + rect").length };
    """
    shown = ask(path, program, "--window-size=1300,2000")
    assert (shown["spilled"], shown["cells"]) == (0, 60)
    assert shown["signs"] >= 30
