"""Charts are well-formed, honest about their data, and survive any data."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.report.charts.svg.drawings import bar_chart, histogram, interval_chart, scatter
from karat.report.charts.ticks import nice_ticks

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


def every(root: ElementTree.Element, tag: str) -> list[ElementTree.Element]:
    return list(root.iter(f"{SVG}{tag}"))


def texts(root: ElementTree.Element) -> list[str | None]:
    return [node.text for node in every(root, "text")]


def inside(root: ElementTree.Element) -> bool:
    """Whether all marks lie within the drawing."""
    _, _, width, height = map(float, root.get("viewBox", "").split())
    xs = [float(n.get(k, 0)) for n in root.iter() for k in ("x", "x1", "x2", "cx")]
    ys = [float(n.get(k, 0)) for n in root.iter() for k in ("y", "y1", "y2", "cy")]
    return all(0 <= x <= width for x in xs) and all(0 <= y <= height for y in ys)


@given(st.lists(st.tuples(ANY_TEXT, NUMBER, MAYBE, MAYBE), max_size=6), ANY_TEXT, MAYBE)
def test_interval_chart_survives_any_data(
    items: list[tuple[str, float, float | None, float | None]], name: str, baseline: float | None
) -> None:
    assert inside(parsed(interval_chart(items, title=name, axis=name, baseline=baseline)))


@given(st.lists(st.tuples(ANY_TEXT, NUMBER), max_size=6), ANY_TEXT)
def test_bar_chart_survives_any_data(items: list[tuple[str, float]], name: str) -> None:
    assert inside(parsed(bar_chart(items, title=name, axis=name)))


@given(st.lists(NUMBER, max_size=40), ANY_TEXT, st.integers(1, 30), MAYBE)
def test_histogram_survives_any_data(
    values: list[float], name: str, bins: int, marker: float | None
) -> None:
    svg = histogram(values, title=name, axis=name, bins=bins, marker=marker)
    assert inside(parsed(svg))


@given(st.lists(st.tuples(NUMBER, NUMBER, ANY_TEXT), max_size=6), ANY_TEXT, st.booleans())
def test_scatter_survives_any_data(
    points: list[tuple[float, float, str]], name: str, diagonal: bool
) -> None:
    svg = scatter(points, title=name, x_axis=name, y_axis=name, diagonal=diagonal)
    assert inside(parsed(svg))


@pytest.mark.parametrize(
    "draw",
    [
        lambda: interval_chart([("a", math.nan, 0, 1)], title="T", axis="A"),
        lambda: bar_chart([], title="T", axis="A"),
        lambda: histogram([math.nan, math.inf], title="T", axis="A"),
        lambda: scatter([(0.0, math.nan, "p")], title="T", x_axis="X", y_axis="Y"),
    ],
)
def test_nothing_to_draw_says_so(draw: Callable[[], str]) -> None:
    root = parsed(draw())
    assert texts(root) == ["no data"]
    assert root[0].text == "T"


def test_interval_chart_shows_value_whisker_and_baseline() -> None:
    items = [("A", 30.0, 28.0, 32.0), ("B", 34.0, None, None), ("C", math.nan, 1.0, 2.0)]
    root = parsed(interval_chart(items, title="T", axis="BLEU", baseline=29.0))
    first, second = every(root, "circle")
    horizontal = [n for n in every(root, "line") if n.get("y1") == n.get("y2")]
    dashed = [n for n in every(root, "line") if n.get("stroke-dasharray")]
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
    root = parsed(bar_chart([(label, 1.0)], title="T", axis="A"))
    shown = [text for text in texts(root) if text and text.startswith("<script>&")]
    assert len(shown[0]) == 32
    assert shown[0].endswith("…")
    assert any(f"<script>&{'x' * 100}\\x1b: 1.0" == n.text for n in every(root, "title"))


def test_bars_start_at_zero_on_either_side() -> None:
    root = parsed(bar_chart([("down", -1.0), ("up", 2.0)], title="T", axis="A"))
    down, up = [(float(n.get("x", 0)), float(n.get("width", 0))) for n in every(root, "rect")]
    assert down[0] + down[1] == pytest.approx(up[0], abs=0.02)
    assert up[1] == pytest.approx(2 * down[1], abs=0.02)


def bin_counts(svg: str) -> list[int]:
    return [int((n[0].text or "").split(": ")[1]) for n in every(parsed(svg), "rect")]


def test_histogram_counts() -> None:
    values = [0.0, 0.5, 1.0, 1.5, 2.0, math.nan, 2.0]
    assert bin_counts(histogram(values, title="T", axis="A", bins=2)) == [2, 4]


@given(st.lists(st.floats(-1e6, 1e6), min_size=1), st.integers(1, 30))
def test_histogram_counts_every_value_once(values: list[float], bins: int) -> None:
    svg = histogram(values, title="T", axis="A", bins=bins)
    assert sum(bin_counts(svg)) == len(values)


def test_histogram_of_equal_values_is_one_bar() -> None:
    assert bin_counts(histogram([3.0] * 5, title="T", axis="A")) == [5]


def test_histogram_of_equal_values_stays_within_the_axis() -> None:
    assert inside(parsed(histogram([-1.0], title="T", axis="A", bins=1, marker=0.0)))


def test_histogram_needs_a_bin() -> None:
    with pytest.raises(ValueError, match="at least one bin, not 0"):
        histogram([1.0], title="T", axis="A", bins=0)


def test_histogram_marker_is_drawn_and_labelled() -> None:
    root = parsed(histogram([0.0, 1.0], title="T", axis="A", marker=0.37))
    assert len([n for n in every(root, "line") if n.get("stroke-dasharray")]) == 1
    assert "0.37" in texts(root)


def test_scatter_points_have_tooltips_and_the_diagonal_shares_the_scale() -> None:
    points = [(0.0, 5.0, "p"), (10.0, 5.0, "q & r")]
    root = parsed(scatter(points, title="T", x_axis="X", y_axis="Y", diagonal=True))
    assert [n[0].text for n in every(root, "circle")] == ["p: 0.0, 5.0", "q & r: 10.0, 5.0"]
    slanted = [n for n in every(root, "line") if n.get("x1") != n.get("x2")]
    slanted = [n for n in slanted if n.get("y1") != n.get("y2")]
    assert len(slanted) == 1
    assert texts(root).count("10") == 2
    plain = parsed(scatter(points, title="T", x_axis="X", y_axis="Y"))
    assert texts(plain).count("10") == 1


def test_colours_follow_the_page_and_stand_alone() -> None:
    svg = interval_chart([("A", 1.0, 0.0, 2.0)], title="T", axis="A", baseline=0.5)
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
    assert nice_ticks(0, 2, whole=True).values == (0, 1, 2)


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
