"""The sentences that reports on paraphrases begin with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.report.model.phrases import listing, signed, span

if TYPE_CHECKING:
    from karat.paraphrase.pem.evaluation import Gain, ParaphraseEvaluation
    from karat.paraphrase.pem.explanation import ParaphraseExplanations
    from karat.paraphrase.pem.scoring import ParaphraseScores


def scores_answer(result: ParaphraseScores) -> tuple[str, ...]:
    """Name the system with the highest PEM, and say whether its interval is apart."""
    ranked = sorted(result.rows, key=lambda row: -row.pem)
    told = [f"{row.system} {row.pem:.2f} {span(row.low, row.high, 2)}" for row in ranked]
    if len(ranked) == 1:
        return (f"Mean PEM on a scale from 1 to 5: {told[0]}.",)
    close = [row.system for row in ranked[1:] if row.high >= ranked[0].low]
    apart = f" Its interval overlaps that of {listing(close)}." if close else ""
    others = listing(told[1:])
    return (f"{ranked[0].system} has the highest mean PEM: {told[0]}; {others}.{apart}",)


def explanation_answer(result: ParaphraseExplanations) -> tuple[str, ...]:
    """Say for a single pair what its score is made from."""
    if len(result.rows) != 1:
        return ()
    row = result.rows[0]
    pem = f"PEM {result.pem[0].pem:.2f} on a scale from 1 to 5. " if result.pem else ""
    shared = f"The two sentences share a pivot F1 of {row.pivot_f1:.3f}"
    parts = f"(precision {row.precision:.3f}, recall {row.recall:.3f})"
    return (f"{pem}{shared} {parts}; their own words an F1 of {row.target_f1:.3f}.",)


def evaluation_answer(result: ParaphraseEvaluation) -> tuple[str, ...]:
    """Say how well PEM agrees with people, and whether the pivot languages help."""
    own = [row for row in result.rows if row.first.lower().startswith("pem")]
    if not own:
        return ()
    first = own[0]
    told = [
        f"{first.first} agrees with people's {first.second} scores at r = {first.pearson:.3f} "
        f"(Pearson, {first.rows:,} paraphrases)."
    ]
    return (*told, *([_gain(result.gains[0])] if result.gains else []))


def _gain(gain: Gain) -> str:
    """Say whether one prediction agrees better with people than another."""
    ends = f"{signed(gain.difference, 3)} {span(gain.low, gain.high, 3)}"
    against = f"{gain.first} against {gain.second}: {ends}"
    if gain.low > 0:
        return f"It agrees better than without pivot languages ({against})."
    if gain.high < 0:
        return f"It agrees less well than without pivot languages ({against})."
    return f"The set does not decide whether pivot languages help ({against})."
