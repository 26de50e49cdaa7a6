"""The sentences that reports on realisers begin with."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from karat.realize.explanation import RealizerSentence
from karat.realize.report.answers import explanation_answer

FILE = RealizerSentence("the file", None, "a b")


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (
            [("supertags", True, "a b"), ("ordering model", True, "a b")],
            ("Supertags and ordering model, as in the file: a b",),
        ),
        (
            [("supertags", False, "b a"), ("ordering model", True, "a b")],
            (
                "Supertags, not as in the file: b a",
                "Ordering model, as in the file: a b",
                "In the file: a b",
            ),
        ),
    ],
)
def test_equal_sentences_are_told_once(made: list[Any], told: tuple[str, ...]) -> None:
    rows = [*(RealizerSentence(*one) for one in made), FILE]
    found: Any = SimpleNamespace(rows=rows)
    assert explanation_answer(found) == told
