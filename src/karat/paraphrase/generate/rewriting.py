"""Rewritings of an original as text: its case and spaces, the right articles, joined clitics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import NamedTuple

from karat import _kernel
from karat.arithmetic import log, power, sigmoid
from karat.arrays import Floats, NDArray, np
from karat.lm.model import LanguageModel
from karat.lm.tables import EOS, UNK
from karat.paraphrase.generate.rewrites import ARTICLES
from karat.text.joining import is_clitic, join_words, spaces_of

ChooseArticle = Callable[[str], str | None]
"""The article before a word, None if it is not known."""


class Replacement(NamedTuple):
    """A number of words of the original, and those written for them; None: they are kept."""

    length: int
    words: tuple[str, ...] | None
    probability: float = 1.0
    """Pr(e'|e) of the rewrite."""


class RewrittenWords(NamedTuple):
    """The words of a rewriting, whether each is new, and whether a space is before it, if known."""

    words: list[str]
    new: list[bool]
    spaced: list[bool | None]


class Original(NamedTuple):
    """The words of an original as it has them, and its own spaces where they are known."""

    words: list[str]
    spaced: Sequence[bool | None]
    line: str

    @classmethod
    def of(cls, line: str, lowered: list[str], cased: list[str]) -> Original:
        """Make one of a line; words keep their case if lower-casing does not change them."""
        words = cased if len(cased) == len(lowered) else lowered
        return cls(words, spaces_of(line, words) or [None] * len(words), line)

    def words_of(self, steps: Sequence[Replacement], article: ChooseArticle) -> RewrittenWords:
        """Return the words of a rewriting, with the right article where it or the next is new."""
        rewritten = RewrittenWords([], [], [])
        followed = False  # whether the last word stands for the original's word before this one
        for end, step in zip(accumulate(step.length for step in steps), steps, strict=True):
            at = end - step.length
            new = self._new_words(at, step)
            alike = followed and _is_word(new[0]) == _is_word(self.words[at])
            space_before = self.spaced[at] if alike and not is_clitic(new[0]) else None
            rewritten.words.extend(new)
            rewritten.new.extend(_mark_new_words(self.words[at:end], new))
            rewritten.spaced.extend([space_before, *[None] * (len(new) - 1)])
            followed = _is_word(new[-1]) == _is_word(self.words[end - 1])
        return _correct_articles(rewritten, article)

    def _new_words(self, at: int, step: Replacement) -> list[str]:
        """Return the words of a step; those that both phrases begin or end with are kept."""
        old, new = self.words[at : at + step.length], list(step.words or ())
        if step.words is None:
            return old
        begin, end = count_common_ends(old, new)
        return [*old[:begin], *new[begin : len(new) - end], *old[len(old) - end :]]

    def text(self, written: RewrittenWords) -> str:
        """Return the text of some words, in capitals, or its first letter, like the original."""
        text = join_words(written.words, written.spaced)
        if self.line.isupper():
            return text.upper()
        capital = self.line.lstrip()[:1].isupper()
        return text[:1].upper() + text[1:] if capital else text


def count_common_ends(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """Return the numbers of words that both phrases begin and end with, whatever their case."""
    alike = [a.lower() == b.lower() for a, b in zip(old, new, strict=False)]
    begin = [*alike, False].index(False)
    ends = zip(reversed(old), reversed(new), strict=False)
    end = [*(a.lower() == b.lower() for a, b in ends), False].index(False)
    return begin, min(end, min(len(old), len(new)) - begin)


def _mark_new_words(old: Sequence[str], new: Sequence[str]) -> list[bool]:
    """Return which words of a rewrite are new: not those that both phrases begin or end with."""
    if old == new:
        return [False] * len(new)
    begin, end = count_common_ends(old, new)
    return [begin <= i < len(new) - end for i in range(len(new))]


def _correct_articles(written: RewrittenWords, article: ChooseArticle) -> RewrittenWords:
    """Correct the article before each new word, and each new article, by the next word."""
    words, new = list(written.words), list(written.new)
    for i in range(len(words) - 1):
        if words[i].lower() in ARTICLES and (new[i] or new[i + 1]):
            right = article(words[i + 1])
            if right not in (None, words[i].lower()):
                words[i], new[i] = str(right), True
    return RewrittenWords(words, new, written.spaced)


@lru_cache(1 << 16)
def _is_word(token: str) -> bool:
    return any(letter.isalnum() for letter in token)


BESIDE = 64
"""Words that are asked for beside a phrase."""

_PHRASES_KEPT = 1 << 14  # whose contexts are remembered

Phrase = tuple[str, ...]
"""Words of the language model."""


class PhraseContexts:
    """The words beside phrases, by a language model."""

    def __init__(self, language: LanguageModel) -> None:
        self.language = language
        self._unigrams = language.arrays["p"].astype(np.float64)
        frequent = np.argsort(-self._unigrams[EOS + 1 :], kind="stable")[:BESIDE]
        self._beside = (frequent + EOS + 1).tolist()
        self.of = lru_cache(_PHRASES_KEPT)(self._of)

    def likeness(self, first: Phrase, second: Phrase) -> float:
        """Return how alike the words beside two phrases are, 0 to 1."""
        sides = zip(self.of(first), self.of(second), strict=True)
        return min(float(np.sqrt(p * q).sum()) for p, q in sides)

    def log10_p(self, word: str) -> float:
        """Return log10 Pr of a word, whatever stands before it."""
        return float(self._unigrams[self._ids((word,))[0]])

    def _ids(self, words: Phrase) -> list[int]:
        vocab = _kernel.Vocab()
        ids = vocab.add(list(words))
        ids_here: list[int] = self.language.find(vocab)[ids].tolist()
        return ids_here

    def _of(self, words: Phrase) -> tuple[Floats, Floats]:
        """Return the distributions of the words before and behind a phrase."""
        phrase = self._ids(words)
        size, count = len(phrase), len(self._beside)
        before = [(UNK, word, *phrase) for word in self._beside]  # an unknown word ends the history
        after = [(UNK, *phrase, word) for word in self._beside]
        rows = [*before, *after, phrase, (UNK, *phrase)]
        lengths = np.array([0, *map(len, rows)])
        ids = np.array([word for row in rows for word in row], dtype=np.int32)
        logs, _ = self.language.kernel.words(ids, np.cumsum(lengths))
        p = logs.astype(np.float64)
        table = p[: 2 * count * (size + 3)].reshape(2, count, size + 3)  # each row has its end
        first, last = p[2 * count * (size + 3) :][:size], p[-1:]
        left = np.append(table[0, :, 2:-1].sum(axis=1), first.sum())
        left += self._unigrams[[*self._beside, EOS]]  # a sentence begins as often as one ends
        return _normalise(left), _normalise(np.append(table[1, :, -2], last))


def _normalise(log10_p: Floats) -> Floats:
    p = power(10.0, log10_p - log10_p.max())
    return np.asarray(p / p.sum())


CONFIDENCE = 0.35
"""Wordings of less are not given, unless asked for."""
MAX_REPEAT = 4
"""Words that must not stand twice in a row, at most."""
FEATURES = ("probability", "likeness", "loss", "gain", "fit", "rarity")
"""log s of the rewrite; likeness of contexts; log10 Pr that the sentence loses, or gains; mean
length of the n-grams found at the new words and behind them; log10 Pr of the rarest word."""
WEIGHTS = (-6.98, 1.17, 3.76, 0.63, -0.21, 0.75, -1.61)
"""The constant, then one for each feature."""

_SEEN = 3  # words in a row across both ends of a rewrite
_SAME_STEM = 3  # letters that forms of a word begin with, at least
_ENDING = 2  # letters of the shorter form that may differ

Words = Sequence[str]


class Rewrite(NamedTuple):
    """One rewrite in its sentence; words are those of the language model."""

    written: RewrittenWords
    old: tuple[str, ...]
    """Words of the original that differ."""
    new: tuple[str, ...]
    at: int
    """Where the new words begin in the wording."""
    probability: float


class SentenceLogs(NamedTuple):
    """Sentences in a language model: log10 Pr, and the length of the n-gram found for each word."""

    totals: list[float]
    lengths: list[NDArray[np.int32]]


def compute_confidences(
    contexts: PhraseContexts, original: Words, rewrites: Sequence[Rewrite]
) -> list[float]:
    """Return the confidence in each rewrite of an original, by itself."""
    values = [0.0] * len(rewrites)
    scored = score_sentences(
        contexts.language, [original, *(rewrite.written.words for rewrite in rewrites)]
    )
    twice = find_repeats(original, range(len(original)))
    accepted = [
        i
        for i, (rewrite, lengths) in enumerate(zip(rewrites, scored.lengths[1:], strict=True))
        if not is_inflection(rewrite.old, rewrite.new)
        and fits_context(rewrite.written, lengths, twice)
        and _is_seen_around(rewrite, lengths)
    ]
    original_log10_p = scored.totals[0]
    for i in accepted:
        row = _confidence_features(
            contexts, rewrites[i], scored.totals[i + 1] - original_log10_p, scored.lengths[i + 1]
        )
        values[i] = sigmoid(WEIGHTS[0] + sum(w * x for w, x in zip(WEIGHTS[1:], row, strict=True)))
    return values


def score_sentences(language: LanguageModel, rows: Sequence[Words]) -> SentenceLogs:
    """Return what a language model says of sentences; words are its own."""
    vocab = _kernel.Vocab()
    ids = vocab.add([word for row in rows for word in row])
    offsets = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)
    p, lengths = language.kernel.words(language.find(vocab)[ids], offsets)
    logs, ends = p.astype(np.float64), (offsets + np.arange(len(offsets))).tolist()
    cuts = list(pairwise(ends))
    return SentenceLogs([float(logs[a:b].sum()) for a, b in cuts], [lengths[a:b] for a, b in cuts])


def fits_context(
    written: RewrittenWords, lengths: NDArray[np.int32], twice: set[tuple[str, ...]]
) -> bool:
    """Return whether new words were seen beside others, and none stand twice in a row."""
    new = np.array([*written.new, False])
    is_seen = lengths[new | np.concatenate(([False], new[:-1]))] > 1
    return (
        bool(is_seen.all()) and find_repeats(written.words, np.flatnonzero(new).tolist()) <= twice
    )


def _is_seen_around(rewrite: Rewrite, lengths: NDArray[np.int32]) -> bool:
    """Return whether words in a row were seen across both ends of the new words."""
    end = rewrite.at + len(rewrite.new)
    return all(lengths[place : place + 2].max() >= _SEEN for place in (rewrite.at, end))


def _confidence_features(
    contexts: PhraseContexts, rewrite: Rewrite, change: float, lengths: NDArray[np.int32]
) -> list[float]:
    """Return the features of a rewrite; `change` is that of log10 Pr of the sentence."""
    around = lengths[rewrite.at : rewrite.at + len(rewrite.new) + 2]
    return [
        log(rewrite.probability),
        contexts.likeness(rewrite.old, rewrite.new),
        min(change, 0.0),
        max(change, 0.0),
        float(around.mean()),
        min(map(contexts.log10_p, (*rewrite.old, *rewrite.new))),
    ]


def is_inflection(old: Words, new: Words) -> bool:
    """Return whether words are only inflected, contracted, added or dropped."""
    if not old or not new:
        return True
    if len(old) == len(new) == 1 and _same_stem(old[0], new[0]):
        return True
    short, long = sorted((_letters(old), _letters(new)), key=len)
    left = iter(long)
    return any("'" in word or "’" in word for word in (*old, *new)) and all(
        letter in left for letter in short
    )


def _letters(words: Words) -> str:
    return "".join(filter(str.isalpha, "".join(words)))


def _same_stem(a: str, b: str) -> bool:
    """Return whether two words begin alike, but for their endings."""
    alike = [x == y for x, y in zip(a, b, strict=False)]
    return [*alike, False].index(False) >= max(_SAME_STEM, min(len(a), len(b)) - _ENDING)


def find_repeats(words: Words, places: Iterable[int]) -> set[tuple[str, ...]]:
    """Return the n-grams that stand twice in a row, with a word of some places among them."""
    return {
        tuple(words[i : i + n])
        for place in places
        for n in range(1, MAX_REPEAT + 1)
        for i in range(max(place - 2 * n + 1, 0), min(place, len(words) - 2 * n) + 1)
        if words[i] == words[i + n] and words[i : i + n] == words[i + n : i + 2 * n]
    }
