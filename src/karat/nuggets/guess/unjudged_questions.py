"""Questions on whose nuggets nobody was judged: what tells of them, beside their descriptions.

The place of a nugget in its key: keys begin with what matters most, and assessors have habits. What
a place is worth is learned from other questions of the same key.

Echoes, for facts in other words (pseudo-relevance feedback). Every other response to the question
speaks with its best passage, as far as a first model believes it to carry the nugget (p^2); of more
than 500 those speak that it believes most. Words that stand there more often than elsewhere, and
not in the nugget itself, are its other words; the echo of a response is the largest share of them,
by weight, that any of its passages has:

    b(w)     = (passages of the question with w + 1) / (passages + 2)
    rate(w)  = (sum of p^2 over best passages with w + S b(w)) / (sum of p^2 + S),   S = 0.3
    other(w) = max(0, rate(w) - 1.5 b(w)) max(0, log(0.5 / b(w)))

Of these the 12 largest count, and their equals. A passage is two neighbouring sentences, the best
one that with the largest share of the nugget's words, by idf and by informativeness together. The
response that is asked about never speaks itself.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from karat.arithmetic import log
from karat.arrays import Flags, Floats, Ints, NDArray, np
from karat.nuggets.guess.pool import Pool
from karat.nuggets.guess.words import ENGLISH, WordRecipe, cut_sentences, smoothed_idf
from karat.text.tokens import Vocab

OTHER_WORDS = 12
_SHRINK, _ABOVE, _RARE = 0.3, 1.5, 0.5
_HEARD = 500  # responses that speak: of more, those that the first model believes most


class _Passages(NamedTuple):
    """The passages of a question: which words stand in which."""

    row: Ints
    word: Ints
    """Entry k: passage `row[k]` has word `word[k]`; each once, by passage."""
    starts: Ints
    """The first passage of each response."""
    background: Floats
    """b(w)."""
    own: Flags
    """Nuggets x words: the nugget's own words."""
    best: Ints
    """Responses x nuggets: the passage that has most of the nugget."""


class Unjudged:
    """Columns of evidence that need no judgement of the same nuggets."""

    def __init__(self, pool: Pool, words: WordRecipe = ENGLISH) -> None:
        self.pool, self.words = pool, words

    @cached_property
    def place(self) -> Floats:
        """Of every cell: 0 for the first nugget of a key, 1 for the last."""
        counts = np.diff(self.pool.nugget_starts)
        places = [np.arange(count) / max(count - 1, 1) for count in counts]
        return np.asarray(np.concatenate([np.zeros(0), *places])[self.pool.cell_nugget])

    def echoes(self, p: Floats) -> Floats:
        """Of every cell, where p are a first model's probabilities of all cells."""
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
        idf = np.array(smoothed_idf(pool.texts, rule)(vocab.words(0, len(vocab))))
        owner = np.repeat(np.arange(len(pool.texts)), np.diff(bounds))
        sentence = np.repeat(np.arange(len(parts)), sentences.lengths)
        both = _pairs(sentence, sentences.ids, owner, len(vocab))
        words = np.repeat(np.arange(len(texts)), nuggets.lengths), nuggets.ids.astype(np.int64)
        found = []
        for q, question in enumerate(pool.questions):
            starts = bounds[pool.starts[q] : pool.starts[q + 1] + 1] - bounds[pool.starts[q]]
            row, word = _between(both, *bounds[pool.starts[q : q + 2]])
            nugget, mine = _between(words, *pool.nugget_starts[q : q + 2])
            kinds, at = np.unique(np.concatenate([word, mine]), return_inverse=True)
            word, mine = at.ravel()[: len(word)], at.ravel()[len(word) :]
            own = np.zeros((len(question.nuggets), len(kinds)), dtype=np.bool_)
            own[nugget, mine] = True
            background = (np.bincount(word, minlength=len(kinds)) + 1) / (starts[-1] + 2)
            match = _matches(row, word, own, idf[kinds], int(starts[-1]))
            best = [a + match[a:b].argmax(axis=0) for a, b in pairwise(starts.tolist())]
            table = np.array(best, dtype=np.int64).reshape(len(starts) - 1, len(own))
            found.append(_Passages(row, word, starts, background, own, table))
        return found


def _pairs(sentence: Ints, word: NDArray[np.int32], owner: Ints, size: int) -> tuple[Ints, Ints]:
    """Entries of passages: a sentence's words, and those of the next one of the same response."""
    follows = np.append(False, owner[1:] == owner[:-1])[: len(owner)]
    again = follows[sentence]
    rows = np.concatenate([sentence, sentence[again] - 1])
    both = np.unique(rows * np.int64(size + 1) + np.concatenate([word, word[again]]))
    return both // (size + 1), both % (size + 1)


def _between(entries: tuple[Ints, Ints], first: int, last: int) -> tuple[Ints, Ints]:
    """The entries of some rows, counted from the first of them."""
    a, b = np.searchsorted(entries[0], (first, last))
    return entries[0][a:b] - first, entries[1][a:b]


def _matches(row: Ints, word: Ints, own: Flags, idf: Floats, passages: int) -> Floats:
    """Passages x nuggets: the share of its words, by idf, and by idf times informativeness."""
    count = len(own)
    informative = 1 - own.sum(axis=0) / count if count > 1 else np.ones(len(idf))
    found = np.zeros((passages, count))
    for weight in (idf, idf * informative):
        weights = own * weight
        totals = weights.sum(axis=1, keepdims=True)
        shares = weights / np.where(totals > 0, totals, 1.0)
        for g in range(count):
            found[:, g] += np.bincount(row, shares[g, word], passages)
    return found


def _echo(passages: _Passages, nugget: int, p: Floats) -> Floats:
    """The echo of every response; none has one if it answers alone."""
    speaks = np.sort(np.argsort(-p, kind="stable")[:_HEARD])
    best = passages.best[speaks, nugget]
    first, last = (np.searchsorted(passages.row, best, side) for side in ("left", "right"))
    sizes = last - first
    speaker = np.repeat(np.arange(len(best)), sizes)
    at = np.arange(sizes.sum()) + np.repeat(first - np.cumsum(sizes) + sizes, sizes)
    word = passages.word[at]
    some, word = np.unique(word, return_inverse=True)
    if not len(some):
        return np.zeros(len(p))
    said = np.zeros((len(speaks) + 1, len(some)))  # the last row: who does not speak
    said[speaker, word.ravel()] = p[speaks[speaker]] ** 2
    left = np.append(p[speaks] ** 2, 0.0)[:, None]
    others = (p[speaks] ** 2).sum() - left
    told = np.bincount(word.ravel(), said[speaker, word.ravel()]) - said
    background = passages.background[some]
    rate = (told + _SHRINK * background) / (others + _SHRINK)
    weights = np.maximum(rate - _ABOVE * background, 0) * np.maximum(log(_RARE / background), 0)
    weights[:, passages.own[nugget, some]] = 0.0
    listener = np.full(len(p), len(speaks))
    listener[speaks] = np.arange(len(speaks))
    return _heard(passages, some, _largest(weights), listener)


def _largest(weights: Floats) -> Floats:
    """The largest of each row, as shares of their sum; the rest is 0."""
    if weights.shape[1] > OTHER_WORDS:
        least = np.partition(weights, -OTHER_WORDS, axis=1)[:, -OTHER_WORDS]
        weights = np.where(weights >= least[:, None], weights, 0.0)
    totals = weights.sum(axis=1, keepdims=True)
    return np.asarray(weights / np.where(totals > 0, totals, 1.0))


def _heard(passages: _Passages, some: Ints, weights: Floats, listener: Ints) -> Floats:
    """The largest share in any passage of each response."""
    column = np.full(len(passages.background), -1)
    column[some] = np.arange(len(some))
    owner = np.repeat(np.arange(len(listener)), np.diff(passages.starts))
    kept = column[passages.word] >= 0
    row, at = passages.row[kept], column[passages.word[kept]]
    shares = np.bincount(row, weights[listener[owner[row]], at], int(passages.starts[-1]))
    return np.asarray(np.maximum.reduceat(shares, passages.starts[:-1]))
