"""Answers of reports on judging by a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from karat.report.llm_usage import missing_clause
from karat.report.model import listing, several

if TYPE_CHECKING:
    from karat.judge.results import Judging, ModelPairs, ModelRatings, ModelSupports, SystemShares


def ratings_answer(found: ModelRatings) -> tuple[str, ...]:
    """Return how much was rated, the means by system, and agreement with others."""
    means = _means(found.systems, "{:.2f}", found.dimension.better == "lower")
    told = f"Mean {found.dimension.name}: {means}."
    return (_made(found, "rated", "outputs"), *([told] if means else []), *_agreement(found))


def pairs_answer(found: ModelPairs) -> tuple[str, ...]:
    """Return how much was compared, shares of wins, and the effect of the order."""
    wins = _means(found.systems, "{:.1%}")
    told = f"Share of comparisons won, ties as half: {wins}."
    made = _made(found, "compared", "pairs of outputs")
    return (made, *([told] if wins else []), *_bias(found))


def _bias(found: ModelPairs) -> list[str]:
    bias = found.bias
    if bias.flipped_share is None:
        return []
    told = f"The order changed no winner in {several(bias.pairs, 'pair')}"
    if bias.flipped:
        told = f"The order changed the winner of {bias.flipped:,} of {several(bias.pairs, 'pair')}"
        told += f" ({bias.flipped_share:.1%}), which count as ties"
    if bias.first_share is None:
        return [f"{told}."]
    return [f"{told}; the output shown first won {bias.first_share:.1%} of the decided answers."]


def supports_answer(found: ModelSupports) -> tuple[str, ...]:
    """Return how much was labelled, mean support by run, and agreement with others."""
    means = _means(found.systems, "{:.3f}")
    told = f"Mean support of nuggets by a response (partial support as half): {means}."
    made = _made(found, "labelled", "pairs of response and nugget")
    return (made, *([told] if means else []), *_agreement(found))


def _made(found: Judging, verb: str, what: str) -> str:
    judged = f"{len(found.rows):,} of {found.wanted:,} {what} of {found.name}"
    return f"{found.judge} {verb} {judged}{missing_clause(found.missing)}."


def _means(systems: Sequence[SystemShares], form: str, lower: bool = False) -> str:
    """The means of systems, the best first."""
    ranked = sorted(systems, key=lambda one: one.mean, reverse=not lower)
    return listing([f"{one.system} {form.format(one.mean)}" for one in ranked]) if ranked else ""


def _agreement(found: Judging) -> list[str]:
    row = found.agreement
    if row is None or row.r != row.r:
        return []
    return [
        f"Pearson's r with the mean of people is {row.r:.3f} "
        f"({several(row.shared, 'judgement')} in common)."
    ]
