"""Nuggeteer's classifier (Marton and Radul 2006): a score for every response and nugget.

    score(g, response) = sum over the n-grams x of the response, lengths 1 … n, of W(g, x) I(g, x)

W(g, x) is 0 unless x stands in the description of g; else the sum of the idf of x's words, or 1
where n-grams are counted. I(g, x) = 1 - (nuggets of the question that have x) / |G| is how
informative x is. It is 1 where the question has one nugget, for which the formula would give 0.
(The paper's inner sum has one term too many; ours ends with the last k-gram.)

A nugget with several descriptions has the score of the best of them, and so it is with responses
that were judged to carry it, if the classifier is trained on those; x then stands in g if it stands
in any of its texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, Protocol, TypeAlias
from unicodedata import category

import numpy as np
from numpy.typing import NDArray

from karat import _kernel
from karat.arithmetic import log
from karat.errors import InputError, quoted
from karat.nuggets.guess.pool import Floats, Ints, Pool
from karat.nuggets.sets.judgements import Judgements
from karat.nuggets.sets.keys import Question
from karat.nuggets.sets.runs import normal
from karat.progress import Progress, silent
from karat.text.recipe import Ragged, select
from karat.text.stemmers import stem_words, stemmers
from karat.text.stopwords import stop_words
from karat.text.tokens import Vocab, tokenize

Idf: TypeAlias = Callable[[Sequence[str]], Sequence[float]]
"""The idf of words, as the classifier's tokeniser and stemmer leave them."""

WEIGHTS = {"idf": "the sum of its words' idf", "count": "1"}
"""What an n-gram weighs."""

LONGEST = 1_000_000
"""Words that an n-gram may have: more than any text of a key."""
_BATCH = 4096  # responses at a time: memory does not grow with a run


@dataclass(frozen=True)
class Classifier:
    """The settings of a classifier; the defaults are the paper's (no stemming, bigrams, idf)."""

    n: int = 2
    weight: str = "idf"
    stem: str = "none"
    stop: str = "none"
    tok: str = "intl"
    normalised: bool = False
    """Divide by what the description itself would score."""
    once: bool = False
    """Count an n-gram once in a response, however often it stands there."""

    def __post_init__(self) -> None:
        if not 1 <= self.n <= LONGEST:
            raise InputError(
                f"n={self.n}: expected n-grams of at least 1 word, at most {LONGEST:,}"
            )
        if self.weight not in WEIGHTS:
            raise InputError(f"weight={self.weight}: expected one of {', '.join(WEIGHTS)}")
        if self.stem not in stemmers():
            raise InputError(f"stem={self.stem}: expected one of {', '.join(stemmers())}")
        stop_words(self.stop)

    def __str__(self) -> str:
        extras = "".join(f" {name}" for name in ("normalised", "once") if getattr(self, name))
        return f"n={self.n} weight={self.weight} stem={self.stem} stop={self.stop}{extras}"

    def tokens(self, texts: Sequence[str], vocab: Vocab) -> Ragged:
        """The words of texts, without punctuation at their ends; what is nothing else is none."""
        cut, _ = _cut(tuple(texts), self.tok)
        stems, of_word = _stems(tuple(texts), self.tok, self.stem)
        kept = _keeps(tuple(texts), self.tok, self.stop)
        return select(Ragged(vocab.merge(stems)[of_word][cut.ids], cut.offsets), kept[cut.ids])


@lru_cache(maxsize=4)  # settings that differ in stems, stop words and weights cut texts alike
def _cut(texts: tuple[str, ...], tok: str) -> tuple[Ragged, Vocab]:
    """Texts as ids of bare words, and those words; nobody changes them."""
    cut = tokenize(texts, tok, "lower", threads=1)
    bare = Vocab()
    ids = bare.add([_bare(word) for word in cut.vocab.words(0, len(cut.vocab))])
    return Ragged(ids[cut.ids], cut.offsets), bare


@lru_cache(maxsize=4)
def _stems(texts: tuple[str, ...], tok: str, stem: str) -> tuple[Vocab, NDArray[np.int32]]:
    """The stems of the texts' words, and which of them each word has; nobody changes them."""
    _, bare = _cut(texts, tok)
    if stem == "none":
        return bare, np.arange(len(bare), dtype=np.int32)
    stems = Vocab()
    return stems, stem_words(stem, bare, 0, stems)


@lru_cache(maxsize=8)
def _keeps(texts: tuple[str, ...], tok: str, stop: str) -> NDArray[np.bool_]:
    """Which of the texts' words are neither empty nor stop words."""
    _, bare = _cut(texts, tok)
    words = bare.words(0, len(bare))
    said = np.array([word != "" for word in words], dtype=np.bool_)
    return said if stop == "none" else said & np.array(stop_words(stop).lacks(words), np.bool_)


def forget_texts() -> None:
    """Forget texts that were cut, as whoever measures time must."""
    for cached in (_cut, _stems, _keeps):
        cached.cache_clear()


def bare_words(texts: Sequence[str], tok: str = "intl") -> set[str]:
    """The distinct words of texts, as the classifier cuts them, before they are stemmed."""
    found: set[str] = set()
    for start in range(0, len(texts), _BATCH):
        _, bare = _cut(tuple(texts[start : start + _BATCH]), tok)
        found.update(bare.words(0, len(bare)))
    return found - {""}


def _bare(word: str) -> str:
    """Without punctuation and symbols at both ends: the tokeniser leaves `20.` whole."""
    if word[:1].isalnum() and word[-1:].isalnum():
        return word
    first, last = 0, len(word)
    while first < last and category(word[first])[0] in "PS":
        first += 1
    while last > first and category(word[last - 1])[0] in "PS":
        last -= 1
    return word[first:last]


class Some(Protocol):
    """Texts of which some at a time are asked for: a list, or a file that is too large for one."""

    def __len__(self) -> int: ...
    def __getitem__(self, at: slice, /) -> Sequence[str]: ...


def smoothed_idf(texts: Some, classifier: Classifier) -> Idf:
    """idf(w) = log((N + 1) / (c + 1/2)): c of the N texts have the word, or its stem.

    Smoothed, unlike Pourpre's log(N / c) in `idf`: most words of a description stand in few of the
    responses, and one that none has must weigh more than one that stands in one of them; and of a
    single response no word weighs 0.
    """
    vocab = Vocab()
    counts = np.zeros(0, dtype=np.int64)
    for start in range(0, len(texts), _BATCH):
        some = classifier.tokens(texts[start : start + _BATCH], vocab)
        rows = np.repeat(np.arange(len(some.offsets) - 1), some.lengths)
        both = np.sort(rows * np.int64(len(vocab) + 1) + some.ids)
        first = np.append(True, both[1:] != both[:-1])[: len(both)]
        found = np.bincount(both[first] % (len(vocab) + 1), minlength=len(vocab))
        counts = found + np.pad(counts, (0, len(vocab) - len(counts)))

    def idf(words: Sequence[str]) -> Sequence[float]:
        ids = vocab.find(list(words))
        found = np.where(ids >= 0, np.append(counts, 0)[ids], 0)
        weights: list[float] = log((len(texts) + 1) / (found + 0.5)).tolist()
        return weights

    return idf


class Evidence(NamedTuple):
    """An n-gram of a response that speaks for a nugget."""

    nugget: str
    words: tuple[str, ...]
    position: int
    """Of the first word, among the response's words."""
    value: float
    """What it adds to the score: W(g, x) I(g, x)."""
    text: str
    """The description, or judged response, in which it stands."""


class Index:
    """The texts of the nuggets of some questions, as the kernel reads them."""

    def __init__(
        self,
        questions: Sequence[Question],
        classifier: Classifier,
        idf: Idf | None = None,
        judged: Judgements | None = None,
    ) -> None:
        if classifier.weight == "idf" and idf is None:
            raise InputError("weight=idf: give the idf of words, or weight=count")
        self.classifier, self.questions = classifier, tuple(questions)
        self.texts, sizes = _texts(questions, judged)
        self.vocab = Vocab()
        self.ids, self.offsets = classifier.tokens(self.texts, self.vocab)
        self.nuggets = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
        counts = [len(question.nuggets) for question in questions]
        self.starts = np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))
        words = self.vocab.words(0, len(self.vocab))
        given = idf(words) if classifier.weight == "idf" and idf else ()
        self.weights: Floats = np.array(given, dtype=np.float64)

    def scores(self, texts: Sequence[str], starts: Ints, progress: Progress = silent) -> Floats:
        """Scores of all cells; responses to question q are those from `starts[q]` on."""
        parts = [np.zeros(0)]
        for first, last, words in self._batches(texts):
            here = np.clip(starts, first, last) - first
            parts.append(self._score(words, here))
            progress(last, len(texts), "scoring nuggets")
        return np.concatenate(parts)

    def _batches(self, texts: Sequence[str]) -> Iterator[tuple[int, int, Ragged]]:
        for first in range(0, len(texts), _BATCH):
            last = min(first + _BATCH, len(texts))
            vocab = Vocab()  # ours first, so that the ids are the same, and then forgotten
            vocab.merge(self.vocab)
            yield first, last, self.classifier.tokens(texts[first:last], vocab)

    def _score(self, words: Ragged, starts: Ints) -> Floats:
        texts = Ragged(self.ids, self.offsets)
        return _scores(
            self.classifier, words, starts, texts, self.nuggets, self.starts, self.weights
        )

    def evidence(self, question: str, response: str) -> list[Evidence]:
        """The n-grams of a response that carried the scores, nugget by nugget, in its order.

        Of a nugget with several texts, those of the one in which they add up to most.
        """
        ids = [one.id for one in self.questions]
        if question not in ids:
            raise InputError(
                f"question {quoted(question)}: expected one of the {len(ids)} of the key"
            )
        q = ids.index(question)
        first, last = self.starts[q], self.starts[q + 1]
        bounds = self.nuggets[first : last + 1]
        offsets = self.offsets[bounds[0] : bounds[-1] + 1]
        vocab = Vocab()
        vocab.merge(self.vocab)
        words = self.classifier.tokens([response], vocab).ids
        where, values = _kernel.nugget_hits(
            words,
            self.ids[offsets[0] : offsets[-1]],
            offsets - offsets[0],
            bounds - bounds[0],
            self.weights,
            self.classifier.n,
            self.classifier.once,
        )
        spoken = [vocab.words(i, i + 1)[0] for i in words.tolist()]
        found = []
        for g, nugget in enumerate(self.questions[q].nuggets):
            for k in _deciding(where, values, bounds[g] - bounds[0], bounds[g + 1] - bounds[0]):
                position, length, text = where[k].tolist()
                gram = tuple(spoken[position : position + length])
                text = self.texts[bounds[0] + text]
                found.append(Evidence(nugget.id, gram, position, float(values[k]), text))
        return found


def _scores(
    rule: Classifier,
    responses: Ragged,
    starts: Ints,
    texts: Ragged,
    nuggets: Ints,
    questions: Ints,
    weights: Floats,
) -> Floats:
    """All cells; texts of nugget g are those from `nuggets[g]` on, `weights` those of words."""
    return _kernel.nugget_scores(
        responses.ids,
        responses.offsets,
        starts,
        texts.ids,
        texts.offsets,
        nuggets,
        questions,
        weights,
        rule.n,
        rule.once,
        rule.normalised,
        None,
    )


def _deciding(where: NDArray[np.int32], values: Floats, first: int, last: int) -> list[int]:
    """The hits in that text, of those from first to last, in which they add up to most."""
    mine = np.flatnonzero((where[:, 2] >= first) & (where[:, 2] < last))
    if not len(mine):
        return []
    sums = np.bincount(where[mine, 2] - first, values[mine])
    best = first + int(sums.argmax())
    return [int(k) for k in mine if where[k, 2] == best]


def _texts(questions: Sequence[Question], judged: Judgements | None) -> tuple[list[str], list[int]]:
    """The texts of all nuggets, and how many each has: descriptions, then judged responses."""
    responses: dict[tuple[str, str], dict[str, str]] = {}
    for row in judged.rows if judged else ():
        if row.value > 0:
            mine = responses.setdefault((row.question, row.nugget), {})
            mine.setdefault(normal(row.response), row.response)
    texts, sizes = [], []
    for question in questions:
        for nugget in question.nuggets:
            more = responses.get((question.id, nugget.id), {}).values()
            texts += [*nugget.descriptions, *more]
            sizes.append(len(nugget.descriptions) + len(more))
    return texts, sizes


def score(
    pool: Pool,
    classifier: Classifier,
    idf: Idf | None = None,
    judged: Judgements | None = None,
    progress: Progress = silent,
) -> Floats:
    """The scores of all cells of a pool; idf, if none is given, is that of its responses."""
    if classifier.weight == "idf" and idf is None:
        idf = smoothed_idf(pool.texts, classifier)
    index = Index(pool.questions, classifier, idf, judged)
    return index.scores(pool.texts, pool.starts, progress)


def trained_score(
    pool: Pool,
    classifier: Classifier,
    labels: Floats,
    fold: Ints,
    idf: Idf | None = None,
    progress: Progress = silent,
) -> Floats:
    """The scores of all cells where responses that were judged to carry a nugget describe it, too.

    A response is never compared with those of its own fold. `labels` and `fold` are those of cells;
    a fold has all cells of a response.
    """
    if classifier.weight == "idf" and idf is None:
        idf = smoothed_idf(pool.texts, classifier)
    vocab = Vocab()
    described = [text for nugget in pool.nuggets for text in nugget.descriptions]
    texts, responses = (classifier.tokens(some, vocab) for some in (described, pool.texts))
    known = vocab.words(0, len(vocab))
    weights = np.array(idf(known) if classifier.weight == "idf" and idf else (), dtype=np.float64)
    sizes = [len(nugget.descriptions) for nugget in pool.nuggets]
    whose = np.zeros(len(pool.texts), dtype=np.int64)
    whose[pool.cell_response] = np.unique(fold, return_inverse=True)[1].ravel()
    found = _kernel.nugget_taught(
        *responses,
        pool.starts,
        *texts,
        np.concatenate(([0], np.cumsum(sizes, dtype=np.int64))),
        pool.nugget_starts,
        (labels > 0).view(np.uint8),
        whose,
        weights,
        classifier.n,
        classifier.once,
        classifier.normalised,
        None,
    )
    progress(len(pool.texts), len(pool.texts), "scoring by judged responses")
    return found
