"""bert-score's functions with a tiny encoder: results, idf, baselines, wrong arguments."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracles.tiny_encoder import WORDS, slow_bertscore, slow_idf, write_encoder

import karat as kt
from karat.compat import bert_score
from karat.errors import InputError

CANDIDATES = ["cat sat", "the red cat", "dog ran"]
REFERENCES = ["cat ran", "red dog", "not dog"]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_encoder(tmp_path_factory.mktemp("encoder") / "tiny"))


@pytest.fixture(autouse=True)
def no_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "torch", raising=False)


def expected(idf: dict[str, float] | None = None, layer: int = 1) -> list[list[float]]:
    pairs = zip(CANDIDATES, REFERENCES, strict=True)
    rows = [slow_bertscore(candidate, text, layer, idf) for candidate, text in pairs]
    return [list(column) for column in zip(*rows, strict=True)]


def close(actual: Any, columns: list[list[float]]) -> None:
    np.testing.assert_allclose(np.array(actual), columns, rtol=0, atol=1e-6)


def test_score(tiny: str) -> None:
    actual = bert_score.score(CANDIDATES, REFERENCES, model_type=tiny)
    assert [type(part) for part in actual] == [np.ndarray] * 3
    close(actual, expected())
    close(bert_score.score(CANDIDATES, REFERENCES, tiny, 0), expected(layer=0))
    close(bert_score.score(CANDIDATES, REFERENCES, tiny, idf=True), expected(slow_idf(REFERENCES)))
    lists = [[text, "cat"] for text in REFERENCES]
    best = bert_score.score(CANDIDATES, lists, tiny)
    assert (np.array(best) >= np.array(actual)).all()


def test_weights_by_token_number(tiny: str) -> None:
    weights = {number: 0.5 + number for number in range(3, len(WORDS))}
    by_word = dict.fromkeys([*WORDS, ""], 0.0)
    by_word |= {word: weights[i] for i, word in enumerate(WORDS) if i in weights}
    close(bert_score.score(CANDIDATES, REFERENCES, tiny, idf=weights), expected(by_word))


def test_a_scorer_keeps_its_weights(tiny: str) -> None:
    texts = ["cat sat", "red red", "dog"]
    scorer = bert_score.BERTScorer(tiny, idf=True, idf_sents=texts)
    close(scorer.score(CANDIDATES, REFERENCES), expected(slow_idf(texts)))
    unprepared = bert_score.BERTScorer(tiny, idf=True)
    with pytest.raises(InputError, match=r"idf weights are missing: call compute_idf\(texts\)"):
        unprepared.score(CANDIDATES, REFERENCES)
    unprepared.compute_idf(REFERENCES)
    close(unprepared.score(CANDIDATES, REFERENCES), expected(slow_idf(REFERENCES)))


def test_the_hash_is_the_signature(tiny: str) -> None:
    scores, signature = bert_score.score(CANDIDATES, REFERENCES, tiny, return_hash=True)
    close(scores, expected())
    assert str(kt.metric(f"bertscore:model={tiny}")) == str(kt.metric(signature))


def test_baselines(tiny: str, tmp_path: Path) -> None:
    file = tmp_path / "b.tsv"
    file.write_text("LAYER,P,R,F\n0,0,0,0\n1,0.5,0.25,0.75\n")
    options: dict[str, Any] = {"rescale_with_baseline": True, "baseline_path": file, "lang": "en"}
    actual = bert_score.score(CANDIDATES, REFERENCES, tiny, **options)
    low = np.array([0.5, 0.25, 0.75])[:, None]
    close(actual, ((np.array(expected()) - low) / (1 - low)).tolist())


def test_no_candidates(tiny: str) -> None:
    assert [part.tolist() for part in bert_score.score([], [], tiny)] == [[], [], []]


@pytest.mark.parametrize(
    ("references", "options", "message"),
    [
        (REFERENCES, {}, r"model_type is missing, .*: give the folder of an encoder"),
        (REFERENCES, {"model_type": "", "all_layers": True}, "all_layers=True is not supported"),
        (REFERENCES, {"model_type": "", "rescale_with_baseline": True}, "give baseline_path"),
        (REFERENCES[:2], {"model_type": ""}, "3 candidates and 2 references"),
        ("cat", {"model_type": ""}, "refs is one text, 'cat'"),
    ],
)
def test_wrong_arguments(references: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        bert_score.score(CANDIDATES, references, **options)
