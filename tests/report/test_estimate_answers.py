"""The answers of estimates: the best system, how sure that is, and what judges add."""

from __future__ import annotations

from dataclasses import replace
from math import isnan, nan

import pytest
from sample_estimates import JUDGE, THREE, difference, make_estimate, row

from karat.estimation.estimate_results import CovariateWorth, Estimate
from karat.estimation.system_estimates import labels_worth
from karat.report.documents.estimates import (
    estimate_answer,
    estimate_basis,
    estimate_document,
    score_places,
)
from karat.report.model import Table

A, B, C = row("A", 84.0), row("B", 83.0), row("C", 70.0)
EXACT = [
    row(name, value)._replace(low=value, high=value, form="exact", ratio=nan, labels=460)
    for name, value in (("A", 4.18), ("B", 4.16), ("C", 4.18))
]
NO_WIDTH = A._replace(low=nan, high=nan, ratio=nan)
HELPS = (
    "With chrF, intervals are 0.80 times as wide as by people alone: worth 24 more labelled "
    "segments."
)
TIED = row("B", 84.0)
NEW = "To ask about new segments like these, use --population new."
BEST = "A has the best estimate: 84.0 [83.0, 85.0]."


@pytest.mark.parametrize(
    ("estimate", "expected"),
    [
        (make_estimate((A,)), ("People's score of A is estimated at 84.0 [83.0, 85.0].", HELPS)),
        (
            make_estimate((A, B), (difference("B", -1.0),)),
            ("A is better than B: 84.0 [83.0, 85.0].", HELPS),
        ),
        (
            make_estimate((A, B, C), (difference("B", -1.0), difference("C", -14.0))),
            ("A is better than all 2 others: 84.0 [83.0, 85.0].", HELPS),
        ),
        (
            make_estimate((A, B, C), (difference("B", -1.0, "undecided"), difference("C", -14.0))),
            (f"{BEST} It is better than 1 of 2 others; undecided: B.", HELPS),
        ),
        (
            make_estimate((A, TIED), (difference("B", 0.0, "undecided"),)),
            ("A and B have the same estimate, 84.0; no difference is decided.", HELPS),
        ),
        (
            make_estimate((A, TIED, C), tuple(difference(name, 0.0, "undecided") for name in "BC")),
            ("A and B share the best estimate, 84.0; no difference is decided.", HELPS),
        ),
        (
            make_estimate(
                (A, TIED, C), (difference("B", 0.0, "undecided"), difference("C", -14.0))
            ),
            (
                "A and B share the best estimate, 84.0. A is better than 1 of 2 others; "
                "undecided: B.",
                HELPS,
            ),
        ),
        (
            make_estimate((A, B), (difference("B", -1.0, "undecided"),)),
            (
                "A has the best estimate, 84.0 [83.0, 85.0], but is not shown to be better than B.",
                HELPS,
            ),
        ),
        (
            make_estimate((A, B, C), tuple(difference(name, -1.0, "undecided") for name in "BC")),
            (
                "A has the best estimate, 84.0 [83.0, 85.0], but is not shown to be better than "
                "any of the 2 others.",
                HELPS,
            ),
        ),
        (
            make_estimate(
                (A, B, C), (difference("A", 1.0, "better", "B"), difference("C", -9.0, base="B"))
            ),
            (BEST, "Against B, better: A; worse: C.", HELPS),
        ),
        (
            make_estimate((A,), judges=()),
            ("People's score of A is estimated at 84.0 [83.0, 85.0].",),
        ),
        (make_estimate((NO_WIDTH,)), ("People's score of A is estimated at 84.00 (no interval).",)),
        (
            make_estimate((A._replace(low=84.0, high=84.0, ratio=nan),)),
            ("People's score of A is estimated at 84.00.",),
        ),
        (
            make_estimate(
                (A, *(row(name, 80.0) for name in "BCDEF")),
                tuple(
                    difference(name, -4.0, "undecided" if name < "F" else "worse")
                    for name in "BCDEF"
                ),
                (JUDGE,) * 5,
            ),
            (
                f"{BEST} It is better than 1 of 5 others; undecided: B, C, D and E.",
                HELPS.replace("chrF", "5 judges"),
            ),
        ),
        (
            make_estimate((row("A", 84.0, 1.25),)),
            (
                "People's score of A is estimated at 84.0 [83.0, 85.0].",
                "chrF adds almost nothing: intervals are 1.25 times as wide as by people alone.",
            ),
        ),
        (
            make_estimate((row("A", 84.0, 0.99),), judges=(JUDGE, JUDGE._replace(judge="ter"))),
            (
                "People's score of A is estimated at 84.0 [83.0, 85.0].",
                "chrF and TER add almost nothing: intervals are 0.99 times as wide as by people "
                "alone.",
            ),
        ),
        (
            make_estimate((A, B, C), (difference("B", -1.0), difference("C", 1.0, "better"))),
            (BEST, "Against A, better: C; worse: B.", HELPS),
        ),
        (
            make_estimate((A, B, C), (difference("B", -1.0), difference("C", -1.0, "not tested"))),
            (BEST, "Against A, worse: B; not tested: C.", HELPS),
        ),
        (
            make_estimate((A, B, C), (difference("B", -1.0),)),
            (BEST, "Against A, worse: B; not compared: C.", HELPS),
        ),
        (
            make_estimate((A, B)),
            (
                BEST,
                "No system was compared: too few segments are labelled for two systems.",
                HELPS,
            ),
        ),
        (
            make_estimate(tuple(EXACT[:2]), (difference("B", -0.02, "not tested"),)),
            (
                "Every segment of these systems is labelled, so nothing was estimated or tested: "
                "A has the best mean, 4.18.",
                NEW,
            ),
        ),
        (
            make_estimate(
                tuple(EXACT), tuple(difference(name, -0.02, "not tested") for name in "BC")
            ),
            (
                "Every segment of these systems is labelled, so nothing was estimated or tested: "
                "A and C share the best mean, 4.18.",
                NEW,
            ),
        ),
        (
            make_estimate((EXACT[0],)),
            (
                "Every segment of A is labelled, so nothing was estimated or tested: "
                "the mean of A is 4.18.",
                NEW,
            ),
        ),
        (make_estimate(()), ()),
    ],
)
def test_answers(estimate: Estimate, expected: tuple[str, ...]) -> None:
    assert estimate_answer(estimate) == expected


def test_the_basis_says_what_was_labelled_and_when_differences_are_decided() -> None:
    assert estimate_basis(THREE) == (
        "50 of 460 segments labelled. 95% intervals for the segments of the set. A difference is "
        "decided if p < 0.05, corrected for all differences together, that is, if its 97.5% "
        "interval excludes 0."
    )
    new = replace(
        make_estimate((A, B._replace(labels=48))), settings={"population": "new"}, unit="group"
    )
    assert estimate_basis(new) == (
        "48 to 50 of 460 groups labelled. 95% intervals for new groups like these."
    )
    assert estimate_basis(make_estimate(())) == ""


def test_a_set_that_is_labelled_whole_has_no_word_on_intervals_and_tests() -> None:
    estimate = make_estimate(tuple(EXACT[:2]), (difference("B", -0.02, "not tested"),))
    assert estimate_basis(estimate) == "460 of 460 segments labelled."
    text = estimate.render("text")
    assert "Dots: means." in text
    assert "better than" not in text


@pytest.mark.parametrize(
    ("estimate", "absent"),
    [
        (make_estimate((EXACT[0], B), (difference("B", -1.0),)), "nothing was estimated"),
        (make_estimate(()), "nothing was estimated"),
        (make_estimate((A, B), (difference("B", -1.0, "undecided"),)), "is better than"),
        (make_estimate((A, B), (difference("B", 1.0, "better"),)), "A is better"),
        (make_estimate((A, B), (difference("B", -1.0),)), "not shown to be better"),
        (make_estimate((A, B), (difference("B", -1.0),)), "No system was compared"),
        (make_estimate((A, B), (difference("B", -1.0),)), "undecided"),
        (make_estimate((A, B), (difference("B", -1.0),)), "almost nothing"),
        (make_estimate((row("A", 84.0, 0.981),)), "worth"),
        (make_estimate((NO_WIDTH,)), "times as wide"),
        (make_estimate((row("A", 84.0)._replace(ratio=0.0),)), "worth"),
        (make_estimate(tuple(EXACT), judges=()), "times as wide"),
    ],
)
def test_sentences_that_do_not_follow_are_not_said(estimate: Estimate, absent: str) -> None:
    assert absent not in " ".join(estimate_answer(estimate))


@pytest.mark.parametrize(
    ("confidence", "level"),
    [(0.95, "95%"), (0.975, "97.5%"), (1 - 0.05 / 120, "99.958%"), (1 - 0.05 / 3, "98.3%")],
)
def test_the_level_of_intervals_has_two_digits_of_what_is_left(
    confidence: float, level: str
) -> None:
    estimate = make_estimate((A, B), (difference("B", -1.0)._replace(confidence=confidence),))
    assert f"if its {level} interval excludes 0." in estimate_basis(estimate)


def test_the_bias_of_a_judge_is_not_told_from_an_interval_without_width() -> None:
    rows = [exact_row._replace(bias=0.1, bias_low=0.1, bias_high=0.1) for exact_row in EXACT]
    assert "than people do" not in make_estimate(tuple(rows)).render("text")
    biased_rows = [exact_row._replace(bias_low=0.05) for exact_row in rows]
    assert "higher than people do" in make_estimate(tuple(biased_rows)).render("text")


@pytest.mark.parametrize(("half", "places"), [(26, 0), (2.6, 1), (0.44, 2), (0.08, 3), (0, 2)])
def test_scores_have_two_digits_of_half_their_interval(half: float, places: int) -> None:
    assert score_places(make_estimate((A._replace(low=84 - half, high=84 + half),))) == places


def test_labels_that_judges_are_worth() -> None:
    """With 50 of 100 units, 1/n - 1/N is 0.01: a quarter of it is left with 80 labels."""
    assert labels_worth(0.5, 50, 100, finite=True) == pytest.approx(30)
    assert labels_worth(0.5, 50, 100, finite=False) == pytest.approx(150)
    assert labels_worth(1.0, 50, 100, finite=True) == pytest.approx(0)
    assert isnan(labels_worth(nan, 50, 100, finite=True))


def test_what_judges_add_is_the_mean_over_the_systems_with_intervals() -> None:
    estimate = make_estimate((row("A", 84.0, 0.5), row("B", 83.0, 0.9), NO_WIDTH))
    assert estimate.ratio == pytest.approx(0.7)
    both = [labels_worth(ratio, 50, 460, finite=True) for ratio in (0.5, 0.9)]
    assert estimate.worth == pytest.approx(sum(both) / 2)
    assert isnan(make_estimate((NO_WIDTH,)).ratio)


def test_judges_get_no_credit_for_rows_of_another_method() -> None:
    rows = row("A", 84.0, 0.9), row("B", 83.0, 0.5)
    estimate = replace(make_estimate(rows), methods={"A": "estimate", "B": "nuggeteer"})
    assert estimate.ratio == pytest.approx(0.9)
    assert estimate.worth == pytest.approx(labels_worth(0.9, 50, 460, finite=True))
    expected = "With chrF, intervals of 1 of 2 systems are 0.90 times as wide as by people alone"
    assert estimate_answer(estimate)[-1].startswith(expected)
    guessed = replace(make_estimate((A,), judges=()), methods={"A": "nuggeteer"})
    assert isnan(guessed.ratio)
    assert isnan(guessed.worth)
    assert not any("times as wide" in sentence for sentence in estimate_answer(guessed))
    assert "People low" in guessed.render("text")


COVARIATE = CovariateWorth("length", 0.3, 0.95, 1.02)
STUDENT = row("A", 84.0)._replace(student_ratio=1.04)


def with_covariates(estimate: Estimate, used: bool = True) -> Estimate:
    return replace(estimate, covariates=(COVARIATE,), uses_covariates=used)


@pytest.mark.parametrize(
    ("estimate", "expected"),
    [
        (
            with_covariates(make_estimate((A,), judges=())),
            (HELPS.replace("chrF", "covariates"),),
        ),
        (
            with_covariates(make_estimate((STUDENT,))),
            (
                "With chrF and covariates, intervals are 0.80 times as wide as by people alone "
                "(1.04 times as wide as Student's): worth 24 more labelled segments.",
            ),
        ),
        (
            with_covariates(make_estimate((A,), judges=(JUDGE,) * 5)),
            (HELPS.replace("chrF", "5 judges and covariates"),),
        ),
        (
            with_covariates(make_estimate((row("A", 84.0, 0.99),), judges=())),
            (
                "Covariates add almost nothing: intervals are 0.99 times as wide as by people "
                "alone.",
            ),
        ),
        (
            with_covariates(make_estimate((A,)), used=False),
            (
                HELPS,
                "Covariates of the texts do not make intervals of scores narrower, and are not "
                "used.",
            ),
        ),
        (
            with_covariates(make_estimate((A,), judges=()), used=False),
            (
                "Covariates of the texts do not make intervals of scores narrower, and are not "
                "used.",
            ),
        ),
        (
            replace(
                with_covariates(make_estimate((A,), judges=()), used=False),
                covariates_in_differences=True,
            ),
            (
                "Covariates of the texts do not make intervals of scores narrower, and are used "
                "only for differences.",
            ),
        ),
        (with_covariates(make_estimate((EXACT[0],), judges=()), used=False), (NEW,)),
    ],
)
def test_the_answer_says_what_covariates_add(estimate: Estimate, expected: tuple[str, ...]) -> None:
    assert estimate_answer(estimate)[1:] == expected


def test_the_report_has_a_table_of_covariates() -> None:
    table = {
        block.key: block
        for block in estimate_document(with_covariates(THREE)).blocks
        if isinstance(block, Table)
    }["covariates"]
    assert [column.title for column in table.columns] == ["Covariate", "r", "Alone", "Without"]
    assert list(table.rows) == [COVARIATE]
