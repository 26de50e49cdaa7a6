"""The report of `compare`: scores with intervals and tests, and the segments that differ most."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from karat.comparison import TESTS, CompareRow, Comparison, Example
from karat.metrics.base import Metric
from karat.metrics.differing import differing_words
from karat.report.charts.models import (
    Forest,
    ForestChange,
    ForestTally,
    Histogram,
    Tallies,
    forest_span,
)
from karat.report.documents import scores
from karat.report.model import (
    Block,
    Cell,
    Column,
    Decimals,
    Document,
    ExampleCase,
    Examples,
    Figure,
    Gallery,
    Table,
    TextPassage,
    columns,
    format_count,
    format_interval,
    format_signed,
    join_names,
    metric_label,
    number,
    number_text,
    score_digits,
)
from karat.scoring import ScoreRow, WideScores
from karat.stats.significance import BETTER, MIN_DECIDING_UNITS, SIGNIFICANCE_LEVEL, WORSE

MAX_SENTENCES = 4
"""Systems with a sentence each; more are counted."""
MAX_UNWARNED_TESTS = 4
"""Number of tests beyond which the answer warns; the basis always states it."""
MAX_LISTED_DIFFERENCES = 3
"""Differences listed with numbers in one sentence."""


class SystemVerdicts(NamedTuple):
    """The rows of one system by verdict."""

    system: str
    better: list[CompareRow]
    worse: list[CompareRow]
    undecided: list[CompareRow]

    @property
    def kind(self) -> str:
        """The verdict of all rows together: better, worse, undecided or mixed."""
        if self.better and self.worse:
            return "mixed"
        return "better" if self.better else "worse" if self.worse else "undecided"


def comparison_answer(comparison: Comparison) -> tuple[str, ...]:
    """Return a sentence per system, or counts of systems if there are many."""
    if has_too_few_units(comparison):
        return (_too_few(comparison),)
    systems, base = verdicts_by_system(comparison), comparison.baseline
    if len(systems) > MAX_SENTENCES:
        sentences = _count_sentences(systems, base)
    else:
        sentences = [_system_sentence(verdicts, base) for verdicts in systems]
    return (*sentences, *_many_tests_warning(comparison))


def _many_tests_warning(comparison: Comparison) -> Iterator[str]:
    """Warn where something is decided by one of many tests."""
    if _needs_warning(comparison):
        yield (
            f"These are {_number_of_tests(comparison)} tests, not corrected for their number: "
            f"where systems do not differ, about one test in {round(1 / SIGNIFICANCE_LEVEL)} "
            "still shows a difference."
        )


def comparison_basis(comparison: Comparison) -> str:
    """Return the basis of the answer: segments, references, the rule and the test."""
    parts = []
    if comparison.segments is not None:
        in_buckets = (
            f" in {format_count(comparison.buckets, 'bucket')}" if comparison.buckets else ""
        )
        parts.append(
            format_count(comparison.segments, "segment") + in_buckets + _units_clause(comparison)
        )
    if comparison.references:
        parts.append(format_count(comparison.references, "reference"))
    size = f"{', '.join(parts)}. " if parts else ""
    if has_too_few_units(comparison):
        return f"{size}Fewer than {MIN_DECIDING_UNITS} {_unit(comparison)}s decide nothing."
    rule = _rule(comparison) if _needs_warning(comparison) else decision_rule(comparison)
    return f"{size}Decided where the {rule}."


def _units_clause(comparison: Comparison) -> str:
    """Return how many segments or buckets are scored, if some are not."""
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
        f"{TESTS[comparison.test]}, {format_count(comparison.trials, 'trial')}"
    )


def _needs_warning(comparison: Comparison) -> bool:
    is_decided = any(row.verdict in (BETTER, WORSE) for row in comparison.rows)
    return is_decided and _number_of_tests(comparison) > MAX_UNWARNED_TESTS


def _number_of_tests(comparison: Comparison) -> int:
    return sum(row.verdict is not None for row in comparison.rows)


def has_too_few_units(comparison: Comparison) -> bool:
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
    count = format_count(units, _unit(comparison))
    if units < (comparison.buckets or comparison.segments or 0):
        count += " with a score"
    return (
        f"{count} {verb} too few to tell systems apart: at least {MIN_DECIDING_UNITS} are needed."
    )


def verdicts_by_system(comparison: Comparison) -> list[SystemVerdicts]:
    """Return the rows of every system but the baseline, best first by the first metric."""
    names = dict.fromkeys(row.system for row in comparison.rows)
    by_system = []
    for name in names:
        rows = [row for row in comparison.rows if row.system == name and row.verdict]
        kinds = ("better", "worse", "undecided")
        rows_by_kind = ([row for row in rows if row.verdict == kind] for kind in kinds)
        by_system += [SystemVerdicts(name, *rows_by_kind)] if rows else []
    return by_system


def _system_sentence(verdicts: SystemVerdicts, base: str) -> str:
    system = verdicts.system
    if verdicts.kind == "undecided":
        metrics = _list_metrics(verdicts.undecided)
        if len(verdicts.undecided) == 1:
            change = _change_text(verdicts.undecided[0])
            return f"{metrics} does not tell {system} and {base} apart: {change}."
        return f"No metric tells {system} and {base} apart ({metrics})."
    undecided_clause = _undecided_clause(
        verdicts.undecided, f"{system} and {base}" if verdicts.kind == "mixed" else "them"
    )
    if verdicts.kind == "mixed":
        better, worse = _list_differences(verdicts.better), _list_differences(verdicts.worse)
        return (
            f"{system} is better than {base} by {better}, but worse by {worse}{undecided_clause}."
        )
    decided_rows = verdicts.better or verdicts.worse
    verb = "beats" if verdicts.better else "is worse than"
    if verdicts.undecided or len(decided_rows) == 1:
        return f"{system} {verb} {base} by {_list_differences(decided_rows)}{undecided_clause}."
    all_metrics = "both metrics" if len(decided_rows) == 2 else f"all {len(decided_rows)} metrics"
    if len(decided_rows) <= MAX_LISTED_DIFFERENCES:
        return f"{system} {verb} {base} by {all_metrics}: {_list_differences(decided_rows)}."
    first = f"{metric_label(decided_rows[0].metric)} {_change_text(decided_rows[0])}"
    return f"{system} {verb} {base} by {all_metrics}, for example {first}."


def _undecided_clause(undecided: Sequence[CompareRow], compared: str) -> str:
    if not undecided:
        return ""
    verb = "does" if len(undecided) == 1 else "do"
    return f"; {_list_metrics(undecided)} {verb} not tell {compared} apart"


def _list_differences(rows: Sequence[CompareRow]) -> str:
    """The differences with their intervals, or the metrics alone where they are many."""
    if len(rows) > MAX_LISTED_DIFFERENCES:
        return _list_metrics(rows)
    return join_names([f"{metric_label(row.metric)} {_change_text(row)}" for row in rows])


def _list_metrics(rows: Sequence[CompareRow]) -> str:
    return join_names([metric_label(row.metric) for row in rows])


def _change_text(row: CompareRow) -> str:
    digits = score_digits(row.metric)
    if row.delta is None or row.delta_low is None or row.delta_high is None:
        return "no difference"
    interval = format_interval(row.delta_low, row.delta_high, digits)
    return f"{format_signed(row.delta, digits)} {interval}"


def _count_sentences(systems: Sequence[SystemVerdicts], base: str) -> list[str]:
    several_metrics = sum(map(len, systems[0][1:])) > 1
    sentences = []
    for kind in ("better", "worse", "mixed", "undecided"):
        names = [verdicts.system for verdicts in systems if verdicts.kind == kind]
        if names:
            words = _kind_words(kind, base, len(names) == 1, several_metrics)
            sentences.append(
                f"{len(names)} of {len(systems)} systems {words}: {join_names(names)}."
            )
    return sentences


def _kind_words(kind: str, base: str, single: bool, several_metrics: bool) -> str:
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
    number("delta", "Delta", help="Score minus the baseline's.", signed=True),
    number("change", "95% interval", help="Interval of the difference.", readers="people"),
    *columns("programs", delta_low="Delta low", delta_high="Delta high"),
    number("p", "p", 4, "p of the difference, by the paired test below."),
    number(
        "better",
        "P(better)",
        help="Share of bootstrap resamples in which the system beats the baseline.",
    ),
    number("wins", "Wins", help="Segments on which it beats the baseline.", detail=True),
    number("losses", "Losses", help="Segments on which the baseline beats it.", detail=True),
    number("ties", "Ties", help="Segments on which both score the same.", detail=True),
    *columns("programs", verdict="Verdict", units="Units"),
)
_TEXTS = "The first reference, the baseline's and the system's text."
_DIFFERENCES = (
    Column("system", "System", help="The system compared with the baseline."),
    scores.SEGMENT_ID,
    number("baseline_score", "Baseline", help="The baseline's score there."),
    number("system_score", "Score", help="The system's score there."),
    number("delta", "Delta", help="System minus baseline.", signed=True),
    Column("text", "Text", help=_TEXTS, wrap=True, readers="people"),
    *columns("programs", reference="Reference", baseline_text="Baseline's text"),
    *columns("programs", system_text="System's text"),
)


def comparison_document(comparison: Comparison, command: str) -> Document:
    """Return the answer, the differences as a picture, examples, and the tables."""
    metrics = list(dict.fromkeys(row.metric for row in comparison.rows))
    corpus, baseline = comparison.signatures, comparison.baseline
    best = scores.best_cells([(row.metric, row.score.value) for row in comparison.rows])
    title = f"Comparison with {baseline}"
    cells = tuple(map(_comparison_cells, comparison.rows))
    table = Table("rows", title, _COLUMNS, cells, group="metric", emphasis=best)
    table = scores.with_skipped(table, comparison.skipped)
    blocks: list[Block] = [_forests(comparison, metrics)]
    blocks += _examples(comparison, metrics) if comparison.examples else []
    blocks += [*_segment_galleries(comparison, metrics), table]
    segments = scores.segment_signatures(comparison) if comparison.values else {}
    signatures = {**corpus, **segments, **corpus}
    answer_and_basis = comparison_answer(comparison), comparison_basis(comparison)
    document = Document(
        title, tuple(blocks), command, signatures, comparison.notes, {}, *answer_and_basis
    )
    return scores.note_signature_form(document, comparison.form)


def _comparison_cells(row: CompareRow) -> dict[str, Cell]:
    better = None if row.better is None else Decimals(row.better, 3)
    delta = scores.score_cell(row.metric, row.delta)
    change = None
    if row.delta_low is not None and row.delta_high is not None:
        change = format_interval(
            row.delta_low, row.delta_high, 2 if row.metric.full_scale > 10 else 4
        )
    formatted: dict[str, Cell] = {"delta": delta, "better": better, "change": change}
    return {**row._asdict(), **scores.score_cells(row), **formatted}


# ----------------------------------------------------------------------------------- pictures


def _forests(comparison: Comparison, metrics: Sequence[Metric]) -> Gallery | Figure:
    """Differences from the baseline: a panel for each metric, or one for all of a single system.

    Metrics on one scale share an axis.
    """
    title = f"Differences from {comparison.baseline}"
    if len({row.system for row in comparison.rows}) == 2:
        panels = list(_single_system_panels(comparison, metrics))
    else:
        panels = list(_panels_by_metric(comparison, metrics))
    figures = tuple(Figure(panel.title, panel) for panel in panels)
    caption = "Dots: differences; lines: 95% intervals. Right of the dashed line is better."
    if len(figures) == 1:
        return replace(figures[0], title=title, caption=caption)
    return Gallery(title, figures, caption)


def _single_system_panels(comparison: Comparison, metrics: Sequence[Metric]) -> Iterator[Forest]:
    """One panel of all metrics in shares of their scales; outside scores have their own."""
    base = comparison.baseline
    rows = [row for row in comparison.rows if row.delta is not None]
    shared = [
        _forest_change(row, _label_with_arrow(row.metric)) for row in rows if row.metric.reads_texts
    ]
    if shared:
        yield Forest(f"{rows[0].system} and {base}", base, shared)
    for row in rows:
        if not row.metric.reads_texts:
            yield Forest(_label_with_arrow(row.metric), base, [_forest_change(row, row.system)])


def _panels_by_metric(comparison: Comparison, metrics: Sequence[Metric]) -> Iterator[Forest]:
    rows = _rows_by_first_metric(comparison, metrics[0])
    panels = {
        m: [
            _forest_change(row, row.system)
            for row in rows
            if row.metric == m and row.delta is not None
        ]
        for m in metrics
    }
    shared = forest_span([change for m in metrics if m.reads_texts for change in panels[m]])
    for m in metrics:
        span = shared if m.reads_texts else None
        yield Forest(_label_with_arrow(m), comparison.baseline, panels[m], span)


def _rows_by_first_metric(comparison: Comparison, first: Metric) -> list[CompareRow]:
    order = [row.system for row in comparison.rows if row.metric == first]
    return sorted(comparison.rows, key=lambda row: order.index(row.system))


def _forest_change(row: CompareRow, label: str) -> ForestChange:
    """A difference as a share of the metric's scale, so that better is to the right."""
    m = row.metric
    scale = m.sign / m.full_scale
    missing = float("nan")
    value, left_end, right_end = (
        missing if x is None else x * scale for x in (row.delta, row.delta_low, row.delta_high)
    )
    text = format_signed(row.delta or 0.0, score_digits(m))
    text_and_verdict = text, row.verdict or "undecided"
    return ForestChange(
        label, value, min(left_end, right_end), max(left_end, right_end), *text_and_verdict
    )


def _label_with_arrow(metric: Metric) -> str:
    """The metric's name, with an arrow where lower is better."""
    return f"{metric_label(metric)} ↓" if metric.sign < 0 else metric_label(metric)


def _segment_galleries(comparison: Comparison, metrics: Sequence[Metric]) -> list[Gallery]:
    """Segments won and lost by each metric; how segments differ by the first metric."""
    base, ordered = comparison.baseline, _rows_by_first_metric(comparison, metrics[0])
    tallies = []
    for m in metrics:
        rows = [row for row in ordered if row.metric == m and row.wins is not None]
        tally_rows = [
            ForestTally(row.system, row.wins or 0, row.ties or 0, row.losses or 0) for row in rows
        ]
        if tally_rows:
            tallies.append(
                Figure(f"Won and lost by {metric_label(m)}", Tallies("", base, tally_rows))
            )
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
        _example_cells(example, metrics[0], baseline)
        for example in comparison.examples
        if example.metric == str(first)
    )
    name = f"Segments that differ most from {baseline} by {first}"
    table = Table("segments", name, _DIFFERENCES, rows, group="system")
    by_name = {str(m.of_segments()): m for m in metrics}
    cases = tuple(
        _example_case(example, by_name[example.metric], baseline) for example in comparison.examples
    )
    switches = {
        label.lower(): label
        for label in ("System", "Metric")
        if len({case.tags[label.lower()] for case in cases}) > 1
    }
    title = f"Segments that differ most from {baseline}"
    return [Examples(title, cases, table, switches)]


def _example_case(example: Example, metric: Metric, baseline: str) -> ExampleCase:
    label, digits = metric_label(metric), score_digits(metric)
    scores_text = f"{example.baseline_score:.{digits}f} → {example.system_score:.{digits}f}"
    number = example.segment + 1 if example.id is None else example.id
    texts = {baseline: example.baseline_text, example.system: example.system_text}
    passages = [TextPassage(example.which, example.reference)]
    for name, text in texts.items():
        passages.append(TextPassage(name, text, differing_words(text, example.references)))
    tags = {"system": example.system, "metric": label}
    return ExampleCase(f"Segment {number}", f"{label} {scores_text}", tuple(passages), tags)


def _example_cells(example: Example, metric: Metric, baseline: str) -> dict[str, Cell]:
    a, b = example.baseline_score, example.system_score
    texts = f"{example.which}: {example.reference}\n{baseline}: {example.baseline_text}"
    return {
        **example._asdict(),
        "segment": example.segment + 1 if example.id is None else example.id,
        "baseline_score": scores.score_cell(metric, a),
        "system_score": scores.score_cell(metric, b),
        "delta": scores.score_cell(metric, b - a),
        "text": f"{texts}\n{example.system}: {example.system_text}",
    }


MARKS = {BETTER: "†", WORSE: "‡"}
"""Marks of systems that are better and worse than the baseline."""
ARROWS = {1: "↑", -1: "↓"}

_WideRow = ScoreRow | CompareRow
_WideRows = Mapping[tuple[str, Metric], _WideRow]


def wide_document(wide: WideScores, command: str) -> Document:
    """Return the scores of systems by metrics, with intervals and marks where there are any.

    Programs get numbers in columns of their own, people one text for each number.
    """
    results = wide.results
    rows: _WideRows = {(row.system, row.metric): row for row in results.rows}
    systems = list(dict.fromkeys(system for system, _ in rows))
    metrics = list(dict.fromkeys(m for _, m in rows))
    intervals, tested = bool(results.resamples), isinstance(results, Comparison)
    columns = [scores.SYSTEM]
    for m in metrics:
        columns += _wide_columns(m, intervals, tested)
    best = scores.best_cells([(row.metric, row.score.value) for row in results.rows])
    winners = {results.rows[at][:2] for at, _ in best}
    stressed = {
        (i, _people_key(m)) for i, s in enumerate(systems) for m in metrics if (s, m) in winners
    }
    cells = tuple(_wide_cells(system, metrics, rows) for system in systems)
    marked = frozenset(stressed)
    table = Table("rows", "Scores", tuple(columns), cells, emphasis=marked, open=True)
    notes = replace(results, values={}).notes  # without notes on wins, which are not shown
    if isinstance(results, Comparison):
        notes = (*_marks_legend(results), *notes)
    title = f"Comparison with {results.baseline}" if isinstance(results, Comparison) else "Scores"
    document = Document(title, (table,), command, results.signatures, notes)
    if isinstance(results, Comparison):
        answer, basis = comparison_answer(results), comparison_basis(results)
        document = replace(document, answer=answer, basis=basis)
    return scores.note_signature_form(document, results.form)


def _people_key(m: Metric) -> str:
    return f"{m} shown"


def _wide_columns(m: Metric, intervals: bool, tested: bool) -> list[Column]:
    better = "higher" if m.sign > 0 else "lower"
    help_text = f"Score by {m}; {better} is better."
    people_columns = [
        number(_people_key(m), f"{m} {ARROWS[m.sign]}", help=help_text, readers="people")
    ]
    if intervals:
        help_text = f"95% bootstrap interval of {m}."
        people_columns.append(number(f"{m} interval", "95%", help=help_text, readers="people"))
    names = ["", *([" low", " high"] if intervals else [])]
    names += [" delta", " p", " verdict"] if tested else []
    return [
        *people_columns,
        *(Column(f"{m}{name}", f"{m}{name}", readers="programs") for name in names),
    ]


def _wide_cells(system: str, metrics: Sequence[Metric], rows: _WideRows) -> dict[str, Cell]:
    cells: dict[str, Cell] = {"system": system}
    for m in metrics:
        row = rows.get((system, m))
        if row is None:
            continue
        cells[str(m)] = row.score.value
        cells[_people_key(m)] = _score_text(m, row.score.value) + _verdict_mark(row)
        if row.low is not None and row.high is not None:
            cells |= {f"{m} low": row.low, f"{m} high": row.high}
            cells[f"{m} interval"] = f"[{_score_text(m, row.low)}, {_score_text(m, row.high)}]"
        if isinstance(row, CompareRow):
            cells |= {f"{m} delta": row.delta, f"{m} p": row.p, f"{m} verdict": row.verdict}
    return cells


def _score_text(m: Metric, value: float) -> str:
    cell = scores.score_cell(m, value)
    return number_text(cell, scores.SCORE) if isinstance(cell, Decimals) else ""


def _verdict_mark(row: _WideRow) -> str:
    verdict = row.verdict if isinstance(row, CompareRow) else None
    return MARKS.get(verdict or "", "")


def _marks_legend(comparison: Comparison) -> tuple[str, ...]:
    best = "Bold: the best of each column."
    if has_too_few_units(comparison):
        return (best,)
    marks = f"{MARKS[BETTER]} better and {MARKS[WORSE]} worse than {comparison.baseline}"
    return (f"{marks} ({decision_rule(comparison)}). {best}",)
