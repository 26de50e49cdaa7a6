"""Cosines of embeddings as evidence: worked values, a slow loop, and off unless asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from nuggets.nugget_world import pooled, world
from oracles.letter_embeddings import Letters, letter_cosine
from oracles.tiny_embeddings import write_model2vec

import karat as kt
from karat.errors import InputError
from karat.metrics.embedding.vectors import Vectors, load_vectors
from karat.nuggets.guess import classifiers, evaluation
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


def test_evaluation_takes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []
    plain = kt.evaluate_nuggets(SET)
    monkeypatch.setattr(classifiers, "load_vectors", lambda _: Vectors("letters", Letters()))
    asked = kt.evaluate_nuggets(SET, cosine="x", progress=lambda *step: steps.append(step[2]))
    assert (plain.settings["cosine"], asked.settings["cosine"]) == (None, "x")
    differ = [a.what for a, b in zip(plain.rows, asked.rows, strict=True) if a != b]
    assert differ[0] == plain.rows[0].what == "calibrated classifier"
    assert all(what.startswith("calibrated") for what in differ)  # nothing else takes cosines
    assert steps.count("embedding sentences") == len(KEY.questions)


def test_a_wrong_model_is_refused_before_anything_is_tuned(monkeypatch: pytest.MonkeyPatch) -> None:
    def tuned(*_: object) -> None:
        raise AssertionError("tuning began")

    monkeypatch.setattr(evaluation, "tune_all", tuned)
    with pytest.raises(InputError, match="model 'nowhere': no such folder"):
        kt.evaluate_nuggets(SET, cosine="nowhere")


def test_texts_that_are_longer_than_a_model_takes_are_noted(tmp_path: Path) -> None:
    model = write_model2vec(tmp_path / "m")  # takes 8 tokens
    texts = {part for run in RUNS for row in run.answers.values() for part in cut(row)}
    texts |= {said for q in KEY.questions.values() for n in q.nuggets for said in n.descriptions}
    long = load_vectors(str(model)).of([*texts]).cut.sum()
    assert 10 < long < len(texts)
    note = (
        "Sentences, pairs of sentences and descriptions of nuggets longer than the embedding model "
        f"takes (8 tokens): {long}. Only their beginning counts."
    )
    for how in ("calibrated", "auto"):
        found = kt.score_nuggets(SET, classifier=f"{how}:cosine={model}")
        assert found.notes.count(note) == 1
        assert note in found.document().notes
    assert note in kt.evaluate_nuggets(SET, cosine=str(model)).notes
    few = replace(SET, judgements=JUDGED.with_rows([]))  # the built-in model takes no cosines
    assert note not in kt.score_nuggets(few, classifier=f"calibrated:cosine={model}").notes
    assert "longer than" not in "".join(kt.score_nuggets(SET).notes)


def cut(responses: Sequence[Response]) -> Iterator[str]:
    for response in responses:
        parts = sentences(response.text)
        yield from [*parts, *(f"{a} {b}" for a, b in pairwise(parts))]


@pytest.mark.parametrize(
    "arguments",
    [
        ("score", "heron", "--key", "demo-nuggets", "--classifier", "calibrated:cosine={model}"),
        ("evaluate", "demo-nuggets", "--cosine", "{model}"),
    ],
)
def test_no_output_overwrites_the_model(
    arguments: tuple[str, ...], tmp_path: Path, called: Callable[..., Any]
) -> None:
    model = write_model2vec(tmp_path / "m")
    file = model / "tokenizer.json"
    before = file.read_bytes()
    given = [one.format(model=model) for one in arguments]
    done = called("nuggets", *given, "-o", str(file))
    assert done.returncode == 2
    assert f"{file} is one of the inputs: choose another output file" in done.stderr
    assert file.read_bytes() == before
