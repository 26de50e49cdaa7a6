"""The report of `compare`: scores with intervals and tests, and the segments that differ most."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from karat.comparison import CompareRow, Comparison, Example
from karat.metrics.base import Metric
from karat.metrics.differing import differing_words
from karat.report.answers.comparisons import comparison_answer, comparison_basis
from karat.report.charts.forest import Change, Forest, Tallies, Tally, reach
from karat.report.charts.models import Histogram
from karat.report.documents import scores
from karat.report.model.phrases import metric_label, score_digits, signed, span
from karat.report.model.table import (
    Block,
    Case,
    Cell,
    Column,
    Decimals,
    Document,
    Examples,
    Figure,
    Gallery,
    Passage,
    Table,
    columns,
)

_COLUMNS = (
    *(scores.METRIC, scores.SYSTEM, scores.SCORE, scores.LOW, scores.HIGH),
    Column("delta", "Delta", align="right", signed=True, help="Score minus the baseline's."),
    Column(
        "change",
        "95% interval",
        align="right",
        help="Interval of the difference.",
        readers="people",
    ),
    *columns("programs", delta_low="Delta low", delta_high="Delta high"),
    Column("p", "p", 4, align="right", help="p of the difference, by the paired test below."),
    Column(
        "better",
        "P(better)",
        None,
        "right",
        "Share of bootstrap resamples in which the system beats the baseline.",
    ),
    Column("wins", "Wins", None, "right", "Segments on which it beats the baseline.", detail=True),
    Column(
        "losses", "Losses", None, "right", "Segments on which the baseline beats it.", detail=True
    ),
    Column("ties", "Ties", None, "right", "Segments on which both score the same.", detail=True),
    *columns("programs", verdict="Verdict", units="Units"),
)
_TEXTS = "The first reference, the baseline's and the system's text."
_DIFFERENCES = (
    Column("system", "System", help="The system compared with the baseline."),
    scores.SEGMENT_ID,
    Column("baseline_score", "Baseline", align="right", help="The baseline's score there."),
    Column("system_score", "Score", align="right", help="The system's score there."),
    Column("delta", "Delta", align="right", signed=True, help="System minus baseline."),
    Column("text", "Text", help=_TEXTS, wrap=True, readers="people"),
    *columns("programs", reference="Reference", baseline_text="Baseline's text"),
    *columns("programs", system_text="System's text"),
)


def comparison_document(comparison: Comparison, command: str) -> Document:
    """Return the answer, the differences as a picture, examples, and the tables."""
    metrics = list(dict.fromkeys(row.metric for row in comparison.rows))
    corpus, baseline = comparison.signatures, comparison.baseline
    best = scores.emphasis([(row.metric, row.score.value) for row in comparison.rows])
    title = f"Comparison with {baseline}"
    cells = tuple(map(_cells, comparison.rows))
    table = Table("rows", title, _COLUMNS, cells, group="metric", emphasis=best)
    table = scores.with_skipped(table, comparison.skipped)
    blocks: list[Block] = [_forests(comparison, metrics)]
    blocks += _examples(comparison, metrics) if comparison.examples else []
    blocks += [*_figures(comparison, metrics), table]
    segments = scores.segment_signatures(comparison) if comparison.values else {}
    signatures = {**corpus, **segments, **corpus}
    told = comparison_answer(comparison), comparison_basis(comparison)
    document = Document(title, tuple(blocks), command, signatures, comparison.notes, {}, *told)
    return scores.with_form(document, comparison.form)


def _cells(row: CompareRow) -> dict[str, Cell]:
    better = None if row.better is None else Decimals(row.better, 3)
    delta = scores.decimals(row.metric, row.delta)
    change = None
    if row.delta_low is not None and row.delta_high is not None:
        change = span(row.delta_low, row.delta_high, 2 if row.metric.full_scale > 10 else 4)
    told: dict[str, Cell] = {"delta": delta, "better": better, "change": change}
    return {**row._asdict(), **scores.score_cells(row), **told}


# ----------------------------------------------------------------------------------- pictures


def _forests(comparison: Comparison, metrics: Sequence[Metric]) -> Gallery | Figure:
    """Differences from the baseline: a panel for each metric, or one for all of a single system.

    Metrics on one scale share an axis.
    """
    title = f"Differences from {comparison.baseline}"
    if len({row.system for row in comparison.rows}) == 2:
        panels = list(_panels_of_one(comparison, metrics))
    else:
        panels = list(_panels_by_metric(comparison, metrics))
    figures = tuple(Figure(panel.title, panel) for panel in panels)
    caption = "Dots: differences; lines: 95% intervals. Right of the dashed line is better."
    if len(figures) == 1:
        return replace(figures[0], title=title, caption=caption)
    return Gallery(title, figures, caption)


def _panels_of_one(comparison: Comparison, metrics: Sequence[Metric]) -> Iterator[Forest]:
    """One panel of all metrics in shares of their scales; outside scores have their own."""
    base = comparison.baseline
    rows = [row for row in comparison.rows if row.delta is not None]
    shared = [_change(row, _labelled(row.metric)) for row in rows if row.metric.reads_texts]
    if shared:
        yield Forest(f"{rows[0].system} and {base}", base, shared)
    for row in rows:
        if not row.metric.reads_texts:
            yield Forest(_labelled(row.metric), base, [_change(row, row.system)])


def _panels_by_metric(comparison: Comparison, metrics: Sequence[Metric]) -> Iterator[Forest]:
    rows = _ordered(comparison, metrics[0])
    panels = {
        m: [_change(row, row.system) for row in rows if row.metric == m and row.delta is not None]
        for m in metrics
    }
    shared = reach([change for m in metrics if m.reads_texts for change in panels[m]])
    for m in metrics:
        span = shared if m.reads_texts else None
        yield Forest(_labelled(m), comparison.baseline, panels[m], span)


def _ordered(comparison: Comparison, first: Metric) -> list[CompareRow]:
    """The rows with the systems as the first metric ranks them, the same in all pictures."""
    order = [row.system for row in comparison.rows if row.metric == first]
    return sorted(comparison.rows, key=lambda row: order.index(row.system))


def _change(row: CompareRow, label: str) -> Change:
    """A difference as a share of the metric's scale, so that better is to the right."""
    m = row.metric
    scale = m.sign / m.full_scale
    missing = float("nan")
    value, one, other = (
        missing if x is None else x * scale for x in (row.delta, row.delta_low, row.delta_high)
    )
    text = signed(row.delta or 0.0, score_digits(m))
    told = text, row.verdict or "undecided"
    return Change(label, value, min(one, other), max(one, other), *told)


def _labelled(metric: Metric) -> str:
    """The metric's name, with an arrow where lower is better."""
    return f"{metric_label(metric)} ↓" if metric.sign < 0 else metric_label(metric)


def _figures(comparison: Comparison, metrics: Sequence[Metric]) -> list[Gallery]:
    """Segments won and lost by each metric; how segments differ by the first metric."""
    base, ordered = comparison.baseline, _ordered(comparison, metrics[0])
    tallies = []
    for m in metrics:
        rows = [row for row in ordered if row.metric == m and row.wins is not None]
        shown = [Tally(row.system, row.wins or 0, row.ties or 0, row.losses or 0) for row in rows]
        if shown:
            tallies.append(Figure(f"Won and lost by {metric_label(m)}", Tallies("", base, shown)))
    if not tallies:  # too many segments to keep the scores of all
        return []
    return [
        Gallery(f"Segments won and lost against {base}", tuple(tallies)),
        Gallery("Differences by segment", tuple(_histograms(comparison, metrics[0]))),
    ]


def _histograms(comparison: Comparison, metric: Metric) -> Iterator[Figure]:
    bases = comparison.segment_scores(comparison.baseline, metric)
    for system in dict.fromkeys(row.system for row in comparison.rows):
        if system == comparison.baseline:
            continue
        gaps = (comparison.segment_scores(system, metric) - bases).tolist()
        title = f"{system} minus {comparison.baseline}, segment by segment"
        axis = f"difference in {metric_label(metric.of_segments())}"
        yield Figure(title, Histogram(title, axis, gaps, marker=0.0, narrow=True))


# ----------------------------------------------------------------------------------- examples


def _examples(comparison: Comparison, metrics: Sequence[Metric]) -> list[Examples]:
    """The segments that differ most: cards by every metric, a table by the first."""
    baseline, first = comparison.baseline, metrics[0].of_segments()
    rows = tuple(
        _example_cells(one, metrics[0], baseline)
        for one in comparison.examples
        if one.metric == str(first)
    )
    name = f"Segments that differ most from {baseline} by {first}"
    table = Table("segments", name, _DIFFERENCES, rows, group="system")
    by_name = {str(m.of_segments()): m for m in metrics}
    cases = tuple(_case(one, by_name[one.metric], baseline) for one in comparison.examples)
    switches = {
        label.lower(): label
        for label in ("System", "Metric")
        if len({case.tags[label.lower()] for case in cases}) > 1
    }
    title = f"Segments that differ most from {baseline}"
    return [Examples(title, cases, table, switches)]


def _case(example: Example, metric: Metric, baseline: str) -> Case:
    label, digits = metric_label(metric), score_digits(metric)
    shown = f"{example.baseline_score:.{digits}f} → {example.system_score:.{digits}f}"
    number = example.segment + 1 if example.id is None else example.id
    texts = {baseline: example.baseline_text, example.system: example.system_text}
    passages = [Passage(example.which, example.reference)]
    for name, text in texts.items():
        passages.append(Passage(name, text, differing_words(text, example.references)))
    tags = {"system": example.system, "metric": label}
    return Case(f"Segment {number}", f"{label} {shown}", tuple(passages), tags)


def _example_cells(example: Example, metric: Metric, baseline: str) -> dict[str, Cell]:
    a, b = example.baseline_score, example.system_score
    texts = f"{example.which}: {example.reference}\n{baseline}: {example.baseline_text}"
    return {
        **example._asdict(),
        "segment": example.segment + 1 if example.id is None else example.id,
        "baseline_score": scores.decimals(metric, a),
        "system_score": scores.decimals(metric, b),
        "delta": scores.decimals(metric, b - a),
        "text": f"{texts}\n{example.system}: {example.system_text}",
    }
