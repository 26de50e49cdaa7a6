"""Soricut and Brill 2004, Tables 1 to 6: which member of AEv agrees with which human scores.

A table is a plane of R^2 between human and metric scores of systems. Our planes are those of public
sets with the most similar task and guideline; docs/lab/plane.md gives the reasons.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from karat.arrays import np
from karat.evalset.flooding import Flood, flood
from karat.evalset.loading import KNOWN
from karat.meta.plane import CELLS, ComparedRow, PlaneCell, PlaneFit, PlaneRow
from karat.meta.plane_study import (
    MIN_PLANE_SYSTEMS,
    PAPER,
    PlaneStudy,
    Published,
    Region,
    predicted,
    study_plane,
)
from karat.metrics.names import metric
from karat.metrics.ngram import AEv
from karat.reproduction.papers import ReproductionRequest, describe_set
from karat.reproduction.results import (
    UNDECIDED,
    Conclusion,
    PaperDifference,
    ReproducedNumber,
    Reproduction,
    to_verdict,
)
from karat.stats.significance import SIGNIFICANCE_LEVEL

CITATION = (
    "Soricut and Brill 2004, A Unified Framework for Automatic Evaluation using N-gram "
    "Co-Occurrence Statistics"
)
FAMILY = "aev:preset=paper"
BLEU = "bleu:case=lower"
CORNERS = (PlaneCell(0.0, 1), PlaneCell(1.0, 1), PlaneCell(0.0, 4), PlaneCell(1.0, 4))
PAPER_BLEU = {1: 78.52, 2: 83.91}  # section 4.1: R^2 of BLEU in percent, by table
MEASURE = "R^2 %"
RESAMPLES = 1000
CONFIDENCE = 1 - SIGNIFICANCE_LEVEL
"""Share of resamples that must agree on the region of the best cell."""


class AevCounterpart(NamedTuple):
    """The set and dimension that replace those of a table."""

    table: int
    evalset: str
    dimension: str
    flooded: bool = False

    @property
    def name(self) -> str:
        """The name of the set, and whether it was flooded."""
        return f"flooded {self.evalset}" if self.flooded else self.evalset


REAL = (
    AevCounterpart(1, "ted-zhen", "fluency"),
    AevCounterpart(2, "ted-zhen", "accuracy"),
    AevCounterpart(3, "realsumm", "coverage"),
    AevCounterpart(5, "rag24", "all"),
    AevCounterpart(6, "rag24", "all", flooded=True),
)
DEMO = (AevCounterpart(1, "demo", "fluency"), AevCounterpart(2, "demo", "adequacy"))
"""The bundled set has judgements of both kinds, for translations only."""


class Plane(NamedTuple):
    """A table of the paper and its counterpart here."""

    published: Published
    counterpart: AevCounterpart
    study: PlaneStudy
    size: str  # kind and size of the counterpart in words
    flooding: PaperDifference | None = None  # extent of flooding, if any

    @property
    def fit(self) -> PlaneFit:
        """R^2 of all cells."""
        return self.study.fits[0]

    @property
    def table(self) -> str:
        """The number of the table."""
        return f"Table {self.published.number}"

    @property
    def data(self) -> str:
        """The set and the dimension."""
        return f"{self.counterpart.name}: {self.counterpart.dimension}"


def reproduce_aev(request: ReproductionRequest) -> Reproduction:
    """Fit the plane of each table on its counterpart."""
    sets = dict.fromkeys(real.evalset for real in REAL)
    available = request.data.any_of([KNOWN[name].place for name in sets])
    counterparts = [real for real in REAL if KNOWN[real.evalset].place in available] or DEMO
    planes = [_fit_counterpart(counterpart, request) for counterpart in counterparts]
    return Reproduction(
        name="aev",
        paper=CITATION,
        data=tuple(dict.fromkeys(plane.counterpart.name for plane in planes)),
        rows=tuple(row for plane in planes for row in _reproduced_numbers(plane)),
        conclusions=tuple(row for plane in planes for row in _conclusions(plane)),
        differs=(
            *(
                PaperDifference(
                    f"data of {plane.table}",
                    f"{plane.published.description}; guideline: {plane.published.guideline}",
                    f"{plane.data}; {plane.size}",
                )
                for plane in planes
            ),
            *(plane.flooding for plane in planes if plane.flooding),
            *_DIFFERENCES,
        ),
        settings={**request.settings, "metric": FAMILY, "resamples": RESAMPLES},
        signatures=dict(pair for plane in planes for pair in plane.study.signatures.items()),
        invented="" if available else "The judgements of the bundled set are invented.",
        remarks=tuple(_remarks(planes)),
    )


def _fit_counterpart(counterpart: AevCounterpart, request: ReproductionRequest) -> Plane:
    evalset = request.evalset(counterpart.evalset)
    size, flooding = describe_set(evalset), None
    if counterpart.flooded:  # more weakly than in the paper
        flooded = flood(evalset, Flood(counterpart.dimension, correct=0.5, seed=request.seed))
        answers = sum(text is not None for texts in evalset.systems.values() for text in texts)
        flooding = PaperDifference(
            "flooding of Table 6",
            "2/3 of the correct answers of 4 of 11 systems",
            f"2/3 of the correct answers of {len(flooded.systems)} of {len(evalset.systems)} "
            f"systems: {len(flooded.rows):,} of {answers:,} answers",
        )
        evalset = flooded.evalset
    published = next(table for table in PAPER if table.number == counterpart.table)
    family = metric(FAMILY)
    several_references = any(len(group) > 1 for group in evalset.references)
    study = study_plane(
        evalset,
        family if isinstance(family, AEv) else None,
        [counterpart.dimension],
        references=(1,) if several_references else (),  # the paper uses one of several
        compare_with=(BLEU,),
        region=predicted(published.task, published.guideline),
        resamples=RESAMPLES,
        splits=0,
        seed=request.seed,
        threads=request.threads,
        progress=request.progress,
    )
    return Plane(published, counterpart, study, size, flooding)


def _reproduced_numbers(plane: Plane) -> Iterator[ReproducedNumber]:
    table, fit = plane.published, plane.fit

    def number(
        item: str, paper: float | None, row: PlaneRow | ComparedRow, detail: str = ""
    ) -> ReproducedNumber:
        location = f"{plane.table}: {table.task}, {table.guideline}"
        r2, low, high = (100 * value for value in (row.r2, row.low, row.high))
        numbers = MEASURE, paper, r2, plane.data, low, high
        detail = detail or ("r is negative" if row.r < 0 else "")
        return ReproducedNumber(location, item, *numbers, detail=detail)

    best = PlaneCell(*table.best[:2])
    for cell in dict.fromkeys((*CORNERS, best)):
        row = table.rows.get(cell.n)  # None if it cannot be read
        paper = None if row is None else row[round(10 * cell.alpha)]
        yield number(str(cell), table.best[2] if cell == best else paper, fit.row(cell))
    if (top := fit.maximum) is not None:
        detail = f"{best} in the paper, {top} here"
        yield number("best cell", table.best[2], fit.row(top), detail)
    yield number("BLEU", PAPER_BLEU.get(table.number), plane.study.compared[0])


def _conclusions(plane: Plane) -> Iterator[Conclusion]:
    region = predicted(plane.published.task, plane.published.guideline)
    verdict = plane.study.verdicts[0]
    claim = f"The predicted region ({region}) agrees better than the rest of the plane."
    means = f"mean R^2 {100 * verdict.inside:.1f}% there, {100 * verdict.outside:.1f}% elsewhere"
    evidence = f"{means}; difference {100 * verdict.low:.1f} to {100 * verdict.high:.1f}"
    yield Conclusion(plane.table, claim, verdict.words, evidence, plane.data)
    yield best_cell_conclusion(plane.fit, region, plane.table, plane.data)


def best_cell_conclusion(fit: PlaneFit, region: Region, location: str, data: str) -> Conclusion:
    """Decide whether the best cell lies in a region, by the best cells of resamples.

    The claim holds if they lie there in 95% of the resamples, and fails if they lie elsewhere in
    95%.
    """
    claim, best = "The best cell lies there.", fit.maximum
    if best is None:
        return Conclusion(location, claim, UNDECIDED, "no cell agrees", data)
    inside = np.array([region.holds(*cell) for cell in CELLS])
    share_inside, share_outside = float(fit.wins[inside].sum()), float(fit.wins[~inside].sum())
    enough = len(fit.systems) >= MIN_PLANE_SYSTEMS
    verdict = UNDECIDED
    if enough and max(share_inside, share_outside) >= CONFIDENCE:
        verdict = to_verdict(share_inside > share_outside)
    evidence = f"{best}, {100 * fit.row(best).r2:.1f}%; there in {share_inside:.0%} of resamples"
    return Conclusion(location, claim, verdict, evidence, data)


_DIFFERENCES = (
    PaperDifference("stop words", "626 words, never published", "Karat's English list"),
    PaperDifference("case", "not said", "lower case, which decides much: docs/lab/plane.md"),
    PaperDifference(
        "wordiness penalty", "as printed, it punishes any length", "the corrected form, W = 2"
    ),
    PaperDifference("intervals", "none", "95% bootstrap over systems and segments"),
)


def _remarks(planes: list[Plane]) -> Iterator[str]:
    available = {plane.published.number for plane in planes}
    missing = [str(table.number) for table in PAPER if table.number not in available]
    if missing:
        tables = f"Table{'s' * (len(missing) > 1)} {', '.join(missing)}"
        yield f"{tables}: no counterpart in these data."
    yield (
        "A dash in the paper's column: the paper has no such number, or its row cannot be read in "
        "our copy."
    )
    yield (
        "A region holds or fails if the interval of its difference from the rest leaves out 0; "
        "else the data cannot decide. The best of 44 cells lies in the region, or elsewhere, if it "
        f"does so in {CONFIDENCE:.0%} of the resamples. Fewer than {MIN_PLANE_SYSTEMS} systems "
        "decide nothing."
    )
