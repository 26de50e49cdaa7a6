"""Nuggeteer's classifier (Marton and Radul 2006): a score for every response and nugget.

    score(g, response) = sum over the n-grams x of the response, lengths 1 … n, of W(g, x) I(g, x)

W(g, x) is 0 unless x occurs in the description of g; else the sum of the idf of x's words, or 1 if
n-grams are counted. The informativeness of x is (equations 1 and 2):

    I(g, x) = 1 - (sum over nuggets g' of the question of i(g', x)) / |G|
    i(g', x) = 1 if count(g', x) > 0, else 0

count(g', x) is the number of occurrences of x in the texts that describe g'. In the paper
(`informativeness=responses`) these are the responses that were judged to carry g', from other folds
than the one that is scored; without any, the descriptions of g'. I is 1 if the question has one
nugget, for which the formula would give 0. (The paper's inner sum has one term too many; ours ends
with the last k-gram.)

A nugget with several descriptions has the score of the best one. With `responses` (section 4.5),
responses that were judged to carry a nugget are descriptions, too. A threshold on the score decides
(`thresholds.py`): a fixed one, the thresholds of a named model, or of the model with the highest
marginal likelihood; without judgements, a built-in one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

from karat import _kernel
from karat.arrays import Flags, Floats, Ints, np
from karat.errors import InputError
from karat.nuggets.prediction.pool import FoldedCells, Pool
from karat.nuggets.prediction.thresholds import (
    BEST_F,
    NOISY,
    ThresholdModel,
    Thresholds,
    built_in_threshold,
    compare_models,
    fit_thresholds,
    fixed_threshold,
    likeliest_model,
)
from karat.nuggets.scores.words import BATCH, IdfSource, StemIdf, WordRecipe, smoothed_idf
from karat.progress import Progress, silent
from karat.settings import NamedSettings, setting
from karat.text.tokens import Vocab, stemmer_origin, stemmers, stop_digest, stop_words

AUTO = "auto"
THRESHOLD_MODELS = {
    AUTO: "the likeliest",
    **dict.fromkeys(NOISY, "thresholds of that granularity"),
    BEST_F: "one threshold by F",
}
INFORMED = "responses"
INFORMATIVENESS = {
    "descriptions": "of texts that describe it",
    INFORMED: "of responses judged to carry it; of its descriptions where there are none",
}
"""Texts whose n-grams a nugget has in equation 1; the second is the paper's."""
AS_PRINTED = {
    "n": 2,
    "weight": "idf",
    "stem": "none",
    "stop": "none",
    "threshold_model": AUTO,
    "informativeness": INFORMED,
}
"""Settings of the paper: Table 2 (no stemming, bigrams, idf), equation 1, the likeliest model of
thresholds (section 4.4)."""
WEIGHTS = {"idf": "the sum of its words' idf", "count": "1"}
TOGETHER = 4_000_000  # scores in memory at once, if every fold has its own
LONGEST = 1_000_000  # words of an n-gram: more than any text of a key has


class WithIdf(NamedSettings):
    """A classifier that weighs words by idf."""

    idf: str

    @cached_property
    def source(self) -> IdfSource:
        """Source of idf, which caches what it read."""
        return IdfSource(self.idf)


idf_setting = partial(setting, "pooled", "source of idf: pooled or a file", place=True)


@dataclass(frozen=True)
class Paper(WithIdf):
    """The paper's classifier, with the paper's defaults except for equation 1 (see `presets`)."""

    name: ClassVar[str] = "paper"
    presets: ClassVar[Mapping[str, dict[str, Any]]] = MappingProxyType({"paper": AS_PRINTED})
    digests: ClassVar[Any] = MappingProxyType({"stop": stop_digest, "stem": stemmer_origin})

    n: int = setting(2, "length of the longest n-grams", low=1, high=LONGEST)
    weight: str = setting("idf", "weight of an n-gram", choices=WEIGHTS)
    stem: str = setting("none", "stemmer", choices=stemmers)
    stop: str = setting("none", "stop words: none, en, iso-LANGUAGE or a file", place=True)
    normalised: bool = setting(False, "divide by the score of the description itself")
    once: bool = setting(False, "count an n-gram once in a response")
    threshold_model: str = setting(AUTO, "granularity of thresholds", choices=THRESHOLD_MODELS)
    threshold: float | None = setting(
        None, "fixed threshold for all pairs", kind=float, low=-1e300, high=1e300
    )
    responses: bool = setting(False, "use responses judged to contain a nugget as descriptions")
    idf: str = idf_setting()
    informativeness: str = setting(
        "descriptions", "texts that give a nugget its n-grams", choices=INFORMATIVENESS
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        stop_words(self.stop)

    @property
    def summary(self) -> str:
        """Settings of n-grams, as reports show them."""
        extras = " normalised" * self.normalised + " once" * self.once
        return f"n={self.n} weight={self.weight} stem={self.stem} stop={self.stop}{extras}"

    @property
    def full_summary(self) -> str:
        """Settings of scores, as reports show them."""
        by = f" informativeness={self.informativeness}" * (self.informativeness == INFORMED)
        return self.summary + " on-responses" * self.responses + by

    @property
    def words(self) -> WordRecipe:
        """The words of texts, as the settings cut them."""
        return WordRecipe(self.stem, self.stop)

    def scores(
        self, cells: FoldedCells, source: IdfSource | None = None, progress: Progress = silent
    ) -> Floats:
        """Return the scores of all cells; judged responses are used for other folds only."""
        weigh = self._weigh(cells.pool, source)
        if self.taught(cells.labels):
            return next(trained_scores(cells, self, [-1], weigh, progress))
        return ngram_scores(cells.pool, self, weigh, progress)

    def each_fold(
        self, cells: FoldedCells, source: IdfSource | None = None
    ) -> Iterator[tuple[int, Floats]]:
        """Yield each fold, and the scores of all cells computed without its judgements."""
        kinds, weigh = np.unique(cells.fold).tolist(), self._weigh(cells.pool, source)
        if self.taught(cells.labels):
            yield from zip(kinds, trained_scores(cells, self, kinds, weigh), strict=True)
            return
        scores = ngram_scores(cells.pool, self, weigh)
        yield from ((k, scores) for k in kinds)

    def taught(self, labels: Floats) -> bool:
        """Return True if scores depend on judgements."""
        return self.responses or bool(self.informativeness == INFORMED and (labels > 0).any())

    def _weigh(self, pool: Pool, source: IdfSource | None) -> StemIdf | None:
        source = source or self.source
        return source.of_classifier(pool, self.words) if self.weight == "idf" else None

    def fit(
        self, pool: Pool, scores: Floats, labels: Floats, models: Sequence[ThresholdModel] = ()
    ) -> Thresholds:
        """Learn thresholds from the judged cells (the others are NaN).

        `models` is the result of `compare_models`, if it was computed already.
        """
        if self.threshold is not None:
            return fixed_threshold(scores, labels, self.threshold)
        model = self.threshold_model
        if model == AUTO:
            model = likeliest_model(models or compare_models(pool, scores, labels))
        return fit_thresholds(pool, scores, labels, model)

    def leave_out(
        self, cells: FoldedCells, source: IdfSource | None = None, progress: Progress = silent
    ) -> tuple[Floats, Flags]:
        """Return P(yes | score) and the decision of every cell, both learned without its fold."""
        pool, labels = cells.pool, cells.labels
        chances, carried = np.zeros(len(labels)), np.zeros(len(labels), dtype=np.bool_)
        size = len(np.unique(cells.fold))
        for done, (k, scores) in enumerate(self.each_fold(cells, source), 1):
            in_fold = cells.fold == k
            fitted = self.fit(pool, scores, np.where(in_fold, np.nan, labels))
            chances[in_fold] = fitted.chances(pool, scores)[in_fold]
            carried[in_fold] = fitted.carried(pool, scores)[in_fold]
            progress(done, size, "learning thresholds")
        return chances, carried

    def guess(
        self, pool: Pool, labels: Floats, fold: Ints, progress: Progress = silent
    ) -> PaperPredictions:
        """Decide on all cells, each without the judgements of its fold."""
        cells = FoldedCells(pool, labels, fold)
        if not cells.is_judged.any() and self.threshold is None:
            return self._guess_unjudged(cells, progress)
        scores = self.scores(cells, progress=progress)
        models = compare_models(pool, scores, labels) if self.threshold is None else []
        thresholds = self.fit(pool, scores, labels, models)
        if len(np.unique(fold[cells.is_judged])) > 1:
            predictions = self.leave_out(cells, progress=progress)
        else:
            predictions = thresholds.chances(pool, scores), thresholds.carried(pool, scores)
        return PaperPredictions(*predictions, thresholds, tuple(models))

    def _guess_unjudged(self, cells: FoldedCells, progress: Progress) -> PaperPredictions:
        """Decide by the built-in threshold of normalised scores."""
        if self.threshold_model != AUTO:
            raise InputError(
                f"the paper's classifier learns thresholds of threshold_model="
                f"{self.threshold_model} from judgements, and there are none: give some "
                "(--judgements), or a threshold (threshold=NUMBER), or leave out threshold_model "
                "for the built-in threshold"
            )
        scores = replace(self, normalised=True).scores(cells, progress=progress)
        built_in, pool = built_in_threshold(self.n), cells.pool
        predictions = built_in.chances(pool, scores), built_in.carried(pool, scores)
        return PaperPredictions(*predictions, built_in, ())


class PaperPredictions(NamedTuple):
    """Guesses of the paper's classifier about all cells, each without its fold."""

    probabilities: Floats
    carried: Flags
    thresholds: Thresholds  # of all judged cells
    models: tuple[ThresholdModel, ...]  # log10 P(Data|Model), if thresholds were learned


def ngram_scores(
    pool: Pool, paper: Paper, idf: StemIdf | None = None, progress: Progress = silent
) -> Floats:
    """Return the scores of all cells; by default, idf comes from the pool's responses."""
    vocab = Vocab()
    texts = paper.words.tokens(pool.descriptions, vocab)
    weights, parts = _weights(pool, paper, idf, vocab), [np.zeros(0)]
    for first in range(0, len(pool.texts), BATCH):
        last = min(first + BATCH, len(pool.texts))
        batch_vocab = Vocab()  # the descriptions' words first, so that the ids are the same
        batch_vocab.merge(vocab)
        words = paper.words.tokens(pool.texts[first:last], batch_vocab)
        starts = np.clip(pool.starts, first, last) - first
        arguments = *words, starts, *texts, pool.description_starts, pool.nugget_starts, weights
        parts.append(_kernel.nugget_scores(*arguments, paper.n, paper.once, paper.normalised, None))
        progress(last, len(pool.texts), "scoring nuggets")
    return np.concatenate(parts)


def trained_scores(
    cells: FoldedCells,
    paper: Paper,
    without: Sequence[int],
    idf: StemIdf | None = None,
    progress: Progress = silent,
) -> Iterator[Floats]:
    """Yield scores that use responses that were judged to carry a nugget.

    They determine the informativeness of n-grams, or describe the nugget, or both. A response is
    never compared with responses of its own fold, nor of the fold that is left out for all: each of
    `without` in turn (-1: none). All cells of a response are in one fold.
    """
    pool, labels = cells.pool, cells.labels
    vocab = Vocab()
    texts, words = (paper.words.tokens(batch, vocab) for batch in (pool.descriptions, pool.texts))
    weights = _weights(pool, paper, idf, vocab)
    fold_numbers, cell_folds = np.unique(cells.fold, return_inverse=True)
    fold_of_response = np.zeros(len(pool.texts), dtype=np.int64)
    fold_of_response[pool.cell_response] = cell_folds.ravel()
    arguments = *words, pool.starts, *texts, pool.description_starts, pool.nugget_starts
    judged_arguments = *arguments, (labels > 0).view(np.uint8), fold_of_response
    ngram_settings = paper.n, paper.once, paper.normalised
    uses = paper.responses, paper.informativeness == INFORMED
    numbers = np.where(np.isin(without, fold_numbers), np.searchsorted(fold_numbers, without), -1)
    left_out_folds = numbers.astype(np.int64)
    batch_size = max(1, TOGETHER // max(len(labels), 1))
    for first in range(0, len(left_out_folds), batch_size):
        batch = left_out_folds[first : first + batch_size]
        yield from _kernel.nugget_taught(
            *judged_arguments, batch, weights, *ngram_settings, *uses, None
        )
        progress(len(pool.texts), len(pool.texts), "scoring by judged responses")


def _weights(pool: Pool, paper: Paper, idf: StemIdf | None, vocab: Vocab) -> Floats:
    """Return the weights of all words; empty if n-grams are counted."""
    if paper.weight != "idf":
        return np.zeros(0)
    idf = idf or smoothed_idf(pool.texts, paper.words)
    return idf(vocab.words(0, len(vocab)))
