"""The models of charts: what they say in words, and their drawings as SVG and with letters."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_charts import BARS, CHARTS, CURVES, HEAT_MAP, INTERVALS, SCATTER, joined

from karat.report.charts.axis import Axis, nice_ticks
from karat.report.charts.letters import chart_sketch
from karat.report.charts.models import (
    CellChart,
    CellMark,
    Chart,
    ChartLine,
    ChartRow,
    Outline,
    Point,
    RowChart,
    XYChart,
    chart_figure,
    curve_runs,
    interval_bands,
)
from karat.report.charts.svg import cells as heat_svg
from karat.report.charts.svg import frame as svg
from karat.report.charts.svg.drawings import chart_svg
from karat.report.charts.svg.frame import HEAT, Box, contrast
from karat.report.charts.svg.plots import visible_span
from karat.report.model import Document
from karat.report.render.renderers import render
from karat.report.render.text import TextLayout, display_width

SVG = "{http://www.w3.org/2000/svg}"
TEXT = st.text(st.characters(), max_size=40)
NUMBER = st.floats()
MAYBE = st.none() | NUMBER
POINTS = st.lists(st.builds(Point, NUMBER, NUMBER, TEXT, st.sampled_from(["", "a", "<b>"])))
KNOTS = st.lists(st.tuples(NUMBER, NUMBER, MAYBE, MAYBE), max_size=5)
SCATTERS = st.builds(
    *(XYChart, TEXT, TEXT, TEXT, POINTS),
    st.none() | st.builds(ChartLine, NUMBER, NUMBER),
    *(TEXT, TEXT),
)
CURVE_CHARTS = st.builds(
    *(joined, TEXT, TEXT, TEXT),
    st.lists(st.tuples(TEXT, KNOTS), max_size=4),
)
INTERVAL_CHARTS = st.builds(
    *(RowChart, TEXT, TEXT),
    st.lists(st.builds(ChartRow, TEXT, NUMBER, MAYBE, MAYBE), max_size=5),
    baseline=MAYBE,
)
PLAIN = TextLayout(60, False)


@st.composite
def heat_maps(draw: st.DrawFn) -> CellChart:
    rows = draw(st.lists(TEXT, max_size=4))
    columns = draw(st.lists(TEXT, max_size=5))
    line = st.lists(MAYBE, min_size=len(columns), max_size=len(columns))
    values = draw(st.lists(line, min_size=len(rows), max_size=len(rows)))
    marks, outline = [], None
    if rows and columns:
        row, column = st.integers(0, len(rows) - 1), st.integers(0, len(columns) - 1)
        marks = draw(st.lists(st.builds(CellMark, row, column, TEXT, TEXT), max_size=3))
        outline = Outline((0, draw(row)), (0, draw(column)), draw(TEXT))
    digits, low, high = draw(st.integers(0, 4)), draw(MAYBE), draw(MAYBE)
    ends = {"low": low, "high": high}
    return CellChart(
        draw(TEXT), draw(TEXT), draw(TEXT), rows, columns, values, digits, marks, outline, **ends
    )


ANY_CHART = SCATTERS | CURVE_CHARTS | INTERVAL_CHARTS | heat_maps()


def parsed(chart: Chart) -> ElementTree.Element:
    return ElementTree.fromstring(chart_svg(chart).encode("utf-8"))


def elements(root: ElementTree.Element, tag: str) -> list[ElementTree.Element]:
    return list(root.iter(f"{SVG}{tag}"))


def texts(root: ElementTree.Element) -> list[str]:
    return [node.text or "" for node in elements(root, "text")]


def tooltips(root: ElementTree.Element) -> list[str]:
    return [node.text or "" for node in elements(root, "title")][1:]


def markers(root: ElementTree.Element) -> list[tuple[float, float]]:
    """Where the markers of points stand."""
    transforms = [
        re.fullmatch(r"translate\((\S+) (\S+)\)", n.get("transform", "")) for n in root.iter()
    ]
    return [(float(m[1]), float(m[2])) for m in transforms if m]


def positions(root: ElementTree.Element) -> Iterator[tuple[float, float]]:
    """Where marks and lines stand that are not drawn around an origin of their own."""
    yield from markers(root)
    for group in (root, *(g for g in elements(root, "g") if not g.get("transform"))):
        for node in group:
            for x, y in (("x", "y"), ("x1", "y1"), ("x2", "y2")):
                if node.get(x):
                    yield float(node.get(x, 0)), float(node.get(y, 0))


# ----------------------------------------------------------------------------------- any data


@given(ANY_CHART)
def test_drawings_survive_any_data(chart: Chart) -> None:
    root = parsed(chart)
    assert [child.tag for child in root][:2] == [f"{SVG}title", f"{SVG}desc"]
    assert not re.search(r'="[^"]*\b(nan|inf)\b', chart_svg(chart))
    _, _, width, height = map(float, root.get("viewBox", "").split())
    outside = [p for p in positions(root) if not (0 <= p[0] <= width and 0 <= p[1] <= height)]
    assert outside == []


@given(ANY_CHART, st.integers(24, 120))
def test_sketches_survive_any_data(chart: Chart, width: int) -> None:
    plain = chart_sketch(chart, TextLayout(width, False))
    assert plain
    for line in plain:
        words = max(map(display_width, line.split()), default=0)
        assert display_width(line) <= max(width, words)
        assert not [c for c in line if unicodedata.category(c) in {"Cc", "Cs", "Zl", "Zp"}]
    coloured = chart_sketch(chart, TextLayout(width, True))
    assert [re.sub(r"\x1b\[[0-9]*m", "", line) for line in coloured] == plain


@pytest.mark.parametrize(
    "chart",
    [
        XYChart("T", "x", "y", []),
        XYChart("T", "x", "y", [Point(1.0, math.nan, "p")]),
        CellChart("T", "r", "c", [], [], []),
        CellChart("T", "r", "c", ["a"], ["b"], [[math.inf]]),
        joined("T", "x", "y", [("c", [])]),
        RowChart("T", "x", [ChartRow("a", math.nan, 0.0, 1.0)]),
    ],
)
def test_nothing_to_draw_says_so(chart: Chart) -> None:
    assert texts(parsed(chart)) == ["no data"]
    assert chart_sketch(chart, PLAIN) == ["no data"]


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: type(chart).__name__)
def test_a_chart_is_a_figure_in_every_format(chart: Chart) -> None:
    figure = chart_figure(chart)
    assert (figure.title, figure.caption) == (chart.title, chart.caption)
    document = Document("D", (figure,), "karat", {})
    page, drawing = render(document, "html"), render(document, "svg")
    ElementTree.fromstring(drawing)
    assert chart_svg(chart) in page
    assert chart.title in render(document, "text", width=60)
    description = elements(parsed(chart), "desc")[0].text
    assert description == chart.story


def test_colours_follow_the_page_and_stand_alone() -> None:
    used = "".join(map(chart_svg, (SCATTER, CURVES)))
    looks = set(re.findall(r'(?:fill|stroke)="([^"]+)"', used))
    fixed = {look for look in looks if not re.fullmatch(r"var\(--[\w-]+, #[0-9a-f]{6}\)", look)}
    assert fixed == {"currentColor", "none"}


# ------------------------------------------------------------------------------------- scatter


def label_boxes(root: ElementTree.Element) -> list[Box]:
    boxes = []
    for node in elements(root, "text"):
        if node.get("class") == "label":
            x, y, wide = (
                float(node.get("x", 0)),
                float(node.get("y", 0)),
                svg.extent(node.text or ""),
            )
            left = x - {"start": 0.0, "middle": wide / 2, "end": wide}[node.get("text-anchor", "")]
            boxes.append(Box(left, y - 11.5, left + wide, y + 3.5))
    return boxes


def crowd(count: int) -> XYChart:
    """Points on a spiral, close to each other in the middle."""
    angles = [0.7 * k for k in range(count)]
    points = [Point(a * math.cos(a), a * math.sin(a), f"system {a:.1f}") for a in angles]
    return XYChart("T", "x", "y", points)


def test_points_have_tooltips_labels_groups_and_a_note() -> None:
    root = parsed(SCATTER)
    assert tooltips(root) == [
        "atlas (online): 20.0, 70.0",
        "beacon <b> (submitted): 25.0, 74.0",
        "日本語 (submitted): 31.0, 73.0",
    ]
    words = texts(root)
    assert {"atlas", "beacon <b>", "日本語", "online", "submitted"} <= set(words)
    assert "r = 0.81 [0.60, 0.93]" in words
    assert "unseen" not in words
    shapes = [path.get("d") for path in elements(root, "path")]
    assert len(set(shapes)) == 2  # a shape for each group
    assert SCATTER.story.startswith("3 points; BLEU across, human score up. r = 0.81 [0.60, 0.93].")


def test_labels_do_not_overlap() -> None:
    boxes = label_boxes(parsed(crowd(30)))
    assert len(boxes) == 30
    assert not [pair for pair in combinations(boxes, 2) if pair[0].meets(pair[1])]
    dots = [Box(x - 4, y - 4, x + 4, y + 4) for x, y in markers(parsed(crowd(30)))]
    assert not [1 for box in boxes for dot in dots if box.meets(dot)]


def test_many_points_have_tooltips_alone() -> None:
    root = parsed(crowd(1000))
    assert (len(markers(root)), len(tooltips(root)), label_boxes(root)) == (1000, 1000, [])
    assert "and 988 more" in crowd(1000).story


def test_points_at_one_place_and_a_single_point() -> None:
    for chart in (crowd(1), XYChart("T", "x", "y", [Point(2.0, 2.0, "p")] * 3)):
        root = parsed(chart)
        assert len(set(markers(root))) == 1
        assert len(label_boxes(root)) == len(chart.points)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (ChartLine(1.0, 0.0), (0.0, 10.0)),
        (ChartLine(2.0, 0.0), (0.0, 5.0)),
        (ChartLine(-1.0, 15.0), (5.0, 10.0)),
        (ChartLine(0.0, 5.0), (0.0, 10.0)),
        (ChartLine(0.0, 11.0), None),
        (ChartLine(1.0, 20.0), None),
        (ChartLine(math.nan, 0.0), None),
    ],
)
def test_the_fitted_line_stays_within_the_plot(
    line: ChartLine, expected: tuple[float, float] | None
) -> None:
    axis = Axis(nice_ticks(0, 10), 0, 1)
    assert visible_span(line, axis, axis) == expected


def test_points_drawn_with_letters() -> None:
    lines = chart_sketch(SCATTER, TextLayout(40, False))
    plot_rows = [line.split("┤")[-1].split("│")[-1] for line in lines[1:17]]
    assert plot_rows[-1].strip() == "a"
    assert "".join(plot_rows).replace(" ", "") == "bca"
    assert lines[-4:] == [
        "r = 0.81 [0.60, 0.93]",
        "a atlas (online): 20.00, 70.00",
        "b beacon <b> (submitted): 25.00, 74.00",
        "c 日本語 (submitted): 31.00, 73.00",
    ]
    assert len(lines) <= 20 + 4


def test_bars_are_drawn_and_told_where_both_ends_are_known() -> None:
    bars = [line for line in elements(parsed(BARS), "line") if line.get("class") == "bar"]
    assert len(bars) == 2
    assert tooltips(parsed(BARS)) == [
        "heron: 0.2, 0.25 (from 0.1 to 0.35)",
        "plover: 0.5, 0.45 (from 0.4 to 0.55)",
        "wren: 0.7, 0.75",
        "kestrel: 0.8, 0.7",
    ]
    assert "from 0.1 to 0.35" in BARS.story
    lines = chart_sketch(BARS, PLAIN)
    assert lines[-4:-2] == [
        "a heron: 0.200, 0.250 (from 0.100 to 0.350)",
        "b plover: 0.500, 0.450 (from 0.400 to 0.550)",
    ]


def test_the_axis_has_room_for_bars() -> None:
    wide = XYChart("T", "x", "y", [Point(0.0, 0.5, "p", "", -3.0, 7.0)])
    values = wide.ticks()[1].values
    assert values[0] <= -3
    assert values[-1] >= 7


def test_a_crowd_drawn_with_letters() -> None:
    lines = chart_sketch(crowd(200), PLAIN)
    assert lines[-1] == "· one point; o two to four; ● five or more"
    assert len(lines) <= 21
    together = chart_sketch(XYChart("T", "x", "y", [Point(0, 0, "p"), Point(0, 0, "q")]), PLAIN)
    assert together[-1] == "* several points"


# ------------------------------------------------------------------------------------ heat map


def test_cells_are_shaded_numbered_and_told() -> None:
    cells = [g for g in elements(parsed(HEAT_MAP), "g") if g.get("class") == "cell"]
    fills = [cell.findall(f"{SVG}rect")[0].get("fill") for cell in cells]
    assert fills == [HEAT[2], HEAT[4], HEAT[6], HEAT[0], HEAT[8]]
    numbers = [cell.findall(f"{SVG}text")[0] for cell in cells]
    assert [n.text for n in numbers] == ["0.25", "0.50", "0.75", "0.00", "1.00"]
    for fill, number in zip(fills, numbers, strict=True):
        assert contrast(fill or "", number.get("fill", "")) >= 4.5
    assert tooltips(parsed(HEAT_MAP)) == [
        "N 2, alpha 0: 0.25",
        "N 2, alpha 0.5: 0.50",
        "N 2, alpha 1: 0.75 (BLEU, pick)",
        "N 1, alpha 0: 0.00",
        "N 1, alpha 0.5: missing",
        "N 1, alpha 1: 1.00 (maximum)",
    ]


def test_signs_and_the_region_are_explained() -> None:
    words = texts(parsed(HEAT_MAP))
    meanings = {"maximum", "BLEU", "pick", "predicted", "missing", "0.00 to 1.00", "N", "alpha"}
    assert meanings <= set(words)
    assert words.count("◆●") == 1  # two signs in one cell
    assert HEAT_MAP.story == (
        "2 by 3 cells; N down, alpha across; from 0.00 to 1.00; N 1, alpha 1: 1.00 (maximum); "
        "N 2, alpha 1: 0.75 (BLEU, pick); outlined: predicted."
    )


def test_the_region_surrounds_its_cells() -> None:
    root = parsed(HEAT_MAP)
    cells = [g.findall(f"{SVG}rect")[0] for g in elements(root, "g") if g.get("class") == "cell"]
    edge = next(n for n in root.findall(f"{SVG}rect") if n.get("stroke-dasharray"))
    assert (edge.get("x"), edge.get("y")) == (cells[1].get("x"), cells[1].get("y"))
    assert float(edge.get("width", 0)) == pytest.approx(
        2 * float(cells[1].get("width", 0)), abs=0.02
    )


def test_constant_values_and_given_ends() -> None:
    flat = CellChart("T", "r", "c", ["a"], ["b", "c"], [[3.0, 3.0]])
    assert [flat.share(3.0), flat.ends] == [0.5, (3.0, 3.0)]
    fixed = CellChart("T", "r", "c", ["a"], ["b", "c"], [[3.0, 4.0]], low=0.0, high=3.5)
    assert [fixed.share(3.0), fixed.share(4.0)] == [pytest.approx(6 / 7), 1.0]
    assert flat.number(-0.001) == "0.00"


def test_a_large_map_leaves_its_numbers_to_tooltips() -> None:
    names = [f"metric {k}" for k in range(60)]
    root = parsed(CellChart("T", "r", "c", names, names, [[k / 60 for k in range(60)]] * 60))
    assert len(tooltips(root)) == 3600
    assert len(texts(root)) < 200
    assert float(root.get("viewBox", "").split()[3]) < heat_svg.MIN_ROW_HEIGHT * 60 + 250


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"values": [[1.0]]}, "a chart of 2 x 3 cells has values of another shape"),
        ({"marks": [CellMark(2, 0, "x", "x")]}, "row 2, column 0 is outside"),
        ({"outline": Outline((0, 1), (0, 3), "x")}, "row 1, column 3 is outside"),
    ],
)
def test_what_does_not_fit_a_heat_map(change: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(HEAT_MAP, **change)


def test_a_heat_map_drawn_with_letters() -> None:
    assert chart_sketch(HEAT_MAP, TextLayout(70, False)) == [
        "  0        0.5      1",
        "2 0.25░    [0.50▒   0.75▓◆●]",
        "1 0.00     –        1.00█▲",
        "",
        "N down, alpha across; from 0.00 by ░ ▒ ▓ █ to 1.00; ▲ maximum; ◆ BLEU;",
        "● pick; [ ] predicted",
    ]
    narrow = chart_sketch(HEAT_MAP, TextLayout(22, False))
    assert narrow[:7] == [
        *("  0        0.5", "2 0.25░    [0.50▒", "1 0.00     –", ""),
        *("  1", "2 0.75▓◆●]", "1 1.00█▲"),
    ]


# -------------------------------------------------------------------------------------- curves


def test_curves_have_lines_bands_markers_and_names_at_their_ends() -> None:
    root = parsed(CURVES)
    assert "bleu, 5.0: 0.5 (from 0.4 to 0.6)" in tooltips(root)
    assert len(markers(root)) == 5
    areas = [n for n in elements(root, "path") if n.get("fill-opacity")]
    assert len(areas) == 1
    lines = [n for n in elements(root, "path") if n.get("fill") == "none"]
    assert [line.get("d", "").count("M") for line in lines] == [1, 2]  # a gap breaks the second
    assert lines[0].get("stroke") != lines[1].get("stroke")
    assert lines[0].get("stroke-dasharray") != lines[1].get("stroke-dasharray")
    names = [n for n in elements(root, "text") if n.get("class") == "label"]
    assert [n.text for n in names] == ["bleu", "gtm $e$"]
    assert CURVES.story.endswith("gtm $e$: 1.0: 0.3, to 25.0: 0.8")


def many(count: int, apart: float) -> XYChart:
    curves = [(f"metric {k}", [(1, 0.0), (2, k * apart)]) for k in range(count)]
    return joined("T", "x", "y", curves)


def test_names_at_the_ends_do_not_overlap() -> None:
    names = [n for n in elements(parsed(many(12, 0.1)), "text") if n.get("class") == "label"]
    places = sorted(float(n.get("y", 0)) for n in names)
    assert len(places) == 12
    assert all(b - a >= 14.9 for a, b in pairwise(places))


@pytest.mark.parametrize(
    "chart",
    [
        many(12, 0.0),
        many(40, 1.0),
        joined("T", "x", "y", [("a", [(1, 1)]), ("b", [(2, 1)])]),
        joined("T", "x", "y", [("a" * 30 + b, [(1, k)]) for k, b in enumerate("bc")]),
    ],
)
def test_without_room_at_the_ends_there_is_a_legend(chart: XYChart) -> None:
    root = parsed(chart)
    assert not [n for n in elements(root, "text") if n.get("class") == "label"]
    assert {*chart.curves} <= set(texts(root))


def test_an_axis_of_counts_has_whole_numbers() -> None:
    curves = [("a", [(1, 0.2), (4, 0.4)])]
    assert joined("T", "x", "y", curves).ticks()[0].values[1] == 1.5
    assert joined("T", "x", "y", curves, whole_x=True).ticks()[0].values == (1, 2, 3, 4)


def test_bands_of_many_curves_are_paler() -> None:
    def shade(count: int) -> float:
        curves = [(f"m{k}", [(1, k, 0, 9), (2, k, 0, 9)]) for k in range(count)]
        areas = elements(parsed(joined("T", "x", "y", curves)), "path")
        return max(float(area.get("fill-opacity", 0)) for area in areas)

    assert shade(1) == shade(3) > shade(6)


def test_a_long_curve_has_few_markers() -> None:
    chart = joined("T", "x", "y", [("a", [(k, math.sin(k)) for k in range(1000)])])
    assert 20 <= len(markers(parsed(chart))) <= 40


def test_gaps_break_curves_and_bands() -> None:
    knots = [
        Point(1, 1, low=0, high=2),
        Point(2, 2),
        Point(3, 3, low=2, high=4),
        Point(4, math.nan, low=1, high=2),
        Point(5, 5),
    ]
    assert [[k.x for k in run] for run in curve_runs(knots)] == [[1, 2, 3], [5]]
    assert [[k.x for k in run] for run in interval_bands(knots)] == [[1], [3]]


def test_curves_drawn_with_letters() -> None:
    lines = chart_sketch(CURVES, PLAIN)
    assert lines[0] == "Pearson's r"
    assert lines[-1] == "● bleu; ○ gtm $e$"
    plot = "".join(lines[1:17])
    assert (plot.count("●"), plot.count("○")) == (3, 2)
    assert plot.count("·") > 20


# ----------------------------------------------------------------------------------- intervals


def test_intervals_in_words() -> None:
    assert INTERVALS.story == "Pearson's r. bleu: 0.7, from 0.5 to 0.8; chrf: 0.75"


def test_intervals_drawn_with_letters() -> None:
    assert chart_sketch(INTERVALS, TextLayout(43, False)) == [
        "bleu ├─────────┼──────────●─────────┤ 0.700",
        "chrf           ¦               ●      0.750",
        "Pearson's r, 0.5 to 0.8; ¦ the baseline",
    ]


def test_axes_are_alike_where_the_line_says_equal() -> None:
    points = [Point(0.1, 0.52, "a"), Point(0.9, 0.55, "b")]
    x, y = XYChart("T", "old", "new", points, ChartLine(1.0, 0.0)).ticks()
    assert x.values == y.values
    x, y = XYChart("T", "old", "new", points, ChartLine(0.9, 0.0)).ticks()
    assert x.values != y.values
