"""Cosines of embeddings as evidence: worked values, a slow loop, and off unless asked for."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest
from nuggets.nugget_world import pooled, world

import karat as kt
from karat.errors import InputError
from karat.metrics.embedding.vectors import Vectors
from karat.nuggets.guess.calibrated.classifier import PRIOR
from karat.nuggets.guess.calibrated.evidence import NAMES, evidence
from karat.nuggets.guess.calibrated.meaning import meaning
from karat.nuggets.guess.classifiers import Calibrated, parse_classifier
from karat.nuggets.guess.nuggeteer import nuggeteer
from karat.nuggets.guess.pool import Pool, make_pool
from karat.nuggets.guess.words import sentences
from karat.nuggets.sets.keys import Nugget, Question, make_key
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.nuggets.sets.runs import Response, make_run
from tests.oracles.letter_embeddings import Letters, letter_cosine
from tests.oracles.tiny_embeddings import write_model2vec

KEY, RUNS, JUDGED = world(questions=8, runs=6)
SET = NuggetSet("s", KEY, MappingProxyType({run.tag: run for run in RUNS}), JUDGED)


def slow(pool: Pool) -> list[list[float]]:
    """Cells x columns, one cosine at a time."""
    rows: list[list[float]] = []
    for q, text in zip(pool.question.tolist(), pool.texts, strict=True):
        parts = sentences(text)
        both = [f"{a} {b}" for a, b in pairwise(parts)] or parts
        one, two = (
            [
                max(letter_cosine(part, said) for part in some for said in nugget.descriptions)
                for nugget in pool.questions[q].nuggets
            ]
            for some in (parts, both)
        )
        mean = sum(one) / len(one)
        rows += [[a, b, a - mean] for a, b in zip(one, two, strict=True)]
    return rows


def test_worked_values() -> None:
    nuggets = Nugget("0", ("aa", "b")), Nugget("1", ("c",))
    key = make_key([Question("q", nuggets, "")])
    texts = ["ab. ccc. zz", "", "c"]
    pool = make_pool(key, [make_run("run", [("q", Response(text)) for text in texts])])
    found = meaning(pool, Vectors("letters", Letters()))
    half = 0.5**0.5
    expected = [
        [half, 1 / 11**0.5, (half - 1) / 2],  # ab; abccc has one a of eleven squares
        [1.0, 3 / 11**0.5, (1 - half) / 2],
        [0, 0, 0],
        [0, 0, 0],
        [0, 0, -0.5],
        [1, 1, 0.5],
    ]
    np.testing.assert_allclose(found, expected, atol=1e-7)


def test_every_cell_is_that_of_the_slow_loop() -> None:
    pool, *_ = pooled()
    found = evidence(pool, vectors=Vectors("letters", Letters()))
    np.testing.assert_array_equal(found[:, : len(NAMES)], evidence(pool))
    np.testing.assert_allclose(found[:, len(NAMES) :], slow(pool), atol=1e-6)


def test_a_built_in_model_does_not_weigh_it() -> None:
    pool, *_ = pooled()
    X = evidence(pool, vectors=Vectors("letters", Letters()))
    plain = PRIOR.probabilities(X[:, : len(NAMES)])
    np.testing.assert_array_equal(PRIOR.widened(X.shape[1]).probabilities(X), plain)


class WithLetters(Calibrated):
    """The calibrated classifier with an embedding of letters."""

    @property
    def vectors(self) -> Vectors:  # type: ignore[override]
        return Vectors("letters", Letters())


@pytest.mark.parametrize("judged", [None, "run0", "all"])
def test_guesses_with_many_judgements_few_and_none(judged: str | None) -> None:
    kept = [row for row in JUDGED.rows if judged in ("all", row.run)]
    given = replace(SET, judgements=JUDGED.with_rows(kept))
    plain, asked = (nuggeteer(given, rule=rule) for rule in (Calibrated(), WithLetters()))
    assert plain.probabilities.shape == asked.probabilities.shape
    assert ((asked.probabilities >= 0) & (asked.probabilities <= 1)).all()
    assert (plain.probabilities == asked.probabilities).all() == (judged != "all")


def test_its_name_and_signature(tmp_path: Path) -> None:
    model = write_model2vec(tmp_path / "m")
    rule = parse_classifier(f"calibrated:cosine={model}")
    assert rule == Calibrated(cosine=str(model))
    assert parse_classifier(str(rule)) == rule
    found = kt.score_nuggets(SET, classifier=rule).signature  # type: ignore[arg-type]
    assert f"|guess=calibrated:cosine={model}@" in found
    assert "cosine" not in kt.score_nuggets(SET).signature
    assert "cosine=" in str(parse_classifier(f"auto:cosine={model}"))
    with pytest.raises(InputError, match="paper has no setting 'cosine'"):
        parse_classifier("paper:cosine=wordllama")


def test_a_model_that_is_not_there() -> None:
    with pytest.raises(InputError, match="model 'nowhere': no such folder"):
        kt.score_nuggets(SET, classifier="calibrated:cosine=nowhere")


def test_evaluation_takes_it(tmp_path: Path) -> None:
    model = str(write_model2vec(tmp_path / "m"))
    plain, asked = (kt.evaluate_nuggets(SET, cosine=cosine) for cosine in (None, model))
    assert asked.settings["cosine"] == model
    assert plain.settings["cosine"] is None
    assert plain.rows[1:] == asked.rows[1:]  # the paper's classifier and baselines
