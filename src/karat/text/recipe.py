"""Recipes: how text becomes tokens, as a value, and the work of following one.

Case is lowered in the text, before it is cut into tokens, because that is where the tools that
defined the tokenisers do it (`<SKIPPED>` and the final sigma depend on it). Stemming and stop words
are maps over the vocabulary: they see each distinct word once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from karat import _kernel
from karat.arrays import Flags, Ints, NDArray, np
from karat.errors import InputError
from karat.text.stemmers import stem_words
from karat.text.stopwords import stop_words
from karat.text.tokenizers import TOKENIZERS as TOKENIZERS  # noqa: PLC0414 - a choice of recipes
from karat.text.tokenizers import cut

CHARACTERS = {False: "characters", True: "characters-and-space"}
"""For chrF: every character is its own id, with white space or without."""

CASES = {"mixed": "as it is", "lower": "lower-cased before tokenising"}


def check_choice(setting: str, value: str, choices: Iterable[str]) -> None:
    """Refuse a value that is not among the choices, naming them."""
    if value not in choices:
        raise InputError(f"{setting}={value}: expected one of {', '.join(choices)}")


@dataclass(frozen=True)
class Recipe:
    """Tokeniser, case, stemmer and stop list."""

    tok: str = "13a"
    case: str = "mixed"
    stem: str = "none"
    stop: str = "none"


class Ragged(NamedTuple):
    """Rows of ids of unequal length: row i is `ids[offsets[i]:offsets[i + 1]]`."""

    ids: NDArray[np.int32]
    offsets: Ints

    @property
    def lengths(self) -> Ints:
        """Number of ids in each row."""
        return np.diff(self.offsets)


class Lexicon:
    """Vocabularies, one for each tokeniser and case, and maps over them that grow with them.

    No number that Karat reports depends on ids, only on which are equal; so every worker keeps a
    lexicon of its own, and forgets it when it has grown large.
    """

    _ENOUGH = 1 << 17  # words; a larger table would not stay in the cache

    def __init__(self) -> None:
        self._vocabs: dict[tuple[str, str], _kernel.Vocab] = {}
        self._stems: dict[Recipe, tuple[_kernel.Vocab, NDArray[np.int32]]] = {}
        self._keeps: dict[Recipe, Flags] = {}

    def vocab(self, tok: str, case: str) -> _kernel.Vocab:
        """Return the vocabulary of all text cut by one tokeniser."""
        if (tok, case) not in self._vocabs:
            self._vocabs[tok, case] = _kernel.Vocab()
        return self._vocabs[tok, case]

    def stems(self, recipe: Recipe) -> NDArray[np.int32]:
        """Return the id of the stem of each word of the vocabulary."""
        words = self.vocab(recipe.tok, recipe.case)
        none = _kernel.Vocab(), np.empty(0, dtype=np.int32)
        target, known = self._stems.setdefault(recipe, none)
        if len(known) < len(words):
            known = np.concatenate([known, stem_words(recipe.stem, words, len(known), target)])
            self._stems[recipe] = target, known
        return known

    def words(self, recipe: Recipe) -> _kernel.Vocab:
        """Return the vocabulary of a recipe's tokens; it may grow with the next batch."""
        if recipe.stem == "none":
            return self.vocab(recipe.tok, recipe.case)
        unstopped = Recipe(recipe.tok, recipe.case, recipe.stem)
        self.stems(unstopped)
        return self._stems[unstopped][0]

    def keeps(self, recipe: Recipe) -> Flags:
        """Return whether each word of the vocabulary is no stop word, whatever its case."""
        vocab = self.vocab(recipe.tok, recipe.case)
        known = self._keeps.get(recipe, np.empty(0, dtype=np.bool_))
        if len(known) < len(vocab):
            stop = stop_words(recipe.stop)
            new = vocab.words(len(known), len(vocab))
            flags = np.fromiter((w.lower() not in stop for w in new), np.bool_, len(new))
            known = self._keeps[recipe] = np.concatenate([known, flags])
        return known

    def tidy(self) -> None:
        """Forget everything if there is too much of it."""
        if sum(len(vocab) for vocab in self._vocabs.values()) > self._ENOUGH:
            self._vocabs, self._stems, self._keeps = {}, {}, {}


class Passage:
    """A batch of segments that is tokenised at most once for each recipe."""

    def __init__(self, views: _kernel.Views, lexicon: Lexicon) -> None:
        self._views, self._lexicon = views, lexicon
        self._tokens: dict[Recipe, Ragged] = {}
        self._sentences: dict[str, tuple[Passage, Ints]] = {}
        self._tercom: dict[tuple[bool, bool, bool, str, bool], Ragged] = {}

    @cached_property
    def _lowered(self) -> _kernel.Views:
        return self._views.lower()

    def beside(self, views: _kernel.Views) -> Passage:
        """Return another batch of segments whose words have the same ids."""
        return Passage(views, self._lexicon)

    def views(self, case: str) -> _kernel.Views:
        """Return the text, as it is or lower-cased."""
        return self._views if case == "mixed" else self._lowered

    def tokens(self, recipe: Recipe) -> Ragged:
        """Return the tokens of every segment."""
        if recipe not in self._tokens:
            self._tokens[recipe] = self._follow(recipe)
        return self._tokens[recipe]

    def _follow(self, recipe: Recipe) -> Ragged:
        if recipe.stop != "none":
            stemmed = self.tokens(Recipe(recipe.tok, recipe.case, recipe.stem))
            surface = self.tokens(Recipe(recipe.tok, recipe.case))
            keep = self._lexicon.keeps(Recipe(recipe.tok, recipe.case, stop=recipe.stop))
            return select(stemmed, keep[surface.ids])
        if recipe.stem != "none":
            surface = self.tokens(Recipe(recipe.tok, recipe.case))
            return Ragged(self._lexicon.stems(recipe)[surface.ids], surface.offsets)
        views = self.views(recipe.case)
        if recipe.tok in CHARACTERS.values():
            return Ragged(*_kernel.codepoints(views, recipe.tok == CHARACTERS[True]))
        return Ragged(*cut(views, self._lexicon.vocab(recipe.tok, recipe.case), recipe.tok))

    def tercom(
        self, normalize: bool, no_punct: bool, asian: bool, case: str, *, twice: bool
    ) -> Ragged:
        """Return the tokens of Tercom's tokeniser, applied once or twice."""
        key = (normalize, no_punct, asian, case, twice)
        if key not in self._tercom:
            vocab = self._lexicon.vocab("tercom", case)
            found = _kernel.tercom(self.views(case), vocab, normalize, no_punct, asian, twice)
            self._tercom[key] = Ragged(*found)
        return self._tercom[key]

    def vocab(self, recipe: Recipe) -> _kernel.Vocab:
        """Return the words that the ids of `tokens` stand for, once those were asked for."""
        return self._lexicon.words(recipe)

    def words(self, words: _kernel.Views, recipe: Recipe) -> NDArray[np.int32]:
        """Return the ids of words that were cut elsewhere, by the vocabulary of a recipe."""
        lowered = words.lower() if recipe.case == "lower" else words
        return self._lexicon.vocab(recipe.tok, recipe.case).intern(lowered)

    def sentences(self, separator: str) -> tuple[Passage, Ints]:
        """Return the sentences of every segment as a passage, and where each segment's start."""
        if separator not in self._sentences:
            views, starts = self._views.split_sentences(separator)
            self._sentences[separator] = Passage(views, self._lexicon), starts
        return self._sentences[separator]


def select(tokens: Ragged, keep: Flags) -> Ragged:
    """Return the tokens that are to be kept, row by row."""
    before = np.concatenate(([0], np.cumsum(keep, dtype=np.int64)))
    return Ragged(tokens.ids[keep], before[tokens.offsets])
