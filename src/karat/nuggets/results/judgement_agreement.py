"""`agree_nuggets`: agreement of two sets of judgements, and the change of scores (section 4.7).

The paper's authors corrected guesses about one run themselves, and give precision, recall and F of
their judgements against the official ones, and both scores of the run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from karat.arrays import Flags, Floats, np
from karat.errors import InputError
from karat.evalset.catalogue import GivenPath
from karat.evalset.judgements import PERSON
from karat.nuggets.formats.loading import as_nuggets, load_nuggets
from karat.nuggets.prediction.official_scores import (
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
from karat.nuggets.scores.official import NuggetStats, Official, pool_stats
from karat.nuggets.sets.judgements import UNNAMED, Judgements
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.progress import Progress, silent
from karat.results import Result
from karat.stats.judges import cohen_kappa

ALL = "all runs"


class AgreementRow(NamedTuple):
    """Other judgements of a run, or of all, against the official ones; intervals over questions."""

    run: str
    pairs: int
    """Pairs of response and nugget that both judged."""
    precision: float | None
    """None where nothing was called carried, and so recall where nothing is."""
    precision_low: float | None
    precision_high: float | None
    recall: float | None
    recall_low: float | None
    recall_high: float | None
    f: float | None
    f_low: float | None
    f_high: float | None
    equal: float
    kappa: float | None
    """Cohen's; None where all labels are the same."""


class ShiftRow(NamedTuple):
    """F of a run from official and from other judgements; the interval is of their difference."""

    run: str
    average: str
    official: float
    other: float
    difference: float
    low: float | None
    high: float | None


@dataclass(frozen=True, eq=False, repr=False)
class NuggetAgreement(Result):
    """Two sets of judgements on the pairs that both have."""

    name: str
    settings: Mapping[str, Any]
    pool: Pool
    official: Floats
    """Values of cells that both judged; NaN elsewhere."""
    other: Floats
    left_out: tuple[int, int]
    """Pairs that only the official, and only the other judgements have."""
    models: tuple[str, ...] = ()
    """The models whose labels the other judgements are, if no person's are among them."""

    signature = ""

    @cached_property
    def rows(self) -> tuple[AgreementRow, ...]:
        """Agreement on all runs, then on each."""
        runs = enumerate(self.pool.runs)
        parts = [(tag, self.pool.cell_run == k) for k, tag in runs]
        whole = ALL, np.ones(len(self.official), dtype=np.bool_)
        return tuple(self._row(tag, some) for tag, some in [whole, *parts])

    def _row(self, run: str, some: Flags) -> AgreementRow:
        theirs = np.where(some, self.official, np.nan)
        hits, made, wanted = counts_by_question(self.pool, self.other > 0, theirs)
        shares = (hits, made), (hits, wanted), (2 * hits, made + wanted)
        precision, recall, f = (share_interval(*both) for both in shares)
        both = some & ~np.isnan(self.official)
        told = ((x[both] > 0).astype(np.float64) for x in (self.official, self.other))
        kappa = cohen_kappa(*told)
        known = None if np.isnan(kappa.value) else kappa.value
        return AgreementRow(run, kappa.units, *precision, *recall, *f, kappa.equal, known)

    @cached_property
    def _returned(self) -> tuple[NuggetStats, NuggetStats]:
        """Runs x questions by both; what nobody judged twice has no weight."""
        shape = len(self.pool.runs), len(self.pool.questions)
        whose = self.pool.cell_run * shape[1] + self.pool.cell_question
        judged = np.bincount(whose[~np.isnan(self.official)], minlength=shape[0] * shape[1])
        kept = judged.reshape(shape) > 0
        how = Official(self.settings["beta"])
        cells = (np.nan_to_num(x) > 0 for x in (self.official, self.other))
        one, two = (
            pool_stats(self.pool, some.astype(np.float64), how).select(kept) for some in cells
        )
        return one, two

    @cached_property
    def _averages(self) -> tuple[AverageScores, AverageScores]:
        one, two = (average_f(some, self.settings["beta"]) for some in self._returned)
        return one, two

    @cached_property
    def runs(self) -> tuple[ShiftRow, ...]:
        """Both scores of every run."""
        return tuple(
            row
            for average in AVERAGES
            for k in range(len(self.pool.runs))
            for row in self._shift(average, k)
        )

    def _shift(self, average: str, k: int) -> Iterator[ShiftRow]:
        official, other = (float(getattr(x, average)[k]) for x in self._averages)
        if np.isnan(official):
            return  # no nugget of its questions has any weight
        asked = np.flatnonzero(self._returned[0].total[k] > 0).tolist()
        without = np.array([self._difference(average, k, q) for q in asked])
        shift = ShiftRow(self.pool.runs[k], average, official, other, other - official, None, None)
        if len(asked) > 1:
            _, low, high = jackknife_interval(other - official, without, -1.0)
            shift = shift._replace(low=low, high=high)
        yield shift

    def _difference(self, average: str, run: int, question: int) -> float:
        """The difference of a run's scores without a question."""
        some = np.arange(len(self.pool.questions)) != question
        scores = [
            average_f(
                NuggetStats(*(part[run : run + 1] for part in x)).select(some),
                self.settings["beta"],
            )
            for x in self._returned
        ]
        official, other = (float(getattr(x, average)[0]) for x in scores)
        return other - official

    @cached_property
    def _scored(self) -> list[tuple[ScoreAgreement, list[Swap]]]:
        official, other = self._averages
        known = np.flatnonzero(~np.isnan(official.micro))
        if len(known) < 2:
            return []
        runs = [self.pool.runs[k] for k in known]
        one, two = (AverageScores(*(part[known] for part in x)) for x in (official, other))
        return list(agreement_of_scores(ScoringMethod("other judgements", two), one, runs))

    @property
    def scores(self) -> tuple[ScoreAgreement, ...]:
        """Agreement of runs' scores, with rank swaps; none of one run."""
        return tuple(row for row, _ in self._scored)

    @property
    def swaps(self) -> tuple[Swap, ...]:
        """The pairs of runs that both order otherwise."""
        return tuple(swap for _, swaps in self._scored for swap in swaps)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on what was compared."""
        mine, theirs = self.left_out
        models = ", ".join(name or UNNAMED for name in self.models)
        strict = "Partial support counts as no support (strict)." if self.settings["strict"] else ""
        corrected = (
            "Judgements are corrected: a response carries a nugget if an identical response of any "
            "run was judged to."
        )
        return (
            "Precision: share of the pairs that the other judgements call carried which the "
            "official ones call carried too; recall is the reverse. Intervals: 95%, over "
            "questions.",
            f"Only pairs judged in both sets count, also in scores; {mine:,} pairs that only the "
            f"official and {theirs:,} that only the other judgements have are left out.",
            *([f"The other judgements are labels of models: {models}."] if models else []),
            *([strict] if strict else []),
            *([corrected] if self.settings["corrected"] else []),
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
    """Compare other judgements with those of a set, which are the official ones.

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
    told = other.judgements if isinstance(other, NuggetSet) else other
    models = () if told.deciding else tuple(told.of_models)
    if models:  # where no person judged, the labels of models are what is compared
        told = told.with_rows(row._replace(kind=PERSON) for row in told.rows)
    both = nuggets.judgements, told
    for which, some in zip(("", " other"), both, strict=True):
        if not nuggets.runs or not some.deciding:
            raise InputError(
                f"{nuggets.name}: expected runs and{which} judgements of them by people"
            )
    pool = make_pool(nuggets.key, nuggets.runs.values())
    values = [_values(pool, assign_runs(some, nuggets.runs), corrected, strict) for some in both]
    known = [~np.isnan(x) for x in values]
    shared = known[0] & known[1]
    if not shared.any():
        raise InputError(
            f"{nuggets.name}: no pair of response and nugget has judgements of both; expected the "
            "same questions, nuggets and responses in both"
        )
    rows = np.unique(pool.run[pool.cell_response[shared]])
    judged = make_pool(nuggets.key, [nuggets.runs[pool.runs[k]] for k in rows.tolist()])
    mine = np.isin(pool.cell_run, rows)
    official, others = (np.where(shared, x, np.nan)[mine] for x in values)
    asked = {"beta": beta, "corrected": corrected, "strict": strict}
    left_out = int((known[0] & ~shared).sum()), int((known[1] & ~shared).sum())
    return NuggetAgreement(nuggets.name, asked, judged, official, others, left_out, models)


def _values(pool: Pool, judgements: Judgements, corrected: bool, strict: bool) -> Floats:
    values = (corrected_labels if corrected else run_labels)(pool, judgements)
    return strict_labels(values) if strict else values
