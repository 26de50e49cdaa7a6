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

from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import pairwise

from karat import _kernel
from karat.arithmetic import power
from karat.arrays import Floats, NDArray, np
from karat.lm.model import LanguageModel
from karat.paraphrase.generate.rewriting import Written
from karat.paraphrase.pem.bags import pivot_statistics, pooled_f1
from karat.paraphrase.pem.features import FORMS
from karat.paraphrase.table.phrase_table import PhraseTable

CONFIDENCE = 0.3
"""Wordings of less are not given, unless asked for."""
LONGEST_REPEAT = 4
"""Words that must not stand twice in a row, at most."""

Words = Sequence[str]


def confidences(
    language: LanguageModel,
    original: Words,
    wordings: Sequence[Written],
    probabilities: Sequence[float],
) -> list[float]:
    """Return the confidence in each wording; words are those of the language model.

    `probabilities` has the least probable rewrite of each.
    """
    logs, lengths = _scored(language, [original, *(one.words for one in wordings)])
    own, *means = (float(each.mean()) for each in logs)
    twice = repeats(original, range(len(original)))
    return [
        p * float(power(10.0, -abs(mean - own)))
        if _seen(one, found) and not _doubled(one, twice)
        else 0.0
        for one, p, mean, found in zip(wordings, probabilities, means, lengths[1:], strict=True)
    ]


def adequacy(
    pivots: Mapping[str, PhraseTable], originals: Sequence[str], texts: Sequence[str]
) -> Floats:
    """Return pivot F1 of single words, the mean over pivot languages."""
    how = FORMS["unigram"]
    found = [pivot_statistics(one, originals, texts, how, threads=1) for one in pivots.values()]
    return np.asarray(np.mean([pooled_f1(one) for one in found], axis=0))


def _scored(
    language: LanguageModel, rows: Sequence[Words]
) -> tuple[list[Floats], list[NDArray[np.int32]]]:
    """Return log10 p of the words and the end of each row, and lengths of n-grams found."""
    vocab = _kernel.Vocab()
    ids = vocab.add([word for row in rows for word in row])
    offsets = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)
    p, lengths = language.kernel.words(language.find(vocab)[ids], offsets)
    cuts = list(pairwise((offsets + np.arange(len(offsets))).tolist()))
    logs = p.astype(np.float64)
    return [logs[a:b] for a, b in cuts], [lengths[a:b] for a, b in cuts]


def _seen(wording: Written, lengths: NDArray[np.int32]) -> bool:
    """Return whether new words, and words or ends behind them, were seen after the one before."""
    new = np.array([*wording.new, False])
    touched = new | np.concatenate(([False], new[:-1]))
    return bool((lengths[touched] > 1).all())


def _doubled(wording: Written, original: Set[tuple[str, ...]]) -> bool:
    """Return whether words stand twice in a row that do not in the original."""
    new = [i for i, is_new in enumerate(wording.new) if is_new]
    return not repeats(wording.words, new) <= original


def repeats(words: Words, places: Iterable[int]) -> set[tuple[str, ...]]:
    """Return the n-grams that stand twice in a row, with a word of some places among them."""
    return {
        tuple(words[i : i + n])
        for place in places
        for n in range(1, LONGEST_REPEAT + 1)
        for i in range(max(place - 2 * n + 1, 0), min(place, len(words) - 2 * n) + 1)
        if words[i] == words[i + n] and words[i : i + n] == words[i + n : i + 2 * n]
    }
