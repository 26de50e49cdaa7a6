"""The answer of a comparison: which systems beat the baseline, by which metrics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from karat.comparison import TESTS, CompareRow, Comparison
from karat.report.model.cells import several
from karat.report.model.phrases import listing, metric_label, score_digits, signed, span
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
            return f"{what} does not tell {system} and {base} apart: {_change(one.undecided[0])}."
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
    first = f"{metric_label(decided[0].metric)} {_change(decided[0])}"
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
    return listing([f"{metric_label(row.metric)} {_change(row)}" for row in rows])


def _by(rows: Sequence[CompareRow]) -> str:
    return listing([metric_label(row.metric) for row in rows])


def _change(row: CompareRow) -> str:
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
