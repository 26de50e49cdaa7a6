"""Guesses about very many responses, some at a time.

What is learned from, and all responses if there are not many, is looked at together. Of a question
with more than `MOST` responses, or of a set with more than `SMALL`, the judged ones are learned
from, and the others are asked about in batches of `MOST`, each beside `COMPARED` judged responses;
of those with the same words, the first. So memory grows with the responses times the nuggets of
their questions, and no faster.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from karat.nuggets.guess.calibrated.evidence import evidence
from karat.nuggets.guess.calibrated.likeness import Likeness
from karat.nuggets.guess.calibrated.model import Calibrated
from karat.nuggets.guess.paper.classifier import Idf
from karat.nuggets.guess.pool import Floats, Ints, Pool
from karat.progress import Progress, silent

SMALL = 20_000
"""Responses of a set that are looked at together."""
MOST = 1_000
"""Responses to a question that are looked at together."""
COMPARED = 250
"""Judged responses that the others are compared with, where there are more."""


class Asked(NamedTuple):
    """What a model is asked about: responses, what was judged of them, and the idf of words."""

    pool: Pool
    labels: Floats
    idf: Idf


class Models(NamedTuple):
    """The model that is asked, and the one of the description alone that likeness starts from."""

    last: Calibrated
    plain: Calibrated | None = None


def together(asked: Asked) -> Ints:
    """The responses that are looked at together: all, or those that are learned from."""
    pool = asked.pool
    sizes = np.diff(pool.starts)
    if len(pool.texts) <= SMALL and sizes.max(initial=0) <= MOST:
        return np.arange(len(pool.texts))
    most = min(MOST, max(SMALL // max(len(sizes), 1), 20))
    questions = range(len(sizes))
    return np.concatenate([np.zeros(0, np.int64), *(_judged(asked, q, most) for q in questions)])


def _judged(asked: Asked, question: int, most: int) -> Ints:
    """The judged responses to a question, at most so many, those that carry something first."""
    table = asked.pool.table(asked.labels, question)
    rows = np.flatnonzero(~np.isnan(table).all(axis=1)) if table.size else np.zeros(0, np.int64)
    carries = (table[rows] > 0).any(axis=1) if len(rows) else np.zeros(0, bool)
    kept = np.sort(np.concatenate([rows[carries], rows[~carries]])[:most])
    return np.asarray(kept + asked.pool.starts[question], dtype=np.int64)


def ask(asked: Asked, rows: Ints, models: Models, progress: Progress = silent) -> Floats:
    """The probabilities of the cells of some responses; of all other cells NaN."""
    pool = asked.pool
    _, index, same = np.unique(pool.same[rows], return_index=True, return_inverse=True)
    distinct = rows[np.sort(index)]
    found, done = np.full(int(pool.cell_starts[-1]), np.nan), 0
    for batch, chances in _batches(asked, distinct, models):
        found[pool.cells(batch)] = chances
        done += len(batch)
        progress(done, len(distinct), "asking the model")
    first = rows[index][same.ravel()]
    again = first != rows
    found[pool.cells(rows[again])] = found[pool.cells(first[again])]
    return found


def _batches(asked: Asked, rows: Ints, models: Models) -> Iterator[tuple[Ints, Floats]]:
    if models.plain is None:
        for first in range(0, len(rows), MOST):
            batch = rows[first : first + MOST]
            X = evidence(asked.pool.take(batch), idf=asked.idf)
            yield batch, models.last.probabilities(X)
        return
    for question in np.unique(asked.pool.question[rows]).tolist():
        mine = rows[asked.pool.question[rows] == question]
        others = _judged(asked, question, COMPARED)
        for first in range(0, len(mine), MOST):
            batch = mine[first : first + MOST]
            yield batch, _beside(asked, others, batch, models.last, models.plain)


def _beside(asked: Asked, others: Ints, batch: Ints, last: Calibrated, plain: Calibrated) -> Floats:
    """Responses to one question beside judged ones."""
    pool = asked.pool.take(np.concatenate([others, batch]))
    known = asked.labels[asked.pool.cells(others)]
    X = evidence(pool, idf=asked.idf)
    labels = np.concatenate([known, np.full(len(X) - len(known), np.nan)])
    fold = (np.arange(len(X)) >= len(known)).astype(np.int64)
    near = Likeness(pool, first=len(others)).columns(labels, plain.probabilities(X), fold)
    both = np.concatenate([X, near], axis=1)[len(known) :]
    return last.probabilities(both)
