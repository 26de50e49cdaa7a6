"""Charts in a real browser: legible in the light, in the dark and on paper, names side by side."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser import CHROMIUM, ask, chromium, printed_page
from sample_charts import CHARTS

from karat.report.charts.models import Point, XYChart, chart_figure
from karat.report.model import Document
from karat.report.render.renderers import render

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: apt-get install chromium")

DARK = "--blink-settings=preferredColorScheme=0"
NAMES = ["Atlas", "Beacon", "Cinder", "Drift", "Ember", "Fjord", "Gale", "Harbour", "WWMMWW"]

# The ground of a number is the shade of its cell, of anything else the page.
CONTRAST = """
  const luminance = (color) => {
    const parts = color.match(/[\\d.]+/g).slice(0, 3).map((x) => x / 255)
      .map((x) => (x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const paper = getComputedStyle(document.body).backgroundColor;
  const contrast = (a, b) => {
    const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (light + 0.05) / (dark + 0.05);
  };
  const fill = (element) => getComputedStyle(element).fill;
  const ground = (text) => {
    const cell = text.closest("g.cell");
    return cell ? fill(cell.querySelector("rect")) : paper;
  };
  const texts = [...document.querySelectorAll("main svg text")];
  const lines = [...document.querySelectorAll("main svg path[stroke-dasharray], g > path")];
  return {
    paper: luminance(paper),
    texts: texts.map((text) => [text.textContent, contrast(fill(text), ground(text))]),
    series: lines.map(fill).filter((color) => color.startsWith("rgb"))
      .map((color) => contrast(color, paper)),
  };
"""

OVERLAPS = """
  const boxes = [...document.querySelectorAll("text.label")].map((text) => {
    const svg = text.ownerSVGElement;
    return [svg, text.textContent, text.getBoundingClientRect()];
  });
  const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom - 2
    && b.top < a.bottom - 2;
  const pairs = boxes.flatMap((a, i) => boxes.slice(i + 1).map((b) => [a, b]));
  const bad = pairs.filter(([a, b]) => a[0] === b[0] && meet(a[2], b[2]));
  return { labels: boxes.length, bad: bad.map(([a, b]) => [a[1], b[1]]) };
"""


# How far the middle of a bar's dot and its ends lie from the bar, in pixels.
BARS = """
  const boxes = [...document.querySelectorAll("line.bar")].map((bar) => {
    const line = bar.getBoundingClientRect();
    const dot = bar.parentElement.querySelector("path").getBoundingClientRect();
    const middle = (box) => (box.left + box.right) / 2;
    return {
      apart: Math.abs(middle(dot) - middle(line)),
      above: (dot.top + dot.bottom) / 2 - line.top,
      below: line.bottom - (dot.top + dot.bottom) / 2,
      told: bar.parentElement.querySelector("title").textContent,
      seen: getComputedStyle(bar).stroke,
    };
  });
  return boxes;
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with a chart of each kind, and one whose points are close to each other."""
    points = [Point(k % 4 + 0.2 * k, k * k % 7, name) for k, name in enumerate(NAMES)]
    charts = (*CHARTS, XYChart("Close", "x", "y", points))
    document = Document("Charts", tuple(map(chart_figure, charts)), "karat", {})
    path = tmp_path_factory.mktemp("page") / "charts.html"
    path.write_text(render(document, "html"), "utf-8")
    return path


@pytest.mark.parametrize("options", [(), (DARK,)], ids=["light", "dark"])
def test_every_letter_and_every_series_is_legible(page: Path, options: tuple[str, ...]) -> None:
    measures = ask(page, CONTRAST, *options)
    assert (measures["paper"] < 0.1) == bool(options)
    assert {"0.25", "▲", "maximum", "gtm $e$", "Atlas", "BLEU"} <= {t for t, _ in measures["texts"]}
    assert [(text, ratio) for text, ratio in measures["texts"] if ratio < 4.5] == []
    assert len(measures["series"]) >= 15
    assert min(measures["series"]) >= 3


def test_on_paper_it_is_legible_too(page: Path) -> None:
    paper = page.with_name("paper.html")
    paper.write_text(printed_page(page), "utf-8")
    measures = ask(paper, CONTRAST, DARK)  # the dark page, printed
    assert measures["paper"] == 1
    assert [(text, ratio) for text, ratio in measures["texts"] if ratio < 4.5] == []
    assert min(measures["series"]) >= 3


def test_bars_reach_from_low_to_high_through_their_points(page: Path) -> None:
    heron, plover = ask(page, BARS, "--window-size=1200,900")
    for bar in (heron, plover):
        assert bar["apart"] < 1
        assert bar["seen"] not in ("none", "rgba(0, 0, 0, 0)")
    assert heron["above"] / heron["below"] == pytest.approx(0.10 / 0.15, rel=0.05)
    assert plover["above"] / plover["below"] == pytest.approx(0.10 / 0.05, rel=0.05)
    assert heron["told"] == "heron: 0.2, 0.25 (from 0.1 to 0.35)"


def test_labels_as_drawn_do_not_overlap(page: Path) -> None:
    overlaps = ask(page, OVERLAPS, "--window-size=1200,900")
    assert overlaps["labels"] >= 3 + 2 + 9
    assert overlaps["bad"] == []


def test_the_page_is_quiet_and_does_not_scroll_sideways(page: Path) -> None:
    done = chromium(page, "--dump-dom", "--virtual-time-budget=1000")
    assert "CONSOLE" not in done.stderr
    program = "const b = document.documentElement; return [b.scrollWidth, b.clientWidth]"
    scroll_width, visible_width = ask(page, program, "--window-size=400,900")
    assert scroll_width <= visible_width
