"""`describe_nuggets`: counts of a set, contradictions in its judgements, and its problems."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple

from karat.arrays import Floats, np
from karat.errors import InputError
from karat.evalset.judgements import ADJUDICATED, PERSON
from karat.evalset.reading import Reading
from karat.meta.judge_agreement import JudgeAgreement, agreement_of
from karat.nuggets.formats.loading import LISTER, read_nuggets, set_name
from karat.nuggets.sets.judgements import HALF, UNNAMED, PairKey
from karat.nuggets.sets.nugget_set import NuggetDraft, NuggetSet, remarks
from karat.progress import Progress, silent
from karat.results import Result
from karat.stats.judges import cohen_kappa, judge_table


class Census(NamedTuple):
    """The paper's Table 1: means with half their 95% intervals, 1.96 standard errors."""

    name: str
    questions: int
    vital: int
    okay: int
    nuggets: float  # nuggets of a question
    nuggets_half: float
    runs: int
    responses: float  # responses of a run
    responses_half: float
    answers: float  # responses of a run to a question
    answers_half: float
    judgements: int
    judged: float  # share of pairs of response and nugget that were judged


class DifficultyBin(NamedTuple):
    """Nuggets that at least `low` and at most `high` runs found."""

    low: int
    high: int
    nuggets: int
    share: float

    @property
    def label(self) -> str:
        """`3-4`, or `3` if both ends are equal."""
        return str(self.low) if self.low == self.high else f"{self.low}-{self.high}"


def census(nuggets: NuggetSet) -> Census:
    """Count questions, nuggets, runs and responses."""
    judged_pairs = nuggets.judgements.values
    questions = nuggets.key.questions.values()
    vital = sum(len(question.vital) for question in questions)
    runs = nuggets.runs.values()
    counts = [[len(run.responses(id)) for id in nuggets.key.questions] for run in runs]
    sizes = [len(question.nuggets) for question in questions]
    pairs = sum(size * row[i] for row in counts for i, size in enumerate(sizes))
    judged = sum(
        (id, nugget.id, response.normal) in judged_pairs
        for run in runs
        for id, question in nuggets.key.questions.items()
        for response in run.responses(id)
        for nugget in question.nuggets
    )
    cells: list[Any] = [len(sizes), vital, sum(sizes) - vital, *mean_interval(sizes), len(counts)]
    cells += mean_interval([sum(row) for row in counts])
    cells += mean_interval([n for row in counts for n in row])
    cells += [len(nuggets.judgements.rows), judged / pairs if pairs else math.nan]
    return Census(nuggets.name, *cells)


def mean_interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean of some values, and half its 95% interval: 1.96 s / sqrt(n)."""
    n = len(values)
    if not n:
        return math.nan, math.nan
    mean = math.fsum(values) / n
    if n == 1:
        return mean, math.nan
    variance = math.fsum(d * d for d in (value - mean for value in values)) / (n - 1)
    return mean, 1.96 * math.sqrt(variance / n)


def finders(nuggets: NuggetSet) -> dict[tuple[str, str], int]:
    """Return (question, nugget) -> number of runs that were judged to carry it, also in part."""
    judged_pairs = nuggets.judgements.values
    counts = {(id, n.id): 0 for id, q in nuggets.key.questions.items() for n in q.nuggets}
    for run in nuggets.runs.values():
        for id, question in nuggets.key.questions.items():
            texts = [response.normal for response in run.responses(id)]
            for nugget in question.nuggets:
                values = (judged_pairs.get((id, nugget.id, text)) for text in texts)
                counts[id, nugget.id] += any(values)
    return counts


def difficulty(nuggets: NuggetSet) -> list[DifficultyBin]:
    """Return nuggets by the number of runs that found them: 0, 1, 2, 3-4, 5-8 and so on."""
    counts = list(finders(nuggets).values())
    edges, high = [(0, 0)], 1
    while edges[-1][1] < len(nuggets.runs):
        edges.append((edges[-1][1] + 1, min(high, len(nuggets.runs))))
        high *= 2
    inside = [sum(low <= count <= top for count in counts) for low, top in edges]
    return [DifficultyBin(*ends, n, n / len(counts)) for ends, n in zip(edges, inside, strict=True)]


class ContradictionRow(NamedTuple):
    """Two judgements of the same words that differ."""

    question: str
    nugget: str
    value: float
    place: str
    other_value: float
    other_place: str


class DisputeRow(NamedTuple):
    """A response and a nugget about which judges contradict each other."""

    question: str
    nugget: str
    votes: str
    value: float
    tie: str
    places: str


@dataclass(frozen=True, eq=False, repr=False)
class NuggetContents(Result):
    """Contents of a set or, if it cannot be used, its problems."""

    name: str
    nuggets: NuggetSet | None
    problems: tuple[str, ...] = ()
    problem_count: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)
    signature: str = ""

    @property
    def rows(self) -> tuple[Census, ...]:
        """Counts of questions, nuggets, runs, responses and judgements: one row."""
        return (census(self.nuggets),) if self.nuggets else ()

    @property
    def difficulty(self) -> tuple[DifficultyBin, ...]:
        """The paper's Figure 4: nuggets by the number of runs that were judged to carry them."""
        nuggets = self.nuggets
        is_judged = nuggets and nuggets.runs and nuggets.judgements.deciding
        return tuple(difficulty(nuggets)) if nuggets and is_judged else ()

    @property
    def contradictions(self) -> tuple[ContradictionRow, ...]:
        """Judgements of one judge about the same words that differ."""
        return tuple(
            ContradictionRow(*first[:2], first.value, first.place, second.value, second.place)
            for first, second in (self.nuggets.judgements.contradictions if self.nuggets else ())
        )

    @property
    def disputes(self) -> tuple[DisputeRow, ...]:
        """Pairs of response and nugget on which judges contradict each other."""
        return tuple(
            DisputeRow(
                *dispute.rows[0][:2],
                ", ".join(f"{row.judge or UNNAMED} {row.value:g}" for row in dispute.rows),
                dispute.value,
                "tie" if dispute.tie else "",
                "; ".join(row.place for row in dispute.rows if row.place),
            )
            for dispute in (self.nuggets.judgements.disputes if self.nuggets else ())
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks on the set."""
        return tuple(remarks(self.nuggets)) if self.nuggets else ()


def describe_nuggets(
    nuggets: NuggetSet | str | os.PathLike[str],
    runs: Sequence[str | os.PathLike[str]] = (),
    judgements: Sequence[str | os.PathLike[str]] = (),
    *,
    skip_unknown: bool = False,
    model_judges: Sequence[str] = (),
    ties: str = HALF,
    progress: Progress = silent,
) -> NuggetContents:
    """Describe a nugget set and list its problems.

    Args:
        nuggets: a set, or its name or path.
        runs, judgements, skip_unknown, model_judges, ties: as for `load_nuggets`.
        progress: function that is called with the progress.
    """
    if isinstance(nuggets, NuggetSet):
        return NuggetContents(nuggets.name, nuggets, settings={"ties": nuggets.judgements.ties})
    reading = Reading(progress, LISTER)
    draft = NuggetDraft(set_name(nuggets), reading, skip_unknown, model_judges, ties)
    nugget_set = reading.attempt(lambda: read_nuggets(nuggets, runs, judgements, draft))
    count = len(reading.problems) + reading.more
    settings = {"skip_unknown": skip_unknown, "model_judges": tuple(model_judges), "ties": ties}
    return NuggetContents(os.fspath(nuggets), nugget_set, tuple(reading.all()), count, settings)


class JudgeKappa(NamedTuple):
    """Agreement of one judge with the majority of the others and with adjudicated labels.

    Labels are carried (also in part) or not; kappa is Cohen's.
    """

    judge: str
    kind: str
    labels: int
    carried: float  # share of the labels that are carried
    others_units: int
    others_equal: float
    others_kappa: float
    adjudicated_units: int
    adjudicated_equal: float
    adjudicated_kappa: float


class PairKappa(NamedTuple):
    """Two judges on the pairs of response and nugget that both labelled."""

    first: str
    second: str
    units: int
    equal: float
    kappa: float
    note: str


@dataclass(frozen=True, repr=False)
class NuggetJudgeAgreement(JudgeAgreement):
    """Agreement of the judges of a nugget set; `kappa` by judge and `pairs` of judges."""

    kappa: tuple[JudgeKappa, ...] = ()
    pairs: tuple[PairKappa, ...] = ()


def nugget_judge_agreement(
    nuggets: NuggetSet, controls: Sequence[str] = ()
) -> NuggetJudgeAgreement:
    """Return the agreement of the judges of nuggets, without the runs in `controls`."""
    for tag in controls:
        nuggets.run(tag)
    values: dict[tuple[str, PairKey], float] = {}  # the highest value of a judge for a pair
    first_runs: dict[PairKey, str] = {}
    settled: dict[PairKey, float] = {}
    kinds: dict[str, str] = {}
    for row in nuggets.judgements.rows:
        pair, name = row.pair_key, row.judge or UNNAMED
        if row.run in controls:
            continue
        if row.kind == ADJUDICATED:
            settled[pair] = max(row.value, settled.get(pair, 0.0))
            continue
        kinds.setdefault(name, row.kind or PERSON)
        first_runs.setdefault(pair, row.run)
        values[name, pair] = max(row.value, values.get((name, pair), 0.0))
    if not values:
        found_only = "found only what was adjudicated, " if nuggets.judgements.rows else ""
        raise InputError(
            f"{nuggets.name}: {found_only}expected judgements of judges; name some with "
            "--judgements"
        )
    names, units = zip(*values, strict=True)
    table = judge_table(list(units), list(names), list(values.values()))
    runs = tuple(first_runs[words] for words in table.units)
    adjudicated = np.array([settled.get(words, np.nan) for words in table.units], dtype=np.float64)
    labels = [_carried(judge_values) for judge_values in table.values]
    kappa = []
    for k, (name, carried) in enumerate(zip(table.judges, labels, strict=True)):
        rest = np.delete(table.values, k, axis=0)
        yes, no = (rest > 0).sum(axis=0), (rest == 0).sum(axis=0)
        majority = np.where(yes == no, np.nan, (yes > no).astype(np.float64))
        with_others = cohen_kappa(carried, majority)
        with_adjudicated = cohen_kappa(carried, _carried(adjudicated))
        kappa.append(
            JudgeKappa(
                judge=name,
                kind=kinds[name],
                labels=int((~np.isnan(carried)).sum()),
                carried=float(np.nanmean(carried)),
                others_units=with_others.units,
                others_equal=with_others.equal,
                others_kappa=with_others.value,
                adjudicated_units=with_adjudicated.units,
                adjudicated_equal=with_adjudicated.equal,
                adjudicated_kappa=with_adjudicated.value,
            )
        )
    pairs = []
    for (first, x), (second, y) in combinations(zip(table.judges, labels, strict=True), 2):
        result = cohen_kappa(x, y)
        pairs.append(
            PairKappa(first, second, result.units, result.equal, result.value, result.reason)
        )
    base = agreement_of(nuggets.name, [("nuggets", table, runs)], controls)
    notes = (*base.notes, *remarks(nuggets))
    return NuggetJudgeAgreement(
        *(base.name, base.rows, base.judges, notes, base.settings),
        kappa=tuple(kappa),
        pairs=tuple(pairs),
    )


def _carried(values: Floats) -> Floats:
    return np.where(np.isnan(values), np.nan, (values > 0).astype(np.float64))
