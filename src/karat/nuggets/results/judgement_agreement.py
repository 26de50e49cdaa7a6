"""`agree_nuggets`: agreement of two sets of judgements, and the change of scores (section 4.7).

The authors of the paper corrected guesses about one run themselves. They report precision, recall
and F of their judgements against the official ones, and both scores of the run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from karat.arrays import Flags, Floats, np
from karat.errors import InputError
from karat.evalset.catalogue import GivenPath
from karat.evalset.judgements import PERSON
from karat.nuggets.formats.loading import as_nuggets, load_nuggets
from karat.nuggets.prediction.agreement import (
    AVERAGES,
    AverageScores,
    ScoreAgreement,
    ScoringMethod,
    Swap,
    agreement_of_scores,
    average_f,
    counts_by_question,
    jackknife_interval,
    share_interval,
)
from karat.nuggets.prediction.pool import (
    Pool,
    assign_runs,
    corrected_labels,
    make_pool,
    run_labels,
    strict_labels,
)
from karat.nuggets.results.notes import CORRECTED_NOTE, STRICT_NOTE
from karat.nuggets.scores.official import NuggetStats, Official, pool_stats
from karat.nuggets.sets.judgements import UNNAMED, Judgements
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.progress import Progress, silent
from karat.results import Result
from karat.stats.judges import cohen_kappa

ALL = "all runs"


class AgreementRow(NamedTuple):
    """Agreement of other judgements with the official ones; intervals are over questions."""

    run: str
    pairs: int  # number of pairs of response and nugget that both judged
    precision: float | None  # None without predicted positives; recall: without actual ones
    precision_low: float | None
    precision_high: float | None
    recall: float | None
    recall_low: float | None
    recall_high: float | None
    f: float | None
    f_low: float | None
    f_high: float | None
    equal: float
    kappa: float | None  # Cohen's; None if all labels are the same


class ShiftRow(NamedTuple):
    """F of a run by official and by other judgements, with the interval of the difference."""

    run: str
    average: str
    official: float
    other: float
    difference: float
    low: float | None
    high: float | None


@dataclass(frozen=True, eq=False, repr=False)
class NuggetAgreement(Result):
    """Agreement of two sets of judgements on the pairs that both judged."""

    name: str
    settings: Mapping[str, Any]
    pool: Pool
    official: Floats  # values of cells that both judged; NaN elsewhere
    other: Floats
    left_out: tuple[int, int]  # numbers of pairs that only the official, only the others have
    models: tuple[str, ...] = ()
    """Models that made the other judgements, if no person did."""

    signature = ""

    @cached_property
    def rows(self) -> tuple[AgreementRow, ...]:
        """Agreement on all runs, then on each."""
        in_run = [(tag, self.pool.cell_run == k) for k, tag in enumerate(self.pool.runs)]
        in_all = ALL, np.ones(len(self.official), dtype=np.bool_)
        return tuple(self._row(tag, mask) for tag, mask in [in_all, *in_run])

    def _row(self, run: str, mask: Flags) -> AgreementRow:
        official = np.where(mask, self.official, np.nan)
        hits, predicted, actual = counts_by_question(self.pool, self.other > 0, official)
        shares = (hits, predicted), (hits, actual), (2 * hits, predicted + actual)
        precision, recall, f = (share_interval(*both) for both in shares)
        both = mask & ~np.isnan(self.official)
        labels = ((x[both] > 0).astype(np.float64) for x in (self.official, self.other))
        kappa = cohen_kappa(*labels)
        kappa_value = None if np.isnan(kappa.value) else kappa.value
        return AgreementRow(run, kappa.units, *precision, *recall, *f, kappa.equal, kappa_value)

    @cached_property
    def _stats(self) -> tuple[NuggetStats, NuggetStats]:
        """Statistics by both, runs x questions; answers without a common pair have no weight."""
        shape = len(self.pool.runs), len(self.pool.questions)
        answers = self.pool.cell_run * shape[1] + self.pool.cell_question
        judged = np.bincount(answers[~np.isnan(self.official)], minlength=shape[0] * shape[1])
        official, other = (
            pool_stats(
                self.pool,
                (np.nan_to_num(values) > 0).astype(np.float64),
                Official(self.settings["beta"]),
            ).select(judged.reshape(shape) > 0)
            for values in (self.official, self.other)
        )
        return official, other

    @cached_property
    def _averages(self) -> tuple[AverageScores, AverageScores]:
        official, other = (average_f(stats, self.settings["beta"]) for stats in self._stats)
        return official, other

    @cached_property
    def runs(self) -> tuple[ShiftRow, ...]:
        """Both scores of every run that has questions with weight."""
        rows, n_questions = [], len(self.pool.questions)
        for average in AVERAGES:
            both = zip(*(getattr(x, average).tolist() for x in self._averages), strict=True)
            for k, (official, other) in enumerate(both):
                if np.isnan(official):
                    continue
                without = [
                    self._difference(average, k, np.arange(n_questions) != question)
                    for question in np.flatnonzero(self._stats[0].total[k] > 0)
                ]
                shift = other - official
                _, low, high = jackknife_interval(shift, without, -1.0)
                rows.append(ShiftRow(self.pool.runs[k], average, official, other, shift, low, high))
        return tuple(rows)

    def _difference(self, average: str, run: int, questions: Flags) -> float:
        """Return the difference of a run's scores on some questions."""
        official, other = (
            average_f(stats.run(slice(run, run + 1)).select(questions), self.settings["beta"])
            for stats in self._stats
        )
        return float(getattr(other, average)[0]) - float(getattr(official, average)[0])

    @cached_property
    def _scored(self) -> list[tuple[ScoreAgreement, list[Swap]]]:
        has_score = np.flatnonzero(~np.isnan(self._averages[0].micro))
        if len(has_score) < 2:
            return []
        runs = [self.pool.runs[k] for k in has_score]
        official, other = (
            AverageScores(*(part[has_score] for part in averages)) for averages in self._averages
        )
        method = ScoringMethod("other judgements", other)
        return list(agreement_of_scores(method, official, runs))

    @property
    def scores(self) -> tuple[ScoreAgreement, ...]:
        """Agreement of the scores of runs, with rank swaps; empty for a single run."""
        return tuple(row for row, _ in self._scored)

    @property
    def swaps(self) -> tuple[Swap, ...]:
        """The pairs of runs that both judgements order differently."""
        return tuple(swap for _, swaps in self._scored for swap in swaps)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on the comparison."""
        only_official, only_other = self.left_out
        models = ", ".join(name or UNNAMED for name in self.models)
        return (
            "Precision: share of the pairs that the other judgements call carried which the "
            "official ones call carried too; recall is the reverse. Intervals: 95%, over "
            "questions.",
            f"Only pairs judged in both sets count, also in scores; {only_official:,} pairs that "
            f"only the official and {only_other:,} that only the other judgements have are left "
            "out.",
            *([f"The other judgements are labels of models: {models}."] if models else []),
            *[STRICT_NOTE] * self.settings["strict"],
            *[CORRECTED_NOTE.format("Judgements")] * self.settings["corrected"],
        )


def agree_nuggets(
    nuggets: NuggetSet | GivenPath,
    other: NuggetSet | Judgements | GivenPath,
    beta: float = 3.0,
    *,
    corrected: bool = False,
    strict: bool = False,
    progress: Progress = silent,
) -> NuggetAgreement:
    """Compare other judgements with the official judgements of a set.

    Args:
        nuggets: set with the official judgements, or its name or path.
        other: set with other judgements, or the path of a file of judgements. Labels of models are
            compared if it has no judgements of people.
        beta: weight of recall in F.
        corrected: apply each judgement to identical responses of all runs.
        strict: count partial support as no support.
        progress: function that is called with the progress.
    """
    Official(beta)
    if not isinstance(other, NuggetSet | Judgements):
        if isinstance(nuggets, NuggetSet):
            other = as_nuggets(other, progress)
        else:
            other = load_nuggets(nuggets, judgements=[other], progress=progress)
    nuggets = as_nuggets(nuggets, progress)
    other_judgements = other.judgements if isinstance(other, NuggetSet) else other
    models = () if other_judgements.deciding else tuple(other_judgements.labels_by_model)
    if models:  # without judgements of people, labels of models are compared
        other_judgements = other_judgements.with_rows(
            row._replace(kind=PERSON) for row in other_judgements.rows
        )
    both = nuggets.judgements, other_judgements
    for adjective, judgements in zip(("", " other"), both, strict=True):
        if not nuggets.runs or not judgements.deciding:
            raise InputError(
                f"{nuggets.name}: expected runs and{adjective} judgements of them by people"
            )
    pool = make_pool(nuggets.key, nuggets.runs.values())
    values = [
        _values(pool, assign_runs(judgements, nuggets.runs), corrected, strict)
        for judgements in both
    ]
    is_judged = [~np.isnan(x) for x in values]
    shared = is_judged[0] & is_judged[1]
    if not shared.any():
        raise InputError(
            f"{nuggets.name}: no pair of response and nugget has judgements of both; expected the "
            "same questions, nuggets and responses in both"
        )
    rows = np.unique(pool.run[pool.cell_response[shared]])
    judged = make_pool(nuggets.key, [nuggets.runs[pool.runs[k]] for k in rows.tolist()])
    is_selected = np.isin(pool.cell_run, rows)
    official, other_values = (np.where(shared, x, np.nan)[is_selected] for x in values)
    settings = {"beta": beta, "corrected": corrected, "strict": strict}
    left_out = int((is_judged[0] & ~shared).sum()), int((is_judged[1] & ~shared).sum())
    return NuggetAgreement(nuggets.name, settings, judged, official, other_values, left_out, models)


def _values(pool: Pool, judgements: Judgements, corrected: bool, strict: bool) -> Floats:
    values = (corrected_labels if corrected else run_labels)(pool, judgements)
    return strict_labels(values) if strict else values
