"""Classifiers as values: their grammar, and one of another package."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nuggets.nugget_world import world

import karat as kt
from karat import registry
from karat.errors import InputError
from karat.nuggets.prediction.paper import THRESHOLD_MODELS, Paper
from karat.nuggets.prediction.pool import Floats, Ints, Pool
from karat.nuggets.prediction.predictions import Calibrated, classifiers, parse_classifier
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.progress import Progress
from karat.settings import NamedSettings, setting

KEY, RUNS, JUDGED = world(questions=8, runs=6)
SET = NuggetSet(
    "s", KEY, MappingProxyType({run.tag: run for run in RUNS}), JUDGED.without(["run5"])
)
paper = st.builds(
    Paper,
    n=st.integers(1, 9),
    weight=st.sampled_from(["idf", "count"]),
    stem=st.sampled_from(["none", "porter", "english"]),
    stop=st.sampled_from(["none", "en", "iso-de"]),
    normalised=st.booleans(),
    once=st.booleans(),
    threshold_model=st.sampled_from([*THRESHOLD_MODELS]),
    threshold=st.none() | st.floats(-1e9, 1e9),
    responses=st.booleans(),
    idf=st.sampled_from(["pooled", "corpus.txt"]),
)


@given(paper)
def test_a_classifier_parses_back(classifier: Paper) -> None:
    assert parse_classifier(str(classifier)) == classifier
    assert parse_classifier(classifier.full_name()) == classifier


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("calibrated", Calibrated()),
        ("calibrated:idf=corpus.txt", Calibrated("corpus.txt")),
        (
            "paper:n=2,weight=idf,stem=porter,stop=en,normalised=yes,once=yes,threshold=0.4",
            Paper(2, "idf", "porter", "en", normalised=True, once=True, threshold=0.4),
        ),
    ],
)
def test_the_grammar(text: str, value: NamedSettings) -> None:
    assert parse_classifier(text) == value
    assert parse_classifier(text) != Paper()


def test_a_file_may_have_any_name() -> None:
    assert Paper(idf="my corpus, part 1.txt").idf == "my corpus, part 1.txt"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "papre",
            "classifier 'papre': expected one of calibrated, paper; did you mean paper",
        ),
        ("paper:m=2", "paper has no setting 'm'"),
        ("paper:n=two", "paper: n=two: expected a whole number"),
        ("calibrated:n=2", "calibrated has no setting 'n'"),
        ("paper:threshold=inf", "threshold=inf is out of range"),
    ],
)
def test_bad_classifiers(text: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        parse_classifier(text)


@dataclass(frozen=True)
class Length(NamedSettings):
    """Long responses carry everything."""

    name: ClassVar[str] = "length"
    kind: ClassVar[str] = "classifiers"
    words: int = setting(3, "words of a long response", low=1)

    def guess(
        self, pool: Pool, labels: Floats, fold: Ints, progress: Progress
    ) -> tuple[Floats, np.ndarray]:
        """Return probabilities and decisions of all cells."""
        long = np.array([len(text.split()) >= self.words for text in pool.texts])
        carried = long[pool.cell_response]
        return np.where(carried, 0.9, 0.1), carried


@pytest.fixture
def length() -> Iterator[None]:
    kt.register(Length)
    yield
    del registry._DECLARED["classifiers"]["length"]


@pytest.mark.usefixtures("length")
def test_a_classifier_of_a_program_guesses() -> None:
    rule = parse_classifier("length:words=1")
    assert "length" in classifiers.names()
    done = kt.score_nuggets(SET, classifier=rule)
    assert done.predictions is not None
    assert done.predictions.classifier.name == "length"
    assert done.predictions.carried[done.predictions.pool.cell_run == 5].all()
    assert f"|guess=length@{Length.__module__}:words=1,learned=160" in done.signature
    assert done.scored[5].intervals is not None  # from its errors on judged runs


@pytest.mark.usefixtures("length")
@pytest.mark.parametrize(
    ("guess", "message"),
    [
        (lambda *given: 1 / 0, "classifier length failed: ZeroDivisionError: division by zero"),
        (lambda *given: None, "classifier length returned None, expected two arrays"),
    ],
)
def test_a_classifier_that_fails_is_named(
    guess: Any, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Length, "guess", guess)
    with pytest.raises(InputError, match=message):
        kt.score_nuggets(SET, classifier="length")


def test_what_is_no_classifier_is_refused() -> None:
    with pytest.raises(InputError, match=r"classifier nothing: found .* expected a class derived"):
        kt.register(dict, "classifiers", "nothing")
