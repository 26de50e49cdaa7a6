"""Folds: what is left out together, and what the rest knows of it."""

from __future__ import annotations

import re
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from karat.errors import InputError, quoted
from karat.nuggets.guess.pool import Floats, Ints, Pool
from karat.nuggets.sets.nugget_set import NuggetSet

WAYS = {
    "system": "one run at a time: what others were judged on is known",
    "institution": "all runs of one house at a time: they may be alike",
    "question": "one question at a time: nothing is known of its nuggets",
}
"""What can be left out."""
HOUSE = r"[^\W\d_]+"
"""What in a run's tag tells its institution, unless its file does: the letters before the first
digit or sign, as in `MIT03a`, `webis-rag-run0` and `UDInfolab.RAG.Query`; case does not matter."""


def with_institutions(nuggets: NuggetSet, pattern: str | None = None) -> NuggetSet:
    """The same, each run with an institution: as its file says, or as its tag tells.

    That is the first group of the pattern, or all it matches; a tag it does not match is its own.
    """
    if pattern == "":
        raise InputError("institution '': expected a regular expression that matches something")
    try:
        tells = re.compile(HOUSE if pattern is None else pattern)
    except re.error as error:
        raise InputError(
            f"institution {quoted(pattern)}: no regular expression ({error})"
        ) from error
    runs = {
        tag: replace(run, institution=run.institution or _house(tag, tells))
        for tag, run in nuggets.runs.items()
    }
    return replace(nuggets, runs=MappingProxyType(runs))


def _house(tag: str, tells: re.Pattern[str]) -> str:
    found = tells.match(tag)
    return ((found[1] if tells.groups else found[0]) or tag).casefold() if found else tag


def folds(pool: Pool, by: str) -> Ints:
    """The fold of every cell."""
    if by not in WAYS:
        raise InputError(f"leave out {quoted(by)}: expected one of {', '.join(WAYS)}")
    found = _units(pool, by)
    if len(np.unique(found)) < 2:
        raise InputError(
            f"there is one {by} with judged responses: while it is left out, nothing is left to "
            "learn from; leave out something else, or give more"
        )
    return found


def _units(pool: Pool, by: str) -> Ints:
    if by == "question":
        return pool.cell_question
    if by == "system":
        return pool.cell_run
    houses = {house: k for k, house in enumerate(dict.fromkeys(pool.houses))}
    return np.array([houses[house] for house in pool.houses], dtype=np.int64)[pool.cell_run]


def known_elsewhere(pool: Pool, labels: Floats, fold: Ints) -> Floats:
    """What other folds were judged on, cell by cell; NaN where no response there is identical.

    Of several judgements the most favourable counts.
    """
    words = pool.same[pool.cell_response] * (len(pool.nuggets) + 1) + pool.cell_nugget
    order = np.lexsort((fold, words))
    found, told = np.full(len(labels), np.nan), np.nan_to_num(labels[order], nan=-np.inf)
    new_words = np.diff(words[order], prepend=-1) != 0
    new_fold = new_words | (np.diff(fold[order], prepend=-1) != 0)
    group, member = np.cumsum(new_words) - 1, np.cumsum(new_fold) - 1
    if len(order):
        best = np.maximum.reduceat(told, np.flatnonzero(new_fold))  # of each fold of a group
        others = _best_of_others(best, group[new_fold])[member]
        found[order] = np.where(np.isneginf(others), np.nan, others)
    return found


def _best_of_others(values: Floats, group: Ints) -> Floats:
    """Of each value the largest of the others in its group, which stand together; else -inf."""
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    first = np.maximum.reduceat(values, starts)[group]
    is_first = values == first
    second = np.maximum.reduceat(np.where(is_first, -np.inf, values), starts)[group]
    alone = np.add.reduceat(is_first.astype(np.int64), starts)[group] == 1
    return np.where(is_first & alone, second, first)
