"""The sentences that reports on realisers begin with."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from karat.realize.choices import OptionalWord
from karat.realize.evaluation import Lead, RealizerScores, TrainingOverlap
from karat.realize.explanation import RealizerSentence
from karat.realize.generation import RealizedSentence, RealizedSentences
from karat.realize.report.tables import (
    evaluation_answer,
    explanation_answer,
    sentences_answer,
)

FILE = RealizerSentence("the file", None, "a b")


@pytest.mark.parametrize(
    ("produced", "message"),
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
def test_equal_sentences_are_told_once(produced: list[Any], message: tuple[str, ...]) -> None:
    rows = [*(RealizerSentence(*item) for item in produced), FILE]
    answer: Any = SimpleNamespace(rows=rows, completion=None, inflection=())
    assert explanation_answer(answer) == message


def test_without_a_sentence_of_the_file_nothing_is_compared_with_it() -> None:
    rows = [RealizerSentence(name, None, "a b") for name in ("supertags", "ordering model")]
    answer: Any = SimpleNamespace(rows=rows, completion=None, inflection=())
    assert explanation_answer(answer) == ("Supertags and ordering model: a b",)


def test_completions_tell_how_much_was_inserted() -> None:
    slots = [
        OptionalWord("the", 0.9, (("a", 0.1),)),
        OptionalWord("dog"),
        OptionalWord("has been", 0.99),
        OptionalWord("", 0.8, ((",", 0.2),)),
    ]
    rows = [RealizerSentence("completion", None, "the dog has been")]
    completion = SimpleNamespace(optional=slots)
    answer: Any = SimpleNamespace(rows=rows, completion=completion, inflection=())
    message = "3 words inserted, 2 choices in doubt: the dog has been"
    assert explanation_answer(answer) == (message,)
    completion.optional = slots[1:2]
    message = "No words inserted, 0 choices in doubt: the dog has been"
    assert explanation_answer(answer) == (message,)


def row(model: str, inputs: str, bleu: float, exact: float) -> RealizerScores:
    return RealizerScores(model, inputs, 0.5, 0.5, 0.5, 0.5, bleu, 0.5, exact, 1.0)


def evaluated(
    rows: list[RealizerScores], verdict: str = "", occurrences: int = 0
) -> tuple[str, ...]:
    """What is said of rows, the last two of which compete if there is a verdict."""
    second, first = (*rows, *rows)[-2:]
    leads = [Lead(first.inputs, first, second, verdict)] if verdict else []
    answer: Any = SimpleNamespace(
        rows=rows, leads=leads, training=TrainingOverlap(50, occurrences, occurrences / 50)
    )
    return evaluation_answer(answer)


WORDS = [row("supertags", "words", 39.0, 0.1), row("ordering model", "words", 40.0, 0.2)]
BLEU = "On 50 trees, BLEU from words is 40.0 with the ordering model"
EXACT = ", and 20% of sentences are exactly as in the file."


def test_a_realizer_is_called_better_if_a_test_says_so() -> None:
    assert evaluated(WORDS, "better") == (
        f"{BLEU} (significantly better than 39.0 with supertags){EXACT}",
    )


def test_a_realizer_is_not_called_better_if_the_lead_may_be_chance() -> None:
    (message,) = evaluated(WORDS, "undecided")
    assert "better" not in message
    assert message == f"{BLEU} (not significantly different from 39.0 with supertags){EXACT}"


def test_a_realizer_without_a_rival_is_not_compared() -> None:
    (message,) = evaluated(WORDS[1:])
    assert message == f"{BLEU}{EXACT}"


@pytest.mark.parametrize(
    ("occurrences", "message"),
    [(50, " that the model was trained on"), (25, "mostly trained on"), (24, "")],
)
def test_the_headline_says_if_the_trees_were_trained_on(occurrences: int, message: str) -> None:
    (expected_message,) = evaluated(WORDS, "better", occurrences)
    assert message in expected_message
    assert ("trained" in expected_message) == bool(message)


def test_completions_are_not_compared_and_the_first_is_told() -> None:
    rows = [
        row("completion: function words and punctuation", "all, content words", 20.0, 0.0),
        row("completion: punctuation", "all, content words", 60.0, 0.4),
    ]
    assert evaluated(rows) == (
        "On 50 trees, BLEU from content words with tags and relations is 20.0 with completion of "
        "function words and punctuation, and 0% of sentences are exactly as in the file.",
    )


@pytest.mark.parametrize(
    ("inserted", "complete", "message"),
    [
        (0, None, "1 sentence for 1 tree, from words, by the supertags."),
        (0, "punctuation", "by the supertags; no punctuation inserted."),
        (0, "function-words,punctuation", "; no function words or punctuation inserted."),
        (1, "punctuation", "; punctuation inserted (1 token)."),
        (3, "function-words,punctuation", "; function words and punctuation inserted (3 tokens)."),
    ],
)
def test_words_are_called_inserted_only_if_they_were(
    inserted: int, complete: str | None, message: str
) -> None:
    settings = {"inputs": "words", "realizer": "fergus"}
    settings |= {"complete": complete} if complete else {}
    rows = (RealizedSentence(1, 1, 0.0, "a b"),)
    (expected_message,) = sentences_answer(
        RealizedSentences("f", rows, settings, inserted=inserted)
    )
    assert expected_message.endswith(message)
