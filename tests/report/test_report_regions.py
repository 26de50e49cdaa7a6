"""The plane of tasks and guidelines (the paper's Figure 1): its model, its drawing, its places."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import combinations, product
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat as kt
from karat.meta.plane_study import GUIDELINES, TASKS
from karat.report.charts.models import Area, Point, Stretch, StretchAxis, XYChart
from karat.report.charts.svg.drawings import chart_svg
from karat.report.charts.svg.frame import Box
from karat.report.charts.svg.regions import assign_tracks
from karat.report.documents.planes import regions_chart

SVG = "{http://www.w3.org/2000/svg}"
ANY_TEXT = st.text(st.characters(), max_size=60)


def parsed(chart: XYChart) -> ElementTree.Element:
    return ElementTree.fromstring(chart_svg(chart).encode("utf-8"))


def boxes(root: ElementTree.Element, name: str) -> list[dict[str, float]]:
    """The rectangles of the areas of a name."""
    groups = [
        g
        for g in root.iter(f"{SVG}g")
        if (t := g.find(f"{SVG}title")) is not None and t.text == name
    ]
    rects = [rect for group in groups for rect in group.iter(f"{SVG}rect")]
    return [{k: float(rect.get(k, "nan")) for k in ("x", "y", "width", "height")} for rect in rects]


def circle(root: ElementTree.Element, name: str) -> ElementTree.Element:
    for group in root.iter(f"{SVG}g"):
        title, circle_element = group.find(f"{SVG}title"), group.find(f"{SVG}circle")
        if title is not None and title.text == name and circle_element is not None:
            return circle_element
    raise AssertionError(name)


# ------------------------------------------------------------------------------------- the places


def test_figure_one_has_the_evaluations_of_the_paper() -> None:
    """Section 2.2 and Figure 1; section 4.3 judges answers leniently and strictly."""
    placed = kt.recommend("qa", "strict").placed
    evaluations = {
        (region.task, region.guideline): (region.best, region.tables) for region in placed
    }
    assert evaluations == {
        ("mt", "fluency"): (((1.0, 3),), (1,)),
        ("mt", "adequacy"): (((0.0, 4),), (2,)),
        ("summary", "coverage"): (((0.0, 1),), (3, 4)),
        ("qa", "lenient"): (((0.0, 2),), (5,)),
        ("qa", "strict"): (((0.3, 2),), (6,)),
    }
    assert [region.is_requested for region in placed] == [False] * 4 + [True]


@pytest.mark.parametrize(("task", "guideline"), [*product(TASKS, GUIDELINES)])
def test_the_asked_place_is_that_of_the_recommendation(task: str, guideline: str) -> None:
    recommendation = kt.recommend(task, guideline)
    (requested,) = (region for region in recommendation.placed if region.is_requested)
    assert (requested.task, requested.guideline, requested.region) == (
        task,
        guideline,
        recommendation.region,
    )
    assert set(requested.best) == {(row.alpha, row.n) for row in recommendation.rows}
    tasks = ("mt", "qa", "summary")
    assert len(recommendation.placed) == (5 if requested.tables else 6)
    assert bool(requested.tables) <= (task in tasks)
    chart = regions_chart(recommendation)
    assert [area.highlighted for area in chart.areas].count(True) == 1
    (highlighted,) = (area for area in chart.areas if area.highlighted)
    assert highlighted.name == f"{task}, {guideline}"
    root = parsed(chart)
    (box,) = boxes(root, f"{task}, {guideline}")
    dots = [circle(root, point.label) for point in chart.points if point.highlighted]
    for dot in dots:  # what is recommended lies in the region, or on its edge
        x, y, radius = (float(dot.get(key, "nan")) for key in ("cx", "cy", "r"))
        assert radius == 7
        assert box["x"] - 4 <= x <= box["x"] + box["width"] + 4
        assert box["y"] - 4 <= y <= box["y"] + box["height"] + 4


def letters(node: ElementTree.Element) -> Box:
    """About the room that a label in the plane takes."""
    x, y = float(node.get("x", "nan")), float(node.get("y", "nan"))
    wide = 6.2 * len(node.text or "") * (1.15 if node.get("font-weight") else 1)
    left = x - wide if node.get("text-anchor") == "end" else x
    return Box(left, y - 9, left + wide, y + 2)


@pytest.mark.parametrize(("task", "guideline"), [*product(TASKS, GUIDELINES)])
def test_no_label_hides_another(task: str, guideline: str) -> None:
    """Tasks of one region share its corner, and what is predicted may be what was measured."""
    chart = regions_chart(kt.recommend(task, guideline))
    root = parsed(chart)
    labels = [node for node in root.iter(f"{SVG}text") if node.get("paint-order") == "stroke"]
    assert len(labels) >= len(chart.areas) + len(chart.points)
    places = list(map(letters, labels))
    assert not [(a, b) for a, b in combinations(places, 2) if a.meets(b)]
    (box,) = boxes(root, f"{task}, {guideline}")
    bold_labels = [letters(node) for node in labels if node.get("font-weight")]
    assert max(label_box.right for label_box in bold_labels) <= box["x"] + box["width"]


def test_high_and_low_are_where_the_paper_has_them() -> None:
    """Figure 1: translation above summaries, fluency to the right of adequacy."""
    root = parsed(regions_chart(kt.recommend("mt", "fluency")))
    (fluency,), (adequacy,), (summary,) = (
        boxes(root, name) for name in ("mt, fluency", "mt, adequacy", "summary, coverage")
    )
    assert fluency["x"] > adequacy["x"] + adequacy["width"]
    assert summary["y"] > adequacy["y"] + adequacy["height"]
    assert summary["x"] == adequacy["x"]


# ------------------------------------------------------------------------------------- the model


def test_stretches_that_overlap_stand_beside_each_other() -> None:
    spans = [Stretch(0, 2, "a"), Stretch(1, 3, "b"), Stretch(2, 4, "c"), Stretch(0, 4, "d")]
    assert assign_tracks(spans) == [0, 1, 0, 2]
    assert assign_tracks([]) == []


def test_the_story_says_where_everything_is() -> None:
    chart = regions_chart(kt.recommend("qa", "lenient"))
    assert "qa, lenient qa, lenient: 0 to 0.3 across, 1.5 to 3.5 up" in chart.story
    assert "AEv(0,2): Table 5: 0 across, 2 up" in chart.story
    assert "evaluated in the paper mt, fluency: 0.7 to 1 across, 2.5 to 4.5 up" in chart.story


@given(name=ANY_TEXT, low=st.floats(-5, 4), size=st.floats(0.1, 5), highlighted=st.booleans())
def test_regions_survive_any_names(name: str, low: float, size: float, highlighted: bool) -> None:
    span = Stretch(low, low + size, name)
    area = Area((low, low + size), (low, low + size), name, highlighted)
    point = Point(low, low + size, name, highlighted=highlighted)
    axis = StretchAxis([span], [low])
    axes = {"stretch_axes": (axis, axis), "areas": [area]}
    chart = XYChart(name, name, name, [point], kind="regions", **axes)
    root = parsed(chart)
    _, _, width, height = map(float, root.get("viewBox", "").split())
    for node in root.iter():
        assert all(0 <= float(node.get(key, 0)) <= width for key in ("x1", "x2", "cx"))
        assert all(0 <= float(node.get(key, 0)) <= height for key in ("y1", "y2", "cy"))


def test_a_plane_without_areas_says_no_data() -> None:
    assert "no data" in chart_svg(XYChart("t", "x", "y", kind="regions"))


# ----------------------------------------------------------------------- the command and its page


def test_the_command_draws_it(output: Callable[..., str], folder: Path) -> None:
    arguments = ("plane", "recommend", "--task", "mt", "--guideline", "fluency")
    drawing = output(*arguments, "-f", "svg")
    assert "The evaluation plane" in drawing
    assert "AEv(1,3): Table 1" in drawing
    assert output(*arguments, "-f", "html").count("<figure") == 1
    assert "AEv(1,3): Table 1" not in output(*arguments)  # text has the table alone
    assert set(json.loads(output(*arguments, "-f", "json"))) == {
        "command",
        "signature",
        "summary",
        "rows",
        "notes",
    }
    pytest.importorskip("typst")
    output(*arguments, "--charts", "plane")
    assert (folder / "plane" / "the-evaluation-plane.svg").read_text("utf-8").startswith("<svg")
