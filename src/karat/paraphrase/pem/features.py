"""The features of PEM: what the regression sees of a pair of an original and a paraphrase.

The form `paper` has pivot F1 for each pivot language, fluency, and target F1, all of n-grams up to
four words. The form `unigram` has the same of single words, with renormalised edges: few judgements
are enough for it. The form `rich`, for thousands of judgements, adds F1 of each n-gram order by
itself, precision and recall of unigrams, and the lengths.

Pivot F1 stands for adequacy; target F1, the F1 of the sentences' own n-grams, for the opposite of
dissimilarity. Fluency is log10 Pr(P) / length(P): the end of the sentence is part of Pr, the length
is the number of words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from karat.errors import InputError, quoted
from karat.lm.model import LanguageModel
from karat.paraphrase.pem.dissimilarity import target_statistics
from karat.paraphrase.pem.f1 import f1, pooled_f1, share
from karat.paraphrase.pem.pivot import PivotSettings, pivot_statistics
from karat.paraphrase.table.phrase_table import PhraseTable
from karat.progress import Progress, silent
from karat.text.segments import Texts

Floats = NDArray[np.float64]

FORMS = {
    "paper": PivotSettings(),
    "unigram": PivotSettings(order=1, renormalise=True),
    "rich": PivotSettings(renormalise=True),
}
"""Name -> how pivot n-grams are weighed."""


@dataclass(frozen=True, eq=False)
class Features:
    """One row for each pair; `pivot`, `fluency` and `target` are the paper's three."""

    names: tuple[str, ...]
    matrix: Floats
    pivot: Floats
    """Pivot F1, the mean over pivot languages."""
    fluency: Floats
    target: Floats

    def without_pivots(self) -> Floats:
        """The features that need no pivot language: what PEM has to be better than."""
        return self.matrix[:, [not name.startswith("pivot") for name in self.names]]


def check_form(form: str) -> None:
    """Refuse a form that there is not."""
    if form not in FORMS:
        raise InputError(f"form {quoted(form)}: expected one of {', '.join(FORMS)}")


def features(
    pivots: Mapping[str, PhraseTable],
    language: LanguageModel,
    originals: Texts,
    paraphrases: Texts,
    form: str = "paper",
    *,
    threads: int | None = None,
    progress: Progress = silent,
) -> Features:
    """The features of every pair."""
    check_form(form)
    columns: dict[str, Floats] = {}
    for name, table in pivots.items():
        found = pivot_statistics(
            table, originals, paraphrases, FORMS[form], threads=threads, progress=progress
        )
        columns |= _bags(f"pivot {name}", found, form)
    pivot = np.mean([columns[f"pivot {name} F1"] for name in pivots], axis=0)
    shared = target_statistics(
        originals,
        paraphrases,
        language.recipe,
        FORMS[form].order,
        threads=threads,
        progress=progress,
    )
    log10_p = language.score(paraphrases, threads=threads, progress=progress)
    fluency = log10_p / np.maximum(shared[:, 0, 1], 1.0)
    columns["fluency"] = fluency
    columns |= _bags("target", shared, form)
    if form == "rich":
        columns |= _lengths(shared)
    matrix = np.stack(list(columns.values()), axis=1)
    return Features(tuple(columns), matrix, pivot, fluency, pooled_f1(shared))


def _bags(name: str, stats: Floats, form: str) -> dict[str, Floats]:
    """F1 of all orders in one bag; in the rich form of each order, and what unigrams tell."""
    columns = {f"{name} F1": pooled_f1(stats)}
    if form == "rich":
        orders = f1(stats)
        columns |= {f"{name} F1 of {n + 1}-grams": orders[:, n] for n in range(orders.shape[1])}
        common, paraphrase, original = stats[:, 0].T
        columns[f"{name} precision of 1-grams"] = share(common, paraphrase)
        columns[f"{name} recall of 1-grams"] = share(common, original)
    return columns


def _lengths(stats: Floats) -> dict[str, Floats]:
    """The numbers of words, and their ratio."""
    _, paraphrase, original = stats[:, 0].T
    ratio = paraphrase / np.maximum(original, 1.0)
    return {"words of paraphrase": paraphrase, "words of original": original, "ratio": ratio}
