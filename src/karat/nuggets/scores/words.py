"""Words and sentences as classifiers cut them, and the smoothed idf of words.

Texts are lower-cased and cut by the tokenizer `intl`; punctuation and symbols are stripped from the
ends of tokens, and tokens that become empty are dropped.
"""

from __future__ import annotations

import atexit
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple, TypeAlias
from unicodedata import category

from karat import _kernel
from karat.arithmetic import log
from karat.arrays import Flags, Floats, Ints, NDArray, np
from karat.errors import InputError
from karat.nuggets.prediction.pool import Pool
from karat.nuggets.sets.keys_and_runs import Nugget, Run
from karat.progress import Progress, silent
from karat.storage.digests import text_digest
from karat.storage.output import FilePath
from karat.text.segments import Lines, Segments, Strings, Texts, as_segments, batches
from karat.text.sentences import sentences
from karat.text.tokens import Ragged, Vocab, select, stem_words, stop_words, tokenize

TOKENIZER, CASE = "intl", "lower"
BATCH = 4096  # texts that are cut at a time: memory does not grow with a run
StemIdf: TypeAlias = Callable[[Sequence[str]], Floats]
"""Function from words, stemmed if a classifier stems them, to their idf."""

IdfTexts: TypeAlias = tuple[str, ...] | Segments
"""Texts that idf comes from: all responses, or a corpus."""


@dataclass(frozen=True)
class WordRecipe:
    """Words of texts: a stemmer and a stop list."""

    stem: str = "none"
    stop: str = "none"

    def tokens(self, texts: Sequence[str], vocab: Vocab) -> Ragged:
        """Return the words of texts as ids of a vocabulary, which grows."""
        cut, _ = _cut(tuple(texts))
        stems, of_word = _stems(tuple(texts), self.stem)
        is_word = _keeps(tuple(texts), self.stop)
        return select(Ragged(vocab.merge(stems)[of_word][cut.ids], cut.offsets), is_word[cut.ids])


ENGLISH = WordRecipe("english", "en")  # content words by their stems, for the calibrated classifier


@lru_cache(maxsize=4)  # settings that differ in stems, stop words and weights cut texts alike
def _cut(texts: tuple[str, ...]) -> tuple[Ragged, Vocab]:
    """Return texts as ids of bare words, and the vocabulary; both are read-only."""
    cut = tokenize(texts, TOKENIZER, CASE, threads=1)
    bare = Vocab()
    ids = bare.add([_bare(word) for word in cut.vocab.words(0, len(cut.vocab))])
    return Ragged(ids[cut.ids], cut.offsets), bare


@lru_cache(maxsize=4)
def _stems(texts: tuple[str, ...], stem: str) -> tuple[Vocab, NDArray[np.int32]]:
    """Return the stems of the texts' words, and the stem of each word; both are read-only."""
    _, bare = _cut(texts)
    if stem == "none":
        return bare, np.arange(len(bare), dtype=np.int32)
    stems = Vocab()
    return stems, stem_words(stem, bare, 0, stems)


@lru_cache(maxsize=8)
def _keeps(texts: tuple[str, ...], stop: str) -> Flags:
    """Return which of the texts' words are neither empty nor stop words."""
    _, bare = _cut(texts)
    words = bare.words(0, len(bare))
    nonempty = np.array([word != "" for word in words], dtype=np.bool_)
    if stop == "none":
        return nonempty
    return nonempty & np.array(stop_words(stop).lacks(words), np.bool_)


def forget_texts() -> None:
    """Clear the caches of this module, for measurements of time."""
    for cached in (_cut, _stems, _keeps, cut_sentences):
        cached.cache_clear()


atexit.register(forget_texts)  # before the kernel is unloaded, which reports leaked objects


@lru_cache(maxsize=2)  # evidence and likeness cut the same texts
def cut_sentences(texts: tuple[str, ...]) -> tuple[tuple[str, ...], Ints]:
    """Return the sentences of all texts, and the first sentence of each text."""
    parts = [sentences(text) for text in texts]
    bounds = np.cumsum([0, *map(len, parts)], dtype=np.int64)
    return tuple(part for text_sentences in parts for part in text_sentences), bounds


def _bare(word: str) -> str:
    """Return a word without punctuation and symbols at its ends: `intl` leaves `20.` whole."""
    if word[:1].isalnum() and word[-1:].isalnum():
        return word
    first, last = 0, len(word)
    while first < last and category(word[first])[0] in "PS":
        first += 1
    while last > first and category(word[last - 1])[0] in "PS":
        last -= 1
    return word[first:last]


def _count_texts(
    texts: Segments, cut: Callable[[list[str], Vocab], Ragged], progress: Progress = silent
) -> tuple[Vocab, Ints]:
    """Return words and the number of texts that have each, counted in batches of bounded size."""
    vocab, counts = Vocab(), np.zeros(0, dtype=np.int64)
    for start, stop in batches([texts], BATCH, 1 << 24):
        tokens = cut(texts.views(start, stop).strings(), vocab)
        row = np.repeat(np.arange(stop - start, dtype=np.int64), np.diff(tokens.offsets))
        pairs = np.unique(row << 32 | tokens.ids)
        more = np.bincount(pairs & 0xFFFFFFFF, minlength=len(vocab))
        counts = np.pad(counts, (0, len(more) - len(counts))) + more
        progress(stop, len(texts), f"counting words of {texts.name}")
    return vocab, counts


def smoothed_idf(texts: Texts, words: WordRecipe) -> StemIdf:
    """Return idf(w) = log((N + 1) / (c + 1/2)): c of the N texts have the word, or its stem.

    Smoothed, unlike Pourpre's log(N / c) in `texts_idf`: most words of a description occur in few
    responses, and a word without any must weigh more than a word with one. With a single response,
    no word weighs 0.
    """
    segments = as_segments(texts, "responses")
    vocab, counts = _count_texts(segments, words.tokens)

    def idf(words: Sequence[str]) -> Floats:
        ids = vocab.find(list(words))
        word_counts = np.where(ids >= 0, np.append(counts, 0)[ids], 0)
        return log((len(segments) + 1) / (word_counts + 0.5))

    return idf


@dataclass(frozen=True)
class RaggedWords:
    """Text i has the words `ids[offsets[i]:offsets[i + 1]]`; words of one stem are one class."""

    ids: NDArray[np.int32]
    offsets: Ints
    words: list[str]  # each word by its id
    classes: NDArray[np.int32]  # the class of each word by its id


def cut_words(texts: Texts, stem: str = "none", stop: str = "none") -> RaggedWords:
    """Return the words of texts, without stop words."""
    tokens = tokenize(texts, TOKENIZER, CASE, stop=stop, threads=1)
    words = tokens.vocab.words(0, len(tokens.vocab))
    keep = np.array([any(map(str.isalnum, word)) for word in words], dtype=np.bool_)[tokens.ids]
    offsets = np.concatenate(([0], np.cumsum(keep, dtype=np.int64)))[tokens.offsets]
    classes = np.arange(len(words), dtype=np.int32)
    if stem != "none":
        classes = stem_words(stem, tokens.vocab, 0, Vocab())
    return RaggedWords(tokens.ids[keep], offsets, words, classes)


def stems_of(words: Sequence[str], stem: str) -> list[str]:
    """Return the stem of each word."""
    if stem == "none":
        return list(words)
    vocab, target = Vocab(), Vocab()
    ids = vocab.add(list(words))
    stems = stem_words(stem, vocab, 0, target)
    names = target.words(0, len(target))
    return [names[k] for k in stems[ids].tolist()]


def code_points(texts: Sequence[str]) -> Ragged:
    """Return the characters of texts in lower case, including white space."""
    views = _kernel.Views.from_strings(list(texts), 0, len(texts))
    return Ragged(*_kernel.codepoints(views.lower(), True))


Weigh: TypeAlias = Callable[[Sequence[str]], Floats]
"""Function from words, lower-cased and not stemmed, to their weights."""


def count_weights(words: Sequence[str]) -> Floats:
    """Return weight 1 for every word."""
    return np.ones(len(words))


@dataclass(frozen=True)
class DocumentFrequencies:
    """Number of texts that have each word or stem, out of N."""

    documents: int
    counts: Mapping[str, int]
    stem: str = "none"

    @property
    def signature(self) -> str:
        """Number of texts, and eight characters that change when the counts do."""
        rows = "\n".join(f"{word} {count}" for word, count in sorted(self.counts.items()))
        return f"idf/{self.documents}@{text_digest(rows)}"

    def __call__(self, words: Sequence[str]) -> Floats:
        """Return log(N / c) of each word."""
        counts = [self.counts.get(stem, 1) for stem in stems_of(words, self.stem)]
        return log(self.documents / np.array(counts, dtype=np.float64))


def corpus_idf(
    path: FilePath, stem: str = "none", progress: Progress = silent
) -> DocumentFrequencies:
    """Count words in a file of texts, one per line."""
    return texts_idf(Lines(Path(path), progress), stem, progress)


def pooled_idf(
    runs: Iterable[Run], stem: str = "none", progress: Progress = silent
) -> DocumentFrequencies:
    """Count words in the distinct responses of some runs: log(N / c), Pourpre's formula.

    Classifiers use `smoothed_idf` instead.
    """
    answers = (responses for run in runs for responses in run.answers.values())
    texts = dict.fromkeys(response.text for responses in answers for response in responses)
    if not texts:
        raise InputError("there are no responses to take idf from: name a corpus")
    return texts_idf(Strings(texts.keys(), "responses"), stem, progress)


def texts_idf(
    texts: Segments, stem: str = "none", progress: Progress = silent
) -> DocumentFrequencies:
    """Count words in any texts, in batches of bounded size."""

    def cut(texts: Sequence[str], vocab: Vocab) -> Ragged:
        tokens = tokenize(texts, TOKENIZER, CASE, stem, vocab=vocab, threads=1)
        return Ragged(tokens.ids, tokens.offsets)

    vocab, counts = _count_texts(texts, cut, progress)
    words = vocab.words(0, len(vocab))
    return DocumentFrequencies(len(texts), dict(zip(words, counts.tolist(), strict=True)), stem)


POOLED = "pooled"  # idf from the responses themselves, not from a corpus


@dataclass(frozen=True)
class IdfSource:
    """Source of idf: `pooled`, or the path of a corpus."""

    name: str = POOLED
    _cache: dict[tuple[Pool, WordRecipe], StemIdf] = field(
        default_factory=dict, compare=False, repr=False
    )

    def __str__(self) -> str:
        return self.name

    @property
    def signature(self) -> str:
        """The source, with a digest of a corpus."""
        return POOLED if self.name == POOLED else f"{self.name}@{self._corpus.digest()}"

    def check(self) -> None:
        """Raise InputError if the corpus cannot be read."""
        if self.name != POOLED:
            len(self._corpus)

    @cached_property
    def _corpus(self) -> Lines:
        return Lines(self.name)

    def of_classifier(self, pool: Pool, words: WordRecipe) -> StemIdf:
        """Return the idf of words as a classifier cuts and stems them (cached)."""
        rule = WordRecipe(words.stem)  # stop words do not change idf
        if (pool, rule) not in self._cache:
            self._cache[pool, rule] = smoothed_idf(self.texts(pool), rule)
        return self._cache[pool, rule]

    def texts(self, pool: Pool) -> IdfTexts:
        """Return the texts whose words are counted: the responses, or the corpus."""
        return pool.texts if self.name == POOLED else self._corpus

    def of_words(self, runs: Iterable[Run], stem: str) -> Weigh:
        """Return the idf of words for Pourpre."""
        if self.name == POOLED:
            return pooled_idf(runs, stem)
        return texts_idf(self._corpus, stem)  # a pipe is read only once


_ALONE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(rf"[{_ALONE}]|[^\s{_ALONE}]+")
"""Text between blanks, or a single Chinese or Japanese character."""
_MARKS = re.compile(r"[^\w\s]|_")


class ResponseWord(NamedTuple):
    """A word of a response, its position, and the numbers of the nuggets that have it, from 0."""

    text: str
    start: int
    end: int
    nuggets: list[int]


def words_with_nuggets(response: str, nuggets: Sequence[Nugget]) -> list[ResponseWord]:
    """Return the words of a response, with the nuggets that have each."""
    places = list(_WORD.finditer(response))
    described = (" ".join(nugget.descriptions) for nugget in nuggets)
    stems = _stem_sets([*(place[0] for place in places), *described])
    having: dict[str, list[int]] = {}
    for j, nugget_stems in enumerate(stems[len(places) :]):
        for stem in nugget_stems:
            having.setdefault(stem, []).append(j)
    words = []
    for place, word_stems in zip(places, stems, strict=False):
        numbers = sorted({j for stem in word_stems for j in having.get(stem, ())})
        words.append(ResponseWord(place[0], place.start(), place.end(), numbers))
    return words


def quotation(words: Sequence[ResponseWord], nugget: int) -> str:
    """Return the words that a nugget has too, in their order, with … for gaps."""
    pieces: list[str] = []
    for n, word in enumerate(words):
        if nugget in word.nuggets:
            is_adjacent = n > 0 and nugget in words[n - 1].nuggets
            gap = " " * (n > 0 and words[n - 1].end < word.start) if is_adjacent else " … "
            pieces += [gap * bool(pieces), word.text]
    return "".join(pieces)


def excerpt(response: str, nugget: Nugget, max_words: int = 30) -> str:
    """Return `max_words` words in a row with the most words of the nugget; all if it is short.

    Among equally good windows, the middle one of the first group that overlaps is chosen.
    """
    words = words_with_nuggets(response, [nugget])
    window = best_window([bool(word.nuggets) for word in words], max_words)
    if len(window) == len(words):
        return response
    text = response[words[window.start].start : words[window.stop - 1].end]
    return f"{'… ' * (window.start > 0)}{text}{' …' * (window.stop < len(words))}"


def best_window(in_nugget: Sequence[bool], size: int) -> range:
    """Return the positions of the `size` words in a row with the most words of a nugget."""
    if len(in_nugget) <= size:
        return range(len(in_nugget))
    sums = np.cumsum([0, *in_nugget])
    counts = sums[size:] - sums[:-size]
    good = np.flatnonzero(counts == counts.max())
    near = good[good < good[0] + size]
    first = int(near[len(near) // 2])
    return range(first, first + size)


def _stem_sets(texts: Iterable[str]) -> list[set[str]]:
    """Return the stems of the content words of each text; each distinct word is stemmed once."""
    bare, out = (_MARKS.sub("", text.lower()) for text in texts), stop_words("en")
    words_by_text = [{word for word in _WORD.findall(text) if word not in out} for text in bare]
    words = sorted(set[str]().union(*words_by_text))
    stem = dict(zip(words, stems_of(words, "porter"), strict=True))
    return [{stem[word] for word in text_words} for text_words in words_by_text]
