"""Metrics as features of PEM: scores of a paraphrase against its original.

A model stores the name of each metric and its identity: every setting, and the content of its files
in place of their paths. The scores are computed again wherever pairs are scored, by a metric of the
same identity.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from karat.arrays import Floats, NDArray, np
from karat.errors import InputError, quoted
from karat.metrics.base import Metric
from karat.metrics.cosine import Cosine
from karat.metrics.given import ExternalScores
from karat.metrics.names import metric
from karat.metrics.pairs import Pairs
from karat.text.tokens import Recipe


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
    return [
        one.metric.scores_by_system.digest
        for one in features
        if isinstance(one.metric, ExternalScores)
    ]


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
        each = pairs.split_references()
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
