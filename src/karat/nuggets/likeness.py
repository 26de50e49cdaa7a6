"""Likeness: what judged responses to a question tell about another one.

Where other runs were judged on a question, their responses say more about a nugget than its
description does: how often it is carried, and in which words. For every cell, from the judgements
of other folds alone (the last one from no judgement on the question):

    rate        logit of (yes + 1/2) / (judged + 1)
    gp          Gaussian process regression of the judgements less the rate
    residual    the same of the judgements less what the description's evidence gives
    closest     likeness to the closest response that carries the nugget less that to the closest
                that does not
    neighbours  mean judgement of the others, weighted by the 6th power of likeness
    words       naive Bayes: log odds of the words present and absent, over their norm
    standing    mean logit of the description's guesses over the question's nuggets, against that of
                the other responses, in standard deviations: a good answer or a poor one

Likeness is the cosine of words and pairs of neighbouring words, log counts times the idf among the
responses to the question.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from karat.nuggets.classifier import Classifier
from karat.nuggets.evidence import EvidenceSettings
from karat.nuggets.logistic import logit
from karat.nuggets.pool import Floats, Ints, Pool
from karat.text.tokens import Vocab

NAMES = ("rate", "gp", "residual", "closest", "neighbours", "words", "standing")
"""The columns."""

_NOISE = 0.3  # variance of a judgement beside what likeness explains
_POWER = 6
_AWAY = 0.02  # weight of the rate among the neighbours


@dataclass(frozen=True, eq=False)
class _Responses:
    """The responses to one question: cosines with each other, and which has which word."""

    cosines: Floats
    words: Floats


class Likeness:
    """The responses of a pool, made comparable once; `columns` then takes any judgements."""

    def __init__(self, pool: Pool, settings: EvidenceSettings | None = None) -> None:
        rule = (settings or EvidenceSettings()).classifier
        self.pool = pool
        self._questions = [
            _compare(rule, pool.texts[first:last])
            for first, last in zip(pool.starts[:-1], pool.starts[1:], strict=True)
        ]

    def columns(self, labels: Floats, guesses: Floats, fold: Ints) -> Floats:
        """Cells x `NAMES`.

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


def _compare(rule: Classifier, texts: tuple[str, ...]) -> _Responses:
    vocab = Vocab()
    found = rule.tokens(texts, vocab)
    row = np.repeat(np.arange(len(texts)), found.lengths)
    size = np.int64(len(vocab) + 1)
    together = row[1:] == row[:-1]
    pairs = (found.ids[:-1].astype(np.int64) + 1)[together] * size + found.ids[1:][together]
    words = _counts(row, found.ids.astype(np.int64), len(texts))
    both = np.concatenate([words, _counts(row[1:][together], pairs, len(texts))], axis=1)
    present = (both > 0).sum(axis=0)
    A = np.log1p(both[:, present > 1]) * np.log((len(texts) + 1) / present[present > 1])
    norms = np.sqrt((A * A).sum(axis=1, keepdims=True))
    A = np.divide(A, norms, out=np.zeros_like(A), where=norms > 0)
    some = (words > 0).sum(axis=0)
    useful = (some > 1) & (some < len(texts))
    return _Responses(A @ A.T, (words[:, useful] > 0).astype(np.float64))


def _counts(row: Ints, keys: Ints, rows: int) -> Floats:
    """How often each row has each key: rows x distinct keys."""
    distinct, column = np.unique(keys, return_inverse=True)
    found = np.bincount(row * len(distinct) + column.ravel(), minlength=rows * len(distinct))
    return found.reshape(rows, -1).astype(np.float64)


def _block(responses: _Responses, labels: Floats, guesses: Floats, fold: Ints) -> Floats:
    """One question: responses x nuggets become rows.

    Regression is linear, so the rate is taken off afterwards: that of the fold that is predicted,
    which has not seen its judgements, for all the others.
    """
    judged = ~np.isnan(labels)
    yes = np.where(judged, labels > 0, 0.0)
    apart = fold[:, None] != fold[None, :]
    rate = (apart @ yes + 0.5) / (apart @ judged.astype(np.float64) + 1)
    K, known = responses.cosines, np.asarray(judged.any(axis=1))
    values = [yes, judged.astype(np.float64), np.where(judged, yes - guesses, 0.0)]
    carried, seen, left = np.split(_regress(K, np.concatenate(values, 1), known, fold), 3, axis=1)
    columns = [
        logit(rate),
        carried - rate * seen,
        left,
        _closest(K, apart, judged & (yes > 0)) - _closest(K, apart, judged & (yes == 0)),
        _neighbours(K, apart, yes, judged, rate),
        _bayes(responses.words, apart, yes, judged),
        np.broadcast_to(_standing(guesses)[:, None], yes.shape),
    ]
    return np.stack([column.ravel() for column in columns], axis=1)


def _standing(guesses: Floats) -> Floats:
    """Of each response; no judgement has a part in it."""
    means = logit(guesses).mean(axis=1)
    found: Floats = (means - means.mean()) / max(float(means.std()), 1e-9)
    return found


def _regress(K: Floats, values: Floats, known: NDArray[np.bool_], fold: Ints) -> Floats:
    """K (K + noise)^-1 values over the known rows, each predicted without those of its own fold.

    Leaving a block B out: v_B - (M_BB)^-1 (M v)_B, with M the inverse over all.
    """
    rows = np.flatnonzero(known)
    M = np.linalg.inv(K[np.ix_(rows, rows)] + _NOISE * np.eye(len(rows)))
    weighted = M @ values[rows]
    found = K[:, rows] @ weighted
    for one in np.unique(fold[rows]):
        at = np.flatnonzero(fold[rows] == one)
        found[rows[at]] = values[rows[at]] - np.linalg.solve(M[np.ix_(at, at)], weighted[at])
    return found


def _closest(K: Floats, apart: NDArray[np.bool_], some: NDArray[np.bool_]) -> Floats:
    """Likeness to the closest of some responses, nugget by nugget; 0 if there is none."""
    near = np.where(apart, K, 0.0)
    found: Floats = (near[:, :, None] * some[None, :, :]).max(axis=1)
    return found


def _neighbours(
    K: Floats, apart: NDArray[np.bool_], yes: Floats, judged: NDArray[np.bool_], rate: Floats
) -> Floats:
    weights = np.where(apart, np.clip(K, 0, None), 0.0) ** _POWER
    found: Floats = (weights @ yes + _AWAY * rate) / (weights @ judged + _AWAY)
    return found


def _bayes(
    words: Floats, apart: NDArray[np.bool_], yes: Floats, judged: NDArray[np.bool_]
) -> Floats:
    """Log odds of a yes from the words that are there and those that are not, over their norm.

    With a of the A responses that carry the nugget and b of the B that do not having the word, its
    odds are (a + 1/2) / (A + 1) over (b + 1/2) / (B + 1), and the same of A - a and B - b where
    this response lacks it. Counts are small, so their logarithms are looked up.
    """
    logs = np.log(np.arange(len(yes) + 1) + 0.5)
    sides = [(side, side.T @ words) for side in (yes, judged - yes)]
    found = np.zeros_like(yes)
    for i, mine in enumerate(words):
        same = np.flatnonzero(~apart[i])
        odds = np.zeros((yes.shape[1], words.shape[1]))
        for sign, (side, have) in zip((1, -1), sides, strict=True):
            many = (side.sum(axis=0) - side[same].sum(axis=0))[:, None]
            having = have - side[same].T @ words[same]
            here = np.where(mine > 0, having, many - having)
            odds += sign * (logs[here.astype(np.intp)] - np.log(many + 1))
        found[i] = odds.sum(axis=1) / np.sqrt((odds * odds).sum(axis=1) + 1)
    return found
