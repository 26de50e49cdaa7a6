"""Likeness: what judged responses to a question tell about another one.

Where other runs were judged on a question, their responses say more about a nugget than its
description does: how often it is carried, and in which words. For every cell, from the judgements
of other folds alone (the last one from no judgement on the question):

    rate        logit of (yes + 1/2) / (judged + 1)
    gp          Gaussian process regression of the judgements less the rate
    residual    the same of the judgements less what the description's evidence gives, where
                responses are alike that say the same of this nugget (`nearness.py`), plus 1 for
                what holds for all of them
    closest     likeness to the closest response that carries the nugget less that to the closest
                that does not
    neighbours  mean judgement of the others, weighted by the 6th power of likeness
    words       naive Bayes: log odds of the words present and absent, over their norm
    standing    mean logit of the description's guesses over the question's nuggets, against that of
                the other responses, in standard deviations: a good answer or a poor one

Likeness is the cosine of words and pairs of neighbouring words, log counts times the idf among the
responses to the question (`csrc/nuggets/likeness.hpp`). Memory grows with the responses times those
they are compared with.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from karat import _kernel
from karat.arithmetic import inverse_symmetric, product, solve_symmetric
from karat.arrays import Floats, Ints, np
from karat.nuggets.guess.calibrated.logistic import logit
from karat.nuggets.guess.calibrated.nearness import Nearness, nearness
from karat.nuggets.guess.pool import Pool
from karat.nuggets.guess.words import ENGLISH, cut_sentences
from karat.text.tokens import Ragged, Vocab

NAMES = ("rate", "gp", "residual", "closest", "neighbours", "words", "standing")
"""The columns."""

_NOISE = 0.3  # variance of a judgement beside what likeness explains
_NEAR_NOISE = 2.0  # the same beside what nearness explains
_UNKNOWN = 1e6  # and where nothing was judged
_AWAY = 0.02  # weight of the rate among the neighbours
_TABLE = 4_000_000  # numbers in a table of nuggets x responses x responses


class _Responses(NamedTuple):
    """The responses to one question: cosines with the first of them, words, and nearness."""

    cosines: Floats
    words: _kernel.NuggetLikeness
    near: Nearness


class Likeness:
    """The responses of a pool, made comparable once; `columns` then takes any judgements.

    With `first`, only so many of the responses to each question, the first ones, may be judged.
    """

    def __init__(self, pool: Pool, first: int | None = None) -> None:
        self.pool = pool
        parts, bounds = cut_sentences(pool.texts)
        vocab = Vocab()  # once for all: they share most words
        stems = ENGLISH.tokens(parts, vocab)
        near = nearness(pool, parts, bounds, stems, ENGLISH.tokens(pool.descriptions, vocab))
        words = Ragged(stems.ids, stems.offsets[bounds])
        self._questions = []
        for (start, end), mine in zip(pairwise(pool.starts.tolist()), near, strict=True):
            alike = _kernel.nugget_likeness(*words, start, end)
            compared = end - start if first is None else min(first, end - start)
            self._questions.append(_Responses(alike.cosines(compared), alike, mine))

    def columns(self, labels: Floats, guesses: Floats, fold: Ints) -> Floats:
        """Return cells x `NAMES`.

        Of `labels` those of other folds are used; a fold that is left out altogether has NaN.
        `guesses` are probabilities from the description alone.
        """
        pool = self.pool
        parts = [np.zeros((0, len(NAMES)))]
        for q, responses in enumerate(self._questions):
            yes, guess = (pool.table(x, q) for x in (labels, guesses))
            if yes.size:
                mine = pool.table(fold.astype(np.float64), q)[:, 0].astype(np.int64)
                parts.append(_block(responses, yes, guess, mine))
        return np.concatenate(parts)


def _block(responses: _Responses, labels: Floats, guesses: Floats, fold: Ints) -> Floats:
    """Return the rows of one question: responses x nuggets become rows.

    Regression is linear, so the rate is taken off afterwards: that of the fold that is predicted,
    which has not seen its judgements, for all the others.
    """
    rows = np.flatnonzero(~np.isnan(labels).all(axis=1))
    judged = (~np.isnan(labels[rows])).astype(np.float64)
    yes = (labels[rows] > 0).astype(np.float64)
    apart = fold[:, None] != fold[rows]
    rate = (product(apart, yes) + 0.5) / (product(apart, judged) + 1)
    K = responses.cosines[:, rows]
    near = np.where(apart, K, 0.0)
    values = np.concatenate([yes, judged], axis=1)
    carried, all_judged = np.split(_regress(K, values, rows, fold), 2, axis=1)
    beyond = _beyond(responses, yes - guesses[rows], judged, rows, fold)
    square = np.square(np.clip(near, 0, None))
    weights = square * square * square
    neighbours = (product(weights, yes) + _AWAY * rate) / (product(weights, judged) + _AWAY)
    means = logit(guesses).mean(axis=1)  # no judgement has a part in it
    standing = (means - means.mean()) / max(float(means.std()), 1e-9)
    columns = [
        logit(rate),
        carried - rate * all_judged,
        beyond,
        _closest(near, yes) - _closest(near, judged - yes),
        neighbours,
        responses.words.bayes(rows, yes, judged, fold),
        np.broadcast_to(standing[:, None], labels.shape),
    ]
    return np.stack([column.ravel() for column in columns], axis=1)


def _regress(K: Floats, values: Floats, rows: Ints, fold: Ints) -> Floats:
    """Return K (K + noise)^-1 values over the judged rows, each predicted without its own fold.

    Leaving a block B out: v_B - (M_BB)^-1 (M v)_B, with M the inverse over all.
    """
    M = inverse_symmetric(K[rows] + _NOISE * np.eye(len(rows)))
    weighted = product(M, values)
    found = product(K, weighted)
    for one in np.unique(fold[rows]):
        at = np.flatnonzero(fold[rows] == one)
        found[rows[at]] = values[at] - solve_symmetric(M[np.ix_(at, at)], weighted[at])
    return found


def _beyond(responses: _Responses, left: Floats, judged: Floats, rows: Ints, fold: Ints) -> Floats:
    """Regress over nearness, nugget by nugget."""
    found = np.empty((len(fold), left.shape[1]))
    noise = np.where(judged > 0, _NEAR_NOISE, _UNKNOWN)
    first = int(rows.max(initial=-1)) + 1
    for some, near in responses.near.parts(first, _TABLE):
        mine = (judged * left)[:, some]
        K = near.table(first)[:, rows[:, None], rows] + 1
        weighted, inside = _regress_each(K, mine, noise[:, some], fold[rows])
        if len(rows) < len(found):  # others are to be predicted
            spread = np.zeros((first, mine.shape[1]))
            spread[rows] = weighted
            found[:, some] = near.sum(spread) + weighted.sum(axis=0)
        found[rows, some] = inside
    return found


def _regress_each(K: Floats, values: Floats, noise: Floats, fold: Ints) -> tuple[Floats, Floats]:
    """`_regress` over judged rows, with a likeness and a noise for every column of values.

    Gives the weights of the rows, for others to be predicted with, and what is predicted of each
    without those of its own fold: 0 if there is but one.
    """
    K = K + noise.T[:, :, None] * np.eye(len(values))
    if len(np.unique(fold)) == 1:
        return solve_symmetric(K, values.T[:, :, None])[:, :, 0].T, np.zeros_like(values)
    M = inverse_symmetric(K)
    weighted = product(M, values.T[:, :, None])
    found = np.empty_like(values)
    for one in np.unique(fold):
        at = np.flatnonzero(fold == one)
        off = solve_symmetric(M[:, at[:, None], at], weighted[:, at])
        found[at] = values[at] - off[:, :, 0].T
    return weighted[:, :, 0].T, found


def _closest(near: Floats, some: Floats) -> Floats:
    """Return likeness to the closest of some responses, nugget by nugget; 0 if there is none."""
    rows = np.ascontiguousarray(near.T)
    best = [rows[column > 0].max(axis=0, initial=0.0) for column in some.T]
    return np.stack(best, axis=1)
