"""Answers of reports on judging: sentences from results, silent where there is nothing to say."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

import karat as kt
from karat.llm.report import (
    missing_clause,
    pairs_answer,
    quote_marks,
    ratings_answer,
    usage_sentence,
    usage_tables,
)
from karat.llm.requests import Totals, Usage
from karat.llm.results import JudgedPairRow, MissingRow, ModelPairs, ModelRatings, PositionBias
from karat.llm.results import RatingRow as Row
from karat.meta.judge_agreement import JudgeRow

NOTHING = Totals(0, 0, {}, 0, 0, 0, 0, None)
USAGE = Usage(4, 0, 0, 4, 0, {}, 0, 1000, 200, 0, None, 1.5, NOTHING)
ROWS = (Row("a", "1", 2, "bad", "a bad one", 1), Row("b", "1", 4, "", "good", 1))
RATED = ModelRatings("mine", "gpt", ROWS, 2, (), USAGE, dimension=kt.Dimension("x", low=1, high=5))
STANDING = JudgeRow("x", "gpt", 2, 3, 1, 0.5, 12, False, True, None, "")


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (RATED, ("gpt rated 2 of 2 outputs of mine.", "Mean x: b 4.00 and a 2.00.")),
        (
            replace(RATED, dimension=kt.Dimension("x", "lower")),
            ("gpt rated 2 of 2 outputs of mine.", "Mean x: a 2.00 and b 4.00."),
        ),
        (
            replace(RATED, expected=3, missing=(MissingRow("budget", 1, "a, segment 2"),)),
            (
                "gpt rated 2 of 3 outputs of mine; 1 is missing (budget 1).",
                "Mean x: b 4.00 and a 2.00.",
            ),
        ),
        (
            replace(RATED, agreement=STANDING),
            (
                "gpt rated 2 of 2 outputs of mine.",
                "Mean x: b 4.00 and a 2.00.",
                "Pearson's r with the mean of people is 0.500 (12 judgements in common).",
            ),
        ),
        (
            replace(RATED, agreement=STANDING._replace(r=math.nan)),
            ("gpt rated 2 of 2 outputs of mine.", "Mean x: b 4.00 and a 2.00."),
        ),
    ],
)
def test_ratings(result: ModelRatings, message: tuple[str, ...]) -> None:
    assert ratings_answer(result) == message


@pytest.mark.parametrize(
    ("bias", "message"),
    [
        (PositionBias(0, 0, None, 0, None), []),
        (PositionBias(2, 0, 0.0, 0, None), ["The order changed no winner in 2 pairs."]),
        (
            PositionBias(4, 1, 0.25, 8, 0.625),
            [
                "The order changed the winner of 1 of 4 pairs (25.0%), which count as ties; the "
                "output shown first won 62.5% of the decided answers."
            ],
        ),
    ],
)
def test_pairs(bias: PositionBias, message: list[str]) -> None:
    rows = (
        JudgedPairRow("1", "a", "b", 1, "", False, 2),
        JudgedPairRow("2", "a", "b", 0.5, "", True, 2),
    )
    result = ModelPairs("mine", "gpt", rows, 2, (), USAGE, bias=bias)
    first, second, *rest = pairs_answer(result)
    assert first == "gpt compared 2 of 2 pairs of outputs of mine."
    assert second == "Share of comparisons won, ties as half: a 75.0% and b 25.0%."
    assert rest == message


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({}, "4 requests sent, 1,200 tokens."),
        (
            {"sent": 1, "cached": 3, "cost": 0.5},
            "1 request sent, 3 answers from the cache, 1,200 tokens, cost 0.5000.",
        ),
        ({"sent": 0, "prompt_tokens": 0, "completion_tokens": 0}, "0 requests sent."),
    ],
)
def test_usage(more: dict[str, Any], message: str) -> None:
    assert usage_sentence(USAGE._replace(**more)) == message


def test_usage_of_all_runs_and_failed_attempts() -> None:
    (table,) = usage_tables(USAGE)
    assert [row["run"] for row in table.rows] == ["this run"]
    more = USAGE._replace(failures={"HTTP 429": 3}, totals=NOTHING._replace(sent=9))
    usage, failed = usage_tables(more)
    assert [(row["run"], row["sent"], row["failed"]) for row in usage.rows] == [
        ("this run", 4, 3),
        ("all runs", 9, 0),
    ]
    assert failed.rows == [{"why": "HTTP 429", "count": 3}]


def test_reasons_of_missing_judgements() -> None:
    rows = [MissingRow(f"reason {k}", 5 - k, "x") for k in range(5)]
    message = "; 15 are missing (reason 0 5, reason 1 4, reason 2 3, other reasons 3)"
    assert missing_clause(rows) == message
    assert missing_clause([]) == ""


@pytest.mark.parametrize(
    ("quote", "text", "marks"),
    [
        ("cat sat", "A cat\n sat.", ((2, 10),)),
        ("CAT", "a cat", ((2, 5),)),
        ("", "a cat", ()),
        ("(a+", "x (A+ y", ((2, 5),)),
        ("dog", "a cat", ()),
    ],
)
def test_marks_of_a_quote(quote: str, text: str, marks: tuple[tuple[int, int], ...]) -> None:
    assert quote_marks(quote, text) == marks


def test_a_scale_is_shown_whole_if_it_is_short() -> None:
    assert RATED.values == ["1", "2", "3", "4", "5"]
    wide = replace(RATED, dimension=kt.Dimension("x", low=0, high=1e9))
    assert wide.values == ["2", "4"]
