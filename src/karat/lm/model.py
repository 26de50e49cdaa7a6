"""Language models: the probability of a sentence, word by word."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from karat import __version__, _kernel
from karat.errors import InputError
from karat.lm.arpa import read_arpa, write_arpa
from karat.lm.binary import read_binary, write_binary
from karat.lm.counting import EOS, SPECIAL, UNK, Cutoff, count_text
from karat.lm.estimate import check_min_counts, estimate
from karat.lm.token_runs import as_sources, check_recipe, token_runs
from karat.progress import Progress, silent
from karat.store import damaged
from karat.text.recipe import Ragged, Recipe
from karat.text.segments import Texts
from karat.text.word_table import word_arrays, word_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

Path = str | os.PathLike[str]


class WordScore(NamedTuple):
    """One word of a sentence, or its end: log10 p, and how long an n-gram the model had for it."""

    word: str
    log10_p: float
    length: int
    oov: bool


class Perplexity(NamedTuple):
    """What a text amounts to; each sentence has an end, which is predicted like a word.

    10 ^ (-log10 Pr / (words + sentences)); `known` leaves the words out that the model lacks.
    """

    sentences: int
    words: int
    oov: int
    log10_p: float
    log10_p_known: float

    @property
    def perplexity(self) -> float:
        """Of all words."""
        return _perplexity(self.log10_p, self.words + self.sentences)

    @property
    def perplexity_known(self) -> float:
        """Of the words that the model knows."""
        return _perplexity(self.log10_p_known, self.words - self.oov + self.sentences)


def _perplexity(log10_p: float, events: int) -> float:
    """As float: beyond its range, infinity."""
    with np.errstate(over="ignore"):
        return float(np.power(10.0, -log10_p / max(events, 1)))


class LanguageModel:
    """An n-gram model with back-off, over words that are cut by a recipe it carries with it.

    >>> model = LanguageModel.train(["the cat sat", "the dog sat"], order=3)
    >>> model.score(["the cat sat"])
    """

    def __init__(
        self, about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], name: str = "model"
    ) -> None:
        self.about = dict(about)
        """What is known of the model: order, smoothing, recipe, counts of n-grams, notes."""
        self.arrays = dict(arrays)
        try:
            self.table = word_table(arrays, "words")
            longer = [arrays[f"table_{n}"] for n in range(2, int(about["order"]) + 1)]
            self.kernel = _kernel.LanguageModel(arrays["p"], arrays["backoff"], longer)
            self.recipe = Recipe(**about["recipe"])
            first = tuple(self.table.words(np.arange(len(SPECIAL), dtype=np.int32)))
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise damaged(name, str(error)) from error
        if first != SPECIAL or len(self.table) != len(arrays["p"]):
            raise damaged(name, "its words are not those of its probabilities")
        check_recipe(self.recipe)

    # ------------------------------------------------------------------------------ making

    @classmethod
    def train(
        cls,
        texts: Texts | Sequence[os.PathLike[str]],
        order: int = 5,
        smoothing: str = "kneser-ney",
        *,
        tok: str = "13a",
        case: str = "mixed",
        stem: str = "none",
        min_counts: Sequence[int] | None = None,
        vocabulary: int | None = None,
        min_count: int = 1,
        memory: int | None = None,
        threads: int | None = None,
        progress: Progress = silent,
    ) -> LanguageModel:
        """Train on strings, a file, or several files.

        `vocabulary` keeps so many of the most frequent words, `min_count` those that occur so
        often; all others are `<unk>`. `min_counts` has, for each length, the smallest count of the
        n-grams that are kept. `memory` limits what the n-grams may take (bytes; default: half of
        this machine's).
        """
        recipe = Recipe(tok, case, stem)
        check_recipe(recipe)
        _check_sizes(order, vocabulary, min_count)
        least = check_min_counts(order, smoothing, min_counts)
        counted = count_text(
            as_sources(texts),
            order,
            recipe,
            Cutoff(vocabulary, min_count),
            memory=memory,
            threads=threads,
            progress=progress,
        )
        arrays, notes = estimate(counted, smoothing, least)
        about = {
            "order": order,
            "smoothing": smoothing,
            "recipe": {"tok": tok, "case": case, "stem": stem},
            "vocabulary": vocabulary,
            "min_count": min_count,
            "min_counts": list(least),
            "notes": list(notes),
            "karat": __version__,
        }
        return cls(about, arrays | word_arrays(counted.vocab, "words"))

    @classmethod
    def open(
        cls, path: Path, recipe: Recipe | None = None, *, progress: Progress = silent
    ) -> LanguageModel:
        """Open a model: the binary form is mapped, an ARPA file (`.gz` too) is read.

        ARPA does not say how text becomes words: `recipe` does (default: white space only).
        """
        if _is_store(path):
            about, arrays = read_binary(path)
            model = cls(about, arrays, os.fspath(path))
            if recipe not in (None, model.recipe):
                raise InputError(f"{path} was trained with {_told(model.recipe)}: leave it to that")
            return model
        words, arrays, order = read_arpa(path, progress)
        tok, case, stem, _ = recipe_fields(recipe or Recipe("none"))
        about = {
            "order": order,
            "smoothing": "arpa",
            "recipe": {"tok": tok, "case": case, "stem": stem},
        }
        return cls(about, arrays | word_arrays(words, "words"), os.fspath(path))

    def save(self, path: Path) -> None:
        """Write the binary form, which `open` maps."""
        write_binary(path, self.about, self.arrays)

    def write_arpa(self, path: Path, *, progress: Progress = silent) -> None:
        """Write ARPA text, which other tools read; compressed if the name ends in `.gz`."""
        try:
            write_arpa(path, self.arrays, self.order, progress)
        except IndexError as error:
            raise damaged("model", str(error)) from error

    # ------------------------------------------------------------------------------ what it is

    @property
    def order(self) -> int:
        """The length of the longest n-grams."""
        return int(self.about["order"])

    def __len__(self) -> int:
        """The number of words, with `<unk>`, `<s>` and `</s>`."""
        return len(self.table)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said of how it was estimated."""
        return tuple(self.about.get("notes", ()))

    @property
    def signature(self) -> str:
        """All that changes its numbers, but the text it was trained on."""
        kept = self.about.get("min_counts")
        settings = {
            "order": self.order,
            "smoothing": self.about.get("smoothing"),
            "tok": self.recipe.tok,
            "case": self.recipe.case,
            "stem": self.recipe.stem,
            "vocabulary": self.about.get("vocabulary") or "all",
            "min_count": self.about.get("min_count", 1),
            "min_counts": "/".join(map(str, kept)) if kept else "all",
        }
        shown = ",".join(f"{name}={value}" for name, value in settings.items())
        return f"lm:{shown}|log=10|karat={__version__}"

    # ------------------------------------------------------------------------------ asking it

    def find(self, vocab: _kernel.Vocab, start: int = 0) -> NDArray[np.int32]:
        """The ids here of a vocabulary's words from `start` on; 0, `<unk>`, for unknown ones."""
        ids = self.table.find(vocab, start)
        return np.where(ids > EOS, ids, UNK).astype(np.int32)

    def score(
        self, sentences: Texts, *, threads: int | None = None, progress: Progress = silent
    ) -> NDArray[np.float64]:
        """log10 Pr of every sentence, its end included."""
        found = [np.empty(0)]
        for tokens in self._runs(sentences, threads, progress):
            found.append(self.kernel.score(tokens.ids, tokens.offsets))
        return np.concatenate(found)

    def words(self, sentence: str) -> list[WordScore]:
        """The words of a sentence and its end, each with what the model makes of it."""
        ((tokens, vocab),) = token_runs(as_sources([sentence]), self.recipe, threads=1)
        ids = self.find(vocab)[tokens.ids]
        listed = vocab.words(0, len(vocab))
        p, lengths = self.kernel.words(ids, tokens.offsets)
        shown = [*(listed[i] for i in tokens.ids.tolist()), SPECIAL[EOS]]
        oov = [*(ids == UNK).tolist(), False]
        return list(map(WordScore, shown, p.tolist(), lengths.tolist(), oov))

    def perplexity(
        self, texts: Texts, *, threads: int | None = None, progress: Progress = silent
    ) -> Perplexity:
        """How well the model predicts a text: the lower the better."""
        total = Perplexity(0, 0, 0, 0.0, 0.0)
        for tokens in self._runs(texts, threads, progress):
            sums = map(sum, zip(total, self._counts(tokens), strict=True))
            total = Perplexity(*sums)  # type: ignore[arg-type]
        return total

    def _counts(self, tokens: Ragged) -> Perplexity:
        """The perplexity of one run; the ends of sentences are known."""
        p, _ = self.kernel.words(tokens.ids, tokens.offsets)
        known = np.insert(tokens.ids != UNK, tokens.offsets[1:], True)
        sentences, words = len(tokens.offsets) - 1, len(tokens.ids)
        p = p.astype(np.float64)
        oov = int((~known).sum())
        return Perplexity(sentences, words, oov, float(p.sum()), float(p[known].sum()))

    def _runs(self, texts: Texts, threads: int | None, progress: Progress) -> Iterator[Ragged]:
        """The texts as ids of this model."""
        for tokens, vocab in token_runs(
            as_sources(texts), self.recipe, threads=threads, progress=progress, what="scoring"
        ):
            yield Ragged(self.find(vocab)[tokens.ids], tokens.offsets)


def recipe_fields(recipe: Recipe) -> tuple[str, str, str, str]:
    """Tokeniser, case, stemmer and stop list."""
    return recipe.tok, recipe.case, recipe.stem, recipe.stop


def _told(recipe: Recipe) -> str:
    return f"tok={recipe.tok}, case={recipe.case} and stem={recipe.stem}"


def _is_store(path: Path) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(2) == b"PK"
    except OSError as error:
        raise InputError(f"{os.fspath(path)}: {error.strerror or error}") from error


def _check_sizes(order: int, vocabulary: int | None, min_count: int) -> None:
    if not 1 <= order <= _kernel.MAX_ORDER:
        raise InputError(f"order={order}: expected 1 to {_kernel.MAX_ORDER}")
    if vocabulary is not None and vocabulary < 1:
        raise InputError(f"vocabulary={vocabulary}: expected at least 1 word")
    if min_count < 1:
        raise InputError(f"min_count={min_count}: expected at least 1")
