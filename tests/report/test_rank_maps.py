"""Pictures of rankings: ranks and values in cells, differences, and charts for narrow places."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from sample_charts import CURVES, HEAT_MAP, SCATTER

import karat as kt
from karat.meta.evaluation import Ranking
from karat.meta.ranking import MetaRow
from karat.report.charts.models import CellChart, CellMark, Chart, RankHead
from karat.report.charts.svg.cells import rank_color
from karat.report.charts.svg.drawings import chart_svg
from karat.report.charts.svg.frame import contrast, ink_on
from karat.report.documents.meta import difference_galleries, rank_galleries, task_gallery

MAP = CellChart(
    "fluency",
    "",
    "",
    ["BLEU", "<b>"],
    ["r", "tau-b"],
    [[0.4567, -0.25], [0.4, None]],
    narrow=True,
    ranks=[[1, 12], [None, None]],
    heads=[RankHead("segment"), RankHead("segment")],
    stories=[["first", "second"], ["third", ""]],
)


def texts(drawing: str) -> list[str]:
    return re.findall(r"<text[^>]*>(.*?)</text>", drawing)


def test_a_map_has_ranks_and_values_under_its_heads() -> None:
    words = texts(chart_svg(MAP))
    assert words[:3] == ["segment", "r", "tau-b"]
    assert words[3:10] == ["BLEU", "1", ".457", "12", "-.250", "&lt;b&gt;", ".400"]
    assert words[-5:] == ["1", "2", "3", "4", "5+"]


def test_a_map_tells_who_is_first() -> None:
    assert MAP.story == (
        "Ranks of 2 metrics. segment, r: rank 1 BLEU; segment, tau-b: rank 1 none."
    )


def test_a_map_without_ranks_has_no_key() -> None:
    bare = replace(MAP, values=[[0.4] * 2] * 2, ranks=[[None] * 2] * 2)
    assert texts(chart_svg(bare))[-1] == ".400"
    assert "no data" in chart_svg(replace(MAP, values=[[None, None], [None, None]]))


def test_ranks_are_shades_on_which_letters_can_be_read() -> None:
    colors = [rank_color(rank) for rank in (1, 2, 3, 4, 5)]
    assert len(set(colors)) == 5
    assert rank_color(9) == colors[-1]
    assert all(contrast(ink_on(color), color) >= 4.5 for color in colors)


@pytest.mark.parametrize("chart", [SCATTER, HEAT_MAP, CURVES, MAP], ids=lambda c: c.title)
def test_a_narrow_chart_is_as_wide_as_a_phone(chart: Chart) -> None:
    drawing = chart_svg(replace(chart, narrow=True))
    assert 'viewBox="0 0 380 ' in drawing
    edges = [float(x) for x in re.findall(r' (?:x|x1|x2|cx)="([-0-9.]+)"', drawing)]
    rectangles = re.findall(r'<rect x="([-0-9.]+)"[^>]*? width="([-0-9.]+)"', drawing)
    assert max(edges + [float(x) + float(wide) for x, wide in rectangles]) <= 380


# ------------------------------------------------------------------------------- of results


ASKED = kt.Experiment("demo", ("bleu", "ter"), ("fluency", "errors"), resamples=20, trials=20)


def test_levels_of_few_systems_are_apart_without_ranks() -> None:
    ranks, unranked = rank_galleries(kt.meta_evaluate(ASKED))
    assert [figure.title for figure in ranks.figures] == ["fluency", "errors"]
    heads = {head.name for figure in ranks.figures for head in figure.drawing.heads}
    assert heads == {"segment", "item"}
    assert unranked.folded
    assert unranked.title == "System level: 4 systems are too few to rank metrics"
    assert [figure.drawing.has_ranks for figure in unranked.figures] == [False, False]
    assert [figure.drawing.has_ranks for figure in ranks.figures] == [True, True]


def test_few_points_have_no_ranks_at_any_level() -> None:
    meta_row = MetaRow("d", "system", "pearson", 1, "bleu", 0.9, 0.8, 1.0, 3, 1, 0, 0, "")
    rows = (
        meta_row,
        meta_row._replace(level="segment"),
        meta_row._replace(level="segment", metric="chrf"),
    )
    galleries = rank_galleries(Ranking(ASKED, rows, (), {}))
    assert [gallery.title for gallery in galleries] == [
        "System level: 3 systems are too few to rank metrics",
        "Other levels: 3 points are too few to rank metrics",
    ]
    assert [figure.title for gallery in galleries for figure in gallery.figures] == [
        "system level: d",
        "other levels: d",
    ]


def test_one_row_has_both_names_of_a_metric() -> None:
    evalset = kt.load_evalset("demo")
    many = kt.make_evalset(
        "many",
        {f"{name}{k}": texts for k in (1, 2) for name, texts in evalset.systems.items()},
        references=evalset.references,
        segments=evalset.segments,
        judgements=[
            row._replace(system=f"{row.system}{k}") for k in (1, 2) for row in evalset.judgements
        ],
        dimensions=list(evalset.dimensions.values()),
    )
    (ranks,) = rank_galleries(kt.meta_evaluate(ASKED, many))
    chart = ranks.figures[0].drawing
    assert sorted(chart.rows) == ["BLEU", "TER"]
    assert [head.name for head in chart.heads] == [
        level for level in ASKED.levels for _ in ASKED.statistics
    ]
    assert all(value is not None for row in chart.values for value in row)


def test_one_metric_has_values_and_no_ranks() -> None:
    (gallery, _) = rank_galleries(kt.meta_evaluate(replace(ASKED, metrics=("bleu",))))
    assert gallery.title == "Agreement with human scores by level"
    assert not any(figure.drawing.has_ranks for figure in gallery.figures)


def test_differences_are_from_the_best_metric_and_fold_up_where_they_are_many() -> None:
    result = kt.meta_evaluate(ASKED)
    (gallery,) = difference_galleries(result)
    assert gallery.folded  # 2 dimensions, 2 levels and 2 statistics
    first = next(row for row in result.rows if row.level == "segment" and row.delta is not None)
    (change,) = gallery.figures[0].drawing.rows
    assert (change.value, change.low, change.high) == (
        first.delta,
        first.delta_low,
        first.delta_high,
    )
    test = next(test for test in result.tests if test[:3] == first[:3])
    assert change.detail == ("worse" if test.p <= 0.05 else "undecided")
    assert difference_galleries(kt.meta_evaluate(replace(ASKED, resamples=0))) == []


def test_tasks_of_an_average_have_a_map_for_each_set_and_dimension() -> None:
    average = kt.average_rankings([kt.meta_evaluate(ASKED)])
    gallery = task_gallery(average)
    assert [figure.title for figure in gallery.figures] == ["demo, fluency", "demo, errors"]
    assert [len(figure.drawing.columns) for figure in gallery.figures] == [6, 6]


def test_the_legend_of_a_small_map_fits_a_phone() -> None:
    """Phones show the left of a wide drawing: signs below each other, not beside each other."""
    marks = [
        CellMark(0, 0, "○", "missed: no more pairs than by chance"),
        CellMark(0, 1, "?", "few"),
    ]
    chart = CellChart("T", "r", "c", ["a row"], ["b", "c"], [[0.5, 0.6]], marks=marks)
    drawing = chart_svg(chart)
    rows = [
        float(match[1])
        for meaning in ("missed: no more pairs", "few")
        if (match := re.search(rf'<text x="[\d.]+" y="([\d.]+)"[^>]*>{meaning}', drawing))
    ]
    assert len(rows) == 2
    assert rows[0] < rows[1]
