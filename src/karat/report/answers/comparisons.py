"""The answer of a comparison: which systems beat the baseline, by which metrics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from karat.comparison import FEWEST_DECIDING, SIGNIFICANT, TESTS, CompareRow, Comparison
from karat.report.model.cells import several
from karat.report.model.phrases import listing, metric_label, score_digits, signed, span

MOST_TOLD = 4
"""Systems that have a sentence each; more are counted."""
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
    """Return a sentence for each system, or one that counts them where they are many."""
    if few(comparison):
        return (_too_few(comparison),)
    systems = verdicts(comparison)
    if len(systems) > MOST_TOLD:
        return tuple(_counted(systems, comparison.baseline))
    return tuple(_sentence(one, comparison.baseline) for one in systems)


def comparison_basis(comparison: Comparison) -> str:
    """Return what the answer rests on: segments, references, the rule and the test."""
    parts = []
    if comparison.values:
        parts.append(several(max(map(len, comparison.values.values())), "segment"))
    if comparison.references:
        parts.append(several(comparison.references, "reference"))
    told = f"{', '.join(parts)}. " if parts else ""
    number = sum(row.delta is not None for row in comparison.rows)
    each = "" if number == 1 else f" Each of the {number} differences is tested on its own."
    if few(comparison):
        return f"{told}Fewer than {FEWEST_DECIDING} segments decide nothing."
    return (
        f"{told}Decided where the 95% interval of the difference excludes zero and "
        f"p < {SIGNIFICANT} ({TESTS[comparison.test]}, {comparison.trials:,} trials).{each}"
    )


def few(comparison: Comparison) -> bool:
    """Return whether there are too few segments to decide anything."""
    values = comparison.values.values()
    return bool(values) and max(map(len, values)) < FEWEST_DECIDING


def _too_few(comparison: Comparison) -> str:
    number = max(map(len, comparison.values.values()))
    verb = "is" if number == 1 else "are"
    told = f"{several(number, 'segment')} {verb} too few to tell systems apart"
    return f"{told}: at least {FEWEST_DECIDING} are needed."


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
    whole = len(systems)
    several_metrics = sum(map(len, systems[0][1:])) > 1
    by = " by at least one metric and are worse by none" if several_metrics else ""
    by_worse = " by at least one metric and better by none" if several_metrics else ""
    told = {
        "better": f"beat {base}{by}",
        "worse": f"are worse than {base}{by_worse}",
        "mixed": f"are better than {base} by one metric and worse by another",
        "undecided": f"cannot be told from {base}",
    }
    sentences = []
    for kind, words in told.items():
        names = [one.system for one in systems if one.kind == kind]
        if names:
            sentences.append(f"{len(names)} of {whole} systems {words}: {listing(names)}.")
    return sentences
