"""From parallel texts and judged paraphrases to a PEM model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from karat.errors import InputError
from karat.lm.model import LanguageModel
from karat.paraphrase.align.links import Links
from karat.paraphrase.align.parallel_text import Parallel, joined_tokens
from karat.paraphrase.generate.generator import Generator, learn_casing, surface
from karat.paraphrase.generate.rewrites import Counted, rewrite_table
from karat.paraphrase.pem.judged_pairs import Judged
from karat.paraphrase.pem.model import PEM
from karat.paraphrase.table.phrase_table import ENGLISH, PIVOT
from karat.paraphrase.table.training import AlignedText, align_corpora
from karat.progress import Progress, silent
from karat.text.recipe import Recipe
from karat.text.segments import Segments

ORDER = 4
"""Of the language model, as in the paper."""


@dataclass(frozen=True, eq=False)
class Pivot:
    """The parallel texts of one pivot language, and how its text becomes words."""

    corpora: Sequence[Parallel]
    recipe: Recipe = PIVOT
    links: Links | None = None
    """From another aligner, over all texts in order; None: Karat's own."""


def train_pem(
    pivots: Mapping[str, Pivot],
    judged: Judged | None = None,
    *,
    form: str = "unigram",
    recipe: Recipe = ENGLISH,
    generate: bool = True,
    threads: int | None = None,
    progress: Progress = silent,
) -> PEM:
    """Align, extract and count for each pivot language; then the language model and regression.

    The language model is trained on the first sides of all parallel texts, each different line
    once. Without judgements the model has parts, but no score; with `generate` it has what
    paraphrases are written with, too.
    """
    tables, surfaces = {}, []
    for name, one in pivots.items():
        text = align_corpora(
            one.corpora, recipe, one.recipe, links=one.links, threads=threads, progress=progress
        )
        tables[name] = text.table(threads=threads, progress=progress)
        if generate:
            surfaces.append(_surface(text, one.corpora, recipe, threads, progress))
    corpora = [one.source for pivot in pivots.values() for one in pivot.corpora]
    language = train_language(corpora, recipe, threads=threads, progress=progress)
    generator = None
    if generate:
        generator = train_generator(
            surfaces, corpora, surface(recipe), threads=threads, progress=progress
        )
    untrained = PEM.of(tables, language, form, generator=generator)
    return untrained.train(judged, threads=threads, progress=progress) if judged else untrained


def train_language(
    texts: Sequence[Segments],
    recipe: Recipe = ENGLISH,
    *,
    threads: int | None = None,
    progress: Progress = silent,
) -> LanguageModel:
    """The language model of some texts: 4-grams with modified Kneser-Ney, each line once."""
    lines = dict.fromkeys(line for text in texts for line in text.views(0, len(text)).strings())
    if not lines:
        raise InputError("there is no text to train a language model on")
    return LanguageModel.train(
        list(lines),
        ORDER,
        tok=recipe.tok,
        case=recipe.case,
        stem=recipe.stem,
        threads=threads,
        progress=progress,
    )


def _surface(
    text: AlignedText,
    corpora: Sequence[Parallel],
    recipe: Recipe,
    threads: int | None,
    progress: Progress,
) -> Counted:
    """The phrase pairs of the same links, of words as they are written."""
    sources = [one.source for one in corpora]
    words = joined_tokens(sources, surface(recipe), threads=threads, progress=progress)
    written = replace(text, source=words)
    return Counted(written.phrases(threads=threads, progress=progress), words.vocab)


def train_generator(
    languages: Sequence[Counted],
    texts: Sequence[Segments],
    recipe: Recipe,
    *,
    threads: int | None = None,
    progress: Progress = silent,
) -> Generator:
    """Rewrites by pivoting, and a language model of the same words."""
    rewrites = rewrite_table(languages, recipe)
    language = train_language(texts, recipe, threads=threads, progress=progress)
    words = set(rewrites.pivot.words(np.arange(len(rewrites.pivot), dtype=np.int32)))
    casing = learn_casing(texts, recipe)
    used = {word: form for word, form in casing.items() if word in words}
    return Generator(rewrites, language, used)
