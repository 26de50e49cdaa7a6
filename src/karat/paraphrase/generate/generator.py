"""The generator of paraphrases: rewrites of phrases, a language model, the case of words.

PEM compares stems, and stems cannot be written. So the same links give a second table of phrases,
of the words themselves, lower-cased, and the language model is trained on those.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

from karat import _kernel
from karat.arrays import NDArray, np
from karat.lm.model import LanguageModel
from karat.paraphrase.generate.rewrites import ARTICLES, find_trusted
from karat.paraphrase.generate.rewriting import ChooseArticle, PhraseContexts
from karat.paraphrase.table.phrase_table import PhraseTable, all_words
from karat.storage.store import Arrays, with_prefix, without_prefix
from karat.text.segments import Segments
from karat.text.tokens import Recipe, Vocab, token_parts

WEIGHT = 1.0
"""The weight of log10 Pr(e'|e) beside the language model's log10 Pr."""
BEAM = 8
"""Hypotheses that are kept at each place of a sentence and number of changed words."""
CHANGES = 6
"""So many changed words and more are one class."""

_ARTICLES_KEPT = 1 << 16  # words whose article is remembered


def surface_recipe(recipe: Recipe) -> Recipe:
    """Return the recipe of words as they are written, cut like those that are compared."""
    return replace(recipe, stem="none")


@dataclass(frozen=True, eq=False)
class Generator:
    """Rewrites of phrases, a language model, and the words that are not written in lower case."""

    rewrites: PhraseTable
    language: LanguageModel
    casing: Mapping[str, str]

    @property
    def recipe(self) -> Recipe:
        """The recipe by which text becomes the words that are rewritten."""
        return self.language.recipe

    @cached_property
    def search(self) -> _kernel.Paraphraser:
        """The search through all rewritings."""
        limits = WEIGHT, BEAM, CHANGES
        return _kernel.Paraphraser(self.rewrites.kernel, self.language.kernel, *limits)

    @cached_property
    def trusting(self) -> Generator:
        """A generator with the rewrites that may be written."""
        return replace(
            self, rewrites=self.rewrites.select(find_trusted(self.rewrites, self.casing))
        )

    @cached_property
    def contexts(self) -> PhraseContexts:
        """The words beside phrases, by the language model."""
        return PhraseContexts(self.language)

    @property
    def fold(self) -> Callable[[str], str]:
        """The function that turns a word as it is written into a word of the language model."""
        return str.lower if self.recipe.case == "lower" else str

    @cached_property
    def article(self) -> ChooseArticle:
        """The article that the language model prefers before a word; None if it knows neither."""

        @lru_cache(_ARTICLES_KEPT)
        def article(word: str) -> str | None:
            vocab = _kernel.Vocab()
            ids = vocab.add(
                [text for article_word in ARTICLES for text in (article_word, self.fold(word))]
            )
            word_ids = self.language.find(vocab)[ids]
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
        """The language model's numbers of the words of rewrites."""
        vocab = _kernel.Vocab()
        ids = vocab.add(all_words(self.rewrites.pivot))
        return self.language.find(vocab)[ids]

    def model_words(self, vocab: _kernel.Vocab) -> NDArray[np.int32]:
        """Return the language model's numbers of the words of rewrites, then of a vocabulary."""
        return np.concatenate([self._rewrite_word_ids, self.language.find(vocab)])

    # ------------------------------------------------------------------------------ on disk

    @property
    def about(self) -> dict[str, Any]:
        """The description that is stored beside the arrays."""
        rewrites, casing = dict(self.rewrites.about), dict(self.casing)
        return {"rewrites": rewrites, "lm": self.language.about, "casing": casing}

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that is stored as arrays."""
        rewrites = with_prefix("rewrites.", self.rewrites.arrays)
        return rewrites | with_prefix("lm.", self.language.arrays)

    @classmethod
    def of_arrays(cls, name: str, about: Mapping[str, Any], arrays: Arrays) -> Generator:
        """Make one of stored arrays; a ValueError, KeyError or TypeError if they do not fit."""
        rewrites, words = (without_prefix(f"{part}.", arrays) for part in ("rewrites", "lm"))
        table = PhraseTable.of_arrays(f"{name} (rewrites)", about["rewrites"], rewrites)
        casing = {str(word): str(cased) for word, cased in about["casing"].items()}
        language = LanguageModel(about["lm"], words, name).check_finite(name)
        return cls(table, language, casing)


def learn_casing(texts: Sequence[Segments], recipe: Recipe) -> dict[str, str]:
    """Learn the case of words that are mostly not in lower case; first words do not count.

    The word in lower case -> its most frequent form. A text without capitals says nothing of case.
    """
    if recipe.case != "lower":
        return {}
    forms: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for text in texts:
        counts = _count_inner_words(text, recipe)
        if any(word != word.lower() for word in counts):
            for word, count in counts.items():
                forms[word.lower()][word] += count
    best = {
        low: min(counts_by_form, key=lambda w: (-counts_by_form[w], w))
        for low, counts_by_form in forms.items()
    }
    return {low: form for low, form in sorted(best.items()) if form != low and forms[low][form]}


def _count_inner_words(text: Segments, recipe: Recipe) -> dict[str, int]:
    """Count the words of a text, cased; the first words of lines count for nothing."""
    vocab, counts = Vocab(), np.zeros(0, np.int64)
    for tokens in token_parts(text, Recipe(recipe.tok, "mixed"), vocab):
        inner = np.delete(tokens.ids, tokens.offsets[:-1][np.diff(tokens.offsets) > 0])
        batch_counts = np.bincount(inner, minlength=len(vocab))
        batch_counts[: len(counts)] += counts
        counts = batch_counts
        text.release(0, len(text))
    return dict(zip(vocab.words(0, len(vocab)), counts.tolist(), strict=True))
