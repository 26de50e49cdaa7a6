"""The report of `compare`: scores with intervals and tests, and the segments that differ most."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from karat.comparison import TESTS, CompareRow, Comparison, Example
from karat.metrics.base import Metric
from karat.metrics.differing import differing_words
from karat.report.charts.models import Change, Forest, Histogram, Tallies, Tally, reach
from karat.report.documents import scores
from karat.report.model import (
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
    listing,
    metric_label,
    number_text,
    score_digits,
    several,
    signed,
    span,
)
from karat.scoring import ScoreRow, WideScores
from karat.stats.significance import (
    BETTER,
    MIN_DECIDING_UNITS,
    SIGNIFICANCE_LEVEL,
    WORSE,
)

MOST_TOLD = 4
"""Systems that have a sentence each; more are counted."""
MOST_TESTS = 4
"""Tests that need no warning in the answer; the basis always has their number."""
MOST_NUMBERS = 3
"""Differences that a sentence gives numbers of."""


class Verdicts(NamedTuple):
    """The rows of one system, by what they say."""

    system: str
    better: list[CompareRow]
    worse: list[CompareRow]
    undecided: list[CompareRow]

    @property
    def kind(self) -> str:
        """One of better, worse, undecided, mixed: what all its rows together say."""
        if self.better and self.worse:
            return "mixed"
        return "better" if self.better else "worse" if self.worse else "undecided"


def comparison_answer(comparison: Comparison) -> tuple[str, ...]:
    """Return a sentence for each system, or sentences that count them where they are many."""
    if few(comparison):
        return (_too_few(comparison),)
    systems, base = verdicts(comparison), comparison.baseline
    if len(systems) > MOST_TOLD:
        sentences = _counted(systems, base)
    else:
        sentences = [_sentence(one, base) for one in systems]
    return (*sentences, *_uncorrected(comparison))


def _uncorrected(comparison: Comparison) -> Iterator[str]:
    """Warn where something is decided by one of many tests."""
    if _has_warning(comparison):
        yield (
            f"These are {_number_of_tests(comparison)} tests, not corrected for their number: "
            f"where systems do not differ, about one test in {round(1 / SIGNIFICANCE_LEVEL)} "
            "still shows a difference."
        )


def comparison_basis(comparison: Comparison) -> str:
    """Return what the answer rests on: segments, references, the rule and the test."""
    parts = []
    if comparison.segments is not None:
        in_buckets = f" in {several(comparison.buckets, 'bucket')}" if comparison.buckets else ""
        parts.append(several(comparison.segments, "segment") + in_buckets + _scored(comparison))
    if comparison.references:
        parts.append(several(comparison.references, "reference"))
    size = f"{', '.join(parts)}. " if parts else ""
    if few(comparison):
        return f"{size}Fewer than {MIN_DECIDING_UNITS} {_unit(comparison)}s decide nothing."
    rule = _rule(comparison) if _has_warning(comparison) else decision_rule(comparison)
    return f"{size}Decided where the {rule}."


def _scored(comparison: Comparison) -> str:
    """Return how many segments, or buckets, have scores, if some have none."""
    units = [row.units for row in comparison.rows if row.units is not None]
    if not units or min(units) == (comparison.buckets or comparison.segments):
        return ""
    at_least = "" if len({*units}) == 1 else "at least "
    return f" ({at_least}{min(units):,} of them with scores of both systems)"


def decision_rule(comparison: Comparison) -> str:
    """Return the rule behind verdicts, and how many tests there are."""
    tests = _number_of_tests(comparison)
    corrected = f"; the {tests} tests are not corrected for their number" if tests > 1 else ""
    return f"{_rule(comparison)}{corrected}"


def _rule(comparison: Comparison) -> str:
    return (
        f"95% interval of the difference excludes zero and p < {SIGNIFICANCE_LEVEL}: "
        f"{TESTS[comparison.test]}, {several(comparison.trials, 'trial')}"
    )


def _has_warning(comparison: Comparison) -> bool:
    """Return whether the answer warns that the tests are many."""
    decided = any(row.verdict in (BETTER, WORSE) for row in comparison.rows)
    return decided and _number_of_tests(comparison) > MOST_TESTS


def _number_of_tests(comparison: Comparison) -> int:
    return sum(row.verdict is not None for row in comparison.rows)


def few(comparison: Comparison) -> bool:
    """Return whether there are too few segments, or buckets, to decide anything."""
    units = _most_units(comparison)
    return units is not None and units < MIN_DECIDING_UNITS


def _most_units(comparison: Comparison) -> int | None:
    return max((row.units for row in comparison.rows if row.units is not None), default=None)


def _unit(comparison: Comparison) -> str:
    return "bucket" if comparison.buckets else "segment"


def _too_few(comparison: Comparison) -> str:
    units = _most_units(comparison) or 0
    verb = "is" if units == 1 else "are"
    count = several(units, _unit(comparison))
    if units < (comparison.buckets or comparison.segments or 0):
        count += " with a score"
    return (
        f"{count} {verb} too few to tell systems apart: at least {MIN_DECIDING_UNITS} are needed."
    )


def verdicts(comparison: Comparison) -> list[Verdicts]:
    """Return the rows of every system but the baseline, best first by the first metric."""
    names = dict.fromkeys(row.system for row in comparison.rows)
    found = []
    for name in names:
        rows = [row for row in comparison.rows if row.system == name and row.verdict]
        kinds = ("better", "worse", "undecided")
        told = ([row for row in rows if row.verdict == kind] for kind in kinds)
        found += [Verdicts(name, *told)] if rows else []
    return found


def _sentence(one: Verdicts, base: str) -> str:
    system = one.system
    if one.kind == "undecided":
        what = _by(one.undecided)
        if len(one.undecided) == 1:
            return (
                f"{what} does not tell {system} and {base} apart: {_change_text(one.undecided[0])}."
            )
        return f"No metric tells {system} and {base} apart ({what})."
    rest = _rest(one.undecided, f"{system} and {base}" if one.kind == "mixed" else "them")
    if one.kind == "mixed":
        better, worse = _numbers(one.better), _numbers(one.worse)
        return f"{system} is better than {base} by {better}, but worse by {worse}{rest}."
    decided = one.better or one.worse
    verb = "beats" if one.better else "is worse than"
    if one.undecided or len(decided) == 1:
        return f"{system} {verb} {base} by {_numbers(decided)}{rest}."
    every = "both metrics" if len(decided) == 2 else f"all {len(decided)} metrics"
    if len(decided) <= MOST_NUMBERS:
        return f"{system} {verb} {base} by {every}: {_numbers(decided)}."
    first = f"{metric_label(decided[0].metric)} {_change_text(decided[0])}"
    return f"{system} {verb} {base} by {every}, for example {first}."


def _rest(undecided: Sequence[CompareRow], them: str) -> str:
    if not undecided:
        return ""
    verb = "does" if len(undecided) == 1 else "do"
    return f"; {_by(undecided)} {verb} not tell {them} apart"


def _numbers(rows: Sequence[CompareRow]) -> str:
    """The differences with their intervals, or the metrics alone where they are many."""
    if len(rows) > MOST_NUMBERS:
        return _by(rows)
    return listing([f"{metric_label(row.metric)} {_change_text(row)}" for row in rows])


def _by(rows: Sequence[CompareRow]) -> str:
    return listing([metric_label(row.metric) for row in rows])


def _change_text(row: CompareRow) -> str:
    digits = score_digits(row.metric)
    if row.delta is None or row.delta_low is None or row.delta_high is None:
        return "no difference"
    return f"{signed(row.delta, digits)} {span(row.delta_low, row.delta_high, digits)}"


def _counted(systems: Sequence[Verdicts], base: str) -> list[str]:
    """Sentences that count the systems of each kind and name the first of them."""
    several_metrics = sum(map(len, systems[0][1:])) > 1
    sentences = []
    for kind in ("better", "worse", "mixed", "undecided"):
        names = [one.system for one in systems if one.kind == kind]
        if names:
            words = _kind_words(kind, base, len(names) == 1, several_metrics)
            sentences.append(f"{len(names)} of {len(systems)} systems {words}: {listing(names)}.")
    return sentences


def _kind_words(kind: str, base: str, single: bool, several_metrics: bool) -> str:
    """Return what one system, or several, of a kind are against the baseline."""
    verb = "is" if single else "are"
    if kind == "better":
        by = f" by at least one metric and {verb} worse by none" if several_metrics else ""
        return f"{'beats' if single else 'beat'} {base}{by}"
    if kind == "worse":
        by = " by at least one metric and better by none" if several_metrics else ""
        return f"{verb} worse than {base}{by}"
    if kind == "mixed":
        return f"{verb} better than {base} by one metric and worse by another"
    return f"cannot be told from {base}"


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
    shared = [_forest_change(row, _labelled(row.metric)) for row in rows if row.metric.reads_texts]
    if shared:
        yield Forest(f"{rows[0].system} and {base}", base, shared)
    for row in rows:
        if not row.metric.reads_texts:
            yield Forest(_labelled(row.metric), base, [_forest_change(row, row.system)])


def _panels_by_metric(comparison: Comparison, metrics: Sequence[Metric]) -> Iterator[Forest]:
    rows = _ordered(comparison, metrics[0])
    panels = {
        m: [
            _forest_change(row, row.system)
            for row in rows
            if row.metric == m and row.delta is not None
        ]
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


def _forest_change(row: CompareRow, label: str) -> Change:
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


MARKS = {BETTER: "†", WORSE: "‡"}
"""Marks of systems that are better and worse than the baseline."""
ARROWS = {1: "↑", -1: "↓"}

_Row = ScoreRow | CompareRow
_Rows = Mapping[tuple[str, Metric], _Row]


def wide_document(wide: WideScores, command: str) -> Document:
    """Return the scores of systems by metrics, with intervals and marks where there are any.

    Programs get numbers in columns of their own, people one text for each number.
    """
    results = wide.results
    rows: _Rows = {(row.system, row.metric): row for row in results.rows}
    systems = list(dict.fromkeys(system for system, _ in rows))
    metrics = list(dict.fromkeys(m for _, m in rows))
    intervals, tested = bool(results.resamples), isinstance(results, Comparison)
    columns = [scores.SYSTEM]
    for m in metrics:
        columns += _wide_columns(m, intervals, tested)
    best = scores.emphasis([(row.metric, row.score.value) for row in results.rows])
    winners = {results.rows[at][:2] for at, _ in best}
    stressed = {(i, _shown(m)) for i, s in enumerate(systems) for m in metrics if (s, m) in winners}
    cells = tuple(_wide_cells(system, metrics, rows) for system in systems)
    marked = frozenset(stressed)
    table = Table("rows", "Scores", tuple(columns), cells, emphasis=marked, open=True)
    told = replace(results, values={}).notes  # nothing about wins, which are not shown
    notes = (*(_legend(results) if isinstance(results, Comparison) else ()), *told)
    title = f"Comparison with {results.baseline}" if isinstance(results, Comparison) else "Scores"
    document = Document(title, (table,), command, results.signatures, notes)
    if isinstance(results, Comparison):
        told = comparison_answer(results)
        document = replace(document, answer=told, basis=comparison_basis(results))
    return scores.with_form(document, results.form)


def _shown(m: Metric) -> str:
    return f"{m} shown"


def _wide_columns(m: Metric, intervals: bool, tested: bool) -> list[Column]:
    better = "higher" if m.sign > 0 else "lower"
    told = f"Score by {m}; {better} is better."
    found = [Column(_shown(m), f"{m} {ARROWS[m.sign]}", None, "right", told, readers="people")]
    if intervals:
        told = f"95% bootstrap interval of {m}."
        found.append(Column(f"{m} interval", "95%", None, "right", told, readers="people"))
    names = ["", *([" low", " high"] if intervals else [])]
    names += [" delta", " p", " verdict"] if tested else []
    return [*found, *(Column(f"{m}{name}", f"{m}{name}", readers="programs") for name in names)]


def _wide_cells(system: str, metrics: Sequence[Metric], rows: _Rows) -> dict[str, Cell]:
    cells: dict[str, Cell] = {"system": system}
    for m in metrics:
        row = rows.get((system, m))
        if row is None:
            continue
        cells[str(m)] = row.score.value
        cells[_shown(m)] = _text(m, row.score.value) + _mark(row)
        if row.low is not None and row.high is not None:
            cells |= {f"{m} low": row.low, f"{m} high": row.high}
            cells[f"{m} interval"] = f"[{_text(m, row.low)}, {_text(m, row.high)}]"
        if isinstance(row, CompareRow):
            cells |= {f"{m} delta": row.delta, f"{m} p": row.p, f"{m} verdict": row.verdict}
    return cells


def _text(m: Metric, value: float) -> str:
    shown = scores.decimals(m, value)
    return number_text(shown, scores.SCORE) if isinstance(shown, Decimals) else ""


def _mark(row: _Row) -> str:
    """Return the mark of a system whose verdict is better or worse."""
    verdict = row.verdict if isinstance(row, CompareRow) else None
    return MARKS.get(verdict or "", "")


def _legend(comparison: Comparison) -> tuple[str, ...]:
    best = "Bold: the best of each column."
    if few(comparison):
        return (best,)
    marks = f"{MARKS[BETTER]} better and {MARKS[WORSE]} worse than {comparison.baseline}"
    return (f"{marks} ({decision_rule(comparison)}). {best}",)
