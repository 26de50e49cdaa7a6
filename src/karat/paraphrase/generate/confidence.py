"""Confidence in a wording, 0 to 1: whether its rewrites are probable and its words fit together.

    confidence = min Pr(e'|e) * 10^-|d| * pivot F1
    d          = log10 Pr(P) / (length(P) + 1) - log10 Pr(R) / (length(R) + 1)

The least probable rewrite counts. Pivot F1 is that of single words, the mean over pivot languages.
A wording P that the language model finds much less probable by the word than its original R reads
badly; one that it finds much more probable has often lost a rare word, and with it what the
sentence says. It is 0 where

- the language model has never seen a new word, or the word behind one, after the word before it; or
- words stand twice in a row that do not in the original: `to to`, `of the of the`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from karat import _kernel
from karat.arithmetic import power
from karat.arrays import Floats, np
from karat.lm.model import LanguageModel
from karat.paraphrase.generate.rewriting import RewrittenWords
from karat.paraphrase.pem.bags import pivot_statistics, pooled_f1
from karat.paraphrase.pem.features import FORMS
from karat.paraphrase.table.phrase_table import PhraseTable

CONFIDENCE = 0.3
"""Wordings of less are not given, unless asked for."""
LONGEST_REPEAT = 4
"""Words that must not stand twice in a row, at most."""

Words = Sequence[str]


def confidences(
    lm: LanguageModel, original: Words, wordings: Sequence[RewrittenWords], least: Sequence[float]
) -> list[float]:
    """Return the confidence in each wording; words are those of the language model.

    `least` has the probability of the least probable rewrite of each.
    """
    rows = [original, *(one.words for one in wordings)]
    vocab = _kernel.Vocab()
    ids = vocab.add([word for row in rows for word in row])
    offsets = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)
    p, found = lm.kernel.words(lm.find(vocab)[ids], offsets)
    logs, ends = p.astype(np.float64), (offsets + np.arange(len(offsets))).tolist()
    own, *means = (float(logs[a:b].mean()) for a, b in pairwise(ends))
    lengths = [found[a:b] for a, b in pairwise(ends[1:])]  # of n-grams that the model had
    twice = repeats(original, range(len(original)))
    sure = []
    for one, p_least, mean, length in zip(wordings, least, means, lengths, strict=True):
        new = np.array([*one.new, False])
        seen = length[new | np.concatenate(([False], new[:-1]))] > 1
        fits = seen.all() and repeats(one.words, np.flatnonzero(new).tolist()) <= twice
        sure.append(p_least * float(power(10.0, -abs(mean - own))) if fits else 0.0)
    return sure


def adequacy(
    pivots: Mapping[str, PhraseTable], originals: Sequence[str], texts: Sequence[str]
) -> Floats:
    """Return pivot F1 of single words, the mean over pivot languages."""
    how = FORMS["unigram"]
    found = [pivot_statistics(one, originals, texts, how, threads=1) for one in pivots.values()]
    return np.asarray(np.mean([pooled_f1(one) for one in found], axis=0))


def repeats(words: Words, places: Iterable[int]) -> set[tuple[str, ...]]:
    """Return the n-grams that stand twice in a row, with a word of some places among them."""
    return {
        tuple(words[i : i + n])
        for place in places
        for n in range(1, LONGEST_REPEAT + 1)
        for i in range(max(place - 2 * n + 1, 0), min(place, len(words) - 2 * n) + 1)
        if words[i] == words[i + n] and words[i : i + n] == words[i + n : i + 2 * n]
    }
