"""Evidence of nuggets from entailment, by a tiny cross-encoder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from nuggets.nugget_world import world
from oracles.slow_support import slow_runs
from oracles.tiny_cross_encoder import slow_judgement, write_cross_encoder

from karat.errors import InputError
from karat.nuggets.prediction.entailment_evidence import ENTAILMENT_COLUMNS, entailment_evidence
from karat.nuggets.prediction.evidence_groups import evidence_source
from karat.nuggets.prediction.pool import Pool, make_pool
from karat.nuggets.prediction.predictions import Calibrated, predict_support
from karat.nuggets.sets.keys_and_runs import Nugget, Question, Response, make_key, make_run
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.progress import silent


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_cross_encoder(tmp_path_factory.mktemp("nli") / "tiny")


NUGGETS = [("the cat sat", "the dog ran in paris"), ("paris is in france",), ("not red",)]
RESPONSES = ["The cat sat. Paris is in France.", "The dog ran. In Paris.", "The cat is red.", ""]


def make_small_pool() -> Pool:
    nuggets = tuple(Nugget(str(i), descriptions) for i, descriptions in enumerate(NUGGETS))
    rows = [("q", Response(text)) for text in RESPONSES]
    return make_pool(make_key([Question("q", nuggets)]), [make_run("run", rows)])


def test_columns_are_those_of_the_slow_loops(tiny: Path) -> None:
    pool = make_small_pool()
    table = entailment_evidence(str(tiny), pool, silent).reshape(-1, len(NUGGETS), 3)
    for rows, text in zip(table, pool.texts, strict=True):
        expected = [
            max(
                (slow_judgement(run, d)[0] for d in parts for run in slow_runs(text, 2)),
                default=0.0,
            )
            for parts in NUGGETS
        ]
        assert rows[:, 0] == pytest.approx(expected, rel=1e-5, abs=1e-9)
        assert rows[:, 2] == pytest.approx(rows[:, 0] - np.mean(expected), rel=1e-5, abs=1e-9)
    by_text = dict(zip(pool.texts, table, strict=True))
    assert by_text[RESPONSES[2]][2, 1] > 0.99  # `not red` and `The cat is red.`
    assert by_text[RESPONSES[0]][1, 1] < 0.01
    assert not by_text[""].any()


def test_a_setting_turns_it_on(tiny: Path) -> None:
    classifier = Calibrated(entail=str(tiny))
    assert evidence_source(classifier).columns[-3:] == ENTAILMENT_COLUMNS
    assert not {*ENTAILMENT_COLUMNS} & {*evidence_source(Calibrated()).columns}
    assert str(classifier) == f"calibrated:entail={tiny}"
    assert f"entail={tiny}@" in classifier.full_name()
    assert str(tiny / "model.onnx") in classifier.input_files()


def make_world() -> NuggetSet:
    key, runs, judgements = world(questions=3, runs=6)
    return NuggetSet("s", key, {run.tag: run for run in runs}, judgements)


def test_judgements_are_predicted_with_it(tiny: Path) -> None:
    nuggets = make_world()
    plain = predict_support(nuggets)
    classifier = Calibrated(entail=str(tiny))
    with_entailment = predict_support(nuggets, classifier=classifier)
    assert with_entailment.probabilities.shape == plain.probabilities.shape
    assert np.isfinite(with_entailment.probabilities).all()
    repeated = predict_support(nuggets, classifier=classifier)
    assert np.array_equal(repeated.probabilities, with_entailment.probabilities)


def test_a_model_that_is_missing(tmp_path: Path) -> None:
    classifier = Calibrated(entail=str(tmp_path / "none"))
    with pytest.raises(InputError, match="no such folder; expected the folder of an encoder"):
        predict_support(make_world(), classifier=classifier)
