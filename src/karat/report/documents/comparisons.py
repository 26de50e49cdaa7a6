"""The report of `compare`: scores with intervals and tests, and the segments that differ most."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from karat.comparison import (
    DELTA,
    EQUIVALENT,
    LEAD_NOTE,
    LEADING,
    LOSS,
    MARGIN_COLUMNS,
    NO_LOSS,
    SACREBLEU_P,
    TEST_COLUMNS,
    UNIT_COLUMNS,
    CompareRow,
    Comparison,
    Example,
)
from karat.metrics.base import Metric
from karat.metrics.differing import differing_words
from karat.report.charts.models import ChartRow, RowChart, histogram
from karat.report.documents import scores
from karat.report.documents.facts import component_tables, evidence_passages
from karat.report.documents.gains import gain_sentences, gain_tables
from karat.report.documents.ranking import (
    DIFFERENCES_CAPTION,
    difference_row,
    directed_label,
    ranking_gallery,
    strip_gallery,
)
from karat.report.documents.scores import SEGMENT_ID
from karat.report.documents.slices import slice_figures, slice_sentences, slice_tables
from karat.report.model import (
    MAX_SENTENCES,
    Block,
    Document,
    ExampleCase,
    Examples,
    Figure,
    Gallery,
    Table,
    TextPassage,
    cell_text,
    format_count,
    format_difference,
    format_interval,
    join_names,
    metric_label,
    score_digits,
    text_column,
)
from karat.results import Column, interval_digits, number, people_column, program_columns
from karat.score_settings import CORRECTIONS, SACREBLEU_TESTS
from karat.scoring import (
    INTERVAL,
    METRIC,
    SCORE,
    SYSTEM,
    Inference,
    ScoreRow,
    WideScores,
    metric_digits,
    row_digits,
)
from karat.stats.significance import (
    BETTER,
    MIN_DECIDING_UNITS,
    SIGNIFICANCE_LEVEL,
    UNDECIDED,
    WORSE,
)

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


class ComparisonTests(NamedTuple):
    """The tests of a comparison, and whether they can decide anything."""

    n_tests: int
    unit: str  # segment, document, bucket, ...
    units: int  # the largest number of units of a test
    min_units: int  # the fewest units that can decide
    warned: bool  # many uncorrected tests, and at least one is decided

    @property
    def too_few(self) -> bool:
        """Whether there are too few units to decide anything."""
        return self.units < self.min_units


def comparison_tests(comparison: Comparison) -> ComparisonTests:
    """Count the tests and the units that they are based on."""
    units = [row.units for row in comparison.rows if row.units is not None]
    is_decided = any(row.verdict in (BETTER, WORSE) for row in comparison.rows)
    is_uncorrected = comparison.correction == "none"
    warned = is_uncorrected and is_decided and comparison.n_tests > MAX_UNWARNED_TESTS
    unit = "bucket" if _buckets(comparison) else comparison.unit_text
    most = max(units, default=comparison.min_units)
    return ComparisonTests(comparison.n_tests, unit, most, comparison.min_units, warned)


def _buckets(comparison: Comparison) -> int | None:
    """Return the number of buckets; None if units were not put into buckets."""
    return comparison.inference.buckets if comparison.inference else None


def comparison_answer(comparison: Comparison) -> tuple[str, ...]:
    """Return a sentence per system, or counts of systems if there are many."""
    tests = comparison_tests(comparison)
    if tests.too_few:
        count = format_count(tests.units, tests.unit)
        if tests.unit == Inference().unit and tests.units < (comparison.segments or 0):
            count += " with a score"
        verb = "is" if tests.units == 1 else "are"
        number = f" for {tests.n_tests} tests" if tests.min_units > MIN_DECIDING_UNITS else ""
        needed = f"at least {tests.min_units} are needed{number}"
        return (f"{count} {verb} too few to tell systems apart: {needed}.",)
    base, systems = comparison.baseline, []
    sentences = [*_best_sentences(comparison)] if len(comparison.systems) > 2 else []
    for system in dict.fromkeys(row.system for row in comparison.rows):
        rows = [row for row in comparison.rows if row.system == system and row.verdict]
        kinds = (BETTER, WORSE, UNDECIDED)
        by_verdict = ([row for row in rows if row.verdict == kind] for kind in kinds)
        systems += [SystemVerdicts(system, *by_verdict)] if rows else []
    if len(systems) > MAX_SENTENCES:
        sentences += _count_sentences(systems, base)
    else:
        sentences += [_system_sentence(verdicts, base) for verdicts in systems]
    sentences += gain_sentences(comparison.gains)
    sentences += _margin_sentences(comparison)
    sentences += _detectable_sentences(comparison, tests)
    if tests.warned:
        sentences.append(
            f"These are {tests.n_tests} tests, not corrected for their number: "
            f"where systems do not differ, about one test in {round(1 / SIGNIFICANCE_LEVEL)} "
            "still shows a difference."
        )
    return (*sentences, *slice_sentences(comparison))


def _best_sentences(comparison: Comparison) -> Iterator[str]:
    """Yield the best system and those that do not differ from it, for metrics that agree on both.

    All pairs are tested for this. A system with a decided difference from the best one, which the
    tests against the baseline can find alone, is not among those that do not differ.
    """
    metrics_by_finding: dict[tuple[str, tuple[str, ...]], list[Metric]] = {}
    n_systems = len(comparison.systems)
    for m in dict.fromkeys(row.metric for row in comparison.rows):
        best, *lower = (row for row in comparison.rows if row.metric == m)
        leading = (row for row in lower if row.is_leading)
        tied = tuple(row.system for row in leading if not _is_decided(best, row, comparison))
        metrics_by_finding.setdefault((best.system, tied), []).append(m)
    for (system, tied), metrics in [*metrics_by_finding.items()][:MAX_SENTENCES]:
        if not tied:
            others_text = "all other systems are significantly worse"
        elif len(tied) == n_systems - 1:
            others_text = "no other system differs significantly"
        else:
            verb = "does" if len(tied) == 1 else "do"
            others_text = f"{join_names(tied)} {verb} not differ significantly"
        yield f"Best by {_list_names(metrics)}: {system}; {others_text}."


def _is_decided(best: CompareRow, row: CompareRow, comparison: Comparison) -> bool:
    if row.system == comparison.baseline:
        return best.verdict == BETTER
    return best.system == comparison.baseline and row.verdict == WORSE


def _margin_sentences(comparison: Comparison) -> Iterator[str]:
    """Yield a sentence for each system and finding; for many systems, for each margin."""
    rows = [row for row in comparison.rows if row.margin_verdict is not None]
    base, groups = comparison.baseline, dict[tuple[str, str], list[CompareRow]]()
    if len(comparison.systems) - 1 <= MAX_SENTENCES:
        for row in rows:
            groups.setdefault((row.system, str(row.margin_verdict)), []).append(row)
        for (system, finding), members in groups.items():
            yield _MARGIN_SENTENCES[finding].format(system, base, join_names(_margins(members)))
        return
    for row in rows:
        groups.setdefault((str(row.metric), str(row.margin_verdict)), []).append(row)
    for (_, finding), members in groups.items():
        (margin,), names = _margins(members[:1]), join_names([row.system for row in members])
        yield f"{_MARGIN_GROUPS[finding].format(base, margin)}: {names}."


_MARGIN_SENTENCES = {
    EQUIVALENT: "{0} is equivalent to {1} within {2}.",
    NO_LOSS: "{0} is not worse than {1} by more than {2}.",
    LOSS: "{0} loses more than {2} against {1}.",
    UNDECIDED: "Whether {0} loses more than {2} against {1} is undecided.",
}
_MARGIN_GROUPS = {
    EQUIVALENT: "Equivalent to {0} within {1}",
    NO_LOSS: "Not worse than {0} by more than {1}",
    LOSS: "Worse than {0} by more than {1}",
    UNDECIDED: "Undecided whether worse than {0} by more than {1}",
}


def _margins(rows: Sequence[CompareRow]) -> list[str]:
    return [f"{row.margin:g} {metric_label(row.metric)}" for row in rows]


def _detectable_sentences(comparison: Comparison, tests: ComparisonTests) -> Iterator[str]:
    """Yield the differences that these units show with 80% power, where any is undecided."""
    largest: dict[Metric, float] = {}
    for row in comparison.rows:
        if row.verdict == UNDECIDED and row.detectable is not None and row.detectable > 0:
            largest[row.metric] = max(row.detectable, largest.get(row.metric, 0.0))
    count = format_count(tests.units, tests.unit)
    beyond = [m for m, x in largest.items() if m.bounded and x > m.full_scale]
    if beyond:
        names = join_names([metric_label(m) for m in beyond])
        yield f"{count} cannot reliably detect any difference in {names} (80% power)."
    texts = [
        f"{x:.{score_digits(m)}f} {metric_label(m)}" for m, x in largest.items() if m not in beyond
    ]
    if not texts:
        return
    example = ", for example" if len(texts) > MAX_LISTED_DIFFERENCES else ""
    differences = join_names(texts[:1] if example else texts)
    yield f"{count} can detect a difference of {differences} or more{example} (80% power)."


def comparison_basis(comparison: Comparison) -> str:
    """Return the basis of the answer: segments, units, references, the rule and the test."""
    tests = comparison_tests(comparison)
    parts = [*_size_parts(comparison)]
    if comparison.references:
        parts.append(format_count(comparison.references, "reference"))
    size = f"{', '.join(parts)}. " if parts else ""
    if tests.too_few:
        return f"{size}At least {tests.min_units} {tests.unit}s are needed for a verdict."
    return f"{size}Decided where the {decision_rule(comparison, counted=not tests.warned)}."


def _size_parts(comparison: Comparison) -> Iterator[str]:
    """Yield the numbers of segments and units."""
    if comparison.segments is None:
        return
    size, inference = format_count(comparison.segments, "segment"), comparison.inference
    n_units = comparison.segments
    units = [row.units for row in comparison.rows if row.units is not None]
    if inference is not None and inference.units is not None:
        n_units = len(inference.units)
        size += f" in {format_count(n_units, inference.unit)}"
    if buckets := _buckets(comparison):
        n_units = max(units, default=buckets)  # empty buckets are not used
        size += f" in {format_count(n_units, 'bucket')}"
    if units and min(units) != n_units:
        at_least = "" if len({*units}) == 1 else "at least "
        size += f" ({at_least}{min(units):,} of them with scores of both systems)"
    yield size


def decision_rule(comparison: Comparison, *, counted: bool = True) -> str:
    """Return the rule behind verdicts and, unless stated elsewhere, how many tests there are."""
    n_tests = comparison_tests(comparison).n_tests if counted else 0
    corrected = f"; {CORRECTIONS[comparison.correction]} ({n_tests})" if n_tests > 1 else ""
    level = str(SIGNIFICANCE_LEVEL).lstrip("0")
    difference = f"difference by {comparison.unit_text}"
    return f"95% interval of the {difference} excludes zero (p < {level}){corrected}"


def _system_sentence(verdicts: SystemVerdicts, base: str) -> str:
    system, undecided, kind = verdicts.system, verdicts.undecided, verdicts.kind
    if kind == "undecided":
        metrics = _list_metrics(undecided)
        if len(undecided) == 1:
            difference = _difference_text(undecided[0])
            return f"{metrics} does not tell {system} and {base} apart: {difference}."
        return f"No metric tells {system} and {base} apart ({metrics})."
    but_undecided = ""
    if undecided:
        verb = "does" if len(undecided) == 1 else "do"
        compared = f"{system} and {base}" if kind == "mixed" else "them"
        but_undecided = f"; {_list_metrics(undecided)} {verb} not tell {compared} apart"
    if kind == "mixed":
        better, worse = _list_differences(verdicts.better), _list_differences(verdicts.worse)
        return f"{system} is better than {base} by {better}, but worse by {worse}{but_undecided}."
    rows = verdicts.better or verdicts.worse
    conclusion = f"{system} {'beats' if verdicts.better else 'is worse than'} {base} by"
    if undecided or len(rows) == 1:
        return f"{conclusion} {_list_differences(rows)}{but_undecided}."
    all_metrics = "both metrics" if len(rows) == 2 else f"all {len(rows)} metrics"
    if len(rows) <= MAX_LISTED_DIFFERENCES:
        return f"{conclusion} {all_metrics}: {_list_differences(rows)}."
    example = f"{metric_label(rows[0].metric)} {_difference_text(rows[0])}"
    return f"{conclusion} {all_metrics}, for example {example}."


def _list_differences(rows: Sequence[CompareRow]) -> str:
    """Return the differences with their intervals, or only the metrics if there are many."""
    if len(rows) > MAX_LISTED_DIFFERENCES:
        return _list_metrics(rows)
    return join_names([f"{metric_label(row.metric)} {_difference_text(row)}" for row in rows])


def _list_metrics(rows: Sequence[CompareRow]) -> str:
    return _list_names([row.metric for row in rows])


def _list_names(metrics: Sequence[Metric]) -> str:
    return join_names([metric_label(m) for m in metrics])


def _difference_text(row: CompareRow) -> str:
    if row.delta is None or row.delta_low is None or row.delta_high is None:
        return "no difference"
    ends = row.delta_low, row.delta_high
    return format_difference(row.delta, ends, score_digits(row.metric))


def _delta_interval(row: CompareRow, digits: int) -> str:
    if row.delta_low is None or row.delta_high is None:
        return ""
    ends = row.delta_low, row.delta_high
    return format_interval(*ends, interval_digits(*ends, digits))


def _count_sentences(systems: Sequence[SystemVerdicts], base: str) -> Iterator[str]:
    several_metrics = sum(map(len, systems[0][1:])) > 1
    for kind in ("better", "worse", "mixed", "undecided"):
        names = [verdicts.system for verdicts in systems if verdicts.kind == kind]
        if not names:
            continue
        verb, beat = ("is", "beats") if len(names) == 1 else ("are", "beat")
        phrases = {
            "better": f"{beat} {base}",
            "worse": f"{verb} worse than {base}",
            "mixed": f"{verb} better than {base} by one metric and worse by another",
            "undecided": f"{'does' if len(names) == 1 else 'do'} not differ significantly "
            f"from {base}",
        }
        if several_metrics:
            phrases["better"] += f" by at least one metric and {verb} worse by none"
            phrases["worse"] += " by at least one metric and better by none"
        yield f"{len(names)} of {len(systems)} systems {phrases[kind]}: {join_names(names)}."


_CHANGE = people_column(
    "change",
    "95% interval",
    lambda row: _delta_interval(row, row_digits(row)) or None,
    align="right",
    help="Interval of the difference.",
)


def comparison_document(comparison: Comparison) -> Document:
    """Return the answer, the differences as a picture, examples, and the tables."""
    metrics = list(dict.fromkeys(row.metric for row in comparison.rows))
    corpus, title = comparison.signatures, f"Comparison with {comparison.baseline}"
    # There is no room for skipped rows: they are for programs, and a note has the numbers.
    all_columns = [METRIC, SYSTEM, SCORE, *INTERVAL, DELTA, _CHANGE, *TEST_COLUMNS]
    many = len(comparison.systems) > 2
    is_ranked = many and not comparison_tests(comparison).too_few
    all_columns += [SACREBLEU_P] if comparison.test in SACREBLEU_TESTS else []
    all_columns += LEADING if is_ranked else LEADING[1:]
    if any(row.margin is not None for row in comparison.rows):
        all_columns += MARGIN_COLUMNS
    all_columns += UNIT_COLUMNS
    if comparison.skipped is not None:
        all_columns.append(scores.skipped_column(comparison.skipped, readers="programs"))
    best = scores.best_cells(comparison.rows)
    table = Table("rows", title, all_columns, comparison.rows, group="metric", emphasis=best)
    blocks: list[Block] = []
    if many:
        blocks += [ranking_gallery(comparison, metrics), *strip_gallery(comparison, metrics)]
    else:
        blocks += [_difference_charts(comparison, metrics)]
    blocks += slice_figures(comparison)
    blocks += [_examples(comparison, metrics)] if comparison.examples else []
    blocks += _tally_gallery(comparison, metrics)
    blocks += [] if many else _histogram_gallery(comparison, metrics)
    blocks += [table, *component_tables(comparison), *slice_tables(comparison)]
    blocks += [*gain_tables(comparison.gains), *scores.variance_tables(comparison)]
    segments = scores.segment_signatures(comparison) if comparison.values else {}
    document = Document(
        title,
        blocks,
        signatures={**corpus, **segments, **corpus},
        notes=(*comparison.notes, *([LEAD_NOTE] if is_ranked else [])),
        answer=comparison_answer(comparison),
        basis=comparison_basis(comparison),
    )
    return scores.note_signature_form(document, comparison.form)


# ----------------------------------------------------------------------------------- pictures


def _difference_charts(comparison: Comparison, metrics: Sequence[Metric]) -> Gallery | Figure:
    """Return the differences of a single system from the baseline in one panel.

    Differences are shares of the metrics' scales; metrics of external scores have their own panels.
    """
    base, panels = comparison.baseline, []
    rows = [row for row in comparison.rows if row.delta is not None]
    labels = {m: directed_label(m) for m in metrics}
    shared = [row for row in rows if row.metric.reads_texts]
    if shared:
        changes = [difference_row(row, labels[row.metric]) for row in shared]
        panels.append(RowChart(f"{rows[0].system} and {base}", base, changes, "difference"))
    for m in metrics:
        if not m.reads_texts:
            changes = [difference_row(row, row.system) for row in rows if row.metric == m]
            panels.append(RowChart(labels[m], base, changes, "difference"))
    title = f"Differences from {base}"
    if len(panels) == 1:
        return Figure(title, panels[0], DIFFERENCES_CAPTION)
    figures = tuple(Figure(panel.title, panel) for panel in panels)
    return Gallery(title, figures, DIFFERENCES_CAPTION)


def _rows_by_first_metric(comparison: Comparison, first: Metric) -> list[CompareRow]:
    order = [row.system for row in comparison.rows if row.metric == first]
    return sorted(comparison.rows, key=lambda row: order.index(row.system))


def _tally_gallery(comparison: Comparison, metrics: Sequence[Metric]) -> list[Gallery]:
    """Return segments won and lost by each metric; nothing if segment scores were not kept."""
    base, ordered = comparison.baseline, _rows_by_first_metric(comparison, metrics[0])
    tallies = []
    for m in metrics:
        rows = [row for row in ordered if row.metric == m and row.wins is not None]
        if rows:
            counts = [(row.wins or 0, row.ties or 0, row.losses or 0) for row in rows]
            items = [ChartRow(r.system, 0, counts=c) for r, c in zip(rows, counts, strict=True)]
            tally = RowChart("", base, items, "tally")
            tallies.append(Figure(f"Won and lost by {metric_label(m)}", tally))
    title, folded = f"Segments won and lost against {base}", len(comparison.systems) > 2
    return [Gallery(title, tuple(tallies), folded=folded)] if tallies else []


def _histogram_gallery(comparison: Comparison, metrics: Sequence[Metric]) -> list[Gallery]:
    """Return a histogram of differences by the first metric; nothing without segment scores."""
    if not any(row.wins is not None for row in comparison.rows):
        return []
    base, histograms = comparison.baseline, []
    base_scores = comparison.segment_scores(base, metrics[0])
    axis = f"difference in {metric_label(metrics[0].of_segments())}"
    for system in (system for system in comparison.systems if system != base):
        gaps = (comparison.segment_scores(system, metrics[0]) - base_scores).tolist()
        title = f"{system} minus {base}, segment by segment"
        chart = histogram(title, axis, gaps, marker=0.0, narrow=True)
        histograms.append(Figure(title, chart))
    return [Gallery("Differences by segment", tuple(histograms))]


# ----------------------------------------------------------------------------------- examples


def _examples(comparison: Comparison, metrics: Sequence[Metric]) -> Examples:
    """Return the segments that differ most: cards for all metrics, a table for the first."""
    baseline, first = comparison.baseline, metrics[0].of_segments()
    rows = [example for example in comparison.examples if example.metric == str(first)]
    digits = metric_digits(metrics[0])

    def change(example: Example) -> float:
        return example.system_score - example.baseline_score

    has_texts = any(e.reference or e.baseline_text or e.system_text for e in comparison.examples)

    def passages(example: Example) -> Iterator[TextPassage]:
        if not has_texts:
            return
        if example.references:
            yield TextPassage(example.shown_reference, example.reference)
        outputs = {baseline: example.baseline_text, example.system: example.system_text}
        for name, text in outputs.items():
            yield TextPassage(name, text, differing_words(text, example.references))
            segment = _segment_name(example)
            yield from evidence_passages(metrics, text, example.references, name, segment)

    table_columns = (
        Column("system", "System", help="The system compared with the baseline."),
        replace(SEGMENT_ID, value=_segment_name),
        number("baseline_score", "Baseline", digits, "The baseline's score there."),
        number("system_score", "Score", digits, "The system's score there."),
        number("delta", "Delta", digits, "System minus baseline.", signed=True, value=change),
        text_column(passages, "The first reference, the baseline's and the system's text."),
        *program_columns("reference", "baseline_text", "system_text"),
    )
    if not has_texts:
        table_columns = tuple(column for column in table_columns if column.key != "text")
    title = f"Segments that differ most from {baseline}"
    table = Table("segments", f"{title} by {first}", table_columns, rows, group="system")
    by_name = {str(m.of_segments()): m for m in reversed(metrics)}
    cases = []
    for example in comparison.examples:
        m = by_name[example.metric]
        label, digits = metric_label(m), score_digits(m)
        facts = f"{label} {example.baseline_score:.{digits}f} → {example.system_score:.{digits}f}"
        tags = {"system": example.system, "metric": label}
        segment = f"Segment {_segment_name(example)}"
        cases.append(ExampleCase(segment, facts, tuple(passages(example)), tags))
    return Examples(title, tuple(cases), table, {"system": "System", "metric": "Metric"})


def _segment_name(example: Example) -> int | str:
    return example.segment + 1 if example.id is None else example.id


# --------------------------------------------------------------------------------- wide tables

MARKS = {BETTER: "†", WORSE: "‡"}
"""Marks of systems that are better and worse than the baseline."""
ARROWS = {1: "↑", -1: "↓"}

_WideRow = Mapping[Metric, ScoreRow | CompareRow]
"""A system's rows by metric."""


def wide_document(wide: WideScores) -> Document:
    """Return the scores of systems by metrics, with intervals and marks where there are any.

    Programs get numbers in columns of their own, people one text for each number.
    """
    results = wide.results
    rows: dict[str, dict[Metric, ScoreRow | CompareRow]] = {}
    for row in results.rows:
        rows.setdefault(row.system, {})[row.metric] = row
    metrics = list(dict.fromkeys(row.metric for row in results.rows))
    comparison = results if isinstance(results, Comparison) else None
    table_columns = [replace(SYSTEM, value=lambda row: next(iter(row.values())).system)]
    for m in metrics:
        table_columns += _wide_columns(m, results.inference is not None, comparison is not None)
    winners = {results.rows[index][:2] for index, _ in scores.best_cells(results.rows)}
    best = frozenset(
        (i, f"{m} shown") for i, s in enumerate(rows) for m in metrics if (s, m) in winners
    )
    cells = list(rows.values())
    table = Table("rows", "Scores", table_columns, cells, emphasis=best, open=True)
    notes = replace(results, values={}).notes  # without notes on wins, which are not shown
    blocks = (table, *(slice_tables(comparison) if comparison else ()))
    document = Document("Scores", blocks, "", results.signatures, notes)
    if comparison:
        legend = "Bold: the best of each column."
        if not comparison_tests(comparison).too_few:
            marks = f"{MARKS[BETTER]} better and {MARKS[WORSE]} worse than {comparison.baseline}"
            legend = f"{marks} ({decision_rule(comparison)}). {legend}"
        document = replace(
            document,
            title=f"Comparison with {comparison.baseline}",
            notes=(legend, *notes),
            answer=comparison_answer(comparison),
            basis=comparison_basis(comparison),
        )
    return scores.note_signature_form(document, results.form)


def _wide_columns(m: Metric, intervals: bool, tested: bool) -> Iterator[Column]:
    def text(value: float) -> str:
        return cell_text(value, Column("", "", metric_digits(m)), str, "")

    def member(name: str, row: _WideRow) -> Any:
        if m not in row:
            return None
        return row[m].score.value if name == "" else getattr(row[m], name, None)

    def score_text(row: _WideRow) -> str | None:
        mark = MARKS.get(member("verdict", row) or "", "")
        return text(row[m].score.value) + mark if m in row else None

    def interval_text(row: _WideRow) -> str | None:
        low, high = member("low", row), member("high", row)
        return None if low is None or high is None else f"[{text(low)}, {text(high)}]"

    better = "higher" if m.sign > 0 else "lower"
    help_text, head = f"Score by {m}; {better} is better.", f"{m} {ARROWS[m.sign]}"
    yield people_column(f"{m} shown", head, score_text, align="right", help=help_text)
    if intervals:
        help_text = f"95% interval of {m}."
        key = f"{m} interval"
        yield people_column(key, "95%", interval_text, align="right", help=help_text)
    names = ["", *(["low", "high"] if intervals else [])]
    for name in [*names, *(["delta", "p", "verdict"] if tested else [])]:
        key = f"{m} {name}".rstrip()
        yield Column(key, key, readers="programs", value=partial(member, name))
