"""The ranking on pages: a table for each metric, and the data of its control of the baseline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from karat.comparison import LOSS, CompareRow, Comparison, PairRow
from karat.errors import visible
from karat.metrics.base import Metric
from karat.report.charts.models import ChartRow, difference_span
from karat.report.charts.svg import frame as svg
from karat.report.charts.svg.rows import short_name
from karat.report.documents.ranking import ranking_caption
from karat.report.markup import Look, data, element, quote, shape
from karat.report.model import (
    format_count,
    format_difference,
    format_interval,
    metric_label,
    score_digits,
)
from karat.scoring import metric_digits
from karat.stats.significance import BETTER, UNDECIDED, WORSE

VERDICT_SIGNS = {BETTER: "▲ better", WORSE: "▼ worse", UNDECIDED: "undecided"}
BAR_WIDTH, BAR_HEIGHT = 140.0, 16.0
BAR_MARGIN = 6.0


def ranking_page(comparison: Comparison, metrics: Sequence[Metric], m: Metric) -> str:
    """Return the table of the systems by a metric; that of the first has the data of all."""
    data_element = data(_page_data(comparison, metrics)) if m is metrics[0] else ""
    return element("div", ranking_table(comparison, m), data_element, class_="ranking")


class RankedDifference(NamedTuple):
    """A difference from a baseline, for the ranking; positive values are better."""

    value: float
    low: float
    high: float
    text: str
    verdict: str
    margin: str  # the verdict by the margin, if there is one


def ranking_table(comparison: Comparison, m: Metric) -> str:
    """Return the table of the systems by one metric, best first, as markup."""
    rows = [row for row in comparison.rows if row.metric == m]
    differences = {row.system: ranked_difference(row) for row in rows if row.verdict}
    span = difference_span(ChartRow("", *difference[:3]) for difference in differences.values())
    ends = [end for row in rows for end in (row.score.value, row.low, row.high) if end is not None]
    scale, names = (min(ends), max(ends)), comparison.systems
    heads = [
        element("th", "System", scope="col"),
        element("th", "Score", scope="col", title=f"Score by {m}."),
        element("th", element("span", "Lead"), scope="col", title=ranking_caption(comparison)),
        element("th", "Difference from ", element("b", quote(comparison.baseline)), scope="col"),
        element("th", "Verdict", scope="col"),
    ]
    lines = [
        _ranking_line(row, names.index(row.system), differences.get(row.system), scale, span)
        for row in rows
    ]
    caption = element("caption", quote(f"Systems by {metric_label(m)}"), class_="unseen")
    head = element("thead", element("tr", *heads))
    return element("table", caption, head, element("tbody", *lines))


def _ranking_line(
    row: CompareRow,
    number: int,
    difference: RankedDifference | None,
    ends: tuple[float, float],
    span: tuple[float, float],
) -> str:
    value, digits = row.score.value, metric_digits(row.metric)
    score_text = f"{value:.{digits}f}"
    score = [element("span", score_text)]
    if row.low is not None and row.high is not None:
        interval = f"95% interval {format_interval(row.low, row.high, digits)}"
        score.append(_bar((value, row.low, row.high), ends, interval))
    leading = bool(row.is_leading)
    look: Look = {"data_system": str(number), "class_": "leading" if leading else None}
    sign = element("span", "●", role="img", aria_label="leading") if leading else ""
    cells = [
        element("td", quote(row.system)),
        element("td", *score, class_="score", data_value=repr(float(value))),
        element("td", sign, class_="lead", data_value=str(int(leading))),
    ]
    kind, verdict_text, text, drawing = "missing", "baseline", "", ""
    full_value = "0"
    if difference is not None:
        kind, verdict_text = difference.verdict, verdict_label(difference)
        text, full_value = difference.text, repr(difference.value)
        drawing = _bar(difference[:3], span, difference.text, zero=True)
    number_with_bar = element("span", quote(text)) + (drawing or _bar(None, span, "", zero=True))
    cells.append(element("td", number_with_bar, class_=f"difference {kind}", data_value=full_value))
    cells.append(element("td", quote(verdict_text), class_=f"verdict {kind}"))
    return element("tr", *cells, **look)


def verdict_label(difference: RankedDifference) -> str:
    """Return the verdict with its sign, and the verdict by the margin."""
    sign = VERDICT_SIGNS[difference.verdict]
    return f"{sign}, {difference.margin}" if difference.margin else sign


def ranked_difference(row: CompareRow | PairRow) -> RankedDifference:
    """Return the difference of a row for the ranking."""
    m, digits = row.metric, score_digits(row.metric)
    delta = row.delta or 0.0
    low, high = (row.low, row.high) if isinstance(row, PairRow) else (row.delta_low, row.delta_high)
    low, high = delta if low is None else low, delta if high is None else high
    first, last = sorted((m.sign * low, m.sign * high))
    text = format_difference(delta, (low, high), digits)
    within = row.margin_verdict
    margin = "" if within in (None, UNDECIDED) else "beyond margin" if within == LOSS else within
    return RankedDifference(
        m.sign * delta, first, last, text, row.verdict or UNDECIDED, margin or ""
    )


def _bar(
    numbers: Sequence[float] | None, ends: tuple[float, float], text: str, *, zero: bool = False
) -> str:
    """Return a dot on a line from low to high, drawn between the ends of the scale."""
    low, high = ends
    scale = (BAR_WIDTH - 2 * BAR_MARGIN) / ((high - low) or 1.0)

    def at(value: float) -> float:
        return BAR_MARGIN + (value - low) * scale

    middle, parts = BAR_HEIGHT / 2, []
    if zero:
        parts.append(svg.dashed(at(0.0), 0, BAR_HEIGHT))
    value, first, last = numbers or (0.0, 0.0, 0.0)
    line: Look = {"stroke": "currentColor", "stroke_width": 2.5}
    parts.append(shape("line", x1=at(first), y1=middle, x2=at(last), y2=middle, **line))
    parts.append(shape("circle", cx=at(value), cy=middle, r=3.5, fill="currentColor"))
    look: Look = {"viewBox": f"0 0 {BAR_WIDTH:g} {BAR_HEIGHT:g}", "class_": "bar"}
    hidden = "hidden" if numbers is None else None
    return element("svg", *parts, **look, aria_hidden="true", visibility=hidden)


# -------------------------------------------------------------------------------- all baselines


def _page_data(comparison: Comparison, metrics: Sequence[Metric]) -> dict[str, Any]:
    """Return what the page needs for each baseline: differences, and bins of segments."""
    names = list(comparison.systems)
    baselines = names if comparison.pairs else [comparison.baseline]
    return {
        "names": [visible(name) for name in names],
        "labels": [short_name(name) for name in names],
        "baseline": names.index(comparison.baseline),
        "signs": VERDICT_SIGNS,
        "note": _note_on_pairs(comparison, metrics),
        "metrics": [
            {
                "label": metric_label(m),
                "order": [names.index(r.system) for r in comparison.rows if r.metric == m],
                "views": [_view(comparison, base, m) for base in baselines],
                "strips": _strips(comparison, m) if comparison.pairs else [],
            }
            for m in metrics
        ],
    }


def _note_on_pairs(comparison: Comparison, metrics: Sequence[Metric]) -> str:
    if not comparison.pairs:
        return ""
    count = format_count(len(comparison.pairs) // 2, "difference")
    tested = f"{count} between all pairs" + (" by all metrics" if len(metrics) > 1 else "")
    rule = (
        "tested together, so intervals are wider" if comparison.correction != "none" else "tested"
    )
    return (
        f"{tested} are {rule}. The answer above and the sections below it are about differences "
        f"from {comparison.baseline}."
    )


def _view(comparison: Comparison, base: str, m: Metric) -> list[list[Any] | None]:
    """Return the differences of all systems from one; those of the tests, or else of all pairs."""
    rows: dict[str, CompareRow | PairRow] = {**comparison.against(base, m)}
    if base == comparison.baseline:
        rows = {r.system: r for r in comparison.rows if r.metric == m and r.verdict}
    view: list[list[Any] | None] = []
    for name in comparison.systems:
        difference = ranked_difference(rows[name]) if name in rows else None
        digits = 2 if m.full_scale > 10 else 4
        view.append(difference and [*(round(x, digits) for x in difference[:3]), *difference[3:]])
    return view


def _strips(comparison: Comparison, m: Metric) -> list[list[list[int]]]:
    """Return, for each system and each later one, segments won and lost, and in each bin."""
    if not comparison.values or any(row.wins is None for row in comparison.pairs):
        return []
    names, strips = comparison.systems, []
    for at, base in enumerate(names):
        rows = comparison.against(base, m)
        later = [rows[name] for name in names[at + 1 :]]
        bins = [comparison.binned_differences(row.system, base, m) for row in later]
        counts = zip(later, bins, strict=True)
        strips.append([[row.wins or 0, row.losses or 0, *binned] for row, binned in counts])
    return strips
