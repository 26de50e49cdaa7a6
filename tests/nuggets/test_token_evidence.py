"""Token evidence: the loops of a slow oracle, the same bits in batches and threads, bad input."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from nuggets.nugget_world import world
from oracles.tiny_encoder import slow_cosine, slow_idf, text_tokens, text_vectors, write_encoder

from karat.arithmetic import logit
from karat.errors import InputError
from karat.metrics.encoders import load_encoder
from karat.nuggets.prediction.evidence_groups import (
    EVIDENCE_GROUPS,
    EvidenceSource,
    evidence_source,
)
from karat.nuggets.prediction.pool import Pool, make_pool
from karat.nuggets.prediction.predictions import Calibrated, parse_classifier, predict_support
from karat.nuggets.prediction.token_evidence import TOKEN_COLUMNS, TokenRecall, token_evidence
from karat.nuggets.scores.words import sentences
from karat.nuggets.sets.judgements import Judgements
from karat.nuggets.sets.keys_and_runs import Nugget, Question, Response, make_key, make_run
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.progress import silent

NUGGETS = [("cat sat", "dog ran"), ("not red",), ("red cat ran",), ("dog",)]
ANSWERS = [
    "the cat sat. dog ran red. not cat.",
    "red.",
    "cat dog sat ran not red",
    "dog! red red? cat\nnot",
    " ",
]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_encoder(tmp_path_factory.mktemp("encoder") / "tiny")


def small_pool(answers: list[str]) -> Pool:
    nuggets = tuple(Nugget(str(g), texts) for g, texts in enumerate(NUGGETS))
    key = make_key([Question("q", nuggets), Question("none", ())])
    runs = [make_run(str(k), [("q", Response(text))]) for k, text in enumerate(answers)]
    return make_pool(key, runs)


# ------------------------------------------------------------------------------- the oracle


def slow_weights(texts: list[str]) -> dict[str, float]:
    """log((N + 1) / (n + 1/2)) of the tokens that n of N sentences have, at least 0."""
    parts = [part for text in texts for part in sentences(text)]
    counts = dict.fromkeys(slow_idf(parts), 0)
    for token in counts:
        counts[token] = sum(token in text_tokens(part) for part in parts)
    return {t: max(float(np.log((len(parts) + 1) / (n + 0.5))), 0.0) for t, n in counts.items()}


def words_of(text: str) -> list[tuple[str, list[float]]]:
    pairs = zip(text_tokens(text), text_vectors(text), strict=True)
    return [(token, vector) for token, vector in pairs if token not in ("[CLS]", "[SEP]")]


def slow_recalls(description: str, response: str, weights: dict[str, float]) -> list[float]:
    """Recall in the best sentence, the best pair, the response; the weakest content token."""
    tokens = words_of(description)
    own = [weights[token] for token, _ in tokens]
    own = own if any(own) else [1.0] * len(tokens)

    def best(vector: list[float], text: list[str]) -> float:
        others = [other for part in text for _, other in words_of(part)]
        blank = [part for part in text if not words_of(part)]
        values = [slow_cosine(vector, other) for other in others] + [0.0] * len(blank)
        return max(values)

    def recall(text: list[str]) -> float:
        total = sum(w * best(v, text) for w, (_, v) in zip(own, tokens, strict=True))
        return total / sum(own)

    parts = sentences(response)
    pairs = [parts[k : k + 2] for k in range(max(len(parts) - 1, 1))]
    mean = sum(own) / len(own)
    content = [v for w, (_, v) in zip(own, tokens, strict=True) if w >= 0.5 * mean]
    return [
        max(recall([part]) for part in parts),
        max(map(recall, pairs)),
        recall(parts),
        min(best(v, parts) for v in content),
    ]


def test_columns_are_those_of_slow_loops(tiny: Path) -> None:
    pool, weights = small_pool(ANSWERS), slow_weights(ANSWERS)
    table = token_evidence(str(tiny), pool, pool.texts, silent)
    assert table.shape == (len(ANSWERS) * len(NUGGETS), len(TOKEN_COLUMNS))
    for k, response in enumerate(ANSWERS):
        expected = np.array(
            [
                np.max([slow_recalls(text, response, weights) for text in descriptions], axis=0)
                for descriptions in NUGGETS
            ]
        )
        above = expected[:, 1:3] - expected[:, 1:3].mean(axis=0)
        rows = table[k * len(NUGGETS) : (k + 1) * len(NUGGETS)]
        np.testing.assert_allclose(rows, np.hstack([expected, above]), rtol=0, atol=1e-6)
    assert len(np.unique(table.round(9))) > 40


def test_worked_values(tiny: Path) -> None:
    """An answer that repeats the description, and one that has a part of it."""
    pool = small_pool(["dog", "cat"])
    table = token_evidence(str(tiny), pool, pool.texts, silent)
    np.testing.assert_allclose(table[3, :4], 1.0, atol=1e-6)  # nugget `dog` in the answer `dog`
    dog, cat = (words_of(text)[0][1] for text in ("dog", "cat"))
    np.testing.assert_allclose(table[7, :4], slow_cosine(dog, cat), atol=1e-6)


def test_batches_repeats_and_threads_have_the_same_bits(tiny: Path) -> None:
    answers = [f"{a} {b}. {b} {a} {a}" for a in ANSWERS for b in ANSWERS] * 2
    pool, encoder = small_pool(answers), load_encoder(str(tiny))
    whole = TokenRecall(encoder, pool.texts).columns(pool)
    again = TokenRecall(encoder, pool.texts)
    with ThreadPoolExecutor(4) as threads:
        parts = [pool.take(np.array([k])) for k in range(len(answers))]
        tables = list(threads.map(again.columns, parts))
    assert np.array_equal(np.concatenate(tables), whole)
    assert np.array_equal(again.columns(pool), whole)  # from the cache


def test_idf_comes_from_the_background(tiny: Path) -> None:
    pool = small_pool(ANSWERS)
    other = token_evidence(str(tiny), pool, ("dog. dog. dog. cat",), silent)
    assert not np.allclose(other, token_evidence(str(tiny), pool, pool.texts, silent))


# --------------------------------------------------------------------------------- the groups


def test_the_model_turns_the_group_on(tiny: Path) -> None:
    plain, with_model = Calibrated(), parse_classifier(f"calibrated:model={tiny}")
    assert str(with_model) == f"calibrated:model={tiny}"
    assert evidence_source(plain) == EvidenceSource()
    source = evidence_source(with_model)
    assert source.columns == (*EvidenceSource().columns, *TOKEN_COLUMNS)
    assert len(source.weights) == len(source.columns)
    assert {group.setting for group in EVIDENCE_GROUPS.values()} <= {"", *with_model.__dict__}


def test_judged_runs_learn_from_tokens(tiny: Path) -> None:
    key, runs, judgements = world(seed=3)
    nuggets = NuggetSet("world", key, {run.tag: run for run in runs}, judgements)
    plain = predict_support(nuggets)
    tokens = predict_support(nuggets, classifier=Calibrated(model=str(tiny)))
    assert tokens.learned == plain.learned > 0
    assert not np.array_equal(tokens.probabilities, plain.probabilities)


def test_the_built_in_weight_counts_what_exceeds_the_mean_of_the_question(tiny: Path) -> None:
    key = make_key([small_pool(ANSWERS).questions[0]])
    runs = {str(k): make_run(str(k), [("q", Response(x))]) for k, x in enumerate(ANSWERS)}
    nuggets = NuggetSet("tiny", key, runs, Judgements(()))
    plain = predict_support(nuggets, classifier=Calibrated(facts=False))
    tokens = predict_support(nuggets, classifier=Calibrated(model=str(tiny), facts=False))
    pool = tokens.pool
    columns = token_evidence(str(tiny), pool, pool.texts, silent)
    shift = 2 * columns[:, TOKEN_COLUMNS.index("token-pair-above")]
    expected = logit(plain.probabilities) + shift
    np.testing.assert_allclose(logit(tokens.probabilities), expected, atol=1e-9)
    assert np.abs(shift).max() > 0.1


# ----------------------------------------------------------------------------------- bad input


def test_a_folder_without_tokenizer_is_one_sentence(tiny: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(tiny, folder)
    (folder / "tokenizer.json").unlink()
    pool = small_pool(ANSWERS)
    with pytest.raises(InputError, match=r"has an ONNX file but no tokenizer\.json: add the one"):
        token_evidence(str(folder), pool, pool.texts, silent)
    with pytest.raises(InputError, match="no such folder; expected the folder of an encoder"):
        token_evidence(str(tmp_path / "absent"), pool, pool.texts, silent)


def test_files_of_two_models_are_one_sentence(tiny: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(tiny, folder)
    (folder / "config.json").write_text('{"hidden_size": 384}')
    pool = small_pool(ANSWERS)
    with pytest.raises(InputError, match=r"vectors have 4 numbers, and config\.json says 384"):
        token_evidence(str(folder), pool, pool.texts, silent)


def test_a_lone_surrogate_is_one_sentence(tiny: Path) -> None:
    pool = small_pool(["cat \ud800"])
    with pytest.raises(InputError, match="lone surrogate"):
        token_evidence(str(tiny), pool, ("cat",), silent)
