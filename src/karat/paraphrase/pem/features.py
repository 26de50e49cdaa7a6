"""The features of a pair of an original and a paraphrase, from which PEM's regression predicts.

The form `paper` has pivot F1 for each pivot language, fluency, and target F1, all of n-grams up to
four words. The form `unigram` has the same of single words, with renormalised edges: few judgements
are enough for it. The form `rich`, for thousands of judgements, adds F1 of each n-gram order by
itself, precision and recall of unigrams, and the lengths.

Pivot F1 stands for adequacy; target F1, the F1 of the sentences' own n-grams, for the opposite of
dissimilarity. Fluency is log10 Pr(P) / length(P): the end of the sentence is part of Pr, the length
is the number of words. Metrics may be features too, in columns after these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from karat.arrays import Floats, NDArray, np
from karat.errors import InputError, quoted
from karat.lm.model import LanguageModel
from karat.metrics.pairs import Outputs, Pairs
from karat.paraphrase.pem.bags import (
    PivotBags,
    PivotSettings,
    TargetBags,
    f1,
    pair_statistics,
    pivot_statistics,
    pooled_f1,
    share,
    target_statistics,
)
from karat.paraphrase.pem.metric_features import MetricColumns, MetricFeature
from karat.paraphrase.table.phrase_table import PhraseTable
from karat.text.segments import Texts

FORMS = {
    "paper": PivotSettings(),
    "unigram": PivotSettings(order=1, renormalise=True),
    "rich": PivotSettings(renormalise=True),
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
    metrics: int = 0
    """The number of metrics, whose columns are the last."""
    notes: tuple[str, ...] = ()
    """Notes of the metrics on these texts."""
    statistics: tuple[NDArray[Any], ...] = ()
    """The rows of each metric, a row for each pair, where they are kept."""

    @property
    def parts(self) -> tuple[Floats, Floats, Floats]:
        """The paper's three features."""
        return self.pivot, self.fluency, self.target

    @property
    def adequacy(self) -> Floats:
        """Pivot F1 and the metrics: the features of meaning."""
        return np.column_stack([self.pivot, self.matrix[:, len(self.names) - self.metrics :]])

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
    metrics: Sequence[MetricFeature] = (),
    outputs: Outputs | None = None,
    **work: Any,
) -> Features:
    """Return the features of every pair; `work` is `threads` and `progress`."""
    check_feature_form(form)
    how = FORMS[form]
    bags = {
        name: pivot_statistics(table, originals, paraphrases, how, **work)
        for name, table in pivots.items()
    }
    shared = target_statistics(originals, paraphrases, language.recipe, how.order, **work)
    found = _features(bags, shared, language.score(paraphrases, **work), form)
    if not metrics:
        return found
    columns = MetricColumns(metrics)
    scores = pair_statistics(columns, originals, paraphrases, outputs, **work)
    return replace(_joined(found, metrics, scores), notes=columns.notes())


def pair_features(
    pivots: Mapping[str, PhraseTable],
    language: LanguageModel,
    pairs: Pairs,
    form: str,
    metrics: Sequence[MetricFeature] = (),
) -> Features:
    """Return the features of candidates (paraphrases) beside references (originals)."""
    how, recipe = FORMS[form], language.recipe
    bags = {name: PivotBags(table, how).rows(pairs) for name, table in pivots.items()}
    shared = TargetBags(recipe, how.order).rows(pairs)
    tokens = pairs.candidates.tokens(recipe)
    ids = language.find(pairs.candidates.vocab(recipe))[tokens.ids]
    log10_p = language.kernel.score(ids, tokens.offsets)
    found = _features(bags, shared, np.repeat(log10_p, np.diff(pairs.starts)), form)
    if not metrics:
        return found
    scores, statistics = MetricColumns(metrics).measured(pairs)
    return replace(_joined(found, metrics, scores), statistics=tuple(statistics))


def _joined(found: Features, metrics: Sequence[MetricFeature], scores: Floats) -> Features:
    """Return features with the scores of metrics in columns after the others."""
    names = (*found.names, *(one.name for one in metrics))
    matrix = np.hstack([found.matrix, scores])
    return replace(found, names=names, matrix=matrix, metrics=len(metrics))


def _features(bags: Mapping[str, Floats], shared: Floats, log10_p: Floats, form: str) -> Features:
    """Return features of the bags in each pivot language, of the words' own, and of log10 Pr."""
    columns: dict[str, Floats] = {}
    for name, found in bags.items():
        columns |= _bags(f"pivot {name}", found, form)
    pivot = np.mean([columns[f"pivot {name} F1"] for name in bags], axis=0)
    words, original_words = shared[:, 0, 1], shared[:, 0, 2]
    columns["fluency"] = log10_p / np.maximum(words, 1.0)
    columns |= _bags("target", shared, form)
    if form == "rich":
        columns |= {"words of paraphrase": words, "words of original": original_words}
        columns["ratio"] = words / np.maximum(original_words, 1.0)
    matrix = np.stack(list(columns.values()), axis=1)
    return Features(tuple(columns), matrix, pivot, columns["fluency"], columns["target F1"])


def _bags(name: str, stats: Floats, form: str) -> dict[str, Floats]:
    """Return F1 of all orders in one bag; in the rich form also of each, and of unigrams."""
    columns = {f"{name} F1": pooled_f1(stats)}
    if form == "rich":
        orders = f1(stats)
        columns |= {f"{name} F1 of {n + 1}-grams": orders[:, n] for n in range(orders.shape[1])}
        common, paraphrase, original = stats[:, 0].T
        columns[f"{name} precision of 1-grams"] = share(common, paraphrase)
        columns[f"{name} recall of 1-grams"] = share(common, original)
    return columns
