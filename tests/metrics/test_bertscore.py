"""BERTScore: the loops of a slow oracle, the bits of batches and threads, bad input."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracles.tiny_embeddings import write_bert, write_model2vec
from oracles.tiny_encoder import MOST_TOKENS, WORDS, slow_bertscore, slow_idf, write_encoder

import karat as kt
from karat.compat import bert_score
from karat.errors import InputError, MissingExtra
from karat.metrics import bertscore as bertscore_module
from karat.metrics import encoders
from karat.metrics.base import Metric
from karat.metrics.bertscore import TokenVectors
from karat.metrics.encoders import load_encoder
from karat.metrics.names import metric as parse

PLAIN = [word for word in WORDS if not word.startswith("[")]
TEXTS = ["cat", "cat sat", "the red cat sat", "not", "dog ran", "dog dog cat cat cat", "red"]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_encoder(tmp_path_factory.mktemp("encoder") / "tiny")


def bertscore(model: object, **given: object) -> Metric:
    more = "".join(f",{key}={value}" for key, value in given.items())
    return parse(f"bertscore:model={model}{more}")


def parts(metric: Metric, candidates: Sequence[str], references: Sequence[Any]) -> np.ndarray:
    groups = [[group] if isinstance(group, str) else group for group in references]
    return metric.stats(candidates, groups)[:, :3]


# ------------------------------------------------------------------------------- the oracle


@pytest.mark.parametrize("layer", [None, 0, 1])
def test_every_pair_is_that_of_the_slow_loops(tiny: Path, layer: int | None) -> None:
    pairs = [(a, b) for a in [*TEXTS, ""] for b in [*TEXTS, " "]]
    metric = bertscore(tiny) if layer is None else bertscore(tiny, layer=layer)
    actual = parts(metric, [a for a, _ in pairs], [b for _, b in pairs])
    expected = [slow_bertscore(a, b, 1 if layer is None else layer) for a, b in pairs]
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-6)
    assert len(np.unique(np.round(actual, 9))) > 40


phrases = st.lists(st.sampled_from([*PLAIN, "new"]), max_size=MOST_TOKENS - 2).map(" ".join)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.tuples(phrases, st.lists(phrases, min_size=1, max_size=3)), min_size=1))
def test_the_best_reference_counts_part_by_part(
    tiny: Path, segments: list[tuple[str, list[str]]]
) -> None:
    candidates, references = [c for c, _ in segments], [r for _, r in segments]
    idf = slow_idf([text for group in references for text in group])
    for name, weights in (("none", None), ("references", idf)):
        actual = parts(bertscore(tiny, idf=name), candidates, references)
        expected = [
            np.max([slow_bertscore(candidate, text, 1, weights) for text in group], axis=0)
            for candidate, group in segments
        ]
        np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-6)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(phrases, phrases)
def test_precision_is_recall_the_other_way(tiny: Path, a: str, b: str) -> None:
    (p, r, f), (p2, r2, f2) = parts(bertscore(tiny), [a, b], [b, a])
    assert (p, r, f) == pytest.approx((r2, p2, f2), abs=1e-12)
    assert max(abs(p), abs(r)) <= 1
    assert parts(bertscore(tiny), [a], [a])[0].tolist() == [bool(a)] * 3  # exactly 1, or 0


def test_idf_of_a_file(tiny: Path, tmp_path: Path) -> None:
    texts = ["cat sat", "cat ran", "red dog"]
    file = tmp_path / "texts.txt"
    file.write_text("".join(f"{text}\n" for text in texts))
    metric = bertscore(tiny, idf=file)
    actual = parts(metric, ["cat sat not"], ["red cat"])
    expected = slow_bertscore("cat sat not", "red cat", 1, slow_idf(texts))
    assert actual[0].tolist() == pytest.approx(expected, abs=1e-6)
    assert parts(bertscore(tiny, idf="references"), texts, texts).tolist() == [[1.0] * 3] * 3
    assert f"idf={file}@" in metric.signature(1)
    assert str(file) in metric.input_files()
    assert ",idf=references," in bertscore(tiny, idf="references").signature(1)


def test_the_value_is_a_part(tiny: Path) -> None:
    p, r, f = slow_bertscore("cat sat", "the red cat sat")
    for name, value in (("p", p), ("r", r), ("f", f)):
        score = bertscore(tiny, part=name).corpus(["cat sat"], [["the red cat sat"]])
        assert score.value == pytest.approx(value, abs=1e-6)
        assert dict(score.parts) == pytest.approx({"precision": p, "recall": r, "f": f}, abs=1e-6)


def test_a_corpus_score_is_the_mean(tiny: Path) -> None:
    candidates, references = TEXTS, [[text] for text in reversed(TEXTS)]
    metric = bertscore(tiny)
    scores = metric.segments(candidates, references)
    assert metric.corpus(candidates, references).value == pytest.approx(scores.mean(), abs=1e-12)


def test_baselines_rescale(tiny: Path, tmp_path: Path) -> None:
    file = tmp_path / "baseline.tsv"
    file.write_text("LAYER,P,R,F\n0,0.1,0.2,0.3\n1,0.5,0.25,-1\n")
    plain = parts(bertscore(tiny), ["cat sat", ""], ["dog ran", "cat"])
    for layer, low in ((None, (0.5, 0.25, -1)), (0, (0.1, 0.2, 0.3))):
        given = {} if layer is None else {"layer": layer}
        if layer is not None:
            plain = parts(bertscore(tiny, layer=layer), ["cat sat", ""], ["dog ran", "cat"])
        actual = parts(bertscore(tiny, baseline=file, **given), ["cat sat", ""], ["dog ran", "cat"])
        expected = (plain - np.array(low)) / (1 - np.array(low))
        np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-12)


# ------------------------------------------------------------------ bits, batches and threads


def many_texts(count: int) -> list[str]:
    draw = np.random.default_rng(5)
    lengths = draw.integers(1, MOST_TOKENS + 4, count)
    return [" ".join(draw.choice([*PLAIN, "new"], size)) for size in lengths]


@pytest.mark.parametrize(("threads", "texts", "room"), [(1, 3, 1 << 30), (3, 256, 1 << 12)])
def test_neither_batches_nor_threads_nor_the_cache_change_a_bit(
    tiny: Path, threads: int, texts: int, room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    candidates, references = many_texts(600), [[text] for text in many_texts(1200)[600:]]
    expected = bertscore(tiny).stats(candidates, references, threads=1)
    monkeypatch.setattr(bertscore_module, "_BLOCK_SEGMENTS", texts)
    vectors = TokenVectors(load_encoder(str(tiny)), room)
    monkeypatch.setattr(bertscore_module, "_shared_vectors", lambda encoder: vectors)
    actual = bertscore(tiny).stats(candidates, references, threads=threads)
    assert actual.tobytes() == expected.tobytes()
    alone = [
        bertscore(tiny).stats([c], [r])[0]
        for c, r in zip(candidates[:50], references[:50], strict=True)
    ]
    assert np.array(alone).tobytes() == expected[:50].tobytes()


def test_texts_are_encoded_once(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = load_encoder(str(tiny))
    vectors, counts = TokenVectors(encoder), []
    encode = type(encoder).encode
    monkeypatch.setattr(bertscore_module, "_shared_vectors", lambda _: vectors)
    monkeypatch.setattr(
        type(encoder), "encode", lambda self, texts: counts.extend(texts) or encode(self, texts)
    )
    references = [f"{text} red" for text in TEXTS]
    systems = {"a": TEXTS, "b": [*TEXTS[:-1], "ran ran"], "c": TEXTS}
    kt.score(systems, [[text] for text in references], [f"bertscore:model={tiny}"])
    assert sorted(counts) == sorted({*TEXTS, *references, "ran ran"})


def test_vectors_in_memory_have_a_limit(tiny: Path) -> None:
    encoder = load_encoder(str(tiny))
    texts = [f"cat {word} {other}" for word in PLAIN for other in PLAIN]
    size = next(iter(TokenVectors(encoder).of([texts[0]]).values())).nbytes + 4 * 12
    vectors = TokenVectors(encoder, 10 * size)
    for text in texts:
        vectors.of([text])
    assert 8 <= len(vectors._recent) <= 11
    assert vectors._recent.keys()[-1] == texts[-1]


def test_models_whose_groups_differ_take_single_texts(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = encoders.OnnxEncoder._run
    sizes: list[int] = []

    def inexact(self: encoders.OnnxEncoder, ids: Any) -> Any:
        sizes.append(len(ids))
        return run(self, ids) * (1 + 1e-6 * (len(ids) - 1))

    monkeypatch.setattr(encoders.OnnxEncoder, "_run", inexact)
    encoder = encoders.OnnxEncoder("model x", tiny, None, "fp32")
    assert not encoder.takes_groups
    sizes.clear()
    encoder.encode(["cat dog", "dog cat", "red"])
    assert sizes == [1, 1, 1]
    monkeypatch.undo()
    assert encoders.OnnxEncoder("model x", tiny, None, "fp32").takes_groups


def test_8_bit_integers(tmp_path: Path) -> None:
    folder = write_encoder(tmp_path / "m", matrix=True)
    small = bertscore(folder, precision="int8")
    before = logging.getLogger().handlers[:], logging.root.manager.disable
    files = {file: file.stat().st_mtime_ns for file in (folder, *folder.iterdir())}
    actual = parts(small, TEXTS, TEXTS[::-1])
    assert (logging.getLogger().handlers[:], logging.root.manager.disable) == before
    assert {file: file.stat().st_mtime_ns for file in (folder, *folder.iterdir())} == files
    expected = parts(bertscore(folder), TEXTS, TEXTS[::-1])
    assert 1e-7 < np.abs(actual - expected).max() < 0.1
    assert ",precision=int8," in small.signature(1)
    alone = [parts(small, [a], [b])[0] for a, b in zip(TEXTS, TEXTS[::-1], strict=True)]
    assert np.array(alone).tobytes() == actual.tobytes()


def test_a_file_of_8_bit_integers_is_taken(tmp_path: Path) -> None:
    folder = write_encoder(tmp_path / "m")
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / "onnx" / "model_quantized.onnx")
    with pytest.raises(InputError, match=r"only onnx/model_quantized\.onnx, .* precision=int8"):
        bertscore(folder).segments(["cat"], [["cat"]])
    assert parts(bertscore(folder, precision="int8"), ["cat"], ["cat"]).tolist() == [[1, 1, 1]]


# ----------------------------------------------------------------------- notes and signatures


def test_long_texts_are_noted(tiny: Path) -> None:
    long = " ".join(["cat"] * (MOST_TOKENS - 2) + ["dog"] * 50)
    score = bertscore(tiny).corpus([long, "cat", "cat"], [["cat"], ["cat", long], ["dog"]])
    message = "2 of 3 segments have a text longer than the model takes (12 tokens): "
    assert score.notes == (f"{message}only its beginning counts",)
    fits = " ".join(["cat"] * (MOST_TOKENS - 2))
    assert bertscore(tiny).corpus([fits], [["cat"]]).notes == ()


def test_the_longest_text_is_that_of_the_tokenizer(tmp_path: Path) -> None:
    folder = write_encoder(tmp_path / "m")
    (folder / "tokenizer_config.json").write_text('{"model_max_length": 1e30}')
    config = json.loads((folder / "config.json").read_text())
    config |= {"max_position_embeddings": 9, "pad_token_id": 1}
    (folder / "config.json").write_text(json.dumps(config))
    assert load_encoder(str(folder)).longest == 9
    (folder / "config.json").write_text(json.dumps(config | {"model_type": "xlm-roberta"}))
    assert load_encoder(str(folder)).longest == 7
    (folder / "tokenizer_config.json").write_text('{"model_max_length": 100000}')
    assert load_encoder(str(folder)).longest == 7
    (folder / "tokenizer_config.json").write_text('{"model_max_length": 5}')
    assert load_encoder(str(folder)).longest == 5


def test_the_first_word_is_treated_as_one_after_a_space(tmp_path: Path) -> None:
    """bert-score tokenizes texts for RoBERTa and GPT-2 so."""
    folder = write_encoder(tmp_path / "m")
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    tokenizer["pre_tokenizer"] = {
        "type": "ByteLevel",
        "add_prefix_space": False,
        "trim_offsets": True,
        "use_regex": True,
    }
    tokenizer["model"]["vocab"] = {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "cat": 3, "\u0120cat": 4}
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    ids = load_encoder(str(folder)).tokenize(["cat cat"])[0].ids
    assert ids.tolist() == [1, 4, 4, 2]


def test_marks_without_names_are_those_of_an_empty_text(tmp_path: Path) -> None:
    folder = write_encoder(tmp_path / "m")
    (folder / "tokenizer_config.json").write_text('{"model_max_length": 12}')
    assert load_encoder(str(folder)).marks == {1, 2}


def test_the_signature_has_the_content_of_the_model(tmp_path: Path) -> None:
    folder = write_encoder(tmp_path / "m")
    metric = bertscore(folder)
    signature = metric.signature(1)
    assert parse(signature) == metric
    assert "layer=none,idf=none,part=f,precision=fp32,baseline=none,loader=auto" in signature
    config = folder / "tokenizer_config.json"
    config.write_text(config.read_text().replace("12", "11"))
    assert metric.signature(1) != signature
    with pytest.raises(InputError, match="is not the one of the signature"):
        parse(signature)


def test_intervals_units_and_comparisons(tiny: Path) -> None:
    name = f"bertscore:model={tiny},part=r"
    references = [[text] for text in TEXTS * 4]
    worse = [text if i % 3 else "not" for i, text in enumerate(TEXTS * 4)]
    compared = kt.compare({"a": TEXTS * 4, "b": worse}, references, baseline="a", metrics=[name])
    row = compared.rows[-1]
    assert row.score.value < 1
    scores = kt.score({"b": worse}, references, [name], intervals=True)
    (only,) = scores.rows
    assert only.low is not None
    assert only.high is not None
    assert only.low < only.score.value < only.high


def test_a_table_has_the_scores_of_texts(tiny: Path, tmp_path: Path) -> None:
    lines = [{"reference": a, "candidate": b} for a, b in zip(TEXTS, TEXTS[::-1], strict=True)]
    file = tmp_path / "t.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    table = kt.score_table(str(file), [f"bertscore:model={tiny}"])
    value = bertscore(tiny).corpus(TEXTS[::-1], [[text] for text in TEXTS]).value
    assert table.rows[0].score.value == value


def test_bertscore_in_a_gate(tiny: Path, run_karat: Callable[..., Any], folder: Path) -> None:
    texts = {"r": "cat\ndog\n", "good": "cat\ndog cat\n", "bad": "not\ncat\n"}
    for name, text in texts.items():
        (folder / name).write_text(text * 10)
    gate = ["gate", "-r", "r", "-b", "gate.tsv", "-f", "json"]
    done = run_karat(*gate, "good", "-m", f"bertscore:model={tiny},part=r", "--update")
    assert done.returncode == 0
    assert f"bertscore:model={tiny}@" in (folder / "gate.tsv").read_text()
    repeated, worse = run_karat(*gate, "good"), run_karat(*gate, "bad")
    assert (repeated.returncode, worse.returncode) == (0, 1)


# ---------------------------------------------------------------------------------- bad input


def refused(folder: object, message: str, **given: object) -> None:
    with pytest.raises(InputError, match=message) as caught:
        bertscore(folder, **given).corpus(["cat"], [["cat"]])
    assert "\n" not in str(caught.value)


def test_a_model_is_needed() -> None:
    with pytest.raises(InputError, match="bertscore needs an encoder: write bertscore:model="):
        parse("bertscore").segments(["a"], [["a"]])


def test_a_name_of_a_hub_is_no_folder() -> None:
    refused(
        "bert-base-uncased",
        r"no such folder; expected the folder of an encoder on .* \(nothing is downloaded\)",
    )


def test_a_folder_without_a_tokenizer(tmp_path: Path) -> None:
    folder = write_encoder(tmp_path / "m")
    (folder / "tokenizer.json").unlink()
    refused(folder, r"the folder has an ONNX file but no tokenizer\.json")


def test_a_folder_with_several_models(tmp_path: Path) -> None:
    folder = write_encoder(tmp_path / "m")
    (folder / "onnx").mkdir()
    (folder / "onnx" / "model.onnx").write_bytes((folder / "model.onnx").read_bytes())
    refused(folder, r"several models, model\.onnx and onnx/model\.onnx: keep one of them")
    for name in ("a.onnx", "b.onnx"):
        (folder / "onnx" / "model.onnx").rename(folder / name)
        (folder / "model.onnx").rename(folder / "onnx" / "model.onnx") if name == "a.onnx" else None
    refused(folder, r"several models, a\.onnx and b\.onnx: name the one to use model\.onnx")


def test_a_folder_without_a_model(tmp_path: Path) -> None:
    refused(tmp_path, r"no encoder of a known kind \(onnx: .*; transformers: ")
    refused(tmp_path, r"no encoder of a known kind \(onnx: [^;]*\)", loader="onnx")


def test_static_models_are_refused(tmp_path: Path) -> None:
    refused("wordllama", "vectors in context are needed: use cosine")
    refused(write_model2vec(tmp_path / "m"), "vectors in context are needed: use cosine")


def test_an_encoder_without_token_vectors(tmp_path: Path) -> None:
    folder = write_encoder(tmp_path / "m", axes=2)
    refused(folder, r"its ONNX file has no vectors of tokens \(outputs: pooled\); expected last_")


def test_an_encoder_of_other_dimensions(tmp_path: Path) -> None:
    folder = write_encoder(tmp_path / "m")
    (folder / "config.json").write_text('{"hidden_size": 384}')
    refused(folder, r"its vectors have 4 numbers, and config\.json says 384")


def test_a_layer_that_is_not_there(tmp_path: Path) -> None:
    refused(write_encoder(tmp_path / "a"), r"no output of layer 7 \(hidden_states\.7\)", layer=7)
    folder = write_encoder(tmp_path / "b", hidden_states=False)
    refused(folder, r"no output of layer 0 \(hidden_states\.0\): leave layer out", layer=0)
    assert parts(bertscore(folder, layer=1), ["cat"], ["cat"]).tolist() == [[1, 1, 1]]


def test_damaged_models(tmp_path: Path) -> None:
    folder = write_encoder(tmp_path / "a")
    (folder / "model.onnx").write_bytes((folder / "model.onnx").read_bytes()[:40])
    refused(folder, "onnxruntime cannot load it: ")
    folder = write_encoder(tmp_path / "b")
    (folder / "tokenizer.json").write_text("{")
    refused(folder, r"its tokenizer\.json cannot be loaded: ")
    folder = write_encoder(tmp_path / "c")
    (folder / "config.json").write_text("[")
    refused(folder, "config.json: not valid JSON")
    folder = write_encoder(tmp_path / "d")
    (folder / "model.onnx").write_text("version https://git-lfs.github.com/spec/v1\nsize 9\n")
    refused(folder, r"model\.onnx is a pointer of Git LFS, not the model: fetch it")


def test_numbers_that_are_not_finite(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = load_encoder(str(tiny))
    monkeypatch.setattr(encoder, "_run", lambda ids: np.full((*ids.shape, 4), np.inf))
    with pytest.raises(InputError, match="it gave numbers that are not finite: is it damaged"):
        encoder.encode(["cat"])
    monkeypatch.setattr(encoder, "_run", lambda ids: np.ones((*ids.shape, 3)))
    with pytest.raises(InputError, match="it gave 3 numbers for one token and 4 for another"):
        encoder.encode(["cat"])
    monkeypatch.setattr(encoder, "_run", lambda ids: np.ones((len(ids), 4)))
    with pytest.raises(InputError, match=r"shape .* for 3 tokens; expected a vector for each"):
        encoder.encode(["cat"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "no baseline: expected a line of LAYER,P,R,F"),
        ("layer,p\n1,1\n", "line 1: found 'layer,p'; expected LAYER,P,R,F"),
        ("LAYER,P,R,F\n0,.1,.2,.3\n", r"there is no line of layer 1 \(layers: 0\)"),
        (
            "LAYER,P,R,F\n1,.1,.2\n",
            "line 2: found '1,.1,.2'; expected three finite numbers below 1",
        ),
        ("LAYER,P,R,F\n1,.1,.2,1\n", "line 2: .*; expected three finite numbers below 1"),
        ("LAYER,P,R,F\n1,.1,.2,nan\n", "line 2: .*; expected three finite numbers below 1"),
        ("LAYER,P,R,F\n1,.1,.2,-inf\n", "line 2: .*; expected three finite numbers below 1"),
    ],
)
def test_baselines_that_cannot_be_right(
    tiny: Path, tmp_path: Path, content: str, message: str
) -> None:
    file = tmp_path / "b.tsv"
    file.write_text(content)
    refused(tiny, message, baseline=file)


def test_files_that_are_not_there(tiny: Path, tmp_path: Path) -> None:
    refused(tiny, "idf=yes: no such file; expected none, references, or a file", idf="yes")
    refused(tiny, "baseline=b.tsv: no such file; expected a file with", baseline="b.tsv")
    (tmp_path / "empty").write_text("")
    refused(tiny, "empty is empty: expected one", idf=tmp_path / "empty")


def test_idf_of_references_needs_all_of_them(tiny: Path, tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    file.write_text('{"reference": "cat", "candidate": "dog"}\n')
    with pytest.raises(InputError, match=r"weights need all references at once.*and idf=FILE"):
        kt.score_table(str(file), [f"bertscore:model={tiny},idf=references"])


def test_a_lone_surrogate_is_refused(tiny: Path) -> None:
    with pytest.raises(InputError, match="surrogate"):
        bertscore(tiny).segments(["a \ud800"], [["a"]])


def test_packages_that_are_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_encoder(tmp_path / "m")
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(MissingExtra, match="precision=int8 needs the package onnx or a file"):
        bertscore(folder, precision="int8").segments(["a"], [["a"]])
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtra, match=r"needs the package onnxruntime, .*karat-eval\[embed\]"):
        bertscore(folder).segments(["a"], [["a"]])
    (folder / "model.onnx").unlink()
    (folder / "model.safetensors").write_bytes(b"")
    refused(folder, "precision=int8 needs an ONNX file", precision="int8")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match=r"needs the package torch, .* pip install torch"):
        bertscore(folder).segments(["a"], [["a"]])


def test_no_output_overwrites_the_model(
    tmp_path: Path, run_karat: Callable[..., Any], folder: Path
) -> None:
    model = write_encoder(tmp_path / "m")
    for name in ("a", "r", "idf"):
        (folder / name).write_text("cat\n")
    metric = f"bertscore:model={model},idf=idf"
    for file in (model / "model.onnx", model / "config.json", folder / "idf"):
        before = file.read_bytes()
        done = run_karat("score", "a", "-r", "r", "-m", metric, "-o", str(file))
        assert done.returncode == 2
        assert "is one of the inputs" in done.stderr
        assert file.read_bytes() == before


def test_the_command_is_quiet_or_says_what_is_wrong(tiny: Path, tmp_path: Path) -> None:
    for name, text in (("a", "cat\n"), ("r", "dog\n")):
        (tmp_path / name).write_text(text)
    program = "import sys; from karat.cli import run; sys.exit(run())"
    for model, code, text in ((tiny, 0, ""), ("nowhere", 2, "model 'nowhere': no such folder")):
        metric = f"bertscore:model={model},precision=int8"
        command = [sys.executable, "-c", program, "score", "a", "-r", "r", "-m", metric]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == code
        assert text in done.stderr if text else done.stderr == ""
        assert "Traceback" not in done.stderr


# ------------------------------------------------------------------------------- real models

MODEL = os.environ.get("KARAT_ENCODER")
"""A folder of all-MiniLM-L6-v2 with model.onnx (benchmarks/encoder.py writes one)."""


needs_model = pytest.mark.skipif(not MODEL, reason="KARAT_ENCODER is not set")
REAL_PAIRS = [
    ("The cat sat on the mat.", "A cat was sitting on the mat."),
    ("Prices rose by 4 percent.", "Prices went up 4%."),
    ("He left.", "She stayed."),
]
BY_THE_PACKAGE = [
    (0.9186350, 0.8959047, 0.9071275),
    (0.7952158, 0.7952158, 0.7952159),
    (0.5824481, 0.5824481, 0.5824481),
]
"""P, R and F of the pairs by bert-score 0.3.13 with all-MiniLM-L6-v2, layer 6."""


@needs_model
def test_a_real_model_has_the_scores_of_the_package() -> None:
    candidates, references = map(list, zip(*REAL_PAIRS, strict=True))
    actual = parts(bertscore(MODEL), candidates, references)
    np.testing.assert_allclose(actual, BY_THE_PACKAGE, rtol=0, atol=1e-5)
    assert load_encoder(str(MODEL)).takes_groups


@needs_model
def test_the_guide_shows_the_scores_of_a_real_model() -> None:
    guide = Path(__file__).parents[2] / "docs" / "reference" / "metrics-guide.md"
    evalset = kt.load_evalset("demo")
    references = [[texts[0]] for texts in evalset.references]
    for system in ("atlas", "beacon"):
        score = bertscore(MODEL).corpus(evalset.outputs()[system], references)
        p, r, f = (score.parts[name] for name in ("precision", "recall", "f"))
        line = f"  {system:6}  {score.value:.4f}  P {p:.3f} R {r:.3f} F {f:.3f}"
        assert line in guide.read_text("utf-8").splitlines()


WORDS_OF_BERT = ["cat", "cat sat", "not cat dog", "dog", "sat sat", "cat dog cat sat not"]


@pytest.mark.parametrize(("layers", "idf"), [(0, False), (1, True), (2, False), (2, True)])
def test_the_package_itself(tmp_path: Path, layers: int, idf: bool) -> None:
    """One text at a time: in batches, bert-score replaces negative cosines by 0."""
    package = pytest.importorskip("bert_score", reason="bert-score is not installed")
    folder = write_bert(tmp_path / "bert")
    references: list[Any] = [[text, "dog cat"] for text in WORDS_OF_BERT[::-1]]
    options = {"model_type": str(folder), "num_layers": layers, "idf": idf, "batch_size": 1}
    expected = package.score(WORDS_OF_BERT, references, **options)
    actual = bert_score.score(WORDS_OF_BERT, references, **options)
    assert type(actual[0]) is type(expected[0])
    for scores, package_scores in zip(actual, expected, strict=True):
        np.testing.assert_allclose(scores, package_scores, rtol=0, atol=1e-5)


def test_transformers_has_layers(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    folder = write_bert(tmp_path / "bert")
    refused(folder, "layer=3, and the model has 2 layers: give at most that", layer=3)
    long = " ".join(["cat"] * 40)
    assert bertscore(folder).corpus([long], [["cat"]]).notes
    assert load_encoder(str(folder)).longest == 32
    (folder / "model.safetensors").write_bytes(b"damaged")
    refused(folder, "transformers cannot load it: ")
