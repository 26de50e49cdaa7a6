"""Answers of meta-evaluation: the sentences that follow from numbers, and where there are none."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

import karat as kt
from karat.evalset.conversion import EvalSetCheck
from karat.meta.evaluation import Ranking
from karat.meta.experiment import Experiment
from karat.meta.fit import Fit, FitRow, LeftOut, ScoreFit
from karat.meta.judge_agreement import DimensionAgreement, JudgeAgreement, JudgeRow
from karat.meta.plane_study import Verdict
from karat.meta.ranking import MetaRow, MetricTest, by_mean_rank, leaders
from karat.meta.reliability import ReliabilityCurves, ReliabilityRow, ReliabilitySettings
from karat.report.documents.evalsets import check_answer, judges_answer
from karat.report.documents.fits import fit_answer
from karat.report.documents.meta import average_answer, meta_answer, meta_basis, row_labels
from karat.report.documents.planes import plane_answer, recommendation_answer, study_answer
from karat.report.documents.reliability import reliability_answer

NAN = math.nan

# ------------------------------------------------------------------------------------- ranks


def rows(
    metrics: Sequence[tuple[str, int | None, float]],
    dimension: str = "fluency",
    level: str = "segment",
    statistic: str = "pearson",
    *,
    width: float = 0.1,
    points: int = 90,
) -> list[MetaRow]:
    """Metrics with their ranks and values; all intervals reach as far."""
    counts = points, 1, 0, 0
    return [
        MetaRow(dimension, level, statistic, rank, name, x, x - width, x + width, *counts, "")
        for name, rank, x in metrics
    ]


def ranking(meta_rows: Sequence[MetaRow]) -> Ranking:
    names = {key: tuple(dict.fromkeys(getattr(row, key) for row in meta_rows)) for key in FIELDS}
    experiment = Experiment("set", *names.values())
    tested = any(row.rank is not None for row in meta_rows) and len(names["metric"]) > 1
    tests = (MetricTest("d", "segment", "pearson", "a", "b", 0.1, 0.5),) if tested else ()
    return Ranking(experiment, tuple(meta_rows), tests, {})


FIELDS = ("metric", "dimension", "level", "statistic")
TIED = [("bleu", 1, 0.4), ("chrf", 1, 0.35), ("ter", 2, 0.2)]
ALL = [("bleu", 1, 0.4), ("chrf", 1, 0.35), ("ter", 1, 0.2)]
LOW = [("bleu", 1, 0.2), ("chrf", 1, 0.15), ("ter", 2, 0.1)]
ALONE = [("bleu", 1, 0.4), ("chrf", 2, 0.35)]
BEST = "agrees best with fluency at segment level: Pearson's r 0.400 [0.300, 0.500]"
FEW = "4 systems are too few to rank metrics at system level."

SAID = {
    "few points": (
        rows(TIED, points=5),
        ("5 points are too few to rank metrics at segment level.",),
    ),
    "few of both": (
        [*rows(TIED, level="system", points=3), *rows(TIED, points=3)],
        (
            "3 points are too few to rank metrics at segment level.",
            "3 systems are too few to rank metrics at system level.",
        ),
    ),
    "tied": (rows(TIED), (f"BLEU {BEST}, tied with chrF.",)),
    "alone": (rows(ALONE), (f"BLEU {BEST}, alone at rank 1.",)),
    "all": (
        rows(ALL),
        (
            "No metric stands out for fluency at segment level: all 3 metrics are tied; the "
            "highest is BLEU, Pearson's r 0.400 [0.300, 0.500].",
        ),
    ),
    "alone, with the interval of a difference": (
        [
            rows(ALONE)[0],
            rows(ALONE)[1]._replace(delta=-0.05, delta_low=-0.1, delta_high=-0.01),
        ],
        (f"BLEU {BEST}, alone at rank 1; next is chrF (difference -0.050 [-0.100, -0.010]).",),
    ),
    "alone by the test, but not by the interval": (
        [
            rows(ALONE)[0],
            rows(ALONE)[1]._replace(delta=-0.05, delta_low=-0.1, delta_high=0.01),
        ],
        (
            f"BLEU {BEST}, alone at rank 1 by the permutation test; next is chrF (difference "
            "-0.050 [-0.100, 0.010], includes 0).",
        ),
    ),
    "zero in the interval": (
        rows(ALONE, width=0.4),
        (
            "BLEU agrees best with fluency at segment level: Pearson's r 0.400 [0.000, 0.800] "
            "(includes 0), alone at rank 1.",
        ),
    ),
    "accuracies have no zero": (
        rows(ALONE, statistic="acc-eq", width=0.4),
        (
            "BLEU agrees best with fluency at segment level: acc-eq 0.400 [0.000, 0.800], alone at "
            "rank 1.",
        ),
    ),
    "another rank by another statistic": (
        [*rows(ALONE), *rows([("chrf", 1, 0.3), ("bleu", 2, 0.1)], statistic="tau-b")],
        (f"BLEU {BEST}, alone at rank 1; but BLEU has rank 2 by tau-b.",),
    ),
    "not tested": (
        rows([("bleu", None, 0.4), ("chrf", None, 0.3)]),
        (
            "BLEU has the highest Pearson's r with fluency at segment level, 0.400 [0.300, 0.500]; "
            "differences between metrics were not tested.",
        ),
    ),
    "lower is better": (
        rows([("bleu", None, 0.2), ("chrf", None, 0.3)], statistic="rmse"),
        (
            "BLEU has the lowest RMSE with fluency at segment level, 0.200 [0.100, 0.300]; "
            "differences between metrics were not tested.",
        ),
    ),
    "one metric": (
        rows([("bleu", 1, 0.4)]),
        ("BLEU and fluency at segment level: Pearson's r 0.400 [0.300, 0.500].",),
    ),
    "few systems": (rows(ALONE, level="system", points=4), (FEW,)),
    "enough systems": (
        rows(ALONE, level="system", points=6),
        (f"BLEU {BEST.replace('segment', 'system')}, alone at rank 1.",),
    ),
    "few systems, many segments": (
        [*rows(ALONE, level="system", points=4), *rows(ALONE)],
        (f"BLEU {BEST}, alone at rank 1.", FEW),
    ),
    "segments before groups": (
        [*rows(TIED, level="item"), *rows(ALONE)],
        (f"BLEU {BEST}, alone at rank 1.",),
    ),
    "many dimensions": (
        [row for d in "abcde" for row in rows(ALONE if d == "a" else TIED, d)],
        ("BLEU has rank 1 in all 5 dimensions at segment level by Pearson's r.",),
    ),
    "many dimensions, some uncertain": (
        [row for d in "abcde" for row in rows(LOW if d < "c" else TIED, d, width=0.3)],
        (
            "BLEU and chrF have rank 1 in all 5 dimensions at segment level by Pearson's r; in 2 "
            "of them the interval of the highest value includes 0.",
        ),
    ),
    "matrices": (
        rows(ALONE, "human"),
        (f"BLEU {BEST.replace('fluency', 'human scores')}, alone at rank 1.",),
    ),
    "undefined": (
        rows([("bleu", None, NAN), ("chrf", None, NAN)]),
        ("The agreement of metrics with fluency is undefined.",),
    ),
    "undefined for one reason": (
        [
            row._replace(note="undefined: the human scores are constant")
            for row in rows([("bleu", None, NAN)])
        ],
        ("The agreement of metrics with fluency is undefined: the human scores are constant.",),
    ),
    "equal": (
        rows([("bleu", 1, 0.4), ("chrf", 1, 0.4)]),
        (
            "No metric stands out for fluency at segment level: both metrics are tied, with the "
            "same Pearson's r, 0.400.",
        ),
    ),
}


@pytest.mark.parametrize("name", SAID)
def test_a_ranking_answers(name: str) -> None:
    meta_rows, expected = SAID[name]
    assert meta_answer(ranking(meta_rows)) == expected


def test_ties_and_few_systems_are_explained_where_they_occur() -> None:
    basis = meta_basis(ranking([*rows(TIED), *rows(TIED, level="system", points=4)]))
    assert "Tied metrics have the same rank: they do not differ significantly (PERM-BOTH" in basis
    assert "Ranks at system level need 6 systems or more." in basis
    bare = meta_basis(ranking(rows([("bleu", None, 0.4), ("chrf", None, 0.3)])))
    assert bare == "In brackets: 95% bootstrap intervals over systems and segments."


def test_the_set_and_its_judges_are_stated() -> None:
    experiment = kt.Experiment("demo", ("bleu",), ("adequacy",), resamples=0, trials=0)
    assert meta_basis(kt.meta_evaluate(experiment)).startswith(
        "4 systems, 12 segments, 48 judged outputs by 3 judges."
    )


@pytest.mark.parametrize(
    ("judges", "expected"),
    [
        (("all",), "48 judged outputs; the raters are not named."),
        (("merged", "all"), "48 judged outputs; the raters are not named."),
        (("all", "ann"), "48 judged outputs by 2 judges."),
        (("ann",), "48 judged outputs by 1 judge (ann)."),
    ],
)
def test_raters_who_are_not_named_are_not_one_judge(judges: tuple[str, ...], expected: str) -> None:
    demo = kt.load_evalset("demo")
    names = [*judges, *judges, *judges]
    rows = [
        (system, segment, names[i % len(judges)], "q", float(i))
        for system in demo.systems
        for i, segment in enumerate(demo.segments)
    ]
    texts = {name: list(outputs) for name, outputs in demo.systems.items()}
    references = [list(group) for group in demo.references]
    evalset = kt.make_evalset(
        "made", texts, references=references, judgements=rows, dimensions=["q"]
    )
    experiment = kt.Experiment("made", ("bleu",), ("q",), resamples=0, trials=0)
    assert meta_basis(kt.meta_evaluate(experiment, evalset)).startswith(
        f"4 systems, 12 segments, {expected}"
    )


def test_metrics_of_one_name_keep_their_settings() -> None:
    named_ranking = ranking(
        rows([("bleu", 1, 0.4), ("given:metric=BLEU", 2, 0.3), ("chrf", 2, 0.2)])
    )
    assert row_labels(named_ranking) == {
        "bleu": "bleu",
        "given:metric=BLEU": "given:metric=BLEU",
        "chrf": "chrF",
    }


def test_metrics_stand_by_their_mean_rank() -> None:
    first_leaders = leaders(rows([("a", 1, 0.4), ("b", 1, 0.3), ("c", 2, 0.2)]))
    two = leaders(rows([("b", 1, 0.4), ("c", 2, 0.3), ("a", 3, 0.2)]))
    order = by_mean_rank([first_leaders[0].rows, two[0].rows], ["a", "b", "c"])
    assert order == ["b", "a", "c"]  # mean ranks 1, 2 and 2; a is before c in more places


# ---------------------------------------------------------------------------------- averages


def test_an_average_answers_by_rank() -> None:
    rng = kt.load_evalset("demo")
    experiment = kt.Experiment(
        "demo", ("bleu", "chrf"), ("adequacy",), ("segment",), ("pearson",), resamples=50, trials=50
    )
    average = kt.average_rankings([kt.meta_evaluate(experiment, rng)])
    best, other = average.rows
    (sentence,) = average_answer(average)
    assert sentence.startswith(f"chrF has the highest average over 1 task, {best.value:.3f} [")
    delta = f"{other.delta:.3f} [{other.delta_low:.3f}, {other.delta_high:.3f}]"
    lead = (
        f"alone at rank 1 by the permutation test; next is BLEU (difference {delta}, includes 0)."
    )
    assert (other.rank, (other.delta_high or 0) > 0) == (2, True)
    assert sentence.endswith(lead)


# ------------------------------------------------------------------------------------- planes


def test_few_systems_are_the_first_that_a_plane_says() -> None:
    fit = kt.fit_plane("demo", "fluency", resamples=0)
    row = fit.row(fit.maximum)
    assert plane_answer(fit) == (
        "4 systems are too few to tell cells of the plane apart.",
        f"For fluency, the largest R^2 is {100 * row.r2:.0f}% at AEv(1,4), p = {fit.p:.3f}.",
    )


@pytest.mark.parametrize(
    ("p", "picking", "expected"),
    [
        (0.2, 0.5, "no cell agrees significantly better than chance: the largest R^2 is 25% at"),
        (0.01, 0.5, "the cross-validated pick is AEv(0,1): picking a cell explains 50.0%"),
        (0.01, 0.1, "picking a cell does not pay: it explains 10.0% of the variance of left-out"),
        (0.01, NAN, "picking a cell does not pay: it explains an undefined share"),
    ],
)
def test_a_plane_with_enough_systems_says_what_to_pick(
    p: float, picking: float, expected: str
) -> None:
    (sentence,) = plane_answer(enough(p, picking))
    assert sentence.startswith(f"For d, {expected}")


def test_a_plane_that_predicts_nothing_says_so() -> None:
    (sentence,) = plane_answer(enough(0.01, -0.1, -0.2))
    assert sentence.startswith("For d, neither a picked cell nor BLEU's point predicts left-out")


def enough(p: float, picking: float, bleu: float = 0.2) -> kt.PlaneFit:
    """A plane of six systems whose 44 cells all have R^2 = 0.25."""
    import numpy as np

    n = 44
    q2 = np.full(n, bleu)
    q2[0] = max(bleu, 0.3)
    systems = tuple("abcdef")
    arguments = "d", kt.metric("aev"), systems, 9, 54, "both", 1, np.full(n, 0.5)
    return kt.PlaneFit(*arguments, np.empty((n, 0)), q2, picking, p, 100)


def test_verdicts_on_the_prediction_are_one_sentence_for_several_dimensions() -> None:
    region = kt.predicted("mt", "fluency")
    study = kt.study_plane("demo", region=region, resamples=9, splits=0)
    last = study_answer(study)[-1]
    assert last.startswith("The paper's prediction, alpha 0.7 to 1, n 3 to 4, is undecided for ")
    assert last.count("fluency") == 1


@pytest.mark.parametrize(
    ("ends", "enough", "words"),
    [
        ((0.1, 0.2), True, "holds"),
        ((0.1, 0.2), False, "undecided"),
        ((-0.2, -0.1), True, "fails"),
        ((-0.2, -0.1), False, "undecided"),
        ((-0.1, 0.2), True, "undecided"),
    ],
)
def test_few_systems_decide_no_prediction(
    ends: tuple[float, float], enough: bool, words: str
) -> None:
    assert Verdict(0.5, 0.4, *ends, enough).words == words


def test_a_prediction_on_four_systems_is_undecided() -> None:
    study = kt.study_plane(
        "demo",
        dimensions=["fluency"],
        region=kt.predicted("mt", "fluency"),
        over="segments",
        resamples=200,
        splits=0,
    )
    assert study.verdicts[0].low > 0  # on these four systems, whatever the segments
    sentences = " ".join((*study_answer(study), *study.notes))
    assert "is undecided" in sentences
    assert "holds" not in sentences


@pytest.mark.parametrize(
    ("task", "guideline", "expected"),
    [
        ("qa", "strict", "R^2 86.26% in the paper's Table 6 (11 systems"),
        ("summary", "coverage", "Use aev:preset=paper,alpha=0,n=1 for generic summaries with"),
        ("paraphrase", "adequacy", "the paper predicts it, but measured no such task."),
    ],
)
def test_a_recommendation_says_what_it_rests_on(task: str, guideline: str, expected: str) -> None:
    assert expected in recommendation_answer(kt.recommend(task, guideline))[0]


# --------------------------------------------------------------- reliability, fits, judges, sets


def curves(values: dict[str, tuple[float, float]]) -> ReliabilityCurves:
    """Curves at 1 and 25 segments."""
    curve_rows = [
        ReliabilityRow("mqm", "pearson", 1, name, length, 9, x, x - 0.1, x + 0.1, 0)
        for name, ends in values.items()
        for length, x in zip((1, 25), ends, strict=True)
    ]
    settings = ReliabilitySettings(
        *("set", tuple(values), ("mqm",), (1, 25), (1,), ("pearson",), "summed", "none", 5, 5, 1, 1)
    )
    return ReliabilityCurves(settings, tuple(curve_rows), (), {}, (), {})


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (
            {"bleu": (0.1, 0.3), "ter": (0.2, 0.2)},
            (
                "On texts of 25 segments, BLEU has the highest Pearson's r with mqm, 0.300 "
                "[0.200, 0.400]; on texts of 1 segment it has 0.100; differences between metrics "
                "were not tested.",
            ),
        ),
        (
            {"bleu": (NAN, 0.3)},
            ("BLEU and mqm on texts of 25 segments: Pearson's r 0.300 [0.200, 0.400].",),
        ),
        ({"bleu": (NAN, NAN)}, ()),
    ],
)
def test_curves_answer_by_their_ends(
    values: dict[str, tuple[float, float]], expected: tuple[str, ...]
) -> None:
    assert reliability_answer(curves(values)) == expected


@pytest.mark.parametrize(
    ("unseen", "expected"),
    [
        (0.3, "BLEU explains 40.0% of the variance of d, and 30.0% for left-out systems."),
        (
            -0.3,
            "BLEU explains 40.0% of the variance of d, but predicts left-out systems no better "
            "than the mean of the others.",
        ),
        (NAN, "BLEU explains 40.0% of the variance of d."),
    ],
)
def test_a_fit_answers_for_unseen_systems(unseen: float, expected: str) -> None:
    terms = (FitRow("d", name, 1.0, 0.1, 10.0, 0.0) for name in ("intercept", "bleu"))
    out = (LeftOut("d", "system", 4, 1.0, 1.0, unseen, 0),)
    fit = ScoreFit("set", tuple(terms), (Fit("d", 9, 0.4, 0.3, 1.0),), out, (), {}, (), {})
    assert fit_answer(fit) == (expected,)


def judges(alpha: float, shared: int, *flagged: bool, name: str = "j") -> JudgeAgreement:
    row = DimensionAgreement("d", 2, 9, shared, 0.5, 0.5, alpha, alpha, alpha, NAN)
    all_judges = (
        JudgeRow(
            "d", f"{name}{k}" if name == "j" else name, 9, 1.0, 1.0, 0.5, 9, flag, True, None, ""
        )
        for k, flag in enumerate(flagged)
    )
    return JudgeAgreement("set", (row,), tuple(all_judges))


AGREED = (
    "d: Krippendorff's ordinal alpha 0.500, mean r of two judges 0.500 (12 outputs with two "
    "judges or more)."
)


@pytest.mark.parametrize(
    ("agreement", "expected"),
    [
        (judges(0.5, 12, False, False, False), "No judge is flagged as an outlier."),
        (
            judges(0.5, 12, True, False, False),
            "j0 is flagged as an outlier in at least one dimension.",
        ),
        (judges(0.5, 12, False, False), AGREED),
        (judges(NAN, 0), "No output has two judges: their agreement cannot be measured."),
        (
            judges(NAN, 0, False, name="all"),
            "The raters are not named: their agreement cannot be measured.",
        ),
        (
            judges(0.9, 9, False, False),
            "d: 9 outputs have two judges, too few to state how far they agree (at least 10 are "
            "needed).",
        ),
    ],
)
def test_judges_answer(agreement: JudgeAgreement, expected: str) -> None:
    assert judges_answer(agreement)[-1] == expected


@pytest.mark.parametrize(("shared", "stated"), [(2, False), (9, False), (10, True)])
def test_alpha_of_few_shared_outputs_is_no_headline(shared: int, stated: bool) -> None:
    sentences = " ".join(judges_answer(judges(0.9, shared, False, False)))
    assert ("alpha 0.900" in sentences) == stated


def test_agreement_that_is_undefined_says_why() -> None:
    assert judges_answer(judges(NAN, 12)) == (
        "d: the judges gave only one value, so their agreement cannot be measured.",
    )
    assert judges_answer(judges(NAN, 1)) == (
        "d: 1 output has two judges, too few to state how far they agree (at least 10 are needed).",
    )


def test_nobody_is_cleared_where_nobody_could_be_flagged() -> None:
    cleared = "No judge is flagged as an outlier."
    three = judges(0.5, 12, False, False, False)
    assert cleared in judges_answer(three)
    assert cleared not in judges_answer(judges(0.5, 9, False, False, False))
    first, second, third = three.judges
    twins = (first._replace(identical="j1"), second._replace(identical="j0"), third)
    assert cleared not in judges_answer(replace(three, judges=twins))


def test_a_set_can_be_used_or_not() -> None:
    assert check_answer(kt.check_evalset("demo")) == (
        "demo can be used: 4 systems, 12 segments, 320 judgements by 3 judges.",
    )
    unnamed = kt.make_evalset(
        "u", {"A": ["a"]}, judgements=[("A", "1", "all", "mqm", 3.0)], dimensions=["mqm"]
    )
    assert check_answer(kt.check_evalset(unnamed)) == (
        "u can be used: 1 system, 1 segment, 1 judgement; the raters are not named.",
    )
    broken = EvalSetCheck("x", None, problems=("one", "two"), problem_count=2)
    assert check_answer(broken) == ("x cannot be used: 2 problems.",)
