"""Nearness: the similarity of responses with respect to a nugget.

Two long answers may agree on one nugget and differ in everything else. So every nugget has its own
similarity, in which units of text weigh most if they occur in its descriptions or in sentences
about it:

    r(s, g)    = root of the share of the nugget's words, by idf and informativeness, in sentence s
    near(g)    = cosine over stems + cosine over character 3-grams, present or not,
                 weighted by `csrc/nuggets/nearness.hpp`

3-grams of more than three in four responses are left out: they weigh little and cost most.
Judgements are not used. The idf is computed from the responses to the question.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from karat import _kernel
from karat.arithmetic import inverse_symmetric, log, logit, product, solve_symmetric
from karat.arrays import Floats, Ints, np
from karat.nuggets.prediction.pool import Pool
from karat.nuggets.scores.words import ENGLISH, code_points, cut_sentences
from karat.text.tokens import Ragged, Vocab

_MIN_WEIGHT = 0.05  # informativeness of a word that all nuggets of a question have
_UNITS = ((1, 1.0), (3, 0.75))  # stems, characters: length of a unit; largest share of responses


class Nearness(NamedTuple):
    """The responses to one question, and the descriptions of its nuggets."""

    sentences: tuple[Ragged, ...]  # as stems, and as characters
    bounds: Ints  # the first sentence of each response
    texts: tuple[Ragged, ...]
    nuggets: Ints  # the first description of each nugget
    relevance: Floats  # sentences x nuggets

    def parts(self, first: int, most: int) -> Iterator[tuple[slice, Near]]:
        """Yield some nuggets at a time, and the similarity with respect to them.

        A table of the first responses has at most `most` numbers, or one nugget.
        """
        count = len(self.nuggets) - 1
        wide = max(most // max(first * first, 1), 1)
        for start in range(0, count, wide):
            selected = slice(start, min(start + wide, count))
            bounds = self.nuggets[start : selected.stop + 1]
            about = bounds - bounds[0], np.ascontiguousarray(self.relevance[:, selected])
            by_unit = []
            for units, texts, (n, share) in zip(self.sentences, self.texts, _UNITS, strict=True):
                descriptions = _part(texts, int(bounds[0]), int(bounds[-1]))
                often = int(share * (len(self.bounds) - 1))
                arguments = *units, self.bounds, *descriptions, *about, n, often
                by_unit.append(_kernel.nugget_nearness(*arguments))
            yield selected, Near(by_unit)


class Near(NamedTuple):
    """Similarity of the responses to a question for some nuggets: by stems, by characters."""

    units: list[_kernel.NuggetNearness]

    def table(self, first: int) -> Floats:
        """Return nuggets x the first responses x the first responses."""
        total = sum(unit.table(first, None) for unit in self.units)
        return np.ascontiguousarray(np.moveaxis(np.asarray(total), 2, 0))

    def sum(self, values: Floats) -> Floats:
        """Return responses x nuggets: the sum of similarity times value over the first responses.

        `values` has a row for each of these, and a column for each nugget.
        """
        return np.asarray(sum(unit.sum(values, None) for unit in self.units))


def nearness(
    pool: Pool, parts: Sequence[str], bounds: Ints, stems: Ragged, texts: Ragged
) -> list[Nearness]:
    """Return the nearness of every question.

    `parts` are the sentences of all responses; response i begins at sentence `bounds[i]`. `stems`
    are the words of the sentences, `texts` the words of all descriptions.
    """
    characters, nuggets = code_points([*parts, *pool.descriptions]), pool.description_starts
    questions = []
    spans = zip(pairwise(pool.starts.tolist()), pairwise(pool.nugget_starts.tolist()), strict=True)
    for (start, end), (first, last) in spans:
        sentence_bounds, nugget_bounds = bounds[start : end + 1], nuggets[first : last + 1]
        sentence_span, description_span = (
            (int(x[0]), int(x[-1])) for x in (sentence_bounds, nugget_bounds)
        )
        sentences = _part(stems, *sentence_span), _part(characters, *sentence_span)
        descriptions = (
            _part(texts, *description_span),
            _part(characters, *(len(parts) + t for t in description_span)),
        )
        sentence_bounds = sentence_bounds - sentence_bounds[0]
        nugget_bounds = nugget_bounds - nugget_bounds[0]
        relevance = _relevance(sentences[0], sentence_bounds, descriptions[0], nugget_bounds)
        questions.append(
            Nearness(sentences, sentence_bounds, descriptions, nugget_bounds, relevance)
        )
    return questions


def _part(rows: Ragged, first: int, last: int) -> Ragged:
    offsets = rows.offsets[first : last + 1]
    return Ragged(rows.ids[offsets[0] : offsets[-1]], offsets - offsets[0])


def _relevance(sentences: Ragged, bounds: Ints, texts: Ragged, nuggets: Ints) -> Floats:
    """Return the root of the share of a nugget's words in a sentence, by its best description."""
    words, column = np.unique(texts.ids.astype(np.int64), return_inverse=True)
    have, inside = _present(sentences, words), np.zeros((len(texts.offsets) - 1, len(words)))
    inside[np.repeat(np.arange(len(inside)), texts.lengths), column.ravel()] = 1
    document_counts = _any(have, bounds).sum(axis=0)
    idf = log((len(bounds) - 1 + 1) / (document_counts + 0.5))
    weights = inside * idf * np.maximum(1 - _any(inside, nuggets).mean(axis=0), _MIN_WEIGHT)
    shares = product(have, weights.T) / np.maximum(weights.sum(axis=1), 1e-9)
    best = [shares[:, a:b].max(axis=1, initial=0.0) for a, b in pairwise(nuggets.tolist())]
    return np.sqrt(np.stack(best, axis=1)) if best else np.zeros((len(have), 0))


def _present(rows: Ragged, words: Ints) -> Floats:
    """Return rows x words: 1 if the row has the word."""
    presence = np.zeros((len(rows.offsets) - 1, len(words)))
    if len(words):
        at = np.minimum(np.searchsorted(words, rows.ids), len(words) - 1)
        hits = words[at] == rows.ids
        presence[np.repeat(np.arange(len(presence)), rows.lengths)[hits], at[hits]] = 1
    return presence


def _any(rows: Floats, bounds: Ints) -> Floats:
    """Return groups of rows x columns: 1 if any row has it; groups begin at `bounds`."""
    any_present, nonempty = np.zeros((len(bounds) - 1, rows.shape[1])), np.diff(bounds) > 0
    if nonempty.any():
        any_present[nonempty] = np.maximum.reduceat(rows, bounds[:-1][nonempty], axis=0)
    return any_present


NAMES = ("rate", "gp", "residual", "closest", "neighbours", "words", "standing")  # the columns

_NOISE = 0.3  # variance of a judgement that likeness does not explain
_NEAR_NOISE = 2.0  # variance of a judgement that nearness does not explain
_UNKNOWN = 1e6  # variance without a judgement
_AWAY = 0.02  # weight of the rate among the neighbours
_TABLE = 4_000_000  # numbers in a table of nuggets x responses x responses


class _Responses(NamedTuple):
    """The responses to one question: cosines with the first of them, words, and nearness."""

    cosines: Floats
    words: _kernel.NuggetLikeness
    near: Nearness


class Likeness:
    """Similarities of the responses of a pool; `columns` combines them with any judgements.

    Columns of every cell, from the judgements of other folds (the last one from none):

        rate        logit of (yes + 1/2) / (judged + 1)
        gp          Gaussian process regression of the judgements less the rate
        residual    the same for the judgements minus the guesses from the description, with the
                    kernel nearness + 1 (the 1 is common to all responses)
        closest     likeness to the closest response that carries the nugget minus likeness to the
                    closest one that does not
        neighbours  mean judgement of the others, weighted by the 6th power of likeness
        words       naive Bayes: log odds of the words present and absent, over their norm
        standing    mean logit of the guesses from the description over the question's nuggets, as
                    a z-score among all responses: a good answer or a poor one

    Likeness is the cosine of words and pairs of neighboring words, log counts times the idf among
    the responses to the question (`csrc/nuggets/likeness.hpp`). With `first`, only the first
    responses to each question, at most that many, may be judged.
    """

    def __init__(self, pool: Pool, first: int | None = None) -> None:
        self.pool = pool
        parts, bounds = cut_sentences(pool.texts)
        vocab = Vocab()  # one for all texts, which share most words
        stems = ENGLISH.tokens(parts, vocab)
        near = nearness(pool, parts, bounds, stems, ENGLISH.tokens(pool.descriptions, vocab))
        words = Ragged(stems.ids, stems.offsets[bounds])
        self._questions = []
        spans = pairwise(pool.starts.tolist())
        for (start, end), question_nearness in zip(spans, near, strict=True):
            alike = _kernel.nugget_likeness(*words, start, end)
            compared = end - start if first is None else min(first, end - start)
            self._questions.append(_Responses(alike.cosines(compared), alike, question_nearness))

    def columns(self, labels: Floats, guesses: Floats, fold: Ints) -> Floats:
        """Return cells x `NAMES`.

        Only `labels` of other folds are used; a fold that is left out completely has NaN. `guesses`
        are probabilities from the description alone.
        """
        pool = self.pool
        parts = [np.zeros((0, len(NAMES)))]
        for q, responses in enumerate(self._questions):
            yes, guess = (pool.table(x, q) for x in (labels, guesses))
            if yes.size:
                response_folds = pool.table(fold.astype(np.float64), q)[:, 0].astype(np.int64)
                parts.append(_block(responses, yes, guess, response_folds))
        return np.concatenate(parts)


def _block(responses: _Responses, labels: Floats, guesses: Floats, fold: Ints) -> Floats:
    """Return the columns of one question, with a row for each pair of response and nugget.

    Regression is linear, so the rate can be subtracted afterwards: the rate for the fold that is
    predicted, computed without its judgements.
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
    beyond = _regress_residuals(responses, yes - guesses[rows], judged, rows, fold)
    square = np.square(np.clip(near, 0, None))
    weights = square * square * square
    neighbours = (product(weights, yes) + _AWAY * rate) / (product(weights, judged) + _AWAY)
    means = logit(guesses).mean(axis=1)  # uses no judgements
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
    predicted = product(K, weighted)
    for fold_id in np.unique(fold[rows]):
        at = np.flatnonzero(fold[rows] == fold_id)
        predicted[rows[at]] = values[at] - solve_symmetric(M[np.ix_(at, at)], weighted[at])
    return predicted


def _regress_residuals(
    responses: _Responses, left: Floats, judged: Floats, rows: Ints, fold: Ints
) -> Floats:
    """Regress what the description does not explain on nearness, nugget by nugget."""
    predicted = np.empty((len(fold), left.shape[1]))
    noise = np.where(judged > 0, _NEAR_NOISE, _UNKNOWN)
    first = int(rows.max(initial=-1)) + 1
    for nuggets, near in responses.near.parts(first, _TABLE):
        residuals = (judged * left)[:, nuggets]
        K = near.table(first)[:, rows[:, None], rows] + 1
        weighted, inside = _regress_each(K, residuals, noise[:, nuggets], fold[rows])
        if len(rows) < len(predicted):  # there are other responses to predict
            spread = np.zeros((first, residuals.shape[1]))
            spread[rows] = weighted
            predicted[:, nuggets] = near.sum(spread) + weighted.sum(axis=0)
        predicted[rows, nuggets] = inside
    return predicted


def _regress_each(K: Floats, values: Floats, noise: Floats, fold: Ints) -> tuple[Floats, Floats]:
    """Regress as `_regress` does, with a kernel and a noise for every column of values.

    Return the weights of the rows, to predict other responses, and the prediction of each row
    without its own fold: 0 if there is only one fold.
    """
    K = K + noise.T[:, :, None] * np.eye(len(values))
    if len(np.unique(fold)) == 1:
        return solve_symmetric(K, values.T[:, :, None])[:, :, 0].T, np.zeros_like(values)
    M = inverse_symmetric(K)
    weighted = product(M, values.T[:, :, None])
    predicted = np.empty_like(values)
    for fold_id in np.unique(fold):
        at = np.flatnonzero(fold == fold_id)
        off = solve_symmetric(M[:, at[:, None], at], weighted[:, at])
        predicted[at] = values[at] - off[:, :, 0].T
    return weighted[:, :, 0].T, predicted


def _closest(near: Floats, selected: Floats) -> Floats:
    """Return likeness to the closest selected response, nugget by nugget; 0 without any."""
    rows = np.ascontiguousarray(near.T)
    best = [rows[column > 0].max(axis=0, initial=0.0) for column in selected.T]
    return np.stack(best, axis=1)
