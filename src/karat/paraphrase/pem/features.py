"""The features of a pair of an original and a paraphrase, from which PEM's regression predicts.

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
from typing import Any

from karat.arrays import Floats, np
from karat.errors import InputError, quoted
from karat.lm.model import LanguageModel
from karat.paraphrase.pem import bags
from karat.paraphrase.table.phrase_table import PhraseTable
from karat.text.segments import Texts

FORMS = {
    "paper": bags.PivotSettings(),
    "unigram": bags.PivotSettings(order=1, renormalise=True),
    "rich": bags.PivotSettings(renormalise=True),
}
"""Name -> settings of the bags of n-grams."""


@dataclass(frozen=True, eq=False)
class Features:
    """Features, a row for each pair; `pivot`, `fluency` and `target` are the paper's three."""

    names: tuple[str, ...]
    matrix: Floats
    pivot: Floats
    """Pivot F1, the mean over pivot languages."""
    fluency: Floats
    target: Floats

    @property
    def parts(self) -> tuple[Floats, Floats, Floats]:
        """The paper's three features."""
        return self.pivot, self.fluency, self.target

    def without_pivots(self) -> Floats:
        """Return the features that need no pivot language."""
        return self.matrix[:, [not name.startswith("pivot") for name in self.names]]


def check_feature_form(form: str) -> None:
    """Refuse a form that there is not."""
    if form not in FORMS:
        raise InputError(f"form {quoted(form)}: expected one of {', '.join(FORMS)}")


def features(
    pivots: Mapping[str, PhraseTable],
    language: LanguageModel,
    originals: Texts,
    paraphrases: Texts,
    form: str = "paper",
    **work: Any,
) -> Features:
    """Return the features of every pair; `work` is `threads` and `progress`."""
    check_feature_form(form)
    columns: dict[str, Floats] = {}
    for name, table in pivots.items():
        found = bags.pivot_statistics(table, originals, paraphrases, FORMS[form], **work)
        columns |= _bags(f"pivot {name}", found, form)
    pivot = np.mean([columns[f"pivot {name} F1"] for name in pivots], axis=0)
    order = FORMS[form].order
    shared = bags.target_statistics(originals, paraphrases, language.recipe, order, **work)
    words, original_words = shared[:, 0, 1], shared[:, 0, 2]
    columns["fluency"] = language.score(paraphrases, **work) / np.maximum(words, 1.0)
    columns |= _bags("target", shared, form)
    if form == "rich":
        columns |= {"words of paraphrase": words, "words of original": original_words}
        columns["ratio"] = words / np.maximum(original_words, 1.0)
    matrix = np.stack(list(columns.values()), axis=1)
    return Features(tuple(columns), matrix, pivot, columns["fluency"], columns["target F1"])


def _bags(name: str, stats: Floats, form: str) -> dict[str, Floats]:
    """Return F1 of all orders in one bag; in the rich form also of each, and of unigrams."""
    columns = {f"{name} F1": bags.pooled_f1(stats)}
    if form == "rich":
        orders = bags.f1(stats)
        columns |= {f"{name} F1 of {n + 1}-grams": orders[:, n] for n in range(orders.shape[1])}
        common, paraphrase, original = stats[:, 0].T
        columns[f"{name} precision of 1-grams"] = bags.share(common, paraphrase)
        columns[f"{name} recall of 1-grams"] = bags.share(common, original)
    return columns
