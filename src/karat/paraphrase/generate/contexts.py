"""Contexts of phrases: the words that a language model expects before and behind them.

Phrases of one word class stand beside the same words, so they can be exchanged:

    likeness(e, e') = min over both sides of sum_c sqrt(q(c|e) q(c|e'))       0 to 1

q is the distribution of the word c beside a phrase, over the most frequent words of the model and
the beginning or end of a sentence. It is learned from the model's text: no language is built in.
"""

from __future__ import annotations

from functools import lru_cache

from karat import _kernel
from karat.arithmetic import power
from karat.arrays import Floats, np
from karat.lm.counting import EOS, UNK
from karat.lm.model import LanguageModel

BESIDE = 64
"""Words that are asked for beside a phrase."""

_PHRASES_KEPT = 1 << 14  # whose contexts are remembered

Phrase = tuple[str, ...]
"""Words of the language model."""


class Contexts:
    """The words beside phrases, by a language model."""

    def __init__(self, language: LanguageModel) -> None:
        self.language = language
        self._unigrams = language.arrays["p"].astype(np.float64)
        frequent = np.argsort(-self._unigrams[EOS + 1 :], kind="stable")[:BESIDE]
        self._beside = (frequent + EOS + 1).tolist()
        self.of = lru_cache(_PHRASES_KEPT)(self._of)

    def likeness(self, one: Phrase, other: Phrase) -> float:
        """Return how alike the words beside two phrases are, 0 to 1."""
        sides = zip(self.of(one), self.of(other), strict=True)
        return min(float(np.sqrt(p * q).sum()) for p, q in sides)

    def log10_p(self, word: str) -> float:
        """Return log10 Pr of a word, whatever stands before it."""
        return float(self._unigrams[self._ids((word,))[0]])

    def _ids(self, words: Phrase) -> list[int]:
        vocab = _kernel.Vocab()
        ids = vocab.add(list(words))
        found: list[int] = self.language.find(vocab)[ids].tolist()
        return found

    def _of(self, words: Phrase) -> tuple[Floats, Floats]:
        """Return the distributions of the words before and behind a phrase."""
        phrase = self._ids(words)
        size, count = len(phrase), len(self._beside)
        before = [(UNK, word, *phrase) for word in self._beside]  # an unknown word ends the history
        behind = [(UNK, *phrase, word) for word in self._beside]
        rows = [*before, *behind, phrase, (UNK, *phrase)]
        lengths = np.array([0, *map(len, rows)])
        ids = np.array([word for row in rows for word in row], dtype=np.int32)
        logs, _ = self.language.kernel.words(ids, np.cumsum(lengths))
        p = logs.astype(np.float64)
        table = p[: 2 * count * (size + 3)].reshape(2, count, size + 3)  # each row has its end
        first, last = p[2 * count * (size + 3) :][:size], p[-1:]
        left = np.append(table[0, :, 2:-1].sum(axis=1), first.sum())
        left += self._unigrams[[*self._beside, EOS]]  # a sentence begins as often as one ends
        return _normalised(left), _normalised(np.append(table[1, :, -2], last))


def _normalised(log10_p: Floats) -> Floats:
    p = power(10.0, log10_p - log10_p.max())
    return np.asarray(p / p.sum())
