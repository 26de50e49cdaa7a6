"""Cross-encoders: probabilities of slow loops, windows, the bits of batches, labels, bad input."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracles.tiny_cross_encoder import (
    LABELS,
    MOST_TOKENS,
    ROOM,
    WORDS,
    slow_judgement,
    slow_probabilities,
    write_cross_encoder,
)
from oracles.tiny_embeddings import write_model2vec

from karat.errors import InputError, MissingExtra
from karat.metrics import cross_encoders
from karat.metrics.cross_encoders import (
    WITHOUT_PREMISE,
    CrossEncoder,
    Entailed,
    OnnxCrossEncoder,
    best_of,
    load_cross_encoder,
    read_labels,
)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_cross_encoder(tmp_path_factory.mktemp("nli") / "tiny")


def judge(folder: Path, premise: str, hypothesis: str) -> Entailed:
    return load_cross_encoder(str(folder)).judge([(premise, hypothesis)])[premise, hypothesis]


# ------------------------------------------------------------------------------- the oracle


@pytest.mark.parametrize(
    ("premise", "hypothesis", "entailment", "contradiction"),
    [
        # s = 1, d = 0: logits -6, 3, 0
        ("The cat sat on the mat.", "the cat sat", 0.952462, 0.00011754),
        # s = 1, d = 1: logits 6, -9, 0
        ("The cat sat on the mat.", "the cat sat not", 3.05e-7, 0.997527),
        # s = 1/2, d = 0: logits -6, -3, 0
        ("the cat", "cat dog", 0.047314, 0.002355),
        ("the cat", "unknown words", 0.000123, 0.002472),
    ],
)
def test_worked_values(
    tiny: Path, premise: str, hypothesis: str, entailment: float, contradiction: float
) -> None:
    actual = judge(tiny, premise, hypothesis)
    assert actual[:2] == pytest.approx((entailment, contradiction), rel=1e-3)
    assert sum(actual[:3]) == pytest.approx(1, abs=1e-12)
    assert actual[3:] == (0, False, False)


phrases = st.lists(st.sampled_from([*WORDS, "new", "old"]), min_size=1, max_size=3 * ROOM)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.tuples(phrases, phrases), min_size=1, max_size=8))
def test_every_pair_is_that_of_the_slow_loops(
    tiny: Path, drawn: list[tuple[list[str], list[str]]]
) -> None:
    pairs = [(" ".join(premise), " ".join(hypothesis)) for premise, hypothesis in drawn]
    judgements = load_cross_encoder(str(tiny)).judge(pairs)
    for (premise, hypothesis), (first, second) in zip(pairs, drawn, strict=True):
        actual = judgements[premise, hypothesis]
        assert actual[:2] == pytest.approx(slow_judgement(premise, hypothesis), rel=1e-5, abs=1e-12)
        assert actual.cut == (len(second) > ROOM // 2)
        assert actual.in_windows == (len(first) > ROOM - min(len(second), ROOM // 2))


def test_windows_overlap_so_that_no_neighbors_are_apart(tiny: Path) -> None:
    for at in range(60):
        words = ["new"] * at + ["the", "cat", "sat", "on", "the", "mat"] + ["new"] * (60 - at)
        actual = judge(tiny, " ".join(words), "cat sat mat")
        assert actual.entailment == pytest.approx(slow_probabilities("cat", "cat")[1], rel=1e-6)
        assert actual.in_windows


def test_the_contradiction_of_the_least_neutral_premise() -> None:
    stated = Entailed(0.95, 0.01, 0.04)
    other = Entailed(0.02, 0.40, 0.58)
    denied = Entailed(0.01, 0.98, 0.01)
    assert best_of([other, stated]) == Entailed(0.95, 0.01, 0.04, premise=1)
    assert best_of([stated, denied]) == Entailed(0.95, 0.98, 0.01, premise=0)
    assert best_of([]) == WITHOUT_PREMISE == (0, 0, 1, 0, False, False)


# ------------------------------------------------------------------ bits, batches and the cache


def many_pairs(count: int) -> list[tuple[str, str]]:
    draw = np.random.default_rng(3)
    texts = [" ".join(draw.choice([*WORDS, "new"], size)) for size in draw.integers(1, 30, count)]
    return list(zip(texts, reversed(texts), strict=True))


def test_no_bit_depends_on_the_other_pairs(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = many_pairs(300)
    fresh = OnnxCrossEncoder(str(tiny), tiny, "fp32")
    expected = fresh.judge(pairs)
    monkeypatch.setattr(cross_encoders, "_PAIRS_AT_ONCE", 7)
    assert OnnxCrossEncoder(str(tiny), tiny, "fp32").judge(pairs) == expected
    single = OnnxCrossEncoder(str(tiny), tiny, "fp32")
    assert {pair: single.judge([pair])[pair] for pair in pairs} == expected


def test_a_pair_is_judged_once(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder, counts = OnnxCrossEncoder(str(tiny), tiny, "fp32"), []
    run = OnnxCrossEncoder._run

    def counted(self: OnnxCrossEncoder, ids: Any, types: Any) -> Any:
        counts.append(len(ids))
        return run(self, ids, types)

    monkeypatch.setattr(OnnxCrossEncoder, "_run", counted)
    encoder.judge([("cat", "dog"), ("cat", "dog"), ("dog", "cat")])
    assert sum(counts) == 2
    encoder.judge([("cat", "dog"), ("the cat", "dog")])
    assert sum(counts) == 3


def test_groups_are_not_used_where_they_change_bits(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = OnnxCrossEncoder._run
    sizes = []

    def inexact(self: OnnxCrossEncoder, ids: Any, types: Any) -> Any:
        sizes.append(len(ids))
        return run(self, ids, types) + len(ids) * 1e-6

    monkeypatch.setattr(OnnxCrossEncoder, "_run", inexact)
    encoder = OnnxCrossEncoder(str(tiny), tiny, "fp32")
    sizes.clear()
    encoder.judge([("cat", "dog"), ("dog", "cat"), ("red", "mat")])
    assert sizes == [1, 1, 1]


# ----------------------------------------------------------------------------------- labels


@pytest.mark.parametrize(
    ("labels", "entailment", "contradiction"),
    [
        (["CONTRADICTION", "NEUTRAL", "ENTAILMENT"], 2, 0),
        (["LABEL_entail", "LABEL_contradict", "LABEL_neutral"], 0, 1),
        (["entailment", "not_entailment"], 0, None),
        (["non-entailment", "Entailment"], 1, None),
    ],
)
def test_labels_by_name(
    tmp_path: Path, labels: list[str], entailment: int, contradiction: int | None
) -> None:
    names = {str(i): label for i, label in enumerate(labels)}
    (tmp_path / "config.json").write_text(json.dumps({"id2label": names}))
    assert read_labels(str(tmp_path)) == (len(labels), entailment, contradiction)


@pytest.mark.parametrize(
    ("id2label", "message"),
    [
        ({"0": "LABEL_0", "1": "LABEL_1"}, r"no model of entailment .*\(LABEL_0, LABEL_1\): expec"),
        ({"0": "negative", "1": "positive"}, "no model of entailment by its labels"),
        ({"0": "entailment"}, "no model of entailment by its labels"),
        ({"0": "entailment", "1": "entail"}, "no model of entailment by its labels"),
        ({"0": "entailment", "2": "neutral"}, r"has the keys 0, 2; expected 0 to 1"),
        ({}, r"config.json does not name its labels \(id2label\): expected one named entailment"),
        (["entailment"], "does not name its labels"),
        (None, "does not name its labels"),
    ],
)
def test_labels_that_are_not_of_entailment(
    tiny: Path, tmp_path: Path, id2label: Any, message: str
) -> None:
    folder = write_cross_encoder(tmp_path / "m")
    (folder / "config.json").write_text(json.dumps({"id2label": id2label}))
    with pytest.raises(InputError, match=message):
        load_cross_encoder(str(folder))


# -------------------------------------------------------------------------------- bad input


def refused(folder: Path | str, message: str, **more: str) -> None:
    with pytest.raises(InputError, match=message) as raised:
        load_cross_encoder(str(folder), **more)
    assert "\n" not in str(raised.value)


def test_folders_that_are_no_models(tmp_path: Path) -> None:
    refused(tmp_path / "none", r"no such folder; expected the folder of an encoder on this machine")
    refused(tmp_path, r"no encoder of a known kind \(onnx: .*; transformers: ")
    refused("wordllama", "vectors in context are needed")
    refused(write_model2vec(tmp_path / "m"), "vectors in context are needed")


def test_a_folder_without_a_tokenizer(tmp_path: Path) -> None:
    folder = write_cross_encoder(tmp_path / "m")
    (folder / "tokenizer.json").unlink()
    refused(folder, "has an ONNX file but no tokenizer.json: add the one of the model")


def test_a_folder_with_several_models(tmp_path: Path) -> None:
    folder = write_cross_encoder(tmp_path / "m")
    (folder / "onnx").mkdir()
    (folder / "onnx" / "model.onnx").write_bytes((folder / "model.onnx").read_bytes())
    refused(folder, "several models, model.onnx and onnx/model.onnx: keep one of them")


def test_a_model_without_scores_of_labels(tmp_path: Path) -> None:
    folder = write_cross_encoder(tmp_path / "m", output="other")
    refused(folder, r"no scores of labels \(outputs: last_hidden_state\); expected logits")


def test_a_model_with_other_labels_than_its_config(tmp_path: Path) -> None:
    folder = write_cross_encoder(tmp_path / "m")
    config = {"id2label": {"0": "entailment", "1": "not_entailment"}}
    (folder / "config.json").write_text(json.dumps(config))
    refused(folder, r"gave numbers of shape \(1, 3\) for 1 pairs; .* each of 2 labels in config")


def test_a_model_that_takes_too_few_tokens(tmp_path: Path) -> None:
    folder = write_cross_encoder(tmp_path / "m", most_tokens=6)
    refused(folder, "takes 6 tokens, which is too few for two texts: check model_max_length")


def test_numbers_that_are_not_finite(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = OnnxCrossEncoder(str(tiny), tiny, "fp32")
    monkeypatch.setattr(encoder, "_run", lambda ids, types: np.full((len(ids), 3), np.nan))
    with pytest.raises(InputError, match="gave numbers that are not finite: is it damaged"):
        encoder.judge([("cat", "dog")])


def test_a_text_with_a_lone_surrogate(tiny: Path) -> None:
    with pytest.raises(InputError, match="has a lone surrogate; remove it"):
        judge(tiny, "cat \ud800", "cat")


def test_packages_that_are_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_cross_encoder(tmp_path / "m")
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtra, match=r"pip install 'karat-eval\[embed\]'"):
        load_cross_encoder(str(folder))
    (folder / "model.onnx").unlink()
    (folder / "model.safetensors").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match="pip install torch"):
        load_cross_encoder(str(folder))
    refused(folder, "precision=int8 needs an ONNX file", precision="int8")


def test_no_limit_of_length(tmp_path: Path) -> None:
    folder = write_cross_encoder(tmp_path / "m", most_tokens=None)
    encoder: CrossEncoder = load_cross_encoder(str(folder))
    assert encoder.longest is None
    premise = " ".join(["new"] * 500 + ["cat"])
    assert not judge(folder, premise, "cat").in_windows
    assert judge(folder, premise, "cat").entailment == pytest.approx(0.952462, rel=1e-4)


def test_the_oracle_has_the_labels_of_the_file(tiny: Path) -> None:
    assert read_labels(str(tiny)) == (3, LABELS.index("entailment"), LABELS.index("contradiction"))
    assert load_cross_encoder(str(tiny)).longest == MOST_TOKENS


# ------------------------------------------------------------------------------ transformers


def test_the_loader_of_transformers(tiny: Path, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    torch.manual_seed(1)
    folder, names = tmp_path / "bert", dict(enumerate(LABELS))
    config = transformers.BertConfig(
        vocab_size=30,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=MOST_TOKENS,
        id2label=names,
        label2id={name: i for i, name in names.items()},
        initializer_range=1.0,
    )
    model = transformers.BertForSequenceClassification(config).eval()
    model.save_pretrained(folder)
    marks = {"unk_token": "[UNK]", "pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(tiny / "tokenizer.json"),
        model_max_length=MOST_TOKENS,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
        **marks,
    )
    tokenizer.save_pretrained(folder)
    pairs = [("the cat sat on the mat", "the cat sat"), ("the dog", "red dog ran " * 20)]
    pairs.append(("the cat sat on the red mat in paris " * 6, "paris is in france"))
    judgements = load_cross_encoder(str(folder)).judge(pairs)
    inputs = tokenizer(*pairs[0], return_tensors="pt")
    with torch.no_grad():
        p = model(**inputs).logits.softmax(-1)[0].tolist()
    assert judgements[pairs[0]][:3] == pytest.approx((p[1], p[0], p[2]), abs=1e-6)
    assert [judgements[pair].in_windows for pair in pairs] == [False, False, True]
    assert [judgements[pair].cut for pair in pairs] == [False, True, False]
    (folder / "tokenizer.json").write_text("{")
    refused(folder, "transformers cannot load it: ")
