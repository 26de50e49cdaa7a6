"""Evidence: features of a response and a nugget for a classifier.

The features are the paper's score; the share of the nugget's words in the response and in its best
window, under several weights; the longest common run of words (as in GTM); the heaviest missing
word; the same in the best sentence and in the best two neighboring ones; character 4-grams, for
variants of spelling and form; and the rank of the nugget among the nuggets of its question. Apart
from idf, every row depends only on one response and its question.
"""

from __future__ import annotations

import re
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from karat import _kernel
from karat.arithmetic import log, log1p
from karat.arrays import Flags, Floats, Ints, NDArray, np
from karat.nuggets.prediction.paper import Paper, ngram_scores
from karat.nuggets.prediction.pool import Pool
from karat.nuggets.scores.words import (
    BATCH,
    ENGLISH,
    StemIdf,
    WordRecipe,
    code_points,
    cut_sentences,
    smoothed_idf,
)
from karat.progress import Progress, silent
from karat.text.tokens import Vocab, stop_words

KINDS = ("idf", "count", "informative", "new", "number", "name")
"""Weights of a nugget's words: idf of content words; 1; idf times informativeness; the same of
words that are not in the question; 1 for numbers; 1 for words with a capital within the text."""

WINDOWS = ("near", "whole")
"""Windows of a response: twice the nugget's length and 4 words; all of it."""

SHARES = [f"{kind}-{window}" for window in WINDOWS for kind in KINDS[:4]]
TOGETHER = {"sentence": 1, "pair": 2}  # neighboring sentences that are read as one text

SENTENCES = [f"{name}-{some}" for some in TOGETHER for name in (*KINDS[:4], "run", "miss")]
_WHOLE = ["number", "name", "run", "miss", "paper-2", "paper-3", "characters-near", "characters"]
PLAIN = [*SHARES, *_WHOLE, "nugget-length", "has-number", "has-name", *SENTENCES]
RELATIVE = ("idf-whole", "informative-whole", "informative-near", "paper-2")
"""Columns that also appear as differences from the mean of the question's nuggets; the last one
also as a rank."""

NAMES = (*PLAIN, *(f"{name}-above" for name in RELATIVE), "rank")  # the columns of the evidence

_WORD = re.compile(r"\w+")
_STEMS, _SURFACE = WordRecipe(ENGLISH.stem), WordRecipe()


def evidence(pool: Pool, idf: StemIdf | None = None, progress: Progress = silent) -> Floats:
    """Return cells x `NAMES`; by default, idf comes from the pool's responses."""
    idf = idf or smoothed_idf(pool.texts, _STEMS)
    texts, columns = _Descriptions(pool, idf), np.empty((int(pool.cell_starts[-1]), len(NAMES)))
    for n in (2, 3):
        rule = Paper(n, stem=ENGLISH.stem, stop=ENGLISH.stop, normalised=True, once=True)
        columns[:, PLAIN.index(f"paper-{n}")] = ngram_scores(pool, rule, idf)
    for first in range(0, len(pool.texts), BATCH):
        last = min(first + BATCH, len(pool.texts))
        texts.fill_columns(first, last, columns)
        progress(last, len(pool.texts), "weighing evidence")
    _add_relative(pool, columns)
    return columns


class _Descriptions:
    """The descriptions of all nuggets, as ids and weights."""

    def __init__(self, pool: Pool, idf: StemIdf) -> None:
        self.pool, self.vocab = pool, Vocab()
        self.words = _STEMS.tokens(pool.descriptions, self.vocab)
        self.letters = code_points(pool.descriptions)
        self.questions = pool.description_starts[pool.nugget_starts]
        self.row = np.repeat(np.arange(len(pool.descriptions)), self.words.lengths)
        sizes = np.diff(pool.description_starts)
        self.nugget = np.repeat(np.arange(len(sizes)), sizes)[self.row]
        counts = np.diff(pool.nugget_starts)
        self.question = np.repeat(np.arange(len(counts)), counts)[self.nugget]
        self.weights = self._weights(idf)

    def _weights(self, idf: StemIdf) -> Floats:
        """Return the weights of all tokens of descriptions, one column for each kind of weight.

        Kinds: idf of content words, content words, informative idf, informative idf of words that
        the question lacks, words with a digit, capitalized content words.
        """
        words, ids = self.vocab.words(0, len(self.vocab)), self.words.ids
        content, capital = self._content_and_capital()
        weight = content * idf(words)[ids]
        has_digit = np.array([any(map(str.isdigit, word)) for word in words], dtype=np.bool_)[ids]
        informative = weight * self._informativeness()
        texts = [question.text for question in self.pool.questions]
        question_words = _STEMS.tokens(texts, self.vocab)
        n_keys = np.int64(len(self.vocab) + 1)  # a key identifies a question and a word
        question = np.repeat(np.arange(len(texts)), question_words.lengths)
        question_keys = question * n_keys + question_words.ids
        new = informative * ~np.isin(self.question * n_keys + ids, question_keys)
        kinds = [weight, content, informative, new, has_digit, capital & content]
        return np.ascontiguousarray(np.stack(kinds, axis=1), dtype=np.float64)

    def _content_and_capital(self) -> tuple[Flags, Flags]:
        """Return flags of content words, and of capitalized words that do not begin a text.

        If a text has only stop words, all of them are content words.
        """
        texts, surface = self.pool.descriptions, Vocab()
        plain = _SURFACE.tokens(texts, surface)
        words = surface.words(0, len(surface))
        is_content = np.array(stop_words(ENGLISH.stop).lacks(words), dtype=np.bool_)[plain.ids]
        has_content = np.bincount(self.row, is_content, len(texts)) > 0
        names = {
            (row, word.lower())
            for row, text in enumerate(texts)
            for word in _WORD.findall(text)[1:]
            if word[0].isupper()
        }
        cells = zip(self.row.tolist(), plain.ids.tolist(), strict=True)
        capital = np.array([(row, words[i]) in names for row, i in cells], dtype=np.bool_)
        return np.asarray(is_content | ~has_content[self.row]), capital

    def _informativeness(self) -> Floats:
        """Return 1 - (nuggets of the question that have the word) / |G|; 1 for a single nugget."""
        size = np.int64(len(self.vocab) + 1)
        first = np.unique(self.nugget * size + self.words.ids, return_index=True)[1]
        words = self.question * size + self.words.ids
        keys, have = np.unique(words[first], return_counts=True)
        many = np.diff(self.pool.nugget_starts)[self.question]
        share = have[np.searchsorted(keys, words)] / np.maximum(many, 1)
        return np.where(many > 1, 1 - share, 1.0)

    def fill_columns(self, first: int, last: int, columns: Floats) -> None:
        """Fill the columns that need no other nugget, for responses from first to last."""
        responses = self.pool.texts[first:last]
        starts = np.clip(self.pool.starts, first, last) - first
        a, b = np.searchsorted(self.pool.cell_response, (first, last))
        nugget, rows = self.pool.cell_nugget[a:b], columns[a:b]
        vocab = Vocab()
        vocab.merge(self.vocab)
        lengths = np.diff(self.words.offsets)
        windows = np.stack([2 * lengths + 4, np.zeros_like(lengths)], axis=1)  # 0 is no bound
        words = _STEMS.tokens(responses, vocab)
        window_arguments = *words, starts, *self.words, self.questions, self.weights, windows, None
        near = self._best(_kernel.nugget_windows(*window_arguments), nugget)
        rows[:, :8], rows[:, 8:12] = near[:, [0, 1, 2, 3, 6, 7, 8, 9]], near[:, 10:]
        spelt = *code_points(responses), starts, *self.letters, self.questions, None
        rows[:, 14:16] = self._best(_kernel.nugget_characters(*spelt), nugget, misses=False)
        first_descriptions, count = self.pool.description_starts[:-1], len(lengths)
        has = [
            np.bincount(self.row, self.weights[:, k], count)[first_descriptions] > 0 for k in (4, 5)
        ]
        rows[:, 16:19] = np.stack([log1p(lengths[first_descriptions]), *has], axis=1)[nugget]
        parts, bounds = cut_sentences(responses)
        sentences, four = _STEMS.tokens(parts, vocab), np.ascontiguousarray(self.weights[:, :4])
        for k, together in enumerate(TOGETHER.values()):
            arguments = *sentences, bounds, starts, *self.words, self.questions, four
            table = self._best(_kernel.nugget_sentences(*arguments, together, None), nugget)
            rows[:, 19 + 6 * k : 25 + 6 * k] = table

    def _best(self, rows: Floats, nugget: Ints, misses: bool = True) -> Floats:
        """Return cells x columns: the maximum over the descriptions of a nugget.

        With `misses`, the last column is the heaviest missing word: its minimum is taken.
        """
        if misses:
            rows[:, -1] *= -1
        if len(self.pool.descriptions) == len(self.pool.nuggets):
            return rows
        sizes = np.diff(self.pool.description_starts)[nugget]
        return np.maximum.reduceat(rows, np.cumsum(sizes) - sizes, axis=0)


def _add_relative(pool: Pool, rows: Floats) -> None:
    """Add each nugget's difference from the mean of its question, and its rank, by response."""
    sizes = np.diff(pool.nugget_starts)[pool.question]
    sizes = sizes[sizes > 0]
    if not len(sizes):
        return
    starts = np.cumsum(sizes) - sizes
    columns = rows[:, [PLAIN.index(name) for name in RELATIVE]]
    means = np.add.reduceat(columns, starts, axis=0) / sizes[:, None]
    above = rows[:, len(PLAIN) : len(PLAIN) + len(RELATIVE)]
    np.subtract(columns, np.repeat(means, sizes, axis=0), out=above)
    for size in np.unique(sizes):
        cells = starts[sizes == size][:, None] + np.arange(size)
        rows[cells, -1] = (_kernel.average_ranks(columns[cells, -1]) - 1) / max(size - 1, 1)


OTHER_WORDS = 12
_SHRINK, _ABOVE, _RARE = 0.3, 1.5, 0.5
_SPEAKERS = 500  # responses that contribute words: at most so many, the most probable ones


class _Passages(NamedTuple):
    """The passages of a question, and the words of each."""

    row: Ints
    word: Ints  # passage `row[k]` has word `word[k]`; each word once, ordered by passage
    starts: Ints  # the first passage of each response
    background: Floats  # b(w)
    nugget_words: Flags  # nuggets x words: the nugget's own words
    best: Ints  # responses x nuggets: the passage with the largest share of the nugget's words


class UnjudgedEvidence:
    """Columns of evidence that need no judgement of the same nuggets.

    The place of a nugget in its key matters because keys begin with the most important facts.
    Echoes find facts in other words (pseudo-relevance feedback): every other response contributes
    its best passage, weighted by p^2, where p is a first model's probability that it carries the
    nugget. Other words for the nugget are more frequent there than elsewhere. The echo of a
    response is the largest weighted share of them in any of its passages:

        b(w)     = (passages of the question with w + 1) / (passages + 2)
        rate(w)  = (sum of p^2 over best passages with w + S b(w)) / (sum of p^2 + S),   S = 0.3
        other(w) = max(0, rate(w) - 1.5 b(w)) max(0, log(0.5 / b(w)))

    The 12 largest count, with ties. A passage is two neighboring sentences; the best one has the
    largest share of the nugget's words, by idf and by informativeness together.
    """

    def __init__(self, pool: Pool, words: WordRecipe = ENGLISH) -> None:
        self.pool, self.words = pool, words

    @cached_property
    def place(self) -> Floats:
        """Place of the nugget of each cell: 0 for the first of a key, 1 for the last."""
        counts = np.diff(self.pool.nugget_starts)
        places = [np.arange(count) / max(count - 1, 1) for count in counts]
        return np.asarray(np.concatenate([np.zeros(0), *places])[self.pool.cell_nugget])

    def echoes(self, p: Floats) -> Floats:
        """Return the echo of every cell, given a first model's probabilities of all cells."""
        tables = [np.zeros(0)]
        for q, passages in enumerate(self._passages):
            if self.pool.questions[q].nuggets:
                table = self.pool.table(p, q)
                columns = [_echo(passages, g, chances) for g, chances in enumerate(table.T)]
                tables.append(np.stack(columns, axis=1).ravel())
        return np.concatenate(tables)

    @cached_property
    def _passages(self) -> list[_Passages]:
        pool, rule, vocab = self.pool, self.words, Vocab()
        parts, bounds = cut_sentences(pool.texts)
        sentences = rule.tokens(parts, vocab)
        texts = [" ".join(nugget.descriptions) for nugget in pool.nuggets]
        nuggets = rule.tokens(texts, vocab)
        idf = smoothed_idf(pool.texts, rule)(vocab.words(0, len(vocab)))
        owner = np.repeat(np.arange(len(pool.texts)), np.diff(bounds))
        sentence = np.repeat(np.arange(len(parts)), sentences.lengths)
        sentence_words = _pairs(sentence, sentences.ids, owner, len(vocab))
        words = np.repeat(np.arange(len(texts)), nuggets.lengths), nuggets.ids.astype(np.int64)
        passages = []
        for q, question in enumerate(pool.questions):
            starts = bounds[pool.starts[q] : pool.starts[q + 1] + 1] - bounds[pool.starts[q]]
            row, word = _between(sentence_words, *bounds[pool.starts[q : q + 2]])
            nugget, nugget_words = _between(words, *pool.nugget_starts[q : q + 2])
            kinds, at = np.unique(np.concatenate([word, nugget_words]), return_inverse=True)
            word, nugget_words = at.ravel()[: len(word)], at.ravel()[len(word) :]
            in_nugget = np.zeros((len(question.nuggets), len(kinds)), dtype=np.bool_)
            in_nugget[nugget, nugget_words] = True
            background = (np.bincount(word, minlength=len(kinds)) + 1) / (starts[-1] + 2)
            match = _matches(row, word, in_nugget, idf[kinds], int(starts[-1]))
            best = [a + match[a:b].argmax(axis=0) for a, b in pairwise(starts.tolist())]
            table = np.array(best, dtype=np.int64).reshape(len(starts) - 1, len(in_nugget))
            passages.append(_Passages(row, word, starts, background, in_nugget, table))
        return passages


def _pairs(sentence: Ints, word: NDArray[np.int32], owner: Ints, size: int) -> tuple[Ints, Ints]:
    """Return the entries of passages: the words of a sentence and of the next in its response."""
    follows = np.append(False, owner[1:] == owner[:-1])[: len(owner)]
    again = follows[sentence]
    rows = np.concatenate([sentence, sentence[again] - 1])
    both = np.unique(rows * np.int64(size + 1) + np.concatenate([word, word[again]]))
    return both // (size + 1), both % (size + 1)


def _between(entries: tuple[Ints, Ints], first: int, last: int) -> tuple[Ints, Ints]:
    """Return the entries of rows from `first` to `last`, with rows counted from `first`."""
    a, b = np.searchsorted(entries[0], (first, last))
    return entries[0][a:b] - first, entries[1][a:b]


def _matches(row: Ints, word: Ints, in_nugget: Flags, idf: Floats, passages: int) -> Floats:
    """Return passages x nuggets: shares of words by idf plus by idf times informativeness."""
    count = len(in_nugget)
    informative = 1 - in_nugget.sum(axis=0) / count if count > 1 else np.ones(len(idf))
    matches = np.zeros((passages, count))
    for weight in (idf, idf * informative):
        weights = in_nugget * weight
        totals = weights.sum(axis=1, keepdims=True)
        shares = weights / np.where(totals > 0, totals, 1.0)
        for g in range(count):
            matches[:, g] += np.bincount(row, shares[g, word], passages)
    return matches


def _echo(passages: _Passages, nugget: int, p: Floats) -> Floats:
    """Return the echo of every response; 0 if there is only one response."""
    speakers = np.sort(np.argsort(-p, kind="stable")[:_SPEAKERS])
    best = passages.best[speakers, nugget]
    first, last = (np.searchsorted(passages.row, best, side) for side in ("left", "right"))
    sizes = last - first
    speaker = np.repeat(np.arange(len(best)), sizes)
    at = np.arange(sizes.sum()) + np.repeat(first - np.cumsum(sizes) + sizes, sizes)
    word = passages.word[at]
    passage_words, word = np.unique(word, return_inverse=True)
    if not len(passage_words):
        return np.zeros(len(p))
    # A row for each speaker, and the last one for all other responses.
    spoken_weight = np.zeros((len(speakers) + 1, len(passage_words)))
    spoken_weight[speaker, word.ravel()] = p[speakers[speaker]] ** 2
    left = np.append(p[speakers] ** 2, 0.0)[:, None]
    other_weight = (p[speakers] ** 2).sum() - left
    heard_weight = np.bincount(word.ravel(), spoken_weight[speaker, word.ravel()]) - spoken_weight
    background = passages.background[passage_words]
    rate = (heard_weight + _SHRINK * background) / (other_weight + _SHRINK)
    weights = np.maximum(rate - _ABOVE * background, 0) * np.maximum(log(_RARE / background), 0)
    weights[:, passages.nugget_words[nugget, passage_words]] = 0.0
    listener = np.full(len(p), len(speakers))
    listener[speakers] = np.arange(len(speakers))
    return _largest_share(passages, passage_words, _largest(weights), listener)


def _largest(weights: Floats) -> Floats:
    """Return the largest weights of each row as shares of their sum; the others are 0."""
    if weights.shape[1] > OTHER_WORDS:
        least = np.partition(weights, -OTHER_WORDS, axis=1)[:, -OTHER_WORDS]
        weights = np.where(weights >= least[:, None], weights, 0.0)
    totals = weights.sum(axis=1, keepdims=True)
    return np.asarray(weights / np.where(totals > 0, totals, 1.0))


def _largest_share(
    passages: _Passages, passage_words: Ints, weights: Floats, listener: Ints
) -> Floats:
    """Return the largest share in any passage of each response."""
    column = np.full(len(passages.background), -1)
    column[passage_words] = np.arange(len(passage_words))
    owner = np.repeat(np.arange(len(listener)), np.diff(passages.starts))
    is_selected = column[passages.word] >= 0
    row, at = passages.row[is_selected], column[passages.word[is_selected]]
    shares = np.bincount(row, weights[listener[owner[row]], at], int(passages.starts[-1]))
    return np.asarray(np.maximum.reduceat(shares, passages.starts[:-1]))
