"""The sentences that reports on paraphrases begin with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import isclose, isnan
from typing import TYPE_CHECKING

from karat.arithmetic import SLACK
from karat.paraphrase.pem.evaluation import MEAN, NO_CONTROLS, NO_METRICS
from karat.report.model import listing, several, signed, span

if TYPE_CHECKING:
    from karat.paraphrase.generate.paraphraser import GeneratedParaphrases
    from karat.paraphrase.pem.evaluation import Correlation, Gain, ParaphraseEvaluation
    from karat.paraphrase.pem.explanation import ParaphraseExplanations
    from karat.paraphrase.pem.scoring import ParaphraseScores, SystemRow


def scores_answer(result: ParaphraseScores) -> tuple[str, ...]:
    """Name the system with the highest PEM, unless it is tied, and intervals that overlap its."""
    if any(isnan(row.pem) for row in result.rows):  # a model without a score, as a note says
        return ()
    ranked = sorted(result.rows, key=lambda row: -row.pem)
    means = [_mean(row) for row in ranked]
    if len(ranked) == 1:
        return (f"Mean PEM on a scale from 1 to 5: {means[0]}.",)
    best = ranked[0]
    if isclose(best.pem, ranked[1].pem, rel_tol=SLACK):
        return (f"Several systems share the highest mean PEM: {listing(means)}.",)
    overlapping = [row.system for row in ranked[1:] if _overlap(best, row)]
    overlap = f" Its interval overlaps that of {listing(overlapping)}." if overlapping else ""
    return (f"{best.system} has the highest mean PEM: {means[0]}; {listing(means[1:])}.{overlap}",)


def _mean(row: SystemRow) -> str:
    """Return a system and its mean PEM, with the interval if there is one."""
    ends = "" if row.low is None or row.high is None else f" {span(row.low, row.high, 2)}"
    return f"{row.system} {row.pem:.2f}{ends}"


def _overlap(best: SystemRow, row: SystemRow) -> bool:
    """Return whether the interval of a system reaches that of the best."""
    return best.low is not None and row.high is not None and row.high >= best.low


def explanation_answer(result: ParaphraseExplanations) -> tuple[str, ...]:
    """Say for a single pair what its score is made from, and for several which is worst."""
    if len(result.rows) != 1:
        return _several(result)
    row = result.rows[0]
    is_scored = bool(result.pem) and not isnan(result.pem[0].pem)
    pem = f"PEM {result.pem[0].pem:.2f} on a scale from 1 to 5. " if is_scored else ""
    shared = f"The translations of the two sentences match with an F1 of {row.pivot_f1:.3f}"
    parts = f"(pivot F1; precision {row.precision:.3f}, recall {row.recall:.3f})"
    return (f"{pem}{shared} {parts}, their own words with {row.target_f1:.3f} (target F1).",)


def _several(result: ParaphraseExplanations) -> tuple[str, ...]:
    """Return the range of the scores of several pairs."""
    name, values = "pivot F1", [(row.pivot_f1, row.pair) for row in result.rows]
    if result.pem and not isnan(result.pem[0].pem):
        name, values = "PEM (1 to 5)", [(row.pem, row.segment) for row in result.pem]
    if not values:
        return ()
    ends = [f"{value:.2f} (pair {pair})" for value, pair in (min(values), max(values))]
    return (f"{len(values):,} pairs: {name} from {ends[0]} to {ends[1]}.",)


def generation_answer(result: GeneratedParaphrases) -> tuple[str, ...]:
    """Say how many sentences have a paraphrase, and why others have none."""
    reasons = Counter(row.reason for row in result.rows if row.reason)
    every = len({row.segment for row in result.rows})
    made = every - reasons.total()
    verb = "has" if 1 in (made, every) else "have"
    have = f"{made:,} of {several(every, 'sentence')} {verb} a paraphrase"
    none = "".join(f"; {count:,} none ({reason})" for reason, count in reasons.most_common())
    return (f"{have}{none}.",)


def evaluation_answer(result: ParaphraseEvaluation) -> tuple[str, ...]:
    """Say how well PEM agrees with people, and whether the pivot languages help."""
    own = [row for row in result.rows if row.first.lower().startswith("pem")]
    if not own or isnan(own[0].pearson):  # equal scores have no correlation
        return ()
    told = [
        f"{own[0].first}, learned from other judgements of this set, agrees with people at "
        f"{_agreement(own)}."
    ]
    rivals = [gain for gain in result.gains if gain.second not in (NO_METRICS, MEAN)]
    if rivals:
        told.append(_gain([gain for gain in rivals if gain.second == rivals[0].second]))
    mean = [row for row in result.rows if row.first == MEAN]
    if mean and not isnan(mean[0].pearson):
        told.append(
            f"The model's own score, with nothing learned from this set: {_agreement(mean)}."
        )
    return tuple(told)


def _agreement(rows: Sequence[Correlation]) -> str:
    """Return the correlation with the mean of judges, and that of pairs that are no controls."""
    found = f"r = {rows[0].pearson:.3f} (Pearson, {rows[0].rows:,} paraphrases)"
    real = next((row for row in rows if row.second.endswith(NO_CONTROLS)), None)
    if real is None:
        return found
    return f"{found}; without the controls r = {real.pearson:.3f} ({real.rows:,} paraphrases)"


def _gain(gains: Sequence[Gain]) -> str:
    """Say whether pivot languages help, where all pairs and those without controls agree on it."""
    against = f"{gains[0].first} against {gains[0].second}: {'; '.join(map(_difference, gains))}"
    if all(gain.low > 0 for gain in gains):
        return f"It agrees better than without pivot languages ({against})."
    if all(gain.high < 0 for gain in gains):
        return f"It agrees less well than without pivot languages ({against})."
    return f"The set does not decide whether pivot languages help ({against})."


def _difference(gain: Gain) -> str:
    """Return a difference with its interval, where resamples have one."""
    ends = "" if isnan(gain.low) else f" {span(gain.low, gain.high, 3)}"
    pairs = " without controls" if gain.pairs == NO_CONTROLS else ""
    return f"{signed(gain.difference, 3)}{ends}{pairs}"
