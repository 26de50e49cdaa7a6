"""Folds: what is left out together, what the rest knows of it, and agreement with assessors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

from karat.arrays import Flags, Floats, Ints, np
from karat.errors import InputError, quoted
from karat.nuggets.guess.pool import Pool
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.stats.correlation import r_squared, rmse, tau_b

WAYS = ("system", "institution", "question")
"""Units that can be left out."""
HOUSE = r"[^\W\d_]+"
"""Part of a tag that tells its institution, unless its file does: the letters before the first
digit or sign, as in `MIT03a`, `webis-rag-run0` and `UDInfolab.RAG.Query`; case does not matter."""


def with_institutions(nuggets: NuggetSet, pattern: str | None = None) -> NuggetSet:
    """Return the set, each run with an institution: as its file says, or as its tag tells.

    That is the first group of the pattern, or all it matches; a tag it does not match is its own.
    """
    if pattern == "":
        raise InputError("institution '': expected a regular expression that matches something")
    try:
        tells = re.compile(HOUSE if pattern is None else pattern)
    except re.error as why:
        raise InputError(f"institution {quoted(pattern)}: no regular expression ({why})") from why

    def house(tag: str) -> str:
        found = tells.match(tag)
        return ((found[1] if tells.groups else found[0]) or tag).casefold() if found else tag

    runs = {
        tag: replace(run, institution=run.institution or house(tag))
        for tag, run in nuggets.runs.items()
    }
    return replace(nuggets, runs=MappingProxyType(runs))


def folds(pool: Pool, by: str) -> Ints:
    """Return the fold of every cell."""
    if by not in WAYS:
        raise InputError(f"leave out {quoted(by)}: expected one of {', '.join(WAYS)}")
    found = pool.cell_question if by == "question" else pool.cell_run
    if by == "institution":
        names = list(dict.fromkeys(pool.houses))
        found = np.array([names.index(one) for one in pool.houses], np.int64)[pool.cell_run]
    if len(np.unique(found)) < 2:
        raise InputError(
            f"there is one {by} with judged responses: while it is left out, nothing is left to "
            "learn from; leave out something else, or give more"
        )
    return found


class AssessorAgreement(NamedTuple):
    """Precision, recall and F of the positive class, all cells pooled; and over runs."""

    precision: float
    recall: float
    f: float
    tau_b: float
    r_squared: float
    rmse: float


def assessor_agreement(
    pool: Pool, carried: Flags, labels: Floats, estimates: Floats | None = None
) -> AssessorAgreement:
    """Return the agreement of decisions with labels, and of runs' scores with the official ones.

    The scores of runs are made from the decisions, or from `estimates` of each cell if they are
    given (probabilities, say). Cells without a label (NaN) count nowhere.
    """
    judged = ~np.isnan(labels)
    yes = judged & (labels > 0)
    hits = float((carried & yes).sum())
    made, wanted = float((carried & judged).sum()), float(yes.sum())
    guess = carried.astype(np.float64) if estimates is None else estimates
    scores = pool.run_scores(np.where(judged, guess, 0.0))
    official = pool.run_scores(np.where(judged, yes, 0.0).astype(np.float64))
    precision, recall = hits / made if made else 0.0, hits / wanted if wanted else 0.0
    f = 2 * hits / (made + wanted) if made + wanted else 0.0
    of_runs = tau_b(official, scores), r_squared(official, scores), rmse(official, scores)
    return AssessorAgreement(precision, recall, f, *of_runs)


@dataclass(frozen=True, eq=False)
class Folded:
    """Cells, their labels and their folds."""

    pool: Pool
    labels: Floats
    """NaN where nobody judged; more than 0 is yes."""
    fold: Ints
    official: Floats | None = None
    """Judgements to compare with, if those are others: labels that were corrected by those of a
    fold that is left out may be compared with, but not learned from."""

    @cached_property
    def judged(self) -> Flags:
        """The cells that were judged."""
        return ~np.isnan(self.labels)

    def training(self) -> Iterator[tuple[int, Flags]]:
        """Every fold, and the judged cells of the others."""
        for k in np.unique(self.fold).tolist():
            yield k, self.judged & (self.fold != k)

    @cached_property
    def elsewhere(self) -> Floats:
        """Labels of identical responses in other folds, cell by cell; NaN where there is none.

        Of several judgements the most favourable counts.
        """
        pool, fold = self.pool, self.fold
        words = pool.same[pool.cell_response] * (len(pool.nuggets) + 1) + pool.cell_nugget
        order = np.lexsort((fold, words))
        found, told = np.full(len(fold), np.nan), np.nan_to_num(self.labels[order], nan=-np.inf)
        new_words = np.diff(words[order], prepend=-1) != 0
        new_fold = new_words | (np.diff(fold[order], prepend=-1) != 0)
        group, member = np.cumsum(new_words) - 1, np.cumsum(new_fold) - 1
        if len(order):
            best = np.maximum.reduceat(told, np.flatnonzero(new_fold))  # of each fold of a group
            others = _best_of_others(best, group[new_fold])[member]
            found[order] = np.where(np.isneginf(others), np.nan, others)
        return found

    @cached_property
    def known(self) -> Flags:
        """The cells that are known from identical responses in other folds."""
        return ~np.isnan(self.elsewhere)

    def agreement(self, carried: Flags, chances: Floats | None = None) -> AssessorAgreement:
        """Return how decisions agree with official judgements."""
        official = self.labels if self.official is None else self.official
        return assessor_agreement(self.pool, carried, official, chances)


def _best_of_others(values: Floats, group: Ints) -> Floats:
    """Return the largest of the other values of each value's group, which stand together."""
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    first = np.maximum.reduceat(values, starts)[group]
    is_first = values == first
    second = np.maximum.reduceat(np.where(is_first, -np.inf, values), starts)[group]
    alone = np.add.reduceat(is_first.astype(np.int64), starts)[group] == 1
    return np.where(is_first & alone, second, first)
