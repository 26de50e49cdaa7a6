"""The generator of paraphrases: rewrites of phrases, a language model, the case of words.

PEM compares stems, which cannot be written. So a second phrase table is extracted from the same
links, with surface words in lower case, and a language model is trained on these.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from importlib import resources
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from karat import _kernel
from karat.arithmetic import log, power, sigmoid
from karat.arrays import Floats, NDArray, np
from karat.lm.model import LanguageModel
from karat.lm.tables import EOS, UNK
from karat.paraphrase.generate.rewrites import ARTICLES, find_trusted
from karat.paraphrase.table.phrase_table import PhraseTable, all_words
from karat.storage.store import Arrays, with_prefix, without_prefix
from karat.text.joining import is_clitic, join_words, spaces_of
from karat.text.segments import Segments
from karat.text.tokens import Recipe, Vocab, token_parts

ChooseArticle = Callable[[str], str | None]  # the article before a word, None if unknown


class Replacement(NamedTuple):
    """A number of words of the original, and their replacement; None: they are kept."""

    length: int
    words: tuple[str, ...] | None
    probability: float = 1.0  # Pr(e'|e) of the rewrite


class RewrittenWords(NamedTuple):
    """The words of a wording, whether each is new, and whether a space precedes it, if known."""

    words: list[str]
    new: list[bool]
    spaced: list[bool | None]


class Original(NamedTuple):
    """The words of an original, and whether a space precedes each, if known."""

    words: list[str]
    spaced: Sequence[bool | None]
    line: str

    @classmethod
    def of(cls, line: str, lowered: list[str], cased: list[str]) -> Original:
        """Return the original of a line; `cased` is used if its tokens match `lowered`."""
        words = cased if len(cased) == len(lowered) else lowered
        return cls(words, spaces_of(line, words) or [None] * len(words), line)

    def words_of(self, steps: Sequence[Replacement], article: ChooseArticle) -> RewrittenWords:
        """Return the words of a wording; articles beside new words are corrected.

        Common words at the ends of a phrase and its rewrite are kept unchanged.
        """
        words, is_new, spaced = RewrittenWords([], [], [])
        keeps_kind = False  # whether the last word is of the same kind as in the original
        for end, step in zip(accumulate(step.length for step in steps), steps, strict=True):
            start = end - step.length
            old = new = self.words[start:end]
            n_common_first, n_common_last = len(old), 0
            if step.words is not None:
                n_common_first, n_common_last = count_common_ends(old, step.words)
                core = step.words[n_common_first : len(step.words) - n_common_last]
                new = [*old[:n_common_first], *core, *old[len(old) - n_common_last :]]
            keeps_space = keeps_kind and _is_word(new[0]) == _is_word(old[0])
            words.extend(new)
            is_new.extend(n_common_first <= i < len(new) - n_common_last for i in range(len(new)))
            spaced.append(self.spaced[start] if keeps_space and not is_clitic(new[0]) else None)
            spaced.extend([None] * (len(new) - 1))
            keeps_kind = _is_word(new[-1]) == _is_word(old[-1])
        for i in range(len(words) - 1):
            if words[i].lower() in ARTICLES and (is_new[i] or is_new[i + 1]):
                right = article(words[i + 1])
                if right not in (None, words[i].lower()):
                    words[i], is_new[i] = str(right), True
        return RewrittenWords(words, is_new, spaced)

    def text(self, written: RewrittenWords) -> str:
        """Return the text of a wording, capitalised like the original."""
        text = join_words(written.words, written.spaced)
        if self.line.isupper():
            return text.upper()
        capital = self.line.lstrip()[:1].isupper()
        return text[:1].upper() + text[1:] if capital else text


def count_common_ends(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """Return the numbers of common words at the beginning and at the end, ignoring case."""
    alike = [a.lower() == b.lower() for a, b in zip(old, new, strict=False)]
    begin = [*alike, False].index(False)
    ends = zip(reversed(old), reversed(new), strict=False)
    end = [*(a.lower() == b.lower() for a, b in ends), False].index(False)
    return begin, min(end, min(len(old), len(new)) - begin)


@lru_cache(1 << 16)
def _is_word(token: str) -> bool:
    return any(letter.isalnum() for letter in token)


BESIDE = 64  # frequent words whose probabilities beside a phrase are its context

_PHRASES_KEPT = 1 << 14  # phrases whose contexts are cached

Phrase = tuple[str, ...]  # words of the language model


class PhraseContexts:
    """Distributions of the words beside phrases, by a language model."""

    def __init__(self, language: LanguageModel) -> None:
        self.language = language
        self._unigrams = language.arrays["p"].astype(np.float64)
        frequent = np.argsort(-self._unigrams[EOS + 1 :], kind="stable")[:BESIDE]
        self._beside = (frequent + EOS + 1).tolist()
        self.of = lru_cache(_PHRASES_KEPT)(self._of)

    def likeness(self, first: Phrase, second: Phrase) -> float:
        """Return the similarity of the contexts of two phrases, 0 to 1."""
        sides = zip(self.of(first), self.of(second), strict=True)
        return min(float(np.sqrt(p * q).sum()) for p, q in sides)

    def log10_p(self, word: str) -> float:
        """Return the unigram log10 Pr of a word."""
        return float(self._unigrams[self.language.word_ids([word])[0]])

    def _of(self, words: Phrase) -> tuple[Floats, Floats]:
        """Return the distributions of the words before and after a phrase."""
        phrase = self.language.word_ids(words).tolist()
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
        left += self._unigrams[[*self._beside, EOS]]  # sentences begin as often as they end
        return _normalise(left), _normalise(np.append(table[1, :, -2], last))


def _normalise(log10_p: Floats) -> Floats:
    p = power(10.0, log10_p - log10_p.max())
    return np.asarray(p / p.sum())


MAX_REPEAT = 4  # length of the longest n-grams that must not be repeated
FEATURES = ("probability", "likeness", "change", "rarity", "length", "unfamiliar")
"""log s of the rewrite; similarity of contexts; change of the sentence's log10 Pr; log10 Pr of the
rarest word that is old or new; number of new words; share of the original's words that the language
model has not seen after the word before."""

_SEEN_LENGTH = 2  # length of the n-gram of a word that was seen after the word before
_MIN_SEEN_LENGTH = 3  # length of the n-grams that must be seen across both ends of a rewrite
_SAME_STEM = 3  # minimal number of common first letters of two forms of a word
_ENDING = 2  # letters of the shorter form that may differ

Words = Sequence[str]
Features = tuple[float, ...]  # of a rewrite in its sentence, in the order of FEATURES


class Calibration(NamedTuple):
    """The confidence in rewrites, fitted to judged proposals.

    confidence = sigmoid(w0 + sum_i w_i x_i)

    It estimates the probability that a reader accepts the rewrite: the meaning is kept, and the
    sentence is grammatical.
    """

    constant: float
    weights: tuple[float, ...]

    def confidence(self, features: Features) -> float:
        """Return the confidence in a rewrite."""
        weighted = sum(w * x for w, x in zip(self.weights, features, strict=True))
        return sigmoid(self.constant + weighted)


@lru_cache(maxsize=1)
def read_calibration() -> Calibration:
    """Return the bundled calibration, which `experiments/paraphrase_confidence.py` fits."""
    file = resources.files("karat") / "data" / "paraphrase" / "confidence.json"
    content = json.loads(file.read_text("utf-8"))
    weights = tuple(content["weights"][name] for name in FEATURES)
    return Calibration(content["constant"], weights)


class Rewrite(NamedTuple):
    """One rewrite in its sentence, as words of the language model."""

    written: RewrittenWords
    old: tuple[str, ...]  # words of the original that differ
    new: tuple[str, ...]
    at: int  # position of the new words in the wording
    probability: float


def compute_features(
    contexts: PhraseContexts, original: Words, rewrites: Sequence[Rewrite]
) -> list[Features | None]:
    """Return the features of each rewrite of an original; None if the rewrite is refused.

    A rewrite is refused if

    - a new word, or the word after one, forms a bigram that the language model has not seen;
    - no trigram across the beginning of the new words, or across their end, was seen;
    - it repeats words that the original does not: `to to`, `of the of the`; or
    - it only inflects or contracts words: `girl` and `girls`, `I am` and `I'm`.
    """
    sentences = [original, *(rewrite.written.words for rewrite in rewrites)]
    (original_log10_p, *rewrite_log10_ps), (original_lengths, *ngram_lengths) = score_sentences(
        contexts.language, sentences
    )
    unfamiliar = float((original_lengths[:-1] < _SEEN_LENGTH).mean()) if original else 0.0
    repeats = find_repeats(original, range(len(original)))
    all_features: list[Features | None] = []
    for rewrite, log10_p, matched_lengths in zip(
        rewrites, rewrite_log10_ps, ngram_lengths, strict=True
    ):
        end = rewrite.at + len(rewrite.new)
        if (
            is_inflection(rewrite.old, rewrite.new)
            or not fits_context(rewrite.written, matched_lengths, repeats)
            or any(
                matched_lengths[place : place + 2].max() < _MIN_SEEN_LENGTH
                for place in (rewrite.at, end)
            )
        ):
            all_features.append(None)
            continue
        features = (
            log(rewrite.probability),
            contexts.likeness(rewrite.old, rewrite.new),
            log10_p - original_log10_p,
            min(map(contexts.log10_p, (*rewrite.old, *rewrite.new))),
            float(len(rewrite.new)),
            unfamiliar,
        )
        all_features.append(features)
    return all_features


def score_sentences(
    language: LanguageModel, rows: Sequence[Words]
) -> tuple[list[float], list[NDArray[np.int32]]]:
    """Return log10 Pr of sentences, and the length of the n-gram matched at each of their words."""
    ids = language.word_ids([word for row in rows for word in row])
    offsets = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)
    p, lengths = language.kernel.words(ids, offsets)
    logs, ends = p.astype(np.float64), (offsets + np.arange(len(offsets))).tolist()
    cuts = list(pairwise(ends))
    return [float(logs[a:b].sum()) for a, b in cuts], [lengths[a:b] for a, b in cuts]


def fits_context(
    written: RewrittenWords, lengths: NDArray[np.int32], twice: set[tuple[str, ...]]
) -> bool:
    """Return whether all bigrams with new words were seen, and no words are repeated."""
    new = np.array([*written.new, False])
    is_seen = lengths[new | np.concatenate(([False], new[:-1]))] >= _SEEN_LENGTH
    return (
        bool(is_seen.all()) and find_repeats(written.words, np.flatnonzero(new).tolist()) <= twice
    )


def is_inflection(old: Words, new: Words) -> bool:
    """Return whether words are only inflected, contracted, added or dropped."""
    if not old or not new:
        return True
    if len(old) == len(new) == 1:  # forms of a word differ in their endings only
        alike = [a == b for a, b in zip(old[0], new[0], strict=False)]
        n_alike, shorter = [*alike, False].index(False), min(len(old[0]), len(new[0]))
        if n_alike >= max(_SAME_STEM, shorter - _ENDING):
            return True
    letters = ("".join(filter(str.isalpha, "".join(words))) for words in (old, new))
    short, long = sorted(letters, key=len)
    rest = iter(long)
    is_contracted = any("'" in word or "’" in word for word in (*old, *new))
    return is_contracted and all(letter in rest for letter in short)


def find_repeats(words: Words, places: Iterable[int]) -> set[tuple[str, ...]]:
    """Return the n-grams that occur twice in a row, around words at some positions."""
    return {
        tuple(words[i : i + n])
        for place in places
        for n in range(1, MAX_REPEAT + 1)
        for i in range(max(place - 2 * n + 1, 0), min(place, len(words) - 2 * n) + 1)
        if words[i] == words[i + n] and words[i : i + n] == words[i + n : i + 2 * n]
    }


WEIGHT = 1.0  # weight of log10 Pr(e'|e) relative to the language model's log10 Pr
BEAM = 8  # hypotheses for each position of a sentence and number of changed words
CHANGES = 6  # larger numbers of changed words are treated alike

_ARTICLES_KEPT = 1 << 16  # words whose article is cached


def surface_recipe(recipe: Recipe) -> Recipe:
    """Return the recipe without stemming."""
    return replace(recipe, stem="none")


@dataclass(frozen=True, eq=False)
class Generator:
    """Rewrites of phrases, a language model, and the casing of words not in lower case."""

    rewrites: PhraseTable
    language: LanguageModel
    casing: Mapping[str, str]

    @property
    def recipe(self) -> Recipe:
        """Recipe of the words of rewrites."""
        return self.language.recipe

    @cached_property
    def search(self) -> _kernel.Paraphraser:
        """The kernel's search for wordings."""
        limits = WEIGHT, BEAM, CHANGES
        return _kernel.Paraphraser(self.rewrites.kernel, self.language.kernel, *limits)

    def trusting(self, lang: str = "en") -> Generator:
        """Return the generator with trusted rewrites only, by the rules of a language."""
        if lang not in self._trusting:
            is_trusted = find_trusted(self.rewrites, self.casing, lang)
            self._trusting[lang] = replace(self, rewrites=self.rewrites.select(is_trusted))
        return self._trusting[lang]

    @cached_property
    def _trusting(self) -> dict[str, Generator]:
        return {}

    @cached_property
    def contexts(self) -> PhraseContexts:
        """Contexts of phrases, by the language model."""
        return PhraseContexts(self.language)

    @property
    def fold(self) -> Callable[[str], str]:
        """Function from a surface word to a word of the language model."""
        return str.lower if self.recipe.case == "lower" else str

    @cached_property
    def article(self) -> ChooseArticle:
        """Function that returns the likelier article before a word; None if neither was seen."""

        @lru_cache(_ARTICLES_KEPT)
        def article(word: str) -> str | None:
            phrases = [text for choice in ARTICLES for text in (choice, self.fold(word))]
            word_ids = self.language.word_ids(phrases)
            p, lengths = self.language.kernel.words(word_ids, np.array([0, 2, 4]))
            word_rows = slice(1, None, 3)  # of article, word and end
            return ARTICLES[int(p[word_rows].argmax())] if lengths[word_rows].max() > 1 else None

        return article

    @cached_property
    def written(self) -> list[str]:
        """The words of rewrites, cased."""
        return [self.casing.get(word, word) for word in all_words(self.rewrites.pivot)]

    @cached_property
    def _rewrite_word_ids(self) -> NDArray[np.int32]:
        return self.language.word_ids(all_words(self.rewrites.pivot))

    def model_words(self, vocab: _kernel.Vocab) -> NDArray[np.int32]:
        """Return the language model's ids of the words of rewrites, then of a vocabulary."""
        return np.concatenate([self._rewrite_word_ids, self.language.find(vocab)])

    def parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the stored generator: its description and its arrays."""
        rewrites, casing = dict(self.rewrites.about), dict(self.casing)
        about = {"rewrites": rewrites, "lm": self.language.about, "casing": casing}
        arrays = with_prefix("rewrites.", self.rewrites.arrays)
        return about, arrays | with_prefix("lm.", self.language.arrays)

    @classmethod
    def of_arrays(cls, name: str, about: Mapping[str, Any], arrays: Arrays) -> Generator:
        """Return a stored generator; raise ValueError, KeyError or TypeError if it is damaged."""
        rewrites, words = (without_prefix(f"{part}.", arrays) for part in ("rewrites", "lm"))
        table = PhraseTable.of_arrays(f"{name} (rewrites)", about["rewrites"], rewrites)
        casing = {str(word): str(cased) for word, cased in about["casing"].items()}
        language = LanguageModel(about["lm"], words, name).check_finite(name)
        return cls(table, language, casing)


def learn_casing(texts: Sequence[Segments], recipe: Recipe) -> dict[str, str]:
    """Return lower-cased word -> its most frequent form, where that has capitals.

    First words of sentences are not counted, nor are texts without capitals.
    """
    if recipe.case != "lower":
        return {}
    forms: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for text in texts:
        vocab, totals = Vocab(), np.zeros(0, np.int64)
        for tokens in token_parts(text, Recipe(recipe.tok, "mixed"), vocab):
            inner = np.delete(tokens.ids, tokens.offsets[:-1][np.diff(tokens.offsets) > 0])
            batch_counts = np.bincount(inner, minlength=len(vocab))
            batch_counts[: len(totals)] += totals
            totals = batch_counts
            text.release(0, len(text))
        counts = dict(zip(vocab.words(0, len(vocab)), totals.tolist(), strict=True))
        if any(word != word.lower() for word in counts):
            for word, count in counts.items():
                forms[word.lower()][word] += count
    best = {
        low: min(counts_by_form, key=lambda w: (-counts_by_form[w], w))
        for low, counts_by_form in forms.items()
    }
    return {low: form for low, form in sorted(best.items()) if form != low and forms[low][form]}
