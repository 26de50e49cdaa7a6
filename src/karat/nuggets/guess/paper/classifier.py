"""Nuggeteer's classifier (Marton and Radul 2006): a score for every response and nugget.

    score(g, response) = sum over the n-grams x of the response, lengths 1 … n, of W(g, x) I(g, x)

W(g, x) is 0 unless x stands in the description of g; else the sum of the idf of x's words, or 1
where n-grams are counted. I(g, x) = 1 - (nuggets of the question that have x) / |G| is how
informative x is. It is 1 where the question has one nugget, for which the formula would give 0.
(The paper's inner sum has one term too many; ours ends with the last k-gram.)

A nugget with several descriptions has the score of the best of them, and so it is with responses
that were judged to carry it, if the classifier is trained on those; x then stands in g if it stands
in any of its texts. A threshold on the score decides (`thresholds.py`): one that is given, or those
of the model that is named or has the highest marginal likelihood.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

from karat import _kernel
from karat.arrays import Flags, Floats, Ints, np
from karat.errors import InputError
from karat.nuggets.guess.paper import thresholds as fitting
from karat.nuggets.guess.paper.thresholds import BEST_F, NOISY, Model, Thresholds, compare_models
from karat.nuggets.guess.pool import Pool
from karat.nuggets.guess.words import BATCH, Idf, WordRecipe, smoothed_idf
from karat.nuggets.scores.idf_sources import IdfSource
from karat.progress import Progress, silent
from karat.settings import Named, setting
from karat.text.stemmers import stemmer_origin, stemmers
from karat.text.stopwords import stop_digest, stop_words
from karat.text.tokens import Vocab

AUTO = "auto"
THRESHOLD_MODELS = {
    AUTO: "the likeliest",
    **dict.fromkeys(NOISY, "thresholds of that granularity"),
    BEST_F: "one threshold by F",
}
WEIGHTS = {"idf": "the sum of its words' idf", "count": "1"}
LONGEST = 1_000_000
"""Words that an n-gram may have: more than any text of a key."""


class WithIdf(Named):
    """A classifier that weighs words by idf."""

    idf: str
    idf_language: str

    @cached_property
    def source(self) -> IdfSource:
        """Source of idf, which remembers what it read."""
        return IdfSource(self.idf, self.idf_language)


idf_setting = partial(setting, "pooled", "source of idf: pooled, wordfreq or a file", place=True)
language_setting = partial(setting, "en", "language that wordfreq is asked for")
"""Settings that say where idf comes from, and whose words wordfreq counts."""


@dataclass(frozen=True)
class Paper(WithIdf):
    """The paper's classifier; the defaults are the paper's (no stemming, bigrams, idf)."""

    name: ClassVar[str] = "paper"
    digests: ClassVar[Any] = MappingProxyType({"stop": stop_digest, "stem": stemmer_origin})

    n: int = setting(2, "the longest n-grams", low=1, high=LONGEST)
    weight: str = setting("idf", "weight of an n-gram", choices=WEIGHTS)
    stem: str = setting("none", "stemmer", choices=stemmers)
    stop: str = setting("none", "stop words: none, en, iso-LANGUAGE or a file", place=True)
    normalised: bool = setting(False, "divide by what a description would score")
    once: bool = setting(False, "count an n-gram once in a response")
    threshold_model: str = setting(AUTO, "granularity of thresholds", choices=THRESHOLD_MODELS)
    threshold: float | None = setting(
        None, "a threshold for all pairs", kind=float, low=-1e300, high=1e300
    )
    responses: bool = setting(False, "responses judged to carry a nugget describe it, too")
    idf: str = idf_setting()
    idf_language: str = language_setting()

    def __post_init__(self) -> None:
        super().__post_init__()
        stop_words(self.stop)

    @property
    def shown(self) -> str:
        """The form of n-grams, as reports show it."""
        extras = " normalised" * self.normalised + " once" * self.once
        return f"n={self.n} weight={self.weight} stem={self.stem} stop={self.stop}{extras}"

    @property
    def shown_whole(self) -> str:
        """The settings of scores, as reports show them."""
        return self.shown + " on-responses" * self.responses

    @property
    def words(self) -> WordRecipe:
        """The words of texts, as the settings cut them."""
        return WordRecipe(self.stem, self.stop)

    def scores(
        self,
        pool: Pool,
        labels: Floats,
        fold: Ints,
        source: IdfSource | None = None,
        progress: Progress = silent,
    ) -> Floats:
        """Return the scores of all cells; trained on responses, each by those of other folds."""
        source = source or self.source
        weigh = source.of_classifier(pool, self.words) if self.weight == "idf" else None
        if self.responses:
            return trained_score(pool, self, labels, fold, weigh, progress)
        return ngram_scores(pool, self, weigh, progress)

    def fit(
        self, pool: Pool, scores: Floats, labels: Floats, models: Sequence[Model] = ()
    ) -> Thresholds:
        """Learn thresholds from the judged cells (the others are NaN).

        `models` is what `compare_models` says of them, if it was asked already.
        """
        if self.threshold is not None:
            return fitting.given_threshold(scores, labels, self.threshold)
        model = self.threshold_model
        if model == AUTO:
            model = fitting.likeliest_model(models or compare_models(pool, scores, labels))
        return fitting.fit_thresholds(pool, scores, labels, model)

    def leave_out(
        self, pool: Pool, scores: Floats, labels: Floats, fold: Ints, progress: Progress = silent
    ) -> tuple[Floats, Flags]:
        """Return P(yes | score) and the decision of every cell, both learned without its fold."""
        chances, carried = np.zeros(len(labels)), np.zeros(len(labels), dtype=np.bool_)
        kinds = np.unique(fold).tolist()
        for done, k in enumerate(kinds, 1):
            mine = fold == k
            fitted = self.fit(pool, scores, np.where(mine, np.nan, labels))
            chances[mine] = fitted.chances(pool, scores)[mine]
            carried[mine] = fitted.carried(pool, scores)[mine]
            progress(done, len(kinds), "learning thresholds")
        return chances, carried

    def guess(
        self, pool: Pool, labels: Floats, fold: Ints, progress: Progress = silent
    ) -> PaperGuesses:
        """Decide on all cells; what no fold with judgements has is decided by all of them."""
        judged = ~np.isnan(labels)
        if not judged.any() and self.threshold is None:
            raise InputError(
                "the paper's classifier learns its thresholds from judgements, and there are none: "
                "give some (--judgements), or a threshold (--threshold), or use the calibrated "
                "classifier"
            )
        scores = self.scores(pool, labels, fold, progress=progress)
        models = compare_models(pool, scores, labels) if self.threshold is None else []
        whole = self.fit(pool, scores, labels, models)
        if len(np.unique(fold[judged])) > 1:
            found = self.leave_out(pool, scores, labels, fold, progress)
        else:
            found = whole.chances(pool, scores), whole.carried(pool, scores)
        return PaperGuesses(*found, whole, tuple(models))


class PaperGuesses(NamedTuple):
    """Guesses of the paper's classifier about all cells, of judged ones without their fold."""

    probabilities: Floats
    carried: Flags
    thresholds: Thresholds
    """Of all judged cells."""
    models: tuple[Model, ...]
    """log10 P(Data|Model), where thresholds were learned."""


def ngram_scores(
    pool: Pool, paper: Paper, idf: Idf | None = None, progress: Progress = silent
) -> Floats:
    """Return the scores of all cells; idf, if none is given, is that of the pool's responses."""
    vocab = Vocab()
    texts = paper.words.tokens(pool.descriptions, vocab)
    weights, parts = _weights(pool, paper, idf, vocab), [np.zeros(0)]
    for first in range(0, len(pool.texts), BATCH):
        last = min(first + BATCH, len(pool.texts))
        mine = Vocab()  # the descriptions' words first, so that the ids are the same
        mine.merge(vocab)
        words = paper.words.tokens(pool.texts[first:last], mine)
        starts = np.clip(pool.starts, first, last) - first
        given = *words, starts, *texts, pool.description_starts, pool.nugget_starts, weights
        parts.append(_kernel.nugget_scores(*given, paper.n, paper.once, paper.normalised, None))
        progress(last, len(pool.texts), "scoring nuggets")
    return np.concatenate(parts)


def trained_score(
    pool: Pool,
    paper: Paper,
    labels: Floats,
    fold: Ints,
    idf: Idf | None = None,
    progress: Progress = silent,
) -> Floats:
    """Return scores where responses that were judged to carry a nugget describe it, too.

    A response is never compared with those of its own fold. `labels` and `fold` are those of cells;
    a fold has all cells of a response.
    """
    vocab = Vocab()
    texts, words = (paper.words.tokens(some, vocab) for some in (pool.descriptions, pool.texts))
    weights = _weights(pool, paper, idf, vocab)
    whose = np.zeros(len(pool.texts), dtype=np.int64)
    whose[pool.cell_response] = np.unique(fold, return_inverse=True)[1].ravel()
    given = *words, pool.starts, *texts, pool.description_starts, pool.nugget_starts
    taught = *given, (labels > 0).view(np.uint8), whose, weights
    found = _kernel.nugget_taught(*taught, paper.n, paper.once, paper.normalised, None)
    progress(len(pool.texts), len(pool.texts), "scoring by judged responses")
    return found


def _weights(pool: Pool, paper: Paper, idf: Idf | None, vocab: Vocab) -> Floats:
    """Return the weights of all words; none where n-grams are counted."""
    if paper.weight != "idf":
        return np.zeros(0)
    idf = idf or smoothed_idf(pool.texts, paper.words)
    return np.array(idf(vocab.words(0, len(vocab))), dtype=np.float64)
