"""Folds: what is left out together, and what the rest knows of it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from karat.errors import InputError
from karat.nuggets.pool import Floats, Ints, Pool

WAYS = {
    "system": "one run at a time: what others were judged on is known",
    "institution": "all runs of one house at a time: they may be alike",
    "question": "one question at a time: nothing is known of its nuggets",
}
"""What can be left out."""


def folds(pool: Pool, by: str) -> Ints:
    """The fold of every cell."""
    if by not in WAYS:
        raise InputError(f"leave out {by!r}: expected one of {', '.join(WAYS)}")
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
    order = np.argsort(words, kind="stable")
    bounds = np.flatnonzero(np.diff(words[order], prepend=-1, append=-1))
    found = np.full(len(labels), np.nan)
    for first, last in pairwise(bounds):
        group = order[first:last]
        if last - first > 1:
            for cell in group:
                others = labels[group[fold[group] != fold[cell]]]
                others = others[~np.isnan(others)]
                found[cell] = others.max() if len(others) else np.nan
    return found
