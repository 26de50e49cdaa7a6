"""Training of PEM models on parallel texts and judged paraphrases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from karat.errors import InputError
from karat.lm.model import LanguageModel
from karat.paraphrase.align.links import Links
from karat.paraphrase.align.parallel_text import Parallel, each_line, joined_tokens
from karat.paraphrase.generate.generator import Generator, learn_casing, surface
from karat.paraphrase.generate.rewrites import PivotPhrases, rewrite_table
from karat.paraphrase.pem.judged_pairs import JudgedPairs
from karat.paraphrase.pem.model import PEM
from karat.paraphrase.table.phrase_table import ENGLISH, PIVOT, every_word
from karat.paraphrase.table.training import align_corpora
from karat.progress import Progress, silent
from karat.text.recipe import Recipe
from karat.text.segments import Segments

ORDER = 4
"""The order of the language model, as in the paper."""


@dataclass(frozen=True, eq=False)
class Pivot:
    """The parallel texts of one pivot language, and its recipe."""

    corpora: Sequence[Parallel]
    recipe: Recipe = PIVOT
    links: Links | None = None
    """From another aligner, over all texts in order; None: Karat's own."""


def train_pem(
    pivots: Mapping[str, Pivot],
    judged: JudgedPairs | None = None,
    *,
    form: str = "unigram",
    recipe: Recipe = ENGLISH,
    generate: bool = True,
    threads: int | None = None,
    progress: Progress = silent,
) -> PEM:
    """Align, extract and count for each pivot language; then the language model and regression.

    The language model is trained on the first sides of all parallel texts, each different line
    once. Without judgements the model has parts, but no score; with `generate` it can also write
    paraphrases: the same links then give phrase pairs of words as they are written.
    """
    work: dict[str, Any] = {"threads": threads, "progress": progress}
    words, tables, written = surface(recipe), {}, []
    for name, one in pivots.items():
        text = align_corpora(one.corpora, recipe, one.recipe, links=one.links, **work)
        tables[name] = text.table(**work)
        if generate:
            source = joined_tokens([corpus.source for corpus in one.corpora], words, **work)
            written.append(PivotPhrases(replace(text, source=source).phrases(**work), source.vocab))
    texts = [one.source for pivot in pivots.values() for one in pivot.corpora]
    language = train_language(texts, recipe, **work)
    generator = train_generator(written, texts, words, **work) if generate else None
    untrained = PEM.of(tables, language, form, generator=generator)
    return untrained.train(judged, **work) if judged else untrained


def train_language(
    texts: Sequence[Segments], recipe: Recipe = ENGLISH, **work: Any
) -> LanguageModel:
    """Train the language model of some texts: 4-grams, modified Kneser-Ney, each line once."""
    lines = dict.fromkeys(line for text in texts for line in each_line(text))
    if not lines:
        raise InputError("there is no text to train a language model on")
    words: dict[str, Any] = {"tok": recipe.tok, "case": recipe.case, "stem": recipe.stem}
    return LanguageModel.train(list(lines), ORDER, **words, **work)


def train_generator(
    languages: Sequence[PivotPhrases], texts: Sequence[Segments], recipe: Recipe, **work: Any
) -> Generator:
    """Make the rewrites of some pivot languages, and a language model of the same words."""
    rewrites = rewrite_table(languages, recipe)
    language = train_language(texts, recipe, **work)
    casing, words = learn_casing(texts, recipe), set(every_word(rewrites.pivot))
    used = {word: form for word, form in casing.items() if word in words}
    return Generator(rewrites, language, used)
