"""Limits of a gate: for all metrics, for one by its full name, or by its name alone."""

from __future__ import annotations

import pytest

from karat.metrics.limits import LimitError, resolve_limits

NAMES = ["chrf", "chrf:words=2", "cosine:model=wordllama,case=lower", "f"]


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("chrf", "chrf"),  # the full name of one comes first
        ("chrf++", "chrf:words=2"),
        ("cosine", "cosine:model=wordllama,case=lower"),
        ("cosine:model=wordllama,case=lower", "cosine:model=wordllama,case=lower"),
        ("f", "f"),
    ],
)
def test_names(key: str, name: str) -> None:
    assert resolve_limits("max_drop", {key: 0.01}, NAMES) == {name: 0.01}


def test_others_keep_the_limit_for_all() -> None:
    resolved = resolve_limits("max_drop", {"": 1, "cosine": 0.01}, NAMES)
    assert list(resolved.values()) == [1, 1, 0.01, 1]


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"bleu": 1}, "max_drop bleu: no such metric"),
        ({"cosin": 1}, "max_drop cosin: no such metric"),
        (
            {"cosine": 1, "cosine:model=wordllama,case=lower": 2},
            "there are two limits for cosine:model=wordllama,case=lower; leave one out",
        ),
    ],
)
def test_refused(limits: dict[str, float], message: str) -> None:
    with pytest.raises(LimitError) as caught:
        resolve_limits("max_drop", limits, NAMES)
    assert message in str(caught.value)


def test_a_name_of_several() -> None:
    names = ["rouge1:stem=porter", "rouge1:alpha=0"]
    with pytest.raises(LimitError) as caught:
        resolve_limits("min_score", {"rouge1": 1}, names)
    message = "2 metrics have this name; write rouge1:stem=porter or rouge1:alpha=0"
    assert str(caught.value) == f"min_score rouge1: {message}"
