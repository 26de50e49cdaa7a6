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

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from karat import _kernel
from karat.arrays import Floats, NDArray, np
from karat.errors import InputError, quoted
from karat.lm.model import LanguageModel
from karat.metrics.base import Metric
from karat.metrics.cosine import Cosine
from karat.metrics.given import Given
from karat.metrics.names import metric
from karat.metrics.ngram import gram_totals
from karat.metrics.pairs import Counter, Outputs, Pairs, run_batches
from karat.paraphrase.table.phrase_table import ENGLISH, PhraseTable
from karat.progress import Progress, silent
from karat.text.references import as_references
from karat.text.segments import Texts, as_segments
from karat.text.tokens import Recipe

MOST_ORDERS = 9


def share(part: NDArray[Any], whole: NDArray[Any]) -> Floats:
    """Return part / whole; 0/0 is 0."""
    some = np.asarray(whole) > 0
    return np.asarray(np.divide(part, whole, out=np.zeros(np.shape(part)), where=some))


def f1(stats: NDArray[Any]) -> Floats:
    """Return F1 of (common, paraphrase, original) in the last axis; 0 where both bags are empty."""
    return share(2.0 * stats[..., 0], stats[..., 1] + stats[..., 2])


def pooled_f1(stats: NDArray[Any], order: int | None = None) -> Floats:
    """Return F1 of all orders (the last axis but one) up to `order` in one bag, as in the paper."""
    return f1(stats[..., :order, :].sum(axis=-2))


@dataclass(frozen=True)
class PivotSettings:
    """Settings of a bag of pivot n-grams; the defaults are the paper's."""

    order: int = 4
    """The longest n-grams."""
    edge: float = 0.1
    """Edges of the network must be more probable than this; the best edge is always kept."""
    ngram: float = 0.01
    """N-grams must weigh more than this."""
    renormalise: bool = False
    """True if the edges that are kept share the whole probability of their phrase."""

    def __post_init__(self) -> None:
        if not 1 <= self.order <= MOST_ORDERS:
            raise InputError(f"order={self.order}: expected 1 to {MOST_ORDERS}")
        for name in ("edge", "ngram"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(f"{name}={getattr(self, name)}: expected 0 to 1")

    @property
    def rules(self) -> _kernel.BagRules:
        """The settings as the kernel takes them."""
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
    """Return an array of pairs x orders x (shared weight, paraphrase's weight, original's weight).

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
    """Return pairs x orders x (n-grams in common, of the paraphrase, of the original).

    Give the recipe of the phrase table, so that words are stemmed alike.
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
    """Return the rows of a counter; `outputs` says which system and segment each pair is of."""
    texts = as_segments(paraphrases, "paraphrases")
    refs = as_references(as_segments(originals, "originals"), len(texts), texts.name)
    found = run_batches(
        [counter],
        {texts.name: texts},
        refs,
        lambda _, rows, __: rows,
        outputs=outputs,
        threads=threads,
        progress=progress,
    )
    return np.concatenate([part[0][0] for part in found])


@dataclass(frozen=True, eq=False)
class PivotBags:
    """A counter of pivot n-grams of candidates (paraphrases) and references (originals)."""

    table: PhraseTable
    settings: PivotSettings

    def overlaps(self) -> Iterator[tuple[Recipe, int]]:
        """Ask for no plain n-grams."""
        return iter(())

    def rows(self, pairs: Pairs) -> Floats:
        """Return pairs x orders x (common, candidate, reference)."""
        recipe = self.table.recipe
        mine, theirs = pairs.candidates.tokens(recipe), pairs.references.tokens(recipe)
        maps = self.table.maps(pairs.candidates.vocab(recipe))
        rules = self.settings.rules
        found = self.table.kernel.overlaps(*mine, *theirs, pairs.starts, *maps, rules, pairs.check)
        if (bad := np.isnan(found[:, 0, 0])).any():
            raise InputError(
                f"segment {pairs.place(int(bad.argmax())):,}: too many pivot n-grams with "
                f"edge={self.settings.edge:g} and order={self.settings.order}: give a larger edge "
                "or a smaller order"
            )
        return found


@dataclass(frozen=True)
class TargetBags:
    """A counter of the words' own n-grams."""

    recipe: Recipe
    order: int

    def overlaps(self) -> Iterator[tuple[Recipe, int]]:
        """Ask for the n-grams of both texts."""
        yield self.recipe, self.order

    def rows(self, pairs: Pairs) -> Floats:
        """Return pairs x orders x (common, candidate, reference)."""
        mine = gram_totals(pairs.candidates.tokens(self.recipe).lengths, self.order)
        theirs = gram_totals(pairs.references.tokens(self.recipe).lengths, self.order)
        common = pairs.matches(self.recipe, self.order).each
        spread = np.repeat(mine, np.diff(pairs.starts), axis=0)
        return np.stack([common, spread, theirs], axis=-1).astype(np.float64)


class MetricFeature(NamedTuple):
    """A metric, and the identity that it had in training."""

    metric: Metric
    identity: str | None = None
    """None before training."""

    @property
    def name(self) -> str:
        """The column of features."""
        return str(self.metric)

    def checked(self) -> Metric:
        """Return the metric; refuse one whose files are not those of training."""
        if self.identity is None:
            return self.metric
        try:
            here = self.metric.identity()
        except InputError as error:
            moved = "if its file or folder is elsewhere now, name it with --feature"
            raise type(error)(f"feature {self.metric} of this model: {error}; {moved}") from error
        if self.identity != here:
            raise InputError(
                f"feature {self.metric}: this model was trained with {self.identity}, and here it "
                f"is {here}: give the same one with --feature, or train the model anew"
            )
        return self.metric


Names = Sequence[str | Metric]


def as_features(names: Names) -> tuple[MetricFeature, ...]:
    """Return the features that metrics are, to be trained with."""
    found = tuple(MetricFeature(metric(name)) for name in names)
    for at, one in enumerate(found):
        if one.name in (other.name for other in found[:at]):
            raise InputError(f"feature {one.name} is given twice: give it once")
        if one.metric.uses_human_scores:
            raise InputError(f"feature {one.name} is made from human scores: leave it out")
        one.metric.identity()  # reads its files, so what is wrong with them is said at once
        if one.metric.reads_texts:
            one.metric.segments(["a"], [["a"]])  # and what it lacks, before hours of training
    return found


def taken(trained: Sequence[MetricFeature], names: Names) -> tuple[MetricFeature, ...]:
    """Return the features of a model with metrics of the same kind, whose files are elsewhere."""
    if not names:
        return tuple(trained)
    given = as_features(names)
    kinds = [[one.metric.name for one in some] for some in (trained, given)]
    if kinds[0] != kinds[1]:
        wanted = ", ".join(one.name for one in trained) or "none"
        raise InputError(
            f"--feature {', '.join(one.name for one in given)}: the features of this model are "
            f"{wanted}; give the same metrics in this order"
        )
    pairs = zip(trained, given, strict=True)
    return tuple(MetricFeature(new.metric, old.identity) for old, new in pairs)


def identified(features: Sequence[MetricFeature]) -> tuple[MetricFeature, ...]:
    """Return features with the identity of training, which is that of now if they have none."""
    return tuple(f._replace(identity=f.identity or f.metric.identity()) for f in features)


def stored(features: Sequence[MetricFeature]) -> list[dict[str, str]]:
    """Return what a model stores of its features."""
    return [{"name": f.name, "identity": str(f.identity)} for f in identified(features)]


def read_features(
    found: Sequence[dict[str, str]], name: str = "the model"
) -> tuple[MetricFeature, ...]:
    """Return the features that a model has stored; the metrics must be known here."""
    try:
        return tuple(MetricFeature(metric(one["name"]), one["identity"]) for one in found)
    except InputError as error:
        raise type(error)(f"{name}: a feature of this model is not known here: {error}") from error


def feature_files(features: Sequence[MetricFeature]) -> list[str]:
    """Return the files of metrics."""
    return [file for one in features for file in one.checked().input_files()]


def scores_digests(features: Sequence[MetricFeature]) -> list[str]:
    """Return the digests of scores that features read from files.

    Every text has its own file of scores, so their content is no part of a feature's identity.
    """
    return [one.metric.given.digest for one in features if isinstance(one.metric, Given)]


def embedding_features(features: Sequence[MetricFeature]) -> tuple[MetricFeature, ...]:
    """Return the embedding models among features: they have notes on texts that they cut."""
    return tuple(one for one in features if isinstance(one.metric, Cosine))


def feature_notes(
    features: Sequence[MetricFeature], totals: Sequence[NDArray[Any]]
) -> tuple[str, ...]:
    """Return the notes of metrics on the sums of their rows."""
    return tuple(
        f"feature {one.name}: {note}"
        for one, total in zip(features, totals, strict=True)
        for note in one.metric.of_segments().notes(total)
    )


@dataclass(frozen=True, eq=False)
class MetricColumns:
    """A counter whose rows are the scores of each pair, a column for each metric."""

    features: Sequence[MetricFeature]
    sums: list[list[NDArray[Any]]] = field(default_factory=list)
    """Sums of the rows of each metric, for each batch: metrics have notes on them."""

    @property
    def slow(self) -> bool:
        """True if one of the metrics is."""
        return any(one.metric.slow for one in self.features)

    def overlaps(self) -> Iterator[tuple[Recipe, int]]:
        """Ask for what the metrics ask for."""
        for one in self.features:
            yield from one.metric.overlaps()

    def rows(self, pairs: Pairs) -> Floats:
        """Return the scores of all pairs of a candidate and a reference."""
        scores, statistics = self.measured(pairs)
        self.sums.append([rows.sum(axis=0) for rows in statistics])
        return scores

    def measured(self, pairs: Pairs) -> tuple[Floats, list[NDArray[Any]]]:
        """Return the scores of all pairs, and the rows of each metric that they are made from."""
        each = pairs.each()
        found = [_column(one.checked(), each) for one in self.features]
        columns = [column for column, _ in found]
        scores = np.column_stack(columns) if columns else np.empty((int(pairs.starts[-1]), 0))
        return scores, [rows for _, rows in found]

    def notes(self) -> tuple[str, ...]:
        """Return the notes of the metrics on all pairs so far."""
        totals = [np.sum(parts, axis=0) for parts in zip(*self.sums, strict=True)]
        return feature_notes(self.features, totals)


def _column(of: Metric, pairs: Pairs) -> tuple[Floats, NDArray[Any]]:
    """Return the scores of all pairs, and the rows that they are made from."""
    single = of.of_segments()
    rows: Any = single.rows(pairs)
    found = single.measure(rows)["value"]
    known = single.has_score(rows) & np.isfinite(found)
    if not known.all():
        at, outputs = int(known.argmin()), pairs.outputs
        system = next(name for name, places in outputs.by_system() if at in places)
        of_what = f"segment {quoted(str(outputs.segments()[at]))} of system {quoted(system)}"
        raise InputError(f"feature {of} has no score for {of_what}: every pair needs one")
    return found, rows


FORMS = {
    "paper": PivotSettings(),
    "unigram": PivotSettings(order=1, renormalise=True),
    "rich": PivotSettings(renormalise=True),
}
"""Name -> settings of the bags of n-grams."""


@dataclass(frozen=True, eq=False)
class PairFeatures:
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
) -> PairFeatures:
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
) -> PairFeatures:
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


def _joined(found: PairFeatures, metrics: Sequence[MetricFeature], scores: Floats) -> PairFeatures:
    """Return features with the scores of metrics in columns after the others."""
    names = (*found.names, *(one.name for one in metrics))
    matrix = np.hstack([found.matrix, scores])
    return replace(found, names=names, matrix=matrix, metrics=len(metrics))


def _features(
    bags: Mapping[str, Floats], shared: Floats, log10_p: Floats, form: str
) -> PairFeatures:
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
    return PairFeatures(tuple(columns), matrix, pivot, columns["fluency"], columns["target F1"])


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
