"""Texts of any size as batches of tokens, cut by a recipe on several threads, in order."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from karat import _kernel
from karat.errors import InputError
from karat.progress import Progress, map_in_order, n_threads, silent
from karat.text.segments import Segments, Texts, as_segments, batches
from karat.text.tokens import (
    CASES,
    TOKENIZERS,
    Lexicon,
    Passage,
    Ragged,
    Recipe,
    check_choice,
    stem_words,
    stemmers,
)

SEGMENTS_PER_BATCH = 1 << 14
BYTES_PER_BATCH = 1 << 22

Batch = tuple[Ragged, _kernel.Vocab]
"""The tokens of a batch of segments, and the vocabulary they are numbered by."""


def check_recipe(recipe: Recipe) -> None:
    """Refuse a tokeniser, case or stemmer that does not exist."""
    check_choice("tok", recipe.tok, TOKENIZERS)
    check_choice("case", recipe.case, CASES)
    check_choice("stem", recipe.stem, stemmers())


def as_sources(texts: Texts | Sequence[os.PathLike[str]] | Sequence[Segments]) -> list[Segments]:
    """Return one text or several: a list of paths or of segments is read one after the other."""
    if isinstance(texts, list | tuple) and texts:
        if all(isinstance(text, os.PathLike | Segments) for text in texts):
            return [as_segments(text, "texts") for text in texts]
        if isinstance(texts[0], os.PathLike | Segments):
            raise InputError("texts mixes files and strings: give either")
    return [as_segments(texts, "texts")]  # type: ignore[arg-type]


def token_batches(
    sources: Sequence[Segments],
    recipe: Recipe,
    *,
    threads: int | None = None,
    progress: Progress = silent,
    what: str = "reading",
    nbytes: int = BYTES_PER_BATCH,
) -> Iterator[Batch]:
    """Yield the batches of all sources; only a few are held at a time.

    `nbytes` is the size of a batch, unless it is one long segment.
    """
    most = SEGMENTS_PER_BATCH, nbytes
    jobs = [(one, *ends) for one in sources if len(one) for ends in batches([one], *most)]
    total, done = sum(map(len, sources)), 0

    def cut(job: tuple[Segments, int, int]) -> Batch:
        lexicon = Lexicon()
        passage = Passage(job[0].views(job[1], job[2]), lexicon)
        tokens = passage.tokens(Recipe(recipe.tok, recipe.case))
        words = lexicon.vocab(recipe.tok, recipe.case)
        if recipe.stem == "none":
            return tokens, words
        target = _kernel.Vocab()
        stems = stem_words(recipe.stem, words, 0, target)
        return Ragged(stems[tokens.ids], tokens.offsets), target

    for job, batch in zip(jobs, map_in_order(cut, jobs, n_threads(threads)), strict=True):
        yield batch
        job[0].release(job[1], job[2])
        done += len(batch[0].offsets) - 1
        progress(done, total, what)
