"""From parallel texts and judged paraphrases to a PEM model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from karat.errors import InputError
from karat.lm.model import LanguageModel
from karat.paraphrase.judged import Judged
from karat.paraphrase.parallel import Parallel
from karat.paraphrase.pem import PEM
from karat.paraphrase.phrase_table import ENGLISH, PIVOT
from karat.paraphrase.pivot_training import train_pivot
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


def train_pem(
    pivots: Mapping[str, Pivot],
    judged: Judged | None = None,
    *,
    form: str = "unigram",
    recipe: Recipe = ENGLISH,
    threads: int | None = None,
    progress: Progress = silent,
) -> PEM:
    """Align, extract and count for each pivot language; then the language model and regression.

    The language model is trained on the first sides of all parallel texts, each different line
    once. Without judgements the model has parts, but no score.
    """
    tables = {
        name: train_pivot(one.corpora, recipe, one.recipe, threads=threads, progress=progress)
        for name, one in pivots.items()
    }
    corpora = [one.source for pivot in pivots.values() for one in pivot.corpora]
    language = train_language(corpora, recipe, threads=threads, progress=progress)
    untrained = PEM.of(tables, language, form)
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
