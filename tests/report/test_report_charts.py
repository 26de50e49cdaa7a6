"""Charts are well-formed, honest about their data, and survive any data."""

from __future__ import annotations

import math
import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.report.charts.axis import nice_ticks
from karat.report.charts.models import Chart, ChartRow, RowChart, histogram
from karat.report.charts.svg.drawings import chart_svg

SVG = "{http://www.w3.org/2000/svg}"
ANY_TEXT = st.text(st.characters(), max_size=60)
NUMBER = st.floats()
MAYBE = st.none() | NUMBER


def parsed(svg: str) -> ElementTree.Element:
    """The drawing as XML, with what holds for every chart checked on the way."""
    root = ElementTree.fromstring(svg.encode("utf-8"))
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    assert [child.tag for child in root][:2] == [f"{SVG}title", f"{SVG}desc"]
    assert not re.search(r'="[^"]*\b(nan|inf)\b', svg)
    return root


def elements(root: ElementTree.Element, tag: str) -> list[ElementTree.Element]:
    return list(root.iter(f"{SVG}{tag}"))


def texts(root: ElementTree.Element) -> list[str | None]:
    return [node.text for node in elements(root, "text")]


def inside(root: ElementTree.Element) -> bool:
    """Whether all marks lie within the drawing."""
    _, _, width, height = map(float, root.get("viewBox", "").split())
    xs = [float(n.get(k, 0)) for n in root.iter() for k in ("x", "x1", "x2", "cx")]
    ys = [float(n.get(k, 0)) for n in root.iter() for k in ("y", "y1", "y2", "cy")]
    return all(0 <= x <= width for x in xs) and all(0 <= y <= height for y in ys)


INTERVAL = st.builds(ChartRow, ANY_TEXT, NUMBER, MAYBE, MAYBE)


@given(ANY_TEXT, st.lists(INTERVAL, max_size=6), MAYBE)
def test_intervals_survive_any_data(
    name: str, items: list[ChartRow], baseline: float | None
) -> None:
    assert inside(parsed(chart_svg(RowChart(name, name, items, baseline=baseline))))


@given(ANY_TEXT, st.lists(st.builds(ChartRow, ANY_TEXT, NUMBER), max_size=6))
def test_bars_survive_any_data(name: str, items: list[ChartRow]) -> None:
    assert inside(parsed(chart_svg(RowChart(name, name, items, "bar", 0.0))))


@given(ANY_TEXT, st.lists(NUMBER, max_size=40), MAYBE, st.integers(1, 30))
def test_histograms_survive_any_data(
    name: str, values: list[float], marker: float | None, bins: int
) -> None:
    assert inside(parsed(chart_svg(histogram(name, name, values, marker, bins))))


@pytest.mark.parametrize(
    "chart",
    [
        RowChart("T", "A", [ChartRow("a", math.nan, 0, 1)]),
        RowChart("T", "A", [], "bar", 0.0),
        histogram("T", "A", [math.nan, math.inf]),
    ],
)
def test_nothing_to_draw_says_so(chart: Chart) -> None:
    root = parsed(chart_svg(chart))
    assert texts(root) == ["no data"]
    assert root[0].text == "T"


def test_intervals_show_value_whisker_and_baseline() -> None:
    items = [
        ChartRow("A", 30.0, 28.0, 32.0),
        ChartRow("B", 34.0),
        ChartRow("C", math.nan, 1, 2),
    ]
    root = parsed(chart_svg(RowChart("T", "BLEU", items, baseline=29.0)))
    first, second = elements(root, "circle")
    horizontal = [n for n in elements(root, "line") if n.get("y1") == n.get("y2")]
    dashed = [n for n in elements(root, "line") if n.get("stroke-dasharray")]
    assert (len(horizontal), len(dashed)) == (1, 1)
    whisker = horizontal[0]
    middle = (float(whisker.get("x1", 0)) + float(whisker.get("x2", 0))) / 2
    assert middle == pytest.approx(float(first.get("cx", 0)), abs=0.02)
    assert float(whisker.get("x1", 0)) < float(dashed[0].get("x1", 0)) < float(first.get("cx", 0))
    assert float(first.get("cx", 0)) < float(second.get("cx", 0))
    assert {"A", "B", "30.00", "34.00", "BLEU", "28", "32"} <= set(texts(root))
    assert "C" not in texts(root)


def test_long_and_hostile_labels_are_cut_with_the_whole_in_a_tooltip() -> None:
    label = "<script>&" + "x" * 100 + "\x1b"
    root = parsed(chart_svg(RowChart("T", "A", [ChartRow(label, 1.0)], "bar", 0.0)))
    words = [text for text in texts(root) if text and text.startswith("<script>&")]
    assert len(words[0]) == 32
    assert words[0].endswith("…")
    assert any(f"<script>&{'x' * 100}\\x1b: 1.0" == n.text for n in elements(root, "title"))


def test_bars_start_at_zero_on_either_side() -> None:
    items = [ChartRow("down", -1.0), ChartRow("up", 2.0)]
    root = parsed(chart_svg(RowChart("T", "A", items, "bar", 0.0)))
    down, up = [(float(n.get("x", 0)), float(n.get("width", 0))) for n in elements(root, "rect")]
    assert down[0] + down[1] == pytest.approx(up[0], abs=0.02)
    assert up[1] == pytest.approx(2 * down[1], abs=0.02)


def bin_counts(values: list[float], bins: int = 20) -> list[int]:
    root = parsed(chart_svg(histogram("T", "A", values, bins=bins)))
    return [int((n[0].text or "").split(": ")[1]) for n in elements(root, "rect")]


def test_histogram_counts() -> None:
    values = [0.0, 0.5, 1.0, 1.5, 2.0, math.nan, 2.0]
    assert bin_counts(values, bins=2) == [2, 4]


@given(st.lists(st.floats(-1e6, 1e6), min_size=1), st.integers(1, 30))
def test_histogram_counts_every_value_once(values: list[float], bins: int) -> None:
    assert sum(bin_counts(values, bins)) == len(values)


def test_histogram_of_equal_values_is_one_bar() -> None:
    assert bin_counts([3.0] * 5) == [5]


def test_histogram_of_equal_values_stays_within_the_axis() -> None:
    assert inside(parsed(chart_svg(histogram("T", "A", [-1.0], 0.0, bins=1))))


def test_histogram_marker_is_drawn_and_labelled() -> None:
    root = parsed(chart_svg(histogram("T", "A", [0.0, 1.0], 0.37)))
    assert len([n for n in elements(root, "line") if n.get("stroke-dasharray")]) == 1
    assert "0.37" in texts(root)


def test_colours_follow_the_page_and_stand_alone() -> None:
    svg = chart_svg(RowChart("T", "A", [ChartRow("A", 1.0, 0.0, 2.0)], baseline=0.5))
    assert set(re.findall(r'(?:fill|stroke)="([^"]+)"', svg)) == {
        "currentColor",
        "var(--accent, #2b6cb0)",
        "var(--muted, #626b79)",
        "var(--line, #e3e6eb)",
    }


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0, 1, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        (0.1, 0.3, ["0.10", "0.15", "0.20", "0.25", "0.30"]),
        (27.2, 34.1, ["26", "28", "30", "32", "34", "36"]),
        (-3, 4, ["-4", "-2", "0", "2", "4"]),
        (0, 0, ["-1.0", "-0.5", "0.0", "0.5", "1.0"]),
        (0, 3e7, ["0", "1e+07", "2e+07", "3e+07"]),
    ],
)
def test_ticks_are_round(low: float, high: float, expected: list[str]) -> None:
    ticks = nice_ticks(low, high)
    assert [ticks.label(value) for value in ticks.values] == expected


def test_ticks_of_counts_are_whole() -> None:
    assert nice_ticks(0, 2, integers=True).values == (0, 1, 2)


@given(st.floats(-1e290, 1e290), st.floats(-1e290, 1e290))
def test_ticks_cover_the_data_in_few_distinct_steps(a: float, b: float) -> None:
    low, high = sorted((a, b))
    ticks = nice_ticks(low, high)
    slack = 1e-6 * (ticks.values[-1] - ticks.values[0])
    assert ticks.values[0] <= low + slack
    assert ticks.values[-1] >= high - slack
    assert 2 <= len(ticks.values) <= 8
    assert len({ticks.label(value) for value in ticks.values}) == len(ticks.values)


def test_tick_values_are_the_decimals_they_show() -> None:
    assert nice_ticks(0, 0.5).values == (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
