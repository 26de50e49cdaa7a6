"""The sentences that reports on realisers begin with."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from karat.realize.completion.explained import OptionalWord
from karat.realize.evaluation import RealizerScores
from karat.realize.explanation import RealizerSentence
from karat.realize.report.answers import evaluation_answer, explanation_answer

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
    found: Any = SimpleNamespace(rows=rows, completion=None, inflection=())
    assert explanation_answer(found) == told


def test_completions_tell_how_much_was_inserted() -> None:
    slots = [
        OptionalWord("the", 0.9, (("a", 0.1),)),
        OptionalWord("dog"),
        OptionalWord("has been", 0.99),
        OptionalWord("", 0.8, ((",", 0.2),)),
    ]
    rows = [RealizerSentence("completion", None, "the dog has been")]
    completion = SimpleNamespace(optional=slots)
    found: Any = SimpleNamespace(rows=rows, completion=completion, inflection=())
    told = "3 words inserted, 2 choices in doubt: the dog has been"
    assert explanation_answer(found) == (told,)
    completion.optional = slots[1:2]
    told = "No words inserted, 0 choices in doubt: the dog has been"
    assert explanation_answer(found) == (told,)


def test_the_best_realiser_of_each_input_is_told_but_the_hardest_completion() -> None:
    def row(model: str, inputs: str, bleu: float, exact: float) -> RealizerScores:
        return RealizerScores(model, inputs, 0.5, 0.5, 0.5, 0.5, bleu, 0.5, exact, 1.0)

    rows = [
        row("supertags", "words", 30.0, 0.1),
        row("ordering model", "words", 40.0, 0.2),
        row("completion: function words and punctuation", "all, content words", 20.0, 0.0),
        row("completion: punctuation", "all, content words", 60.0, 0.4),
    ]
    found: Any = SimpleNamespace(rows=rows, training=SimpleNamespace(sentences=50))
    assert evaluation_answer(found) == (
        "On 50 trees, the best realiser makes 20% of sentences exactly as in the file from words "
        "(BLEU 40.0) and 0% from content words with tags and relations (20.0).",
    )


@pytest.mark.parametrize(
    ("scores", "told"),
    [
        ([(0.0, 0.0, 0.9), (0.0, 1.0, 0.1), (0.0, 0.5, 0.9)], "100%"),  # BLEU, exact, generation
        ([(0.0, 0.2, 0.5), (0.0, 0.2, 0.4)], "20%"),
        ([(1.0, 0.2, 0.5), (0.0, 1.0, 1.0)], "20%"),
    ],
)
def test_exact_sentences_decide_where_bleu_is_equal(scores: list[Any], told: str) -> None:
    rows = [
        RealizerScores(str(i), "lemmas", 0.5, generation, 0.5, 0.5, bleu, 0.5, exact, 1.0)
        for i, (bleu, exact, generation) in enumerate(scores)
    ]
    found: Any = SimpleNamespace(rows=rows, training=SimpleNamespace(sentences=1))
    assert f"the best realiser makes {told} of" in evaluation_answer(found)[0]
