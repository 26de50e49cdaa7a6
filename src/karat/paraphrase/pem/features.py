"""Features of an original and its paraphrase, the inputs of PEM's regression.

The form `paper` has pivot F1 for each pivot language, fluency, and target F1, all with n-grams of
up to four words. The form `unigram` has the same features for single words, with renormalised
edges; it needs few judgements. The form `rich`, for thousands of judgements, adds F1 of each n-gram
order, precision and recall of unigrams, and the lengths.

Pivot F1 measures adequacy. A sentence is segmented into the phrases of a table (the most probable
segmentation; any single word may be a phrase, with N = 1/2 if it is unseen), the translations of
the phrases form a confusion network, and the expected weights W(g) of its n-grams are the bag of
pivot n-grams (BPNG). Target F1 measures the opposite of dissimilarity: its bags are the sentences'
own n-grams, and each occurrence has weight 1. R is the original and P the paraphrase:

    precision = sum_g min(W_R(g), W_P(g)) / sum_g W_P(g)        recall with sum_g W_R(g)
    F1 = 2 precision recall / (precision + recall)

Fluency is log10 Pr(P) / length(P). Pr includes the end of the sentence; the length is the number of
words. Metrics of a paraphrase against its original can be features too, in the last columns;
`bertscore` and `facts` are features for each of their parts. A model stores the name of each metric
and its identity: all settings, and the content of its files instead of their paths.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from karat import _kernel
from karat.arrays import Flags, Floats, NDArray, np
from karat.errors import InputError, quoted
from karat.lm.model import LanguageModel
from karat.metrics.base import Metric
from karat.metrics.bertscore import PARTS, BERTScore
from karat.metrics.facts import FactAgreement
from karat.metrics.names import metric
from karat.metrics.ngram import gram_totals
from karat.metrics.pairs import Counter, Outputs, Pairs, run_batches
from karat.paraphrase.table.phrase_table import ENGLISH, PhraseTable
from karat.progress import Progress, silent
from karat.text.references import as_references
from karat.text.segments import Texts, as_segments
from karat.text.tokens import Recipe

MAX_ORDER = 9


def share(part: NDArray[Any], total: NDArray[Any]) -> Floats:
    """Return part / total; 0/0 is 0."""
    is_positive = np.asarray(total) > 0
    return np.asarray(np.divide(part, total, out=np.zeros(np.shape(part)), where=is_positive))


def f1(stats: NDArray[Any]) -> Floats:
    """Return F1 of (common, paraphrase, original) in the last axis; 0 if both bags are empty."""
    return share(2.0 * stats[..., 0], stats[..., 1] + stats[..., 2])


def pooled_f1(stats: NDArray[Any], order: int | None = None) -> Floats:
    """Return F1 of one bag of all n-grams, as in the paper; the last axis but one is the order."""
    return f1(stats[..., :order, :].sum(axis=-2))


@dataclass(frozen=True)
class PivotSettings:
    """Settings of a bag of pivot n-grams; the defaults are the paper's."""

    order: int = 4  # length of the longest n-grams
    edge: float = 0.1
    """Edges of the network must be more probable than this; the best edge is always kept."""
    ngram: float = 0.01  # n-grams must have a larger weight
    renormalise: bool = False  # scale the probabilities of the remaining edges to a sum of 1

    def __post_init__(self) -> None:
        if not 1 <= self.order <= MAX_ORDER:
            raise InputError(f"order={self.order}: expected 1 to {MAX_ORDER}")
        for name in ("edge", "ngram"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(f"{name}={getattr(self, name)}: expected 0 to 1")

    @property
    def rules(self) -> _kernel.BagRules:
        """The settings in the kernel's form."""
        return _kernel.BagRules(self.order, self.edge, self.ngram, self.renormalise)


def pivot_statistics(
    table: PhraseTable,
    originals: Texts,
    paraphrases: Texts,
    settings: PivotSettings | None = None,
    *,
    threads: int | None = None,
    progress: Progress = silent,
) -> Floats:
    """Return pairs x orders x (common weight, weight of the paraphrase, weight of the original).

    Args:
        table: phrase table.
        originals, paraphrases: texts, in the same order.
        settings: settings of the bags of n-grams.
        threads: number of threads; by default all processors.
        progress: function that is called with the progress.
    """
    counter = PivotBags(table, settings or PivotSettings())
    return pair_statistics(counter, originals, paraphrases, threads=threads, progress=progress)


def target_statistics(
    originals: Texts,
    paraphrases: Texts,
    recipe: Recipe = ENGLISH,
    order: int = 4,
    *,
    threads: int | None = None,
    progress: Progress = silent,
) -> Floats:
    """Return pairs x orders x numbers of n-grams (in common, of the paraphrase, of the original).

    Use the recipe of the phrase table, so that words are stemmed in the same way.
    """
    counter = TargetBags(recipe, order)
    return pair_statistics(counter, originals, paraphrases, threads=threads, progress=progress)


def pair_statistics(
    counter: Counter,
    originals: Texts,
    paraphrases: Texts,
    outputs: Outputs | None = None,
    *,
    threads: int | None = None,
    progress: Progress = silent,
) -> Floats:
    """Return the rows of a counter; `outputs` has the system and segment of each pair."""
    texts = as_segments(paraphrases, "paraphrases")
    references = as_references(as_segments(originals, "originals"), len(texts), texts.name)
    batches = run_batches(
        [counter],
        {texts.name: texts},
        references,
        lambda _, rows, __: rows,
        outputs=outputs,
        threads=threads,
        progress=progress,
    )
    return np.concatenate([batch[0][0] for batch in batches])


@dataclass(frozen=True, eq=False)
class PivotBags:
    """Counter of the pivot n-grams of candidates (paraphrases) and references (originals)."""

    table: PhraseTable
    settings: PivotSettings

    def overlaps(self) -> Iterator[tuple[Recipe, int]]:
        """Request no plain n-grams."""
        return iter(())

    def rows(self, pairs: Pairs) -> Floats:
        """Return pairs x orders x (common, candidate, reference)."""
        recipe = self.table.recipe
        paraphrases, originals = pairs.candidates.tokens(recipe), pairs.references.tokens(recipe)
        maps = self.table.maps(pairs.candidates.vocab(recipe))
        rules = self.settings.rules
        stats = self.table.kernel.overlaps(
            *paraphrases, *originals, pairs.starts, *maps, rules, pairs.check
        )
        if (is_too_large := np.isnan(stats[:, 0, 0])).any():
            segment = pairs.segment_number(int(is_too_large.argmax()))
            raise InputError(
                f"segment {segment:,}: too many pivot n-grams with "
                f"edge={self.settings.edge:g} and order={self.settings.order}: give a larger edge "
                "or a smaller order"
            )
        return stats


@dataclass(frozen=True)
class TargetBags:
    """Counter of the n-grams of the words themselves."""

    recipe: Recipe
    order: int

    def overlaps(self) -> Iterator[tuple[Recipe, int]]:
        """Request the n-grams of both texts."""
        yield self.recipe, self.order

    def rows(self, pairs: Pairs) -> Floats:
        """Return pairs x orders x (common, candidate, reference)."""
        paraphrase_totals = gram_totals(pairs.candidates.tokens(self.recipe).lengths, self.order)
        original_totals = gram_totals(pairs.references.tokens(self.recipe).lengths, self.order)
        common = pairs.matches(self.recipe, self.order).per_pair
        paraphrase_totals = np.repeat(paraphrase_totals, np.diff(pairs.starts), axis=0)
        return np.stack([common, paraphrase_totals, original_totals], axis=-1).astype(np.float64)


class MetricFeature(NamedTuple):
    """A metric used as a feature, and its identity in training."""

    metric: Metric
    identity: str | None = None  # None before training

    @property
    def name(self) -> str:
        """Name of the feature."""
        return str(self.metric)

    def checked(self) -> Metric:
        """Return the metric; raise if its files differ from those of training."""
        if self.identity is None:
            return self.metric
        try:
            current_identity = self.metric.identity()
        except InputError as error:
            moved = "if its file or folder was moved, name it with --feature"
            raise type(error)(f"feature {self.metric} of this model: {error}; {moved}") from error
        if self.identity != current_identity:
            raise InputError(
                f"feature {self.metric}: this model was trained with {self.identity}, and here it "
                f"is {current_identity}: give the same one with --feature, or retrain the model"
            )
        return self.metric

    def score(self, pairs: Pairs) -> tuple[Floats, NDArray[Any]]:
        """Return the scores of all pairs, and their statistics."""
        metric = self.checked().of_segments()
        stats: Any = metric.rows(pairs)
        scores = metric.measure(stats)["value"]
        has_score = metric.has_score(stats) & np.isfinite(scores)
        if not has_score.all():
            first, outputs = int(has_score.argmin()), pairs.outputs
            system = next(name for name, rows in outputs.by_system() if first in rows)
            segment = f"segment {quoted(str(outputs.segments()[first]))} of system {quoted(system)}"
            raise InputError(
                f"feature {self.name} has no score for {segment}: every pair needs one"
            )
        return scores, stats


MetricNames = Sequence[str | Metric]


def feature_parts(base_metric: Metric) -> tuple[Metric, ...]:
    """Return the metrics that are features in place of a metric; of most metrics, itself.

    BERTScore's are its F, precision and recall; those of facts are numbers, negation and names.
    """
    if isinstance(base_metric, FactAgreement):
        return tuple(base_metric.components().values())
    if isinstance(base_metric, BERTScore) and base_metric.part == "f":
        return tuple(replace(base_metric, part=part) for part in PARTS)
    return (base_metric,)


def as_features(names: MetricNames, *, in_parts: bool = True) -> tuple[MetricFeature, ...]:
    """Return metrics as features for training; raise early if one cannot be computed.

    Without `in_parts`, each metric is one feature.
    """
    metrics = [metric(name) for name in names]
    for base_metric in metrics:
        if base_metric.uses_human_scores:
            raise InputError(f"feature {base_metric} is made from human scores: leave it out")
        if base_metric.reads_set:
            problem = "reads sources or contexts, which pairs of sentences do not have"
            raise InputError(f"feature {base_metric} {problem}: leave it out")
    if in_parts:
        metrics = [part for base_metric in metrics for part in feature_parts(base_metric)]
    features = tuple(map(MetricFeature, metrics))
    for i, feature in enumerate(features):
        if feature.name in (other.name for other in features[:i]):
            raise InputError(f"feature {feature.name} is given twice: give it once")
        feature.metric.identity()  # fails now, not after hours of training, if a file is damaged
        if feature.metric.reads_texts:
            feature.metric.segments(["a"], [["a"]])  # likewise if a dependency is missing
    return features


def replace_features(
    trained: Sequence[MetricFeature], names: MetricNames
) -> tuple[MetricFeature, ...]:
    """Return the features of a model with the same metrics, whose files were moved."""
    if not names:
        return tuple(trained)
    trained_names = [feature.metric.name for feature in trained]
    features = as_features(names, in_parts=len(names) != len(trained))
    if trained_names != [new.metric.name for new in features]:
        expected = ", ".join(feature.name for feature in trained) or "none"
        listed = ", ".join(feature.name for feature in features)
        raise InputError(
            f"--feature {listed}: the features of this model are {expected}; give the same metrics "
            "in this order"
        )
    pairs = zip(features, trained, strict=True)
    return tuple(MetricFeature(new.metric, old.identity) for new, old in pairs)


def identify_features(features: Sequence[MetricFeature]) -> tuple[MetricFeature, ...]:
    """Return features with their identities in training; new features get the current one."""
    return tuple(f._replace(identity=f.identity or f.metric.identity()) for f in features)


def feature_files(features: Sequence[MetricFeature]) -> list[str]:
    """Return the files that metrics read."""
    return [file for feature in features for file in feature.checked().input_files()]


def feature_notes(
    features: Sequence[MetricFeature], totals: Sequence[NDArray[Any]]
) -> tuple[str, ...]:
    """Return the notes of metrics on the sums of their statistics; parts of a metric share one."""
    notes: dict[tuple[str, str], str] = {}
    for feature, total in zip(features, totals, strict=True):
        for note in feature.metric.of_segments().notes(total):
            notes.setdefault((feature.metric.name, note), f"feature {feature.name}: {note}")
    return tuple(notes.values())


FORMS = {
    "paper": PivotSettings(),
    "unigram": PivotSettings(order=1, renormalise=True),
    "rich": PivotSettings(renormalise=True),
}
"""Form -> settings of the bags of n-grams."""


def check_feature_form(form: str) -> None:
    """Raise if the form is unknown."""
    if form not in FORMS:
        raise InputError(f"form {quoted(form)}: expected one of {', '.join(FORMS)}")


@dataclass(frozen=True, eq=False)
class PairFeatures:
    """A matrix with a row for each pair and a column for each feature."""

    names: tuple[str, ...]
    matrix: Floats
    is_copy: Flags  # pairs of equal sentences, case and spaces aside
    metric_names: tuple[str, ...] = ()  # those of the last columns
    notes: tuple[str, ...] = ()  # notes of the metrics on these texts

    def column(self, name: str) -> Floats:
        """Return the column of a feature."""
        return self.matrix[:, self.names.index(name)]

    @property
    def pivot(self) -> Floats:
        """Pivot F1, the mean over pivot languages."""
        names = [name for name in self.names if re.fullmatch(r"pivot .* F1", name)]
        return np.asarray(np.mean([self.column(name) for name in names], axis=0))

    @property
    def parts(self) -> tuple[Floats, Floats, Floats]:
        """The paper's three features: pivot F1, fluency, target F1."""
        return self.pivot, self.column("fluency"), self.column("target F1")

    @property
    def adequacy(self) -> Floats:
        """Pivot F1 and the metrics: the features that measure meaning."""
        return np.column_stack([self.pivot, *map(self.column, self.metric_names)])

    def select(self, rows: Flags) -> PairFeatures:
        """Return the features of some pairs."""
        return replace(self, matrix=self.matrix[rows], is_copy=self.is_copy[rows])

    def without_pivots(self) -> Floats:
        """Return the features that need no pivot language."""
        return self.matrix[:, [not name.startswith("pivot") for name in self.names]]


@dataclass(frozen=True, eq=False)
class FeatureCounter:
    """Counter whose rows are all features of each pair, computed in one pass over the text.

    The candidates are paraphrases, the references originals.
    """

    pivots: Mapping[str, PhraseTable]
    language: LanguageModel
    form: str
    metrics: Sequence[MetricFeature] = ()
    metric_sums: list[list[NDArray[Any]]] = field(default_factory=list)
    """Sums of the statistics of each metric, for each batch; the metrics' notes need them."""

    @property
    def target_bags(self) -> TargetBags:
        """Counter of the n-grams of the words themselves."""
        return TargetBags(self.language.recipe, FORMS[self.form].order)

    def overlaps(self) -> Iterator[tuple[Recipe, int]]:
        """Request the n-grams of target F1 and of the metrics."""
        yield from self.target_bags.overlaps()
        for feature in self.metrics:
            yield from feature.metric.overlaps()

    def rows(self, pairs: Pairs) -> Floats:
        """Return pairs x (features, copy), and add up the statistics of the metrics."""
        features, metric_stats = self.extract(pairs)
        self.metric_sums.append([stats.sum(axis=0) for stats in metric_stats])
        return np.column_stack([features.matrix, features.is_copy])

    def extract(self, pairs: Pairs) -> tuple[PairFeatures, list[NDArray[Any]]]:
        """Return the features of all pairs, and the statistics of each metric."""
        settings = FORMS[self.form]
        bags = {name: PivotBags(table, settings).rows(pairs) for name, table in self.pivots.items()}
        recipe = self.language.recipe
        tokens = pairs.candidates.tokens(recipe)
        ids = self.language.find(pairs.candidates.vocab(recipe))[tokens.ids]
        log10_p = self.language.kernel.score(ids, tokens.offsets)
        log10_p = np.repeat(log10_p, np.diff(pairs.starts))  # one for each pair
        columns = _text_features(bags, self.target_bags.rows(pairs), log10_p, self.form)
        single_pairs = pairs.split_references() if self.metrics else pairs
        scored = [feature.score(single_pairs) for feature in self.metrics]
        matrix = np.column_stack([*columns.values(), *(scores for scores, _ in scored)])
        return self.name_columns(matrix, find_copies(pairs)), [stats for _, stats in scored]

    def name_columns(
        self, matrix: Floats, is_copy: Flags, notes: tuple[str, ...] = ()
    ) -> PairFeatures:
        """Return a matrix of features with the names of its columns."""
        empty = np.zeros((0, FORMS[self.form].order, 3))
        bags = dict.fromkeys(self.pivots, empty)
        columns = _text_features(bags, empty, np.zeros(0), self.form)
        metric_names = tuple(feature.name for feature in self.metrics)
        return PairFeatures((*columns, *metric_names), matrix, is_copy, metric_names, notes)

    def features(self, *texts: Any, **work: Any) -> PairFeatures:
        """Return the features of every pair of texts; arguments as for `pair_statistics`."""
        rows = pair_statistics(self, *texts, **work)
        totals = [np.sum(batches, axis=0) for batches in zip(*self.metric_sums, strict=True)]
        notes = feature_notes(self.metrics, totals) if totals else ()
        return self.name_columns(rows[:, :-1], rows[:, -1] > 0, notes)


def find_copies(pairs: Pairs) -> Flags:
    """Return which paraphrases equal their original but for case and spaces."""
    single_pairs = pairs.split_references()
    paraphrases, originals = (
        [" ".join(text.casefold().split()) for text in side.views("mixed").strings()]
        for side in (single_pairs.candidates, single_pairs.references)
    )
    return np.array([a == b for a, b in zip(paraphrases, originals, strict=True)], np.bool_)


def _text_features(
    bags: Mapping[str, Floats], shared: Floats, log10_p: Floats, form: str
) -> dict[str, Floats]:
    """Return features from the pivot bags of each language, the words' own bag and log10 Pr."""
    columns: dict[str, Floats] = {}
    for name, stats in bags.items():
        columns |= _bag_features(f"pivot {name}", stats, form)
    paraphrase_words, original_words = shared[:, 0, 1], shared[:, 0, 2]
    columns["fluency"] = log10_p / np.maximum(paraphrase_words, 1.0)
    columns |= _bag_features("target", shared, form)
    if form == "rich":
        columns["words of paraphrase"] = paraphrase_words
        columns["words of original"] = original_words
        columns["ratio"] = paraphrase_words / np.maximum(original_words, 1.0)
    return columns


def _bag_features(name: str, stats: Floats, form: str) -> dict[str, Floats]:
    """Return F1 of one bag; in the rich form also F1 of each order, and P and R of unigrams."""
    columns = {f"{name} F1": pooled_f1(stats)}
    if form == "rich":
        orders = f1(stats)
        columns |= {f"{name} F1 of {n + 1}-grams": orders[:, n] for n in range(orders.shape[1])}
        common, paraphrase, original = stats[:, 0].T
        columns[f"{name} precision of 1-grams"] = share(common, paraphrase)
        columns[f"{name} recall of 1-grams"] = share(common, original)
    return columns
