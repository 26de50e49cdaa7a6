"""Guesses about very many responses, some at a time.

What is learned from, and all responses if there are not many, is looked at together. Of a question
with more than `MOST` responses, or of a set with more than `SMALL`, the judged ones are learned
from, and the others are asked about in batches of `MOST`, each beside `COMPARED` judged responses;
of those with the same words, the first. So memory grows with the responses times the nuggets of
their questions, and no faster.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from karat.arrays import Floats, Ints, np
from karat.nuggets.guess.calibrated.evidence import evidence
from karat.nuggets.guess.calibrated.likeness import Likeness
from karat.nuggets.guess.calibrated.logistic import Logistic
from karat.nuggets.guess.folds import Folded
from karat.nuggets.guess.pool import Pool
from karat.nuggets.guess.words import Idf
from karat.progress import Progress, silent

SMALL = 20_000
"""Responses of a set that are looked at together."""
MOST = 1_000
"""Responses to a question that are looked at together."""
COMPARED = 250
"""Judged responses that the others are compared with, where there are more."""
FOLDS = 10
"""Groups of judged runs that are guessed without themselves."""


@dataclass(frozen=True, eq=False)
class Asked:
    """Responses that a classifier is asked about, what was judged of them, and the idf of words."""

    pool: Pool
    labels: Floats
    idf: Idf

    def evidence(self, pool: Pool, progress: Progress = silent) -> Floats:
        """Return the evidence about the cells of some responses."""
        return evidence(pool, self.idf, progress)

    @cached_property
    def together(self) -> Ints:
        """The responses that are looked at together: all, or those that are learned from."""
        sizes = np.diff(self.pool.starts)
        if len(self.pool.texts) <= SMALL and sizes.max(initial=0) <= MOST:
            return np.arange(len(self.pool.texts))
        most = min(MOST, max(SMALL // max(len(sizes), 1), 20))
        rows = (self.judged(question, most) for question in range(len(sizes)))
        return np.concatenate([np.zeros(0, np.int64), *rows])

    @cached_property
    def cells(self) -> Ints:
        """The cells that are looked at together."""
        return self.pool.cells(self.together)

    @cached_property
    def seen(self) -> Folded:
        """The cells that are looked at together, in folds."""
        pool, labels = self.pool.take(self.together), self.labels[self.cells]
        return Folded(pool, labels, run_folds(pool, labels))

    def judged(self, question: int, most: int) -> Ints:
        """Return judged responses to a question, at most so many, those that carry anything first.

        They stand in their order.
        """
        table = self.pool.table(self.labels, question)
        rows = np.flatnonzero(~np.isnan(table).all(axis=1)) if table.size else np.zeros(0, np.int64)
        carries = (table[rows] > 0).any(axis=1) if len(rows) else np.zeros(0, bool)
        kept = np.sort(np.concatenate([rows[carries], rows[~carries]])[:most])
        return np.asarray(kept + self.pool.starts[question], dtype=np.int64)

    def ask(
        self, rows: Ints, model: Logistic, progress: Progress, plain: Logistic | None = None
    ) -> Floats:
        """Return the probabilities of the cells of some responses; of all other cells NaN.

        With `plain`, the model of the description alone, likeness to judged responses counts.
        """
        pool = self.pool
        _, index, same = np.unique(pool.same[rows], return_index=True, return_inverse=True)
        distinct = rows[np.sort(index)]
        found, done = np.full(int(pool.cell_starts[-1]), np.nan), 0
        asked = pool.question[distinct]
        groups = [distinct] if plain is None else [distinct[asked == q] for q in np.unique(asked)]
        for mine in groups:
            for start in range(0, len(mine), MOST):
                batch = mine[start : start + MOST]
                found[pool.cells(batch)] = self._chances(batch, model, plain)
                done += len(batch)
                progress(done, len(distinct), "asking the model")
        first = rows[index][same.ravel()]
        again = first != rows
        found[pool.cells(rows[again])] = found[pool.cells(first[again])]
        return found

    def _chances(self, batch: Ints, model: Logistic, plain: Logistic | None) -> Floats:
        """Return probabilities; with `plain`, of responses to one question beside judged ones."""
        if plain is None:
            return model.probabilities(self.evidence(self.pool.take(batch)))
        others = self.judged(int(self.pool.question[batch[0]]), COMPARED)
        pool = self.pool.take(np.concatenate([others, batch]))
        known = self.labels[self.pool.cells(others)]
        X = self.evidence(pool)
        labels = np.concatenate([known, np.full(len(X) - len(known), np.nan)])
        fold = (np.arange(len(X)) >= len(known)).astype(np.int64)
        near = Likeness(pool, first=len(others)).columns(labels, plain.probabilities(X), fold)
        return model.probabilities(np.concatenate([X, near], axis=1)[len(known) :])


def run_folds(pool: Pool, labels: Floats) -> Ints:
    """Return judged runs in groups; responses that nobody judged, learned from all, are one more.

    A run's own judgements are known when its other responses are guessed. Runs with responses that
    were judged in part have groups of their own: their guesses count, and few of them share one, so
    that most of what was judged is learned from.
    """
    counts = np.bincount(pool.cell_response, ~np.isnan(labels), len(pool.texts))
    widths = np.bincount(pool.cell_response, minlength=len(pool.texts))
    partly = np.unique(pool.run[(counts > 0) & (counts < widths)])
    wholly = np.setdiff1d(pool.run[counts > 0], partly)
    group = np.full(len(pool.runs), FOLDS, dtype=np.int64)
    group[wholly] = np.arange(len(wholly)) % FOLDS
    group[partly] = np.arange(len(partly)) % FOLDS + FOLDS + 1
    return np.where(counts > 0, group[pool.run], FOLDS)[pool.cell_response]
