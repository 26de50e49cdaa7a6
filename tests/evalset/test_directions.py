"""Directions of scores by the words of their names."""

from __future__ import annotations

import pytest

from karat.evalset.directions import HIGHER, LOWER, direction_of_name

LOWER_NAMES = (
    *("latency", "latencyMs", "Latency (s)", "p95_latency", "response_time", "duration-seconds"),
    *("total_cost_usd", "Cost", "price", "tokens", "prompt_tokens", "tokenCount", "retries"),
    *("error_rate", "errors", "word_error_rate", "edits", "edit_distance", "loss", "ppl"),
    *("toxicity", "toxicity_score", "hallucination", "TER", "wer_of_ours", "PER", "MetricX-24"),
    *("cost_per_token", "errors per word", "Kosten"),
)
HIGHER_NAMES = (
    *("accuracy", "score", "Rating", "faithfulness", "answer_relevancy", "contextPrecision"),
    *("COMET", "COMET-22", "comet22", "BERTScore", "chrF", "chrf++", "rouge1_fmeasure", "rougeL"),
    *("success_rate", "tokens_per_second", "tokensPerSecond", "edit_similarity", "token_f1"),
)
UNKNOWN_NAMES = ("judge", "x", "p95", "length", "accuracy_loss", "non_toxic", "time_saved")


@pytest.mark.parametrize("name", LOWER_NAMES)
def test_lower_is_better(name: str) -> None:
    assert direction_of_name(name) == -1


@pytest.mark.parametrize("name", HIGHER_NAMES)
def test_higher_is_better(name: str) -> None:
    assert direction_of_name(name) == 1


@pytest.mark.parametrize("name", UNKNOWN_NAMES)
def test_the_direction_is_unknown(name: str) -> None:
    assert direction_of_name(name) == 0


def test_the_general_name_of_a_file_says_nothing() -> None:
    assert direction_of_name("scores", is_file=True) == 0
    assert direction_of_name("latency", is_file=True) == -1


def test_no_word_has_two_directions() -> None:
    assert not LOWER & HIGHER
    assert all(word == word.lower() for word in LOWER | HIGHER)
