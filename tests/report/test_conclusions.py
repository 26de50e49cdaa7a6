"""Every conclusion that a report draws from numbers: a case where it must be drawn, and others.

The table below is the list of such sentences. A sentence that says more than its numbers is wrong
even where the numbers are right, so each has cases in which it must not be drawn.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
from oracles.small_sets import small_set

import karat as kt
from karat.meta.plane import BLEU_CELL, CELLS, PlaneFit, fit_plane
from karat.meta.plane_study import (
    POINTS_UNSIGNED,
    Halves,
    PlaneStudy,
    Verdict,
    predicted,
    study_plane,
)
from karat.metrics.ngram import AEv
from karat.nuggets.prediction.pool import AssessorAgreement
from karat.nuggets.results import evaluation as nugget_evaluation
from karat.nuggets.results.changes import Significance
from karat.realize.evaluation import TrainingOverlap
from karat.report.documents.comparisons import comparison_document
from karat.report.documents.planes import plane_chart, plane_table, study_answer
from karat.report.segment.document import grid_caption

NAN = math.nan


Case = Callable[[], str]
"""Makes what a report says of some numbers."""


class Conclusion(NamedTuple):
    """A sentence, cases in which it must be drawn, and cases in which it must not."""

    sentence: str
    cases: tuple[Case, ...]
    other_cases: tuple[Case, ...]


def case(says: Callable[..., str]) -> Callable[..., Case]:
    """Numbers are given now; what is said of them is made when a test asks, once."""
    read_sentences = cache(says)
    return lambda *numbers, **more: partial(read_sentences, *numbers, **more)


# ----------------------------------------------------------------------------- the plane


@case
def plane(
    picking: float = 0.5,
    bleu: float = 0.2,
    *,
    r: float = 0.5,
    systems: int = 6,
    ends: tuple[float, float] = (NAN, NAN),
    splits: int = 4,
    p: float = 0.5,
    answer: bool = False,
) -> str:
    q2 = np.full(len(CELLS), -0.5)
    q2[CELLS.index(BLEU_CELL)] = bleu
    fit = PlaneFit(
        "d",
        AEv(),
        tuple(f"s{k}" for k in range(systems)),
        9,
        54,
        "both",
        1,
        np.full(len(CELLS), r),
        np.empty((len(CELLS), 0)),
        q2,
        picking,
        p,
        100,
    )
    halves = Halves(splits, 0.5, 0.0, 0.4, 0.3) if splits else Halves(0, NAN, NAN, NAN, NAN)
    study = PlaneStudy(
        small_set(1),
        AEv(),
        predicted("mt", "fluency"),
        (fit,),
        (Verdict(0.5, 0.4, *ends),),
        (halves,),
    )
    return " ".join(study_answer(study) if answer else study.notes)


PLANE = [
    Conclusion(
        "For d, the cross-validated pick is AEv(",
        (plane(p=0.01, answer=True), plane(p=0.049, answer=True)),
        (
            *(plane(p=0.05, answer=True), plane(p=NAN, answer=True)),
            *(plane(p=0.01, systems=5, answer=True), plane(0.2, 0.5, p=0.01, answer=True)),
        ),
    ),
    Conclusion(
        "no cell agrees significantly better than chance",
        (plane(p=0.05, answer=True), plane(p=0.5, answer=True), plane(p=NAN, answer=True)),
        (plane(p=0.049, answer=True), plane(p=0.5, systems=5, answer=True)),
    ),
    Conclusion(
        "so picking pays here",
        (plane(0.5, 0.2), plane(0.1, -0.2), plane(0.5, NAN)),
        (plane(-0.1, -0.2), plane(0.2, 0.5), plane(0.0, NAN), plane(0.2, 0.2), plane(NAN, NAN)),
    ),
    Conclusion(
        "so picking does not pay here: stay with BLEU's point",
        (plane(0.2, 0.5), plane(-0.2, 0.5)),
        (plane(-0.3, -0.2), plane(0.5, 0.2), plane(0.2, 0.2), plane(0.0, NAN)),
    ),
    Conclusion(
        "so neither predicts a system better than the mean of the others does",
        (plane(-0.1, -0.2), plane(-0.2, -0.1), plane(0.0, 0.0), plane(NAN, NAN)),
        (plane(0.1, -0.2), plane(-0.1, 0.2)),
    ),
    Conclusion("so picking makes no difference here", (plane(0.2, 0.2),), (plane(0.2, 0.3),)),
    Conclusion("No cell can be picked", (plane(0.0, -0.2, r=-0.5),), (plane(),)),
    Conclusion("The cross-validated pick is AEv(", (plane(),), (plane(r=-0.5),)),
    Conclusion("systems are too few to tell cells apart", (plane(systems=5),), (plane(systems=6),)),
    Conclusion(
        "the prediction holds", (plane(ends=(0.1, 0.2)),), (plane(ends=(-0.1, 0.2)), plane())
    ),
    Conclusion(
        "the prediction fails", (plane(ends=(-0.2, -0.1)),), (plane(ends=(-0.1, 0.2)), plane())
    ),
    Conclusion(
        "the prediction is undecided",
        (plane(ends=(-0.1, 0.2)), plane(ends=(0.0, 0.2))),
        (plane(ends=(0.1, 0.2)), plane(ends=(-0.2, -0.1)), plane()),
    ),
    Conclusion("without resamples nothing can be said", (plane(),), (plane(ends=(0.1, 0.2)),)),
    Conclusion("too few, or too much alike, to try a pick", (plane(splits=0),), (plane(),)),
]


# ----------------------------------------------------------------------------- matchings


@case
def grid(candidate: str, reference: str, **settings: Any) -> str:
    return grid_caption(kt.GTM(**{"e": 2, **settings}).explain(candidate, reference))


MISSED = grid("a b a a", "a a a b")
UNKNOWN = grid("a b a b a", "b a a b b a c", budget=1)
LARGEST = (
    grid("a b a a", "a a a b", e=1),
    grid("a b a a", "a a a b", search="exact"),
    grid("a x b", "b y a z"),
    grid("a b c", "a b c d"),
    grid("a", "b"),
)
GRID = [
    Conclusion("No matching is larger.", LARGEST, (MISSED, UNKNOWN)),
    Conclusion("The greedy search missed a matching of the size", (MISSED,), (*LARGEST, UNKNOWN)),
    Conclusion("A larger matching may exist", (UNKNOWN,), (*LARGEST, MISSED)),
]


@case
def notes(metric: str, candidate: str, reference: str) -> str:
    return " ".join(kt.metric(metric).corpus([candidate], [reference]).notes)


METRICS = [
    Conclusion(
        "1 of 1 segments proven optimal",
        (notes("gtm:e=2,search=exact", "a b a a", "a a a b"),),
        (notes("gtm:e=2,search=exact,budget=1", "a b a b a", "b a a b b a c"),),
    ),
    Conclusion(
        "so the score is 0",
        (notes("aev", "a b", "a b c d e"), notes("aev:n=1", "a", "b")),
        (notes("aev:n=2", "a b", "a b c"), notes("aev:n=1", "a", "a b")),
    ),
    Conclusion(
        "no word matched",
        (notes("rouge1", "a", "b"), notes("rougeL", "a", "b")),
        (notes("rouge1", "a", "a b"), notes("rouge2", "a b", "b a"), notes("rougeL", "a", "b a")),
    ),
    Conclusion(
        "no n-gram of 2 words matched",
        (notes("rouge2", "a b", "b a"),),
        (notes("rouge2", "a b", "a b"), notes("rouge1", "a", "b")),
    ),
]


# -------------------------------------------------------------------------------- judges


@case
def judges(*rows: tuple[float, ...]) -> str:
    """The notes of judges a, b, … on outputs 1, 2, …; NaN is no judgement."""
    count = len(rows[0])
    values = [
        ("s", str(k), "abcdefg"[j], "d", x)
        for j, row in enumerate(rows)
        for k, x in enumerate(row, 1)
        if not math.isnan(x)
    ]
    outputs = {"s": ["x"] * count}
    evalset = kt.make_evalset("set", outputs, judgements=values, dimensions=["d"])
    agreement = kt.judge_agreement(evalset)
    return " ".join([*(row.note for row in agreement.judges), *agreement.notes])


def ratings(seed: int, count: int, truth: tuple[float, ...] | None = None) -> tuple[float, ...]:
    rng = np.random.default_rng(seed)
    samples = rng.normal(size=count)
    return tuple((samples if truth is None else np.array(truth) + 0.3 * samples).round(2).tolist())


TRUTH = ratings(1, 60)
AGREE = [ratings(seed, 60, TRUTH) for seed in (2, 3, 4, 5)]
ALONE = [
    tuple(x if 20 * j <= k < 20 * j + 20 else NAN for k, x in enumerate(TRUTH)) for j in range(3)
]
COPIED = judges(AGREE[0], AGREE[0], ratings(9, 60))
JUDGES = [
    Conclusion(
        "stands apart: r is",
        (judges(*AGREE, ratings(9, 60)),),
        (judges(*AGREE), judges(*ALONE), COPIED, judges(AGREE[0], ratings(9, 60))),
    ),
    Conclusion(
        "stands apart: the judge's scores are constant",
        (judges(*AGREE, (1.0,) * 60),),
        (judges(*AGREE), judges((1.0,) * 9, (1.0,) * 9, (1.0,) * 8 + (2.0,)), judges(*ALONE)),
    ),
    Conclusion(
        "one judge: cannot be compared",
        (judges(AGREE[0]),),
        (judges(*ALONE), judges(*AGREE), COPIED),
    ),
    Conclusion(
        "One judge in 1 of 1 dimensions: no agreement to measure there.",
        (judges(AGREE[0]),),
        (judges(*ALONE), judges(*AGREE), COPIED),
    ),
    Conclusion(
        "no overlap with other judges: cannot be compared",
        (judges(*ALONE),),
        (judges(*AGREE), COPIED),
    ),
    Conclusion(
        "identical to b: counted as one judge",
        (COPIED,),
        (judges(*AGREE), judges(*ALONE), judges((1.0,) * 60, (1.0,) * 60, TRUTH)),
    ),
]


# ------------------------------------------------------------------------ metrics and humans


@case
def meta(
    systems: int = 4, metrics: tuple[str, ...] = ("bleu", "chrf"), flat: bool = False, **more: Any
) -> str:
    evalset = small_set(
        3,
        systems,
        missing=0.0,
        unjudged=0.0,
        value=(lambda *_: 1.0) if flat else (lambda name, place, _: place * (name > "s1")),
    )
    experiment = kt.Experiment(
        "small", metrics, ("quality",), **{"resamples": 0, "trials": 0, "levels": ("item",), **more}
    )
    report = kt.meta_report(experiment, evalset)
    table, page = report.evaluation.document().tables[0], report.document()
    texts = [*report.evaluation.document().notes, *page.notes]
    texts += [str(row.note) for row in table.rows]
    texts += [str(table.column("heading").cell(row)) for row in table.rows]
    for t in page.tables:
        if t.key == "disagreements":
            texts += [str(t.column("heading").cell(row)) for row in t.rows]
    return " ".join(texts)


SYSTEM = ("system",)
META = [
    Conclusion(
        "are few: at the level of systems",
        (meta(levels=SYSTEM), meta(levels=("item", "system-mean"))),
        (meta(), meta(10, levels=SYSTEM)),
    ),
    Conclusion(
        "so that a positive correlation is agreement",
        (meta(metrics=("bleu", "ter")),),
        (meta(),),
    ),
    Conclusion(
        "8 of 9 groups",  # in the first segment all human scores are 0
        (meta(),),
        (meta(flat=True), meta(levels=SYSTEM)),
    ),
    Conclusion(
        "Groups: the mean is over those in which the statistic is defined",
        (meta(), meta(flat=True)),
        (meta(levels=("segment",)),),
    ),
    Conclusion(
        "undefined: in no segment do both human and metric scores differ",
        (meta(flat=True),),
        (meta(),),
    ),
    Conclusion(
        "undefined: the human scores are constant",
        (meta(flat=True, levels=SYSTEM),),
        (meta(levels=SYSTEM),),
    ),
    Conclusion("No ranks by rmse", (meta(statistics=("rmse",), trials=9),), (meta(trials=9),)),
    Conclusion("Ranks: a metric starts a new rank", (meta(trials=9),), (meta(),)),
    Conclusion("Intervals: 95%, from 7 bootstrap resamples", (meta(resamples=7),), (meta(),)),
    Conclusion(
        "quality: BLEU ranks it higher",
        (meta(),),
        (meta(flat=True),),
    ),
    Conclusion(
        "quality: humans rank it higher",
        (meta(),),
        (meta(flat=True),),
    ),
]


def test_an_output_on_which_metric_and_humans_agree_is_no_disagreement() -> None:
    evalset = kt.make_evalset(
        "set",
        {"a": ["x y z"], "b": ["x y q"], "c": ["q r s"]},
        references=["x y z"],
        judgements=[(s, "1", "j", "d", v) for s, v in (("a", 3), ("b", 2), ("c", 1))],
        dimensions=["d"],
    )
    experiment = kt.Experiment("set", ("rouge1",), resamples=0, trials=0)
    page = kt.meta_report(experiment, evalset).document()
    assert not [table for table in page.tables if table.key == "disagreements"]


# -------------------------------------------------------------------------- comparisons


@case
def compared(metric: str) -> str:
    systems = {"a": ["a b", "c d e f g"], "b": ["a b c", "c d e"]}
    comparison = kt.compare(systems, ["a b c", "c d e f g"], metric)
    document = comparison_document(comparison)
    return " ".join([*document.notes, *document.signatures])


COMPARED = [
    Conclusion(
        "count segments, where bleu is bleu:eff=yes",
        (compared("bleu"),),
        (compared("bleu:eff=yes"), compared("bleu:eff=no"), compared("chrf")),
    )
]


SMALL = (0.1, -0.1) * 5  # differences of ten segments that cancel out
CLEAR = (2.0, 2.2) * 5
WORSE = (-2.0, -2.2) * 5


@case
def verdicts(*differences: Sequence[float], systems: int = 1, **more: Any) -> str:
    """What is said of systems that differ so from the baseline, by a metric for each argument."""
    size = len(differences[0])
    names = [f"new{n}" for n in range(systems)]
    metrics = [
        kt.external_scores(
            f"m{n}", {"base": [0.0] * size, **{name: list(metric_scores) for name in names}}
        )
        for n, metric_scores in enumerate(differences)
    ]
    texts = {name: ["x"] * size for name in ("base", *names)}
    comparison = kt.compare(texts, ["x"] * size, metrics, **more)
    document = comparison_document(comparison)
    return " ".join([*document.answer, document.basis])


COMPARED += [
    Conclusion(
        "new0 beats base by",
        (verdicts(CLEAR), verdicts(CLEAR, SMALL), verdicts(CLEAR, CLEAR), verdicts(CLEAR[:6])),
        (
            *(verdicts(SMALL), verdicts(WORSE), verdicts(CLEAR, WORSE), verdicts((0.0,) * 10)),
            *(verdicts(CLEAR[:5]), verdicts(CLEAR, buckets=2)),
        ),
    ),
    Conclusion(
        "new0 is worse than base by",
        (verdicts(WORSE), verdicts(WORSE, SMALL)),
        (verdicts(SMALL), verdicts(CLEAR), verdicts(WORSE, CLEAR), verdicts(WORSE[:5])),
    ),
    Conclusion(
        "by both metrics",
        (verdicts(CLEAR, CLEAR), verdicts(WORSE, WORSE)),
        (verdicts(CLEAR, SMALL), verdicts(CLEAR, WORSE), verdicts(SMALL, SMALL)),
    ),
    Conclusion(
        "new0 is better than base by",
        (verdicts(CLEAR, WORSE), verdicts(WORSE, CLEAR)),
        (verdicts(CLEAR, SMALL), verdicts(CLEAR, CLEAR), verdicts(SMALL, SMALL)),
    ),
    Conclusion(
        "does not tell new0 and base apart",
        (verdicts(SMALL), verdicts((0.0,) * 10)),
        (verdicts(CLEAR), verdicts(WORSE), verdicts(SMALL, SMALL), verdicts(CLEAR[:5])),
    ),
    Conclusion(
        "No metric tells new0 and base apart",
        (verdicts(SMALL, SMALL),),
        (verdicts(SMALL), verdicts(SMALL, CLEAR), verdicts(CLEAR[:5], CLEAR[:5])),
    ),
    Conclusion(
        "does not tell them apart",
        (verdicts(CLEAR, SMALL), verdicts(SMALL, WORSE)),
        (verdicts(CLEAR, CLEAR), verdicts(SMALL, SMALL)),
    ),
    Conclusion(
        "are too few to tell systems apart",
        (verdicts(CLEAR[:5]), verdicts(SMALL[:5]), verdicts(CLEAR, buckets=2)),
        (verdicts(CLEAR[:6]), verdicts(SMALL), verdicts(CLEAR, buckets=9)),
    ),
    Conclusion(
        "5 of 5 systems beat base:",
        (verdicts(CLEAR, systems=5),),
        (verdicts(SMALL, systems=5), verdicts(CLEAR, WORSE, systems=5), verdicts(CLEAR, systems=4)),
    ),
    Conclusion(
        "5 of 5 systems beat base by at least one metric and are worse by none",
        (verdicts(CLEAR, SMALL, systems=5),),
        (verdicts(CLEAR, WORSE, systems=5), verdicts(SMALL, SMALL, systems=5)),
    ),
    Conclusion(
        "5 of 5 systems are worse than base by at least one metric and better by none",
        (verdicts(WORSE, SMALL, systems=5),),
        (verdicts(CLEAR, WORSE, systems=5), verdicts(SMALL, SMALL, systems=5)),
    ),
    Conclusion(
        "5 of 5 systems are better than base by one metric and worse by another",
        (verdicts(CLEAR, WORSE, systems=5),),
        (verdicts(CLEAR, SMALL, systems=5), verdicts(WORSE, SMALL, systems=5)),
    ),
    Conclusion(
        "5 of 5 systems do not differ significantly from base",
        (verdicts(SMALL, systems=5),),
        (verdicts(CLEAR, systems=5), verdicts(SMALL, CLEAR, systems=5)),
    ),
    Conclusion(
        "These are 5 tests, not corrected for their number",
        (verdicts(CLEAR, systems=5, correction="none"),),
        (
            verdicts(SMALL, systems=5, correction="none"),
            verdicts(CLEAR, systems=4, correction="none"),
            verdicts(CLEAR, systems=5),
        ),
    ),
    Conclusion(
        "; simultaneous for all tests (4).",
        (verdicts(CLEAR, systems=4), verdicts(SMALL, systems=4), verdicts(*[CLEAR] * 4)),
        (verdicts(CLEAR), verdicts(CLEAR[:5], systems=4), verdicts(CLEAR, systems=5)),
    ),
    Conclusion(
        "no other system differs significantly",
        (verdicts(SMALL, systems=2),),
        (verdicts(SMALL), verdicts(CLEAR, systems=2), verdicts(SMALL[:5], systems=2)),
    ),
    Conclusion(
        "new1 does not differ significantly",
        (verdicts(CLEAR, systems=2),),
        (verdicts(CLEAR), verdicts(WORSE, systems=2)),
    ),
    Conclusion(
        "new0 is equivalent to base within 1 m0",
        (verdicts(SMALL, margin=1), verdicts((0.5, 0.6) * 5, margin=1)),
        (verdicts(SMALL), verdicts(CLEAR, margin=1), verdicts(SMALL[:5], margin=1)),
    ),
    Conclusion(
        "new0 is not worse than base by more than 1 m0",
        (verdicts(CLEAR, margin=1),),
        (verdicts(SMALL, margin=1), verdicts(WORSE, margin=1)),
    ),
    Conclusion(
        "new0 loses more than 1 m0",
        (verdicts(WORSE, margin=1),),
        (verdicts(WORSE, margin=3), verdicts(CLEAR, margin=1), verdicts(WORSE[:5], margin=1)),
    ),
    Conclusion(
        "5 units are too few to tell systems apart: at least 6 are needed.",
        (verdicts(CLEAR, units=tuple("aabbccddee")),),
        (verdicts(CLEAR, units=tuple("aabbccddef")), verdicts(CLEAR[:5])),
    ),
    Conclusion(
        "6 segments are too few to tell systems apart: at least 8 are needed for 4 tests.",
        (verdicts(CLEAR[:6], systems=4),),
        (verdicts(CLEAR[:6], systems=4, correction="none"), verdicts(CLEAR[:8], systems=4)),
    ),
    Conclusion(
        "; not corrected for the number of tests (4).",
        (verdicts(CLEAR, systems=4, correction="none"),),
        (verdicts(CLEAR, systems=4), verdicts(CLEAR, systems=5, correction="none")),
    ),
    Conclusion(
        "10 segments can detect a difference of",
        (verdicts(SMALL), verdicts(SMALL, CLEAR)),
        (verdicts(CLEAR), verdicts(SMALL[:5])),
    ),
]


@case
def scored(*values: float) -> str:
    """What is said of the scores of systems A, B, …"""
    systems = {name: [value] for name, value in zip("ABCD", values, strict=False)}
    scores = kt.score({name: ["x"] for name in systems}, ["x"], kt.external_scores("m", systems))
    return scores.summary


SCORED = [
    Conclusion(
        ": A.", (scored(2.0, 1.0), scored(2.0, 1.0, 0.0)), (scored(1.0, 2.0), scored(1.0, 1.0))
    ),
    Conclusion(": A and B.", (scored(2.0, 2.0, 1.0),), (scored(2.0, 2.0), scored(2.0, 1.0, 2.0))),
    Conclusion(
        "All systems have the same score",
        (scored(1.0, 1.0), scored(1.0, 1.0, 1.0)),
        (scored(1.0, 2.0), scored(1.0, 1.0, 2.0), scored(1.0)),
    ),
    Conclusion("Differences are not tested", (scored(1.0, 2.0), scored(1.0, 1.0)), (scored(1.0),)),
]


# --------------------------------------------------------------------------------- gates


class GivenMean:
    """A measure of other programs: the mean of numbers."""

    sign, full_scale = 1, 100.0

    def __str__(self) -> str:
        return "m"

    def columns(self) -> tuple[str, ...]:
        return "sum", "count"

    def measure(self, rows: Any) -> dict[str, Any]:
        total, count = np.asarray(rows, float).T
        return {"value": total / count}

    def of_segments(self) -> GivenMean:
        return self


@case
def gated(differences: Sequence[float], carried: str = "", **limits: Any) -> str:
    """What a gate says of items that scored 50 and changed so."""
    ids = tuple(f"i{n}" for n in range(len(differences)))

    def items(scores: Sequence[float], names: str) -> kt.ItemScores:
        rows = np.array([(score, 1.0) for score in scores])
        measures = (kt.MeasuredItems(GivenMean(), "m|version=1", rows),)
        nugget_names = tuple((name,) for name in names) if names else None
        texts = lambda places: [kt.ItemText("x", "x") for _ in places]  # noqa: E731
        return kt.ItemScores("run", ids, measures, "same", texts, "other", nugget_names, "nugget")

    before = "a" * len(differences) if carried else ""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "baseline.tsv"
        kt.write_baseline(items([50.0] * len(ids), before), baseline=path)
        after = items([50 + difference for difference in differences], carried)
        return kt.gate(after, baseline=path, **limits).summary


ALIKE = (-1.0,) * 5
GATED = [
    Conclusion(
        ": this is a loss.",
        (gated(WORSE), gated((-1.0,) * 6)),
        (gated(CLEAR), gated(SMALL), gated((0.0,) * 9), gated(ALIKE), gated(WORSE, max_drop=1)),
    ),
    Conclusion(
        ": this is a loss of more than 1.00",
        (gated(WORSE, max_drop=1),),
        (gated(WORSE, max_drop=5), gated(WORSE, max_drop=2.1), gated(CLEAR, max_drop=1)),
    ),
    Conclusion(
        "a loss is ruled out",
        (gated(CLEAR), gated((0.0,) * 9)),
        (gated(SMALL), gated(WORSE), gated((1.0,) * 5), gated(WORSE, max_drop=5)),
    ),
    Conclusion(
        "a loss of more than 5.00 is ruled out",
        (gated(WORSE, max_drop=5), gated(SMALL, max_drop=5)),
        (gated(WORSE, max_drop=1), gated((-20.0, 20.0) * 3, max_drop=5)),
    ),
    Conclusion(
        "these items cannot tell whether this is a loss",
        (gated(SMALL), gated(ALIKE)),
        (gated(CLEAR), gated(WORSE), gated((0.0,) * 9)),
    ),
    Conclusion(
        "at least 6 are needed to decide",
        (gated(ALIKE), gated((1.0,) * 5), gated((0.0,) * 5), gated((-1.0, -1.1, -0.9))),
        (gated((-1.0,) * 6), gated(SMALL)),
    ),
    Conclusion(
        "items like these would decide (an estimate)",
        (gated((-1.0, 0.9) * 5),),
        (gated(ALIKE), gated(CLEAR), gated(WORSE), gated((-1.0, 1.0) * 5)),
    ),
    Conclusion(
        "no number of items would decide",
        (gated((-1.0, 1.0) * 5),),
        (gated((-1.0, 0.9) * 5), gated(ALIKE), gated((0.0,) * 9)),
    ),
    Conclusion(
        "Fail: m is 47.90, expected at least 49.00",
        (gated(WORSE, min_score=49),),
        (gated(WORSE, min_score=47), gated(CLEAR, min_score=49)),
    ),
    Conclusion(
        "10 items lose more than 1.00",
        (gated(WORSE, max_item_drop=1),),
        (gated(WORSE, max_item_drop=3), gated(CLEAR, max_item_drop=1)),
    ),
    Conclusion(
        "1 item loses more than 1.00",
        (gated((*CLEAR, -2.0), max_item_drop=1),),
        (gated(WORSE, max_item_drop=1), gated(CLEAR, max_item_drop=1)),
    ),
    Conclusion(
        "no item loses more than 3.00",
        (gated(WORSE, max_item_drop=3), gated(CLEAR, max_item_drop=3)),
        (gated((*WORSE, -4.0), max_item_drop=3),),
    ),
    Conclusion(
        "no nugget was lost",
        (gated(CLEAR, "a" * 10, no_loss=True),),
        (gated(CLEAR, "a" * 9 + "b", no_loss=True), gated(CLEAR, "a" * 10)),
    ),
    Conclusion(
        "1 nugget lost (i9: a)",
        (gated(CLEAR, "a" * 9 + "b", no_loss=True),),
        (gated(CLEAR, "a" * 10, no_loss=True), gated(CLEAR, "a" * 8 + "bb", no_loss=True)),
    ),
]


# ------------------------------------------------------------------------------ nuggets


def agreed(f: float) -> AssessorAgreement:
    return AssessorAgreement(f, f, f, f, f, f)


@case
def chosen(calibrated: float, best: float, likely: float | None) -> str:
    tuning = SimpleNamespace(
        best=SimpleNamespace(agreement=agreed(best)),
        likeliest=(
            SimpleNamespace(name="nugget"),
            None if likely is None else agreed(likely),
            None,
        ),
    )
    evaluation = SimpleNamespace(
        calibrated=SimpleNamespace(agreement=agreed(calibrated)), tuning=tuning
    )
    return nugget_evaluation.NuggetEvaluation._winners(evaluation)  # type: ignore[arg-type]


@case
def significance(*numbers: float) -> str:
    questions, old, new, p, *ends = numbers
    return str(Significance("F", int(questions), old, new, new - old, p, *ends))


NUGGETS = [
    Conclusion(
        "the calibrated classifier",
        (chosen(0.8, 0.7, 0.6), chosen(0.8, 0.7, None)),
        (chosen(0.7, 0.8, 0.6), chosen(0.7, 0.6, 0.8), chosen(0.8, 0.8, None)),
    ),
    Conclusion(
        "best of 24 settings",
        (chosen(0.7, 0.8, None), chosen(0.7, 0.8, 0.6)),
        (chosen(0.8, 0.7, 0.6), chosen(0.7, 0.6, 0.8)),
    ),
    Conclusion(
        "the paper's classifier, threshold model nugget",
        (chosen(0.7, 0.6, 0.8),),
        (chosen(0.7, 0.8, 0.6),),
    ),
    Conclusion(
        "have the same F", (chosen(0.8, 0.8, None),), (chosen(0.8, 0.7, 0.7), chosen(0.7, 0.8, 0.8))
    ),
    Conclusion(
        "too few for a test",
        (significance(1, 0.1, 0.2, NAN),),
        (significance(2, 0.1, 0.2, 0.5, -1, 1),),
    ),
    Conclusion(
        "there is no F to compare",
        (significance(0, NAN, NAN, NAN),),
        (significance(1, 0.1, 0.2, NAN), significance(2, 0.1, 0.2, 0.5, -1, 1)),
    ),
]


# ------------------------------------------------------------------------------ realisers


@case
def overlap_note(count: int, of: int = 10) -> str:
    return TrainingOverlap(of, count, count / of).note


REALIZERS = [
    Conclusion(
        "trained on none of these sentences",
        (overlap_note(0),),
        (overlap_note(1), overlap_note(10)),
    ),
    Conclusion(
        "occur in what the model was trained on too",
        (overlap_note(1), overlap_note(4)),
        (overlap_note(0), overlap_note(5)),
    ),
    Conclusion(
        "say nothing about other text",
        (overlap_note(5), overlap_note(10)),
        (overlap_note(0), overlap_note(4)),
    ),
]


# ---------------------------------------------------------------------------------- sets


def remarked(**changed: Any) -> Case:
    inputs: dict[str, Any] = {
        "systems": {"a": ["x", "y"], "b": ["x", "y"]},
        "references": ["x", "y"],
        "judgements": [(s, k, "j", "d", float(k)) for s in "ab" for k in "12"],
        "dimensions": ["d"],
    }
    return lambda: " ".join(kt.check_evalset(kt.make_evalset("set", **(inputs | changed))).notes)


SETS = [
    Conclusion(
        "one system: there is nothing to compare",
        (remarked(systems={"a": ["x", "y"]}, judgements=[]),),
        (remarked(),),
    ),
    Conclusion("b: not judged", (remarked(judgements=[("a", "1", "j", "d", 1.0)]),), (remarked(),)),
    Conclusion(
        "no segment has a reference: metrics that need one cannot score the set",
        (remarked(references=None),),
        (remarked(),),
    ),
    Conclusion(
        "always gave one value and have no z-scores",
        (remarked(judgements=[("a", k, "j", "d", 1.0) for k in "12"]),),
        (remarked(),),
    ),
]


ALL = [
    *(*PLANE, *GRID, *METRICS, *JUDGES, *META, *COMPARED, *SCORED, *GATED),
    *(*NUGGETS, *REALIZERS, *SETS),
]


@pytest.mark.parametrize("conclusion", ALL, ids=lambda conclusion: conclusion.sentence[:40])
def test_a_conclusion_is_drawn_where_it_must_and_nowhere_else(conclusion: Conclusion) -> None:
    for case_sentences in conclusion.cases:
        assert conclusion.sentence in case_sentences()
    for case_sentences in conclusion.other_cases:
        assert conclusion.sentence not in case_sentences()


def test_a_negative_correlation_has_its_sign_in_the_table_and_in_the_picture() -> None:
    fit = fit_plane(kt.load_evalset("demo"), "fluency", resamples=0, permutations=20)
    table, chart = plane_table(fit), plane_chart(fit, None)
    assert {-1.0, 1.0} == set(np.sign(fit.r))
    assert chart.values == [[row[f"alpha{k}"] for k in range(11)] for row in table.rows]
    assert chart.caption.endswith("A minus sign marks a negative correlation.")


def test_points_without_signs_are_told_where_a_correlation_is_negative() -> None:
    study = study_plane(kt.load_evalset("demo"), AEv(), ["fluency"], resamples=0, splits=0)
    assert POINTS_UNSIGNED in study.notes
    agrees = study_plane(kt.load_evalset("demo"), AEv(), ["errors"], resamples=0, splits=0)
    assert POINTS_UNSIGNED not in agrees.notes
