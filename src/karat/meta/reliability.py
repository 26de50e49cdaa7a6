"""`reliability`: agreement of metrics with humans on texts of 1 to 25 segments.

This is Figure 3 of Melamed, Green and Turian (2003): correlation with adequacy by the length of
pseudo-documents, with 1, 2 and 3 references; metrics are compared by Wilcoxon's signed ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import combinations as every_combination
from itertools import product
from math import comb
from typing import NamedTuple, TypeAlias

from karat.arrays import Flags, Floats, Ints, np
from karat.errors import InputError, short
from karat.evalset.loading import SetSource, as_evalset
from karat.evalset.sets import EvalSet
from karat.meta.documents import (
    mean_human_scores,
    pseudo_documents,
    score_joined_shuffles,
    score_summed,
)
from karat.meta.scores import (
    ScoredSet,
    check_independent,
    independent,
    outputs_present,
    references_of,
    score_evalset,
)
from karat.meta.settings import ReliabilitySettings
from karat.metrics.base import Metric
from karat.progress import Progress, silent
from karat.results import SignedResult
from karat.scoring import metrics_for_set
from karat.stats.correlation import STATISTICS, statistic
from karat.stats.paired_tests import wilcoxon
from karat.stats.resampling import central

LENGTHS = tuple(range(1, 26))  # segments in a pseudo-document, as in the paper
ENOUGH_DOCUMENTS = 4  # documents of each system that default lengths must leave
LISTED = 100_000  # with more combinations, each is drawn by itself instead of from a list


class ReliabilityRow(NamedTuple):
    """Agreement with humans over documents of one length."""

    dimension: str
    statistic: str
    references: int | None  # number of references; None if it varies
    metric: str
    length: int  # number of segments in a document
    documents: int  # number of documents of each system in one shuffle
    value: float  # mean over shuffles and combinations of references where it is defined
    low: float
    high: float  # the middle 95%: how much it depends on shuffles and references
    undefined: int  # number of shuffles in which it is undefined


class CurveTest(NamedTuple):
    """Two curves compared by Wilcoxon's signed ranks over the lengths, as in the paper."""

    dimension: str
    statistic: str
    first: str
    first_references: int | None
    second: str
    second_references: int | None
    lengths: int
    better: int  # number of lengths at which the first agrees better
    delta: float  # the mean difference, first minus second
    p: float


@dataclass(frozen=True, eq=False, repr=False)
class ReliabilityCurves(SignedResult):
    """The agreement of metrics by the length of pseudo-documents, and tests between the curves."""

    asked_settings: ReliabilitySettings
    rows: tuple[ReliabilityRow, ...]
    values: tuple[Floats, ...]  # for each row, the values of all shuffles and combinations
    shuffles: Mapping[int | None, Ints]  # by number of references: the shuffle of each value
    tests: tuple[CurveTest, ...]
    signatures: Mapping[str, str]
    remarks: tuple[str, ...] = ()  # sentences on the references, the metrics and the set

    @property
    def name(self) -> str:
        """The name of the set."""
        return self.asked_settings.evalset

    @property
    def settings(self) -> dict[str, object]:
        """Every setting."""
        return asdict(self.asked_settings)

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the method and the data."""
        return (*_method_notes(self.asked_settings, len(self.tests)), *self.remarks)


def reliability(
    source: SetSource | ScoredSet,
    dimensions: str | Sequence[str] = (),
    *,
    metrics: Sequence[str | Metric] | str | Metric = ("bleu",),
    lengths: Sequence[int] = ReliabilitySettings.lengths,
    reference_counts: Sequence[int] = (),
    statistics: Sequence[str] = ReliabilitySettings.statistics,
    documents: str = ReliabilitySettings.documents,
    normalise: str = ReliabilitySettings.normalise,
    repeats: int = ReliabilitySettings.repeats,
    shuffles_per_combination: int | None = None,
    combinations: int = ReliabilitySettings.combinations,
    seed: int = ReliabilitySettings.seed,
    threads: int | None = None,
    progress: Progress = silent,
) -> ReliabilityCurves:
    """Return the agreement of metrics with humans by the length of pseudo-documents.

    Args:
        source: an evaluation set, its name or path, the path of a table, or a frame; or a set
            with scores and its metrics.
        dimensions: by default all.
        metrics: metrics, unless `source` has scores.
        lengths: segments per document; by default 1 to 25, as long as there are 4 documents.
        reference_counts: numbers of references, such as `(1, 2, 3)`; by default all references.
        statistics, normalise, seed, threads, progress: as in `Experiment` and `meta_evaluate`.
        documents: `summed` statistics of segments, or `joined` texts, as in the paper.
        repeats: number of shuffles.
        shuffles_per_combination: shuffles that each combination of references is scored on, in
            turn, to save time; by default all.
        combinations: maximum number of combinations of references.
    """
    scored = source if isinstance(source, ScoredSet) else None
    evalset = scored.evalset if scored else as_evalset(source)
    chosen = (
        scored.metrics if scored else tuple(metrics_for_set(independent(metrics, evalset), evalset))
    )
    dimension_names = [dimensions] if isinstance(dimensions, str) else dimensions
    if shuffles_per_combination is None:
        shuffles_per_combination = repeats
    settings = ReliabilitySettings(
        evalset=evalset.name,
        metrics=tuple(map(str, chosen)),
        dimensions=evalset.chosen_dimensions(dimension_names),
        lengths=tuple(lengths) or fitting_lengths(len(evalset)),
        references=tuple(reference_counts) or (references_of(evalset),),
        statistics=tuple(statistics),
        documents=documents,
        normalise=normalise,
        repeats=repeats,
        shuffles_per_combination=shuffles_per_combination,
        combinations=combinations,
        seed=seed,
    )
    check_independent(chosen, evalset, settings.dimensions)
    for length in settings.lengths:
        if not 1 <= length <= len(evalset):
            raise InputError(
                f"pseudo-documents of {length} segments: expected 1 to {len(evalset):,}"
            )
    chosen_references = {n: _choose_references(evalset, n, settings) for n in settings.references}
    shuffles = {  # each combination of references is scored on some shuffles, in turn
        number: np.arange(len(choices) * shuffles_per_combination) % repeats
        for number, choices in chosen_references.items()
    }
    study = _ReliabilityStudy(settings, evalset, chosen, scored, threads, progress)
    values_by_key = study.agreement_values(chosen_references, shuffles)
    rows, pooled = _pool_rows(values_by_key, settings)
    signatures = {}
    for metric, number in product(chosen, settings.references):
        references = f", {references_in_words(number)}" if len(settings.references) > 1 else ""
        signatures[f"{metric}{references}"] = metric.signature(number)
    return ReliabilityCurves(
        settings,
        rows,
        pooled,
        shuffles,
        tuple(_compare_curves(rows)),
        {**signatures, "set": evalset.signature},
        (*_data_notes(evalset, chosen_references, chosen, rows), *evalset.notes),
    )


# ------------------------------------------------------------------------------ the settings


def fitting_lengths(segments: int) -> tuple[int, ...]:
    """Return the lengths of the paper that leave enough documents; at least length 1."""
    return tuple(k for k in LENGTHS if ENOUGH_DOCUMENTS * k <= segments) or (1,)


_ReferenceChoice = tuple[int, ...] | None  # indices of references, from 0; None for all


def _choose_references(
    evalset: EvalSet, number: int | None, settings: ReliabilitySettings
) -> list[_ReferenceChoice]:
    """Return combinations of `number` references: all, or a sample that depends on the seed."""
    if number == references_of(evalset):
        return [None]
    have = min(map(len, evalset.references))
    if number is None or not 1 <= number <= have:
        fewest = evalset.segments[[len(group) for group in evalset.references].index(have)]
        raise InputError(
            f"reference counts {number}: expected 1 to {have}, the number that segment "
            f"{short(fewest)} of {evalset.name} has"
        )
    rng = np.random.default_rng([settings.seed, number])
    if comb(have, number) > max(LISTED, 2 * settings.combinations):
        samples: set[tuple[int, ...]] = set()
        while len(samples) < settings.combinations:
            samples.add(tuple(sorted(rng.choice(have, number, replace=False).tolist())))
        return [*sorted(samples)]
    combinations = list(every_combination(range(have), number))
    if len(combinations) <= settings.combinations:
        return [*combinations]
    indices = rng.choice(len(combinations), settings.combinations, replace=False)
    return [combinations[k] for k in sorted(indices)]


# ------------------------------------------------------------------------------------- values


_Key: TypeAlias = tuple[str, str, int | None, str, int, int]
"""The first fields of a row: dimension, statistic, references, metric, length and documents."""


_ScoreDocuments: TypeAlias = Callable[[Ints, Flags, Progress], dict[Metric, list[Floats]]]
"""From shuffles and the judged cells to the scores of all documents: one vector per shuffle."""


@dataclass(frozen=True, eq=False)
class _ReliabilityStudy:
    """A set whose pseudo-documents are scored."""

    settings: ReliabilitySettings
    evalset: EvalSet
    metrics: Sequence[Metric]
    scored: ScoredSet | None  # the set scored with all references, if it was passed
    threads: int | None
    progress: Progress

    def agreement_values(
        self,
        chosen_references: Mapping[int | None, Sequence[_ReferenceChoice]],
        shuffles: Mapping[int | None, Ints],
    ) -> dict[_Key, list[Floats]]:
        """Return the agreement in every shuffle, one array for each combination of references."""
        settings, present = self.settings, outputs_present(self.evalset)
        human = {
            name: np.where(present, self.evalset.human(name, settings.normalise), np.nan)
            for name in settings.dimensions
        }
        step = settings.shuffles_per_combination
        done, total = 0, sum(map(len, shuffles.values())) * len(settings.lengths)
        values_by_key: dict[_Key, list[Floats]] = {}
        for number, choices in chosen_references.items():
            turns = shuffles[number].reshape(len(choices), -1)
            for references, turn in zip(choices, turns, strict=True):
                score = self._document_scorer(references)
                for length in settings.lengths:
                    n, repeats, seed = len(self.evalset), settings.repeats, settings.seed
                    cut = pseudo_documents(n, length, repeats, seed)[turn]
                    report = _monotonic_progress(self.progress, done, total)
                    values = _shuffle_agreement(score, human, cut, settings.statistics, report)
                    for (name, by, metric), agreements in values:
                        key = name, by, number, str(metric), length, cut.shape[1]
                        values_by_key.setdefault(key, []).append(agreements)
                    done += step
                    self.progress(done, total, "pseudo-documents")
        return values_by_key

    def _document_scorer(self, references: _ReferenceChoice) -> _ScoreDocuments:
        """Return the function that scores documents with some of the references."""
        evalset, scored = self.evalset, self.scored
        if references is not None:
            evalset, scored = evalset.select(references=references), None
        if self.settings.documents == "joined":
            return partial(score_joined_shuffles, evalset, self.metrics, self.threads)
        scored_set = scored or score_evalset(evalset, self.metrics, threads=self.threads)
        return lambda shuffles, is_judged, _progress: score_summed(scored_set, shuffles, is_judged)


def _shuffle_agreement(
    score: _ScoreDocuments,
    human: Mapping[str, Floats],
    shuffles: Ints,
    statistics: Sequence[str],
    progress: Progress,
) -> Iterator[tuple[tuple[str, str, Metric], Floats]]:
    """Yield the agreement in every shuffle, by dimension, statistic and metric."""
    scores_by_cells: dict[bytes, dict[Metric, list[Floats]]] = {}
    for dimension, people in human.items():
        is_judged = ~np.isnan(people)
        cells = is_judged.tobytes()  # dimensions with the same judged cells share their scores
        if cells not in scores_by_cells:
            scores_by_cells[cells] = score(shuffles, is_judged, progress)
        means = mean_human_scores(people, shuffles)
        for by, (metric, vectors) in product(statistics, scores_by_cells[cells].items()):
            pairs = zip(means, vectors, strict=True)
            yield (dimension, by, metric), np.array([statistic(by)(h, m) for h, m in pairs])


def _monotonic_progress(progress: Progress, start: int, total: int) -> Progress:
    """Return a report of shuffles after `start` earlier ones that never goes back."""
    reached = start

    def report(n_scored: int, n_shuffles: int, task: str) -> None:
        nonlocal reached
        reached = max(reached, start + min(n_scored, n_shuffles - 1))
        progress(reached, total, task)

    return report


def _pool_rows(
    values_by_key: Mapping[_Key, list[Floats]], settings: ReliabilitySettings
) -> tuple[tuple[ReliabilityRow, ...], tuple[Floats, ...]]:
    """Return the rows, curve by curve, and the values of all combinations behind each."""
    by_place = {key[:5]: key for key in values_by_key}
    order = product(
        settings.dimensions,
        settings.statistics,
        settings.references,
        settings.metrics,
        settings.lengths,
    )
    rows, pooled = [], []
    for key in (by_place[place] for place in order):
        values = np.concatenate(values_by_key[key])
        missing = int(np.isnan(values).sum())
        mean = float(np.nanmean(values)) if missing < len(values) else float("nan")
        rows.append(ReliabilityRow(*key, mean, *central(values), missing))
        pooled.append(values)
    return tuple(rows), tuple(pooled)


def _compare_curves(rows: Sequence[ReliabilityRow]) -> Iterator[CurveTest]:
    """Yield a test of every two curves of one dimension and statistic."""
    places: dict[tuple[str, str], dict[tuple[str, int | None], list[float]]] = {}
    for row in rows:
        curves = places.setdefault((row.dimension, row.statistic), {})
        curves.setdefault((row.metric, row.references), []).append(row.value)
    for (dimension, by), curves in places.items():
        sign = statistic(by).sign
        for (first, a), (second, b) in every_combination(curves.items(), 2):
            gaps = np.array(a) - np.array(b)
            defined = gaps[~np.isnan(gaps)]
            delta = float(defined.mean()) if len(defined) else float("nan")
            counts = len(defined), int((sign * defined > 0).sum())
            yield CurveTest(dimension, by, *first, *second, *counts, delta, wilcoxon(a, b).p)


# ------------------------------------------------------------------------------------- notes


def references_in_words(number: int | None) -> str:
    """Return a number of references in words."""
    if number is None:
        return "all references"
    return f"{number} reference{'s' * (number != 1)}"


def _method_notes(settings: ReliabilitySettings, tests: int) -> Iterator[str]:
    scored = {
        "summed": "that of their statistics added up",
        "joined": "that of their texts joined into one",
    }[settings.documents]
    shuffles = settings.shuffles_per_combination
    turns = f"; {shuffles:,} for each combination" if shuffles < settings.repeats else ""
    yield (
        f"Documents: segments are shuffled {settings.repeats:,} times (seed "
        f"{settings.seed}{turns}) and "
        "cut into documents of equal length, the same for all metrics; the human score of one is "
        f"the mean of its segments', its metric score {scored}. The documents of all systems are "
        "the points of one correlation."
    )
    yield (
        "Values are means, low and high the middle 95%, of all shuffles and combinations of "
        "references: they show the effect of shuffling, not of other segments."
    )
    if tests:
        yield (
            "Tests between curves (`tests`, in JSON and data frames): Wilcoxon's signed ranks over "
            "the lengths; documents of all lengths are made of the same segments, so p is too "
            "small."
        )


def _data_notes(
    evalset: EvalSet,
    chosen_references: Mapping[int | None, Sequence[_ReferenceChoice]],
    metrics: Sequence[Metric],
    rows: Sequence[ReliabilityRow],
) -> Iterator[str]:
    """Yield notes on the combinations of references and on the metrics."""
    have = min(map(len, evalset.references))
    for number, sets in chosen_references.items():
        if number is not None and sets != [None]:
            n_possible = comb(have, number)
            share = "all" if len(sets) == n_possible else f"{len(sets):,} of"
            yield f"{references_in_words(number)}: {share} {n_possible:,} combinations of {have}."
    if single := single_segments_note(metrics):
        yield single
    rates = [str(m) for m in metrics if m.sign < 0]
    if rates:
        yield f"Signs: {' and '.join(rates)} negated, so that more is better for every metric."
    curves: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        curves.setdefault((row.dimension, row.metric), []).append(row.value)
    for (dimension, metric), values in curves.items():
        if np.isnan(values).all():
            yield (
                f"{dimension}, {metric}: undefined at every length, as there are fewer than two "
                "judged documents, or human or metric scores do not differ."
            )


def single_segments_note(metrics: Sequence[Metric]) -> str:
    """Return a note on metrics that have another form for single segments; empty without any."""
    descriptions = [f"{m}, not by {m.of_segments()}" for m in metrics if m.of_segments() != m]
    return (
        f"A single segment, too, is scored by {' and '.join(descriptions)}." if descriptions else ""
    )


class BestCurve(NamedTuple):
    """The best curve of one dimension and statistic: its ends, and the number of curves."""

    shortest: ReliabilityRow
    longest: ReliabilityRow
    curves: int

    @property
    def sign(self) -> int:
        """1 if a higher value of the statistic is better, else -1."""
        return STATISTICS[self.longest.statistic].sign


def best_curve(rows: Sequence[ReliabilityRow]) -> BestCurve | None:
    """Return the best curve of one dimension and statistic; None if none is defined."""
    defined = [row for row in rows if not np.isnan(row.value)]
    if not defined:
        return None
    sign, length = STATISTICS[defined[0].statistic].sign, max(row.length for row in defined)
    last = max((row for row in defined if row.length == length), key=lambda row: sign * row.value)
    name = last.metric, last.references
    curve = [row for row in defined if (row.metric, row.references) == name]
    first = min(curve, key=lambda row: row.length)
    return BestCurve(first, last, len({(row.metric, row.references) for row in defined}))
