"""Evidence: what the words of a response say about a nugget, as numbers for a classifier.

Beside the paper's score: how much of the nugget's words stands in the response, and in its best
window, under several weights; the longest run of words in common (as in GTM); the heaviest word
that is missing; the same in the best sentence, and the best two neighbouring ones; character
4-grams, for words that are spelt or formed otherwise; and where this nugget stands among those of
its question. Every row depends on one response and its question alone, but for the idf.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from karat import _kernel
from karat.arithmetic import log1p
from karat.nuggets.guess.calibrated.sentences import cut_sentences
from karat.nuggets.guess.paper.classifier import Classifier, Idf, Index, smoothed_idf
from karat.nuggets.guess.pool import Floats, Ints, Pool
from karat.nuggets.scores.words import letters
from karat.progress import Progress, silent
from karat.text.stopwords import stop_words
from karat.text.tokens import Vocab

KINDS = ("idf", "count", "informative", "new", "number", "name")
"""Weights of a nugget's words: idf of content words; 1; idf times informativeness; the same of
words that are not in the question; 1 for numbers; 1 for words with a capital within the text."""

WINDOWS = ("near", "whole")
"""Windows of a response: twice the nugget's length and 4 words; all of it."""

SHARES = [f"{kind}-{window}" for window in WINDOWS for kind in KINDS[:4]]
TOGETHER = {"sentence": 1, "pair": 2}
"""Neighbouring sentences that are read as one text."""

SENTENCES = [f"{name}-{some}" for some in TOGETHER for name in (*KINDS[:4], "run", "miss")]
PLAIN = [
    *SHARES,
    "number",
    "name",
    "run",
    "miss",
    "paper-2",
    "paper-3",
    "characters-near",
    "characters",
    "nugget-length",
    "has-number",
    "has-name",
    *SENTENCES,
]
RELATIVE = ("idf-whole", "informative-whole", "informative-near", "paper-2")
"""Of these also what is above the mean of the question's nuggets; and the rank of the last."""

NAMES = (*PLAIN, *(f"{name}-above" for name in RELATIVE), "rank")
"""The columns of the evidence."""

_BATCH = 2048
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class EvidenceSettings:
    """How text becomes words: a stemmer and a stop list that suit the language."""

    stem: str = "english"
    stop: str = "en"
    tok: str = "intl"

    @property
    def classifier(self) -> Classifier:
        """The paper's classifier with these words: content words, normalised."""
        return Classifier(
            1, stem=self.stem, stop=self.stop, tok=self.tok, normalised=True, once=True
        )


@dataclass(eq=False)
class _Texts:
    """The descriptions of all nuggets, as ids and weights."""

    pool: Pool
    settings: EvidenceSettings
    idf: Idf
    vocab: Vocab = field(default_factory=Vocab)

    def __post_init__(self) -> None:
        self.texts = [text for nugget in self.pool.nuggets for text in nugget.descriptions]
        self.rule = replace(self.settings.classifier, stop="none")
        self.words = self.rule.tokens(self.texts, self.vocab)
        self.letters = letters(self.texts)
        sizes = [len(nugget.descriptions) for nugget in self.pool.nuggets]
        self.nuggets = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
        self.questions = self.nuggets[self.pool.nugget_starts]
        self.owner = np.repeat(np.arange(len(sizes)), sizes)
        self.row = np.repeat(np.arange(len(self.texts)), self.words.lengths)

    def weights(self) -> Floats:
        """Tokens x kinds."""
        ids, content = self.words.ids, self._content()
        idf = np.array(self.idf(self.vocab.words(0, len(self.vocab))), dtype=np.float64)
        weight = content * idf[ids]
        informative = weight * self._informativeness()
        new = informative * ~self._in_question()
        words = self.vocab.words(0, len(self.vocab))
        number = np.array([any(map(str.isdigit, word)) for word in words], dtype=np.bool_)[ids]
        kinds = [weight, content, informative, new, number, self._capital() & content]
        return np.ascontiguousarray(np.stack(kinds, axis=1), dtype=np.float64)

    def _content(self) -> NDArray[np.bool_]:
        """The words that are no stop words; all words of a text that has no other."""
        surface = Vocab()
        plain = replace(self.rule, stem="none").tokens(self.texts, surface)
        words = surface.words(0, len(surface))
        kept = np.array(stop_words(self.settings.stop).lacks(words), dtype=np.bool_)
        some = np.bincount(self.row, kept[plain.ids], len(self.texts)) > 0
        return np.asarray(kept[plain.ids] | ~some[self.row])

    def _informativeness(self) -> Floats:
        """1 - (nuggets of the question that have the word) / |G|; 1 for a single nugget."""
        counts = np.diff(self.pool.nugget_starts)
        question = np.repeat(np.arange(len(counts)), counts)[self.owner][self.row]
        size = np.int64(len(self.vocab) + 1)
        pairs = np.unique((self.owner[self.row] * size) + self.words.ids)
        of_question = np.repeat(np.arange(len(counts)), counts)[pairs // size]
        keys, have = np.unique(of_question * size + pairs % size, return_counts=True)
        found = have[np.searchsorted(keys, question * size + self.words.ids)]
        many = counts[question]
        return np.where(many > 1, 1 - found / np.maximum(many, 1), 1.0)

    def _in_question(self) -> NDArray[np.bool_]:
        """The words that the question has itself."""
        asked = self.rule.tokens([question.text for question in self.pool.questions], self.vocab)
        counts = np.diff(self.pool.nugget_starts)
        question = np.repeat(np.arange(len(counts)), counts)[self.owner][self.row]
        size = np.int64(len(self.vocab) + 1)
        has = np.repeat(np.arange(len(asked.offsets) - 1), asked.lengths) * size + asked.ids
        return np.isin(question * size + self.words.ids, has)

    def _capital(self) -> NDArray[np.bool_]:
        """Words with a capital that do not open their text."""
        names = {
            (row, word.lower())
            for row, text in enumerate(self.texts)
            for word in _WORD.findall(text)[1:]
            if word[0].isupper()
        }
        surface = Vocab()
        plain = replace(self.rule, stem="none").tokens(self.texts, surface)
        words = surface.words(0, len(surface))
        cells = zip(self.row.tolist(), plain.ids.tolist(), strict=True)
        return np.array([(row, words[i]) in names for row, i in cells], dtype=np.bool_)

    def windows(self, lengths: Ints) -> Ints:
        """Texts x windows, in tokens; 0 is no bound."""
        return np.stack([2 * lengths + 4, np.zeros_like(lengths)], axis=1)

    def best(self, rows: Floats, starts: Ints) -> Floats:
        """Of the texts of a nugget the largest of each number: cells x columns."""
        if len(self.texts) == len(self.pool.nuggets):
            return rows
        sizes = np.diff(self.nuggets)
        blocks = zip(
            np.diff(starts), self.pool.nugget_starts, self.pool.nugget_starts[1:], strict=False
        )
        repeated = [np.tile(sizes[a:b], count) for count, a, b in blocks]
        bounds = np.concatenate(([0], np.cumsum(np.concatenate(repeated))))[:-1]
        return np.maximum.reduceat(rows, bounds, axis=0)


def evidence(
    pool: Pool,
    settings: EvidenceSettings | None = None,
    idf: Idf | None = None,
    progress: Progress = silent,
) -> Floats:
    """Cells x `NAMES`; idf, if none is given, is that of the pool's responses."""
    settings = settings or EvidenceSettings()
    idf = idf or smoothed_idf(pool.texts, replace(settings.classifier, stop="none"))
    texts = _Texts(pool, settings, idf)
    weights = texts.weights()
    found, cell = np.empty((int(pool.cell_starts[-1]), len(NAMES))), 0
    for first in range(0, len(pool.texts), _BATCH):
        last = min(first + _BATCH, len(pool.texts))
        starts = np.clip(pool.starts, first, last) - first
        plain = _plain(texts, weights, pool.texts[first:last], starts)
        count = len(plain[0])
        np.concatenate(plain, axis=1, out=found[cell : cell + count, : len(PLAIN)])
        cell += count
        progress(last, len(pool.texts), "weighing evidence")
    _add_relative(pool, found)
    return found


def _plain(texts: _Texts, weights: Floats, responses: Sequence[str], starts: Ints) -> list[Floats]:
    """The columns that need no other nugget, one after the other."""
    vocab = Vocab()
    vocab.merge(texts.vocab)
    words = texts.rule.tokens(responses, vocab)
    lengths = np.diff(texts.words.offsets)
    rows = _kernel.nugget_windows(
        *words, starts, *texts.words, texts.questions, weights, texts.windows(lengths), None
    )
    rows[:, -1] *= -1  # of several texts the one that misses least
    kinds = len(KINDS)
    shares = [w * kinds + k for w in range(len(WINDOWS)) for k in range(4)]
    whole = (len(WINDOWS) - 1) * kinds
    columns = [*shares, whole + 4, whole + 5, -2, -1]
    paper = [_paper(texts, rule, responses, starts) for rule in _paper_rules(texts.settings)]
    return [
        texts.best(rows[:, columns], starts),
        *(scores[:, None] for scores in paper),
        texts.best(_characters(texts, responses, starts), starts),
        _about(texts, weights, starts),
        *(texts.best(rows, starts) for rows in _sentences(texts, weights, responses, starts)),
    ]


def _sentences(
    texts: _Texts, weights: Floats, responses: Sequence[str], starts: Ints
) -> list[Floats]:
    """Shares, longest run and heaviest miss in the best sentence, and in the best two."""
    parts, bounds = cut_sentences(responses)
    vocab = Vocab()
    vocab.merge(texts.vocab)
    words = texts.rule.tokens(parts, vocab)
    four = np.ascontiguousarray(weights[:, :4])
    found = []
    for together in TOGETHER.values():
        rows = _kernel.nugget_sentences(
            *words, bounds, starts, *texts.words, texts.questions, four, together, None
        )
        rows[:, -1] *= -1
        found.append(rows)
    return found


def _paper_rules(settings: EvidenceSettings) -> list[Classifier]:
    """Up to two and three words, each n-gram once."""
    return [replace(settings.classifier, n=n) for n in (2, 3)]


def _paper(texts: _Texts, rule: Classifier, responses: Sequence[str], starts: Ints) -> Floats:
    return Index(texts.pool.questions, rule, texts.idf).scores(responses, starts)


def _about(texts: _Texts, weights: Floats, starts: Ints) -> Floats:
    """What is the same for all responses: cells x 3."""
    pool = texts.pool
    first = texts.nuggets[:-1]
    has = [np.bincount(texts.row, weights[:, k], len(texts.texts))[first] > 0 for k in (4, 5)]
    nugget = np.stack([log1p(np.diff(texts.words.offsets)[first]), *has], axis=1)
    blocks = zip(np.diff(starts), pool.nugget_starts, pool.nugget_starts[1:], strict=False)
    cells = [np.tile(np.arange(a, b), count) for count, a, b in blocks]
    return np.asarray(nugget[np.concatenate([np.zeros(0, np.int64), *cells])])


def _characters(texts: _Texts, responses: Sequence[str], starts: Ints) -> Floats:
    """The share of a text's character 4-grams in a window of twice its length, and in all."""
    return _kernel.nugget_characters(
        *letters(responses), starts, *texts.letters, texts.questions, None
    )


def _add_relative(pool: Pool, rows: Floats) -> None:
    """How far a nugget is above its question's mean, and its rank there, by response."""
    sizes = np.diff(pool.nugget_starts)[pool.question]
    sizes = sizes[sizes > 0]
    bounds = np.concatenate(([0], np.cumsum(sizes)))
    columns = rows[:, [PLAIN.index(name) for name in RELATIVE]]
    if not len(sizes):
        return
    means = np.add.reduceat(columns, bounds[:-1], axis=0) / sizes[:, None]
    above = rows[:, len(PLAIN) : len(PLAIN) + len(RELATIVE)]
    np.subtract(columns, np.repeat(means, sizes, axis=0), out=above)
    for size in np.unique(sizes):
        mine = bounds[:-1][sizes == size][:, None] + np.arange(size)
        rows[mine, -1] = (_kernel.average_ranks(columns[mine, -1]) - 1) / max(size - 1, 1)
