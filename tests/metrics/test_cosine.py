"""Cosine of sentence embeddings: worked values, the libraries' own, real data, bad input."""

from __future__ import annotations

import json
import logging
import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracles.letter_embeddings import Letters
from oracles.tiny_cross_encoder import write_cross_encoder
from oracles.tiny_embeddings import (
    VECTORS,
    slow_cosine,
    word_tokenizer,
    write_model2vec,
    write_onnx,
)

import karat as kt
from karat.errors import InputError, MissingExtra
from karat.metrics import cosine as cosine_module
from karat.metrics import embedders
from karat.metrics.base import Metric
from karat.metrics.cosine import Vectors, cosines
from karat.metrics.embedders import Embedded
from karat.metrics.names import metric as parse

TEXTS = ["cat", "cat dog", "sat sat not", "dog cat sat", "not", "dog dog cat cat cat"]


@pytest.fixture(params=["model2vec", "onnx"])
def tiny(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return {"model2vec": write_model2vec, "onnx": write_onnx}[request.param](tmp_path / "tiny")


def cosine(model: object, **settings: object) -> Metric:
    more = "".join(f",{key}={value}" for key, value in settings.items())
    return parse(f"cosine:model={model}{more}")


# ------------------------------------------------------------------------------- tiny models


def test_worked_values(tiny: Path) -> None:
    segment_scores = cosine(tiny).segments(
        ["cat dog", "cat", "cat", "not"], [["cat"], ["cat"], ["dog"], ["cat"]]
    )
    assert segment_scores.tolist() == pytest.approx([1 / math.sqrt(2), 1, 0, -1], abs=1e-7)
    assert segment_scores[1] == 1  # not nearly


def test_every_pair_is_that_of_the_slow_loop(tiny: Path) -> None:
    pairs = [(a, b) for a in TEXTS for b in TEXTS]
    segment_scores = cosine(tiny).segments([a for a, _ in pairs], [[b] for _, b in pairs])
    assert segment_scores.tolist() == pytest.approx(
        [slow_cosine(*pair) for pair in pairs], abs=1e-6
    )


def test_of_several_references_the_best_counts(tiny: Path) -> None:
    score = cosine(tiny).corpus(["cat", "dog"], [["dog", "cat dog"], ["cat", "not", "dog"]])
    assert score.value == pytest.approx((1 / math.sqrt(2) + 1) / 2, abs=1e-7)


def test_an_empty_text_scores_zero(tiny: Path) -> None:
    segment_scores = cosine(tiny).segments(["", " \t ", "cat", ""], [["cat"], ["cat"], [" "], [""]])
    assert segment_scores.tolist() == [0, 0, 0, 0]


def test_a_text_without_a_vector_scores_zero(tmp_path: Path) -> None:
    segment_scores = cosine(write_model2vec(tmp_path / "m")).segments(
        ["whatever", "cat"], [["cat"], ["x"]]
    )
    assert segment_scores.tolist() == [0, 0]


def test_long_texts_are_noted(tiny: Path) -> None:
    long = " ".join(["cat"] * 8 + ["dog"] * 50)
    score = cosine(tiny).corpus([long, "cat", "cat"], [["cat"], ["cat"], ["dog"]])
    assert score.value == pytest.approx(2 / 3)
    message = "1 of 3 segments has a text longer than the model takes (8 tokens): "
    assert score.notes == (f"{message}only its beginning counts",)
    assert cosine(tiny).corpus([" ".join(["cat"] * 6)], [["cat"]]).notes == ()


def test_every_setting_is_explained() -> None:
    message = {f.name: str(f.metadata["help"]) for f in kt.Cosine.settings()}
    assert message["case"] == "Capitals: mixed (the model sees them) or lower."
    assert all(len(text.split()) > 2 for text in message.values())


def test_case_and_dimension_are_settings(tiny: Path) -> None:
    assert cosine(tiny, case="lower").segments(["CAT"], [["cat"]]).tolist() == [1]
    segment_scores = cosine(tiny, dim=1).segments(["cat dog"], [["cat"]])
    assert segment_scores.tolist() == [
        1
    ]  # (.5, .5, 0) and (1, 0, 0) have the first number in common
    with pytest.raises(InputError, match=r"vectors of the model have 3 numbers; give dim of"):
        cosine(tiny, dim=4).segments(["cat"], [["cat"]])


def test_the_signature_names_the_model_and_its_content(tiny: Path) -> None:
    first = cosine(tiny)
    signature = first.signature(1)
    assert f"model={tiny}@" in signature
    assert parse(signature) == first
    tokenizer = tiny / "tokenizer.json"
    tokenizer.write_text(tokenizer.read_text() + "\n")
    assert first.signature(1) != signature
    with pytest.raises(InputError, match="is not the one of the signature"):
        parse(signature)


@pytest.mark.parametrize("batch", [1, 2, 5, 64])
def test_neither_batches_nor_threads_change_a_score(
    tiny: Path, batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts, references = TEXTS * 100, [[text] for text in reversed(TEXTS * 100)]
    expected = cosine(tiny).segments(texts, references, threads=1)
    monkeypatch.setattr(cosine_module, "_TEXTS", 3)
    cosine_module._shared_vectors.cache_clear()
    segment_scores = cosine(tiny, batch=batch).segments(texts, references, threads=3)
    np.testing.assert_allclose(segment_scores, expected, rtol=0, atol=1e-6)
    if batch == 1:
        assert segment_scores.tolist() == expected.tolist()


def test_progress_comes_in_small_steps(tiny: Path) -> None:
    steps: list[int] = []
    cosine(tiny).segments(
        ["cat"] * 600, [["dog"]] * 600, progress=lambda done, *_: steps.append(done)
    )
    assert steps == [256, 512, 600]


def test_poolings_of_onnx(tmp_path: Path) -> None:
    def found(name: str, **given: object) -> float:
        model = write_onnx(tmp_path / name, **given)  # type: ignore[arg-type]
        return float(cosine(model).segments(["cat dog"], [["cat"]])[0])

    assert found("mean", pooling="pooling_mode_mean_tokens") == pytest.approx(1 / math.sqrt(2))
    assert found("cls", pooling="pooling_mode_cls_token") == 1
    assert found("pooled", axes=2) == 1
    with pytest.raises(InputError, match=r"pooling_mode_max_tokens .*; expected one of"):
        found("max", pooling="pooling_mode_max_tokens")


def test_a_model_that_was_exported_in_part_is_refused(tmp_path: Path) -> None:
    model = write_onnx(tmp_path / "m")
    (model / "modules.json").write_text('[{"type": "sentence_transformers.models.Dense"}]')
    with pytest.raises(InputError, match=r"ends before the module Dense of modules\.json"):
        cosine(model).segments(["cat"], [["cat"]])


# ------------------------------------------------------------------------------ what is kept


def test_a_text_is_embedded_once() -> None:
    embedder = Letters()
    actual_vectors = Vectors("model x", embedder)
    for _ in range(3):
        actual = actual_vectors.of(["ab", "b", "ab", ""]).vectors[:, :3].tolist()
        assert actual == [[1, 1, 0], [0, 1, 0], [1, 1, 0], [0, 0, 0]]
    assert sorted(embedder.texts) == ["a", "ab", "b"]  # the first tells the dimension


def test_what_is_kept_has_a_limit() -> None:
    embedder = Letters()
    actual_vectors = Vectors("model x", embedder, cache_bytes=4000)
    texts = [f"a{i}" for i in range(50)]
    for _ in range(2):
        assert actual_vectors.of(texts).vectors[:, 0].tolist() == [1] * 50
    assert 5 < len(actual_vectors._recent) < 15
    assert len(embedder.texts) > 80
    actual_vectors.of(["b"])
    arguments = len(embedder.texts)
    actual_vectors.of(["b"])
    assert len(embedder.texts) == arguments  # the last one was still there


def test_cosines_of_vectors() -> None:
    a = np.array([[3, 4], [0, 0], [1e-20, 0], [1e18, 1e18]], np.float32)
    b = np.array([[4, 3], [1, 1], [-1e-20, 0], [1e18, 1e18]], np.float32)
    assert cosines(a, b).tolist() == pytest.approx([0.96, 0, -1, 1])


def test_numbers_that_are_not_finite_are_refused() -> None:
    class Broken(Letters):
        def embed(self, texts: list[str], batch: int) -> Embedded:
            embedded = super().embed(texts, batch)
            return embedded if texts == ["a"] else Embedded(embedded.vectors * np.nan, embedded.cut)

    with pytest.raises(InputError, match="model x: it gave numbers that are not finite"):
        Vectors("model x", Broken()).of(["ab"])


def test_numbers_that_are_too_large_are_refused() -> None:
    class Large(Letters):
        def embed(self, texts: list[str], batch: int) -> Embedded:
            embedded = super().embed(texts, batch)
            return Embedded(embedded.vectors.astype(np.float64) * 1e300, embedded.cut)

    with pytest.raises(InputError, match="model x: it gave numbers that are not finite"):
        Vectors("model x", Large())


def test_vectors_of_several_lengths_are_refused() -> None:
    class Tokens(Letters):
        def embed(self, texts: list[str], batch: int) -> Embedded:
            embedded = super().embed(texts, batch)
            return Embedded(embedded.vectors[:, : len(texts[0])], embedded.cut)

    with pytest.raises(InputError, match="it gave 2 numbers for one text and 1 for another"):
        Vectors("model x", Tokens()).of(["ab"])


# ---------------------------------------------------------------------------------- bad input


def test_a_model_is_needed() -> None:
    with pytest.raises(InputError, match="cosine needs an embedding model: write cosine:model="):
        parse("cosine").segments(["a"], [["a"]])


def test_a_name_of_a_hub_is_no_folder() -> None:
    with pytest.raises(InputError, match=r"no such folder; .* \(nothing is downloaded\)"):
        cosine("sentence-transformers/all-MiniLM-L6-v2").segments(["a"], [["a"]])


def test_a_cross_encoder_is_refused(tmp_path: Path) -> None:
    model = write_cross_encoder(tmp_path / "nli")
    with pytest.raises(InputError, match=r"gives scores of labels \(logits\), not embeddings"):
        cosine(model).segments(["cat"], [["cat"]])


def test_a_folder_without_a_model(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(InputError, match="the folder has no embedding model of a known kind"):
        cosine(tmp_path).segments(["a"], [["a"]])
    with pytest.raises(InputError, match=r"model .*: a file; expected the folder"):
        cosine(tmp_path / "config.json").segments(["a"], [["a"]])


def test_another_loader_than_the_folder_is_for(tiny: Path) -> None:
    other = "model2vec" if (tiny / "model.onnx").exists() else "onnx"
    with pytest.raises(InputError, match=rf"no embedding model of a known kind \({other}: "):
        cosine(tiny, loader=other).segments(["a"], [["a"]])


def test_a_damaged_model_is_one_sentence(tiny: Path) -> None:
    weights = next(file for file in tiny.iterdir() if file.suffix in (".onnx", ".safetensors"))
    weights.write_bytes(weights.read_bytes()[:40])
    with pytest.raises(InputError, match=r"tiny: .* cannot load it: ") as caught:
        cosine(tiny).segments(["a"], [["a"]])
    assert "\n" not in str(caught.value)


def _with_vectors(folder: Path, vectors: object) -> None:
    safetensors = pytest.importorskip("safetensors.numpy", reason="safetensors is not installed")
    safetensors.save_file({"embeddings": vectors}, folder / "model.safetensors")


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (np.ones(len(VECTORS), np.float32), r"shape \(5,\); expected tokens x numbers"),
        (np.zeros((len(VECTORS), 3), np.float32), "all its vectors are zero: is it damaged"),
        (np.full((len(VECTORS), 3), 3e38, np.float32), "it gave numbers that are not finite"),
    ],
)
@pytest.mark.filterwarnings("error")
def test_vectors_that_cannot_be_right(tmp_path: Path, vectors: object, message: str) -> None:
    folder = write_model2vec(tmp_path / "m")
    _with_vectors(folder, vectors)
    with pytest.raises(InputError, match=message):
        cosine(folder).segments(["cat cat cat"], [["cat"]])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("config.json", "[1]", r"its config\.json is not a JSON object"),
        ("config.json", "{", r"its config\.json is not a JSON object"),
        ("model.safetensors", "abcd", r"its model\.safetensors does not begin with the names"),
    ],
)
@pytest.mark.parametrize("named", [True, False])
def test_damaged_files_of_model2vec(
    tmp_path: Path, name: str, content: str, message: str, named: bool
) -> None:
    folder = write_model2vec(tmp_path / "m")
    (folder / "modules.json").unlink()
    if not named:
        (folder / "config.json").write_text("{}")
    (folder / name).write_text(content)
    with pytest.raises(InputError, match=message):
        cosine(folder).segments(["cat"], [["cat"]])


def test_modules_of_no_kind_are_refused(tmp_path: Path) -> None:
    folder = write_onnx(tmp_path / "m")
    (folder / "modules.json").write_text("[1]")
    with pytest.raises(
        InputError, match=r"its ONNX file ends before the module 1 of modules\.json"
    ):
        cosine(folder).segments(["a"], [["a"]])


def test_a_lone_surrogate_is_refused(tiny: Path) -> None:
    with pytest.raises(InputError, match="surrogate"):
        cosine(tiny).segments(["a \ud800"], [["a"]])


def test_a_package_that_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        (tmp_path / name).write_text('{"model_type": "model2vec"}')
    monkeypatch.setitem(sys.modules, "model2vec", None)
    with pytest.raises(MissingExtra, match=r"package model2vec, .* 'karat-eval\[embed\]'"):
        cosine(tmp_path).segments(["a"], [["a"]])
    monkeypatch.setitem(sys.modules, "wordllama", None)
    embedders._load.cache_clear()
    with pytest.raises(MissingExtra, match="model wordllama needs the package wordllama"):
        cosine("wordllama").segments(["a"], [["a"]])


def test_a_folder_in_the_home_folder(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tiny.parent))
    assert cosine("~/tiny").segments(["cat"], [["cat"]]).tolist() == [1]
    assert cosine("~/tiny").input_files() == cosine(tiny).input_files()


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("~nouser/x", r"model '~nouser/x': the home folder ~nouser is not known; expected the"),
        ("", r"model '': no name; expected the folder of an embedding model"),
    ],
)
def test_a_folder_that_no_name_can_mean(model: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        kt.Cosine(model=model).segments(["cat"], [["cat"]])
    with pytest.raises(InputError, match=message):
        kt.Cosine(model=model).input_files()


def test_an_unknown_home_folder_in_commands(run_karat: Callable[..., Any], folder: Path) -> None:
    (folder / "a").write_text("cat\n")
    (folder / "r").write_text("dog\n")
    (folder / "t.tsv").write_text("cat\tchat\n" * 3)
    for arguments in (
        ("score", "a", "-r", "r", "-m", "cosine:model=~nouser/x"),
        ("paraphrase", "train", "fr=t.tsv", "-o", "m", "--feature", "cosine:model=~nouser/x"),
    ):
        done = run_karat(*arguments)
        assert done.returncode == 2, arguments
        assert "model '~nouser/x': the home folder ~nouser is not known" in done.stderr


@pytest.mark.parametrize("command", ["score", "compare", "meta"])
def test_no_output_overwrites_the_model(
    tiny: Path, command: str, run_karat: Callable[..., Any], folder: Path
) -> None:
    for name in ("a", "b", "r"):
        (folder / name).write_text("cat\n")
    texts = ["demo"] if command == "meta" else ["a", "b", "-r", "r"]
    before = {file: file.read_bytes() for file in tiny.iterdir()}
    read = cosine(tiny).input_files()
    assert str(tiny / "tokenizer.json") in read
    for file in read:
        done = run_karat(command, *texts, "-m", f"cosine:model={tiny}", "-o", file)
        assert done.returncode == 2
        assert f"{file} is one of the inputs: choose another output file\n" in done.stderr
    assert {file: file.read_bytes() for file in tiny.iterdir()} == before


def test_no_output_overwrites_another_file_of_the_folder(
    tiny: Path, run_karat: Callable[..., Any], folder: Path
) -> None:
    (folder / "a").write_text("cat\n")
    (folder / "r").write_text("dog\n")
    (tiny / "more").mkdir()
    for name in ("README.md", "more/notes.txt"):
        (tiny / name).write_text("mine\n")
        score = "score", "a", "-r", "r", "-m", f"cosine:model={tiny}", "-o", str(tiny / name)
        done = run_karat(*score)
        assert done.returncode == 2
        assert f"{tiny / name} is one of the inputs" in done.stderr
        assert (tiny / name).read_text() == "mine\n"
    assert run_karat(*score[:-1], str(tiny / "new.txt")).returncode == 0


def test_a_readme_of_any_kind_gives_no_warning(tmp_path: Path) -> None:
    folder = write_model2vec(tmp_path / "m")
    (folder / "README.md").write_text("# Mine\n")
    program = f"import karat; karat.Cosine(model={str(folder)!r}).segments(['cat'], [['cat']])"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_command_says_what_is_wrong(tmp_path: Path) -> None:
    for name in ("a", "r"):
        (tmp_path / name).write_text("cat\n")
    program = "import sys; from karat.cli import run; sys.exit(run())"
    arguments = ["score", "a", "-r", "r", "-m", "cosine:model=nowhere"]
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "model 'nowhere': no such folder" in done.stderr
    assert "Traceback" not in done.stderr


# ---------------------------------------------------------------------------------- wordllama


def test_wordllama_takes_no_loader() -> None:
    with pytest.raises(InputError, match="loader=onnx is for folders, and wordllama is a package"):
        cosine("wordllama", loader="onnx").segments(["a"], [["a"]])


@pytest.fixture(scope="module")
def wordllama() -> Metric:
    pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    pytest.importorskip("wordllama", reason="wordllama is not installed")
    return cosine("wordllama")


def test_wordllama_agrees_with_its_own_similarity(wordllama: Metric) -> None:
    model = wordllama.vectors.embedder._model  # type: ignore[attr-defined]
    pairs = [("the cat sat", "a cat was sitting"), ("Good day!", "x" * 500), ("é 漢字", "ok")]
    segment_scores = wordllama.segments([a for a, _ in pairs], [[b] for _, b in pairs])
    assert segment_scores.tolist() == pytest.approx(
        [model.similarity(a, b) for a, b in pairs], abs=1e-6
    )


def test_wordllama_leaves_logging_alone() -> None:
    pytest.importorskip("wordllama", reason="wordllama is not installed")
    code = (
        "import logging, karat; from karat.metrics.names import metric as parse;"
        "parse('cosine:model=wordllama').segments(['a'], [['a']]);"
        "print(logging.getLogger().handlers, logging.getLogger().level)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"[] {logging.WARNING}\n"


def test_wordllama_in_score_and_compare(wordllama: Metric) -> None:
    systems = {"A": ["the cat sat", "a dog"], "B": ["no", "yes"]}
    references = [["a cat was sitting"], ["the dog"]]
    scores = kt.score(systems, references, [str(wordllama), "chrf"], intervals=True)
    assert scores["A", str(wordllama)].score.value > scores["B", str(wordllama)].score.value
    compared = kt.compare(systems, references, baseline="B", metrics=[str(wordllama)])
    assert compared.rows[-1].metric == wordllama


def test_cosine_in_a_gate(tiny: Path, run_karat: Callable[..., Any], folder: Path) -> None:
    texts = {"r": "cat\ndog\n", "good": "cat\ndog cat\n", "bad": "not\ncat\n"}
    for name, text in texts.items():
        (folder / name).write_text(text * 10)
    gate = ["gate", "-r", "r", "-b", "gate.tsv", "-f", "json"]
    assert run_karat(*gate, "good", "-m", f"cosine:model={tiny}", "--update").returncode == 0
    assert f"cosine:model={tiny}@" in (folder / "gate.tsv").read_text()
    repeated, worse = run_karat(*gate, "good"), run_karat(*gate, "bad")
    assert (repeated.returncode, worse.returncode) == (0, 1)
    (row,) = json.loads(worse.stdout)["rows"]
    assert (row["metric"], row["verdict"]) == (f"cosine:model={tiny}", "fail")
    assert row["baseline"] == pytest.approx((1 + 1 / math.sqrt(2)) / 2)
    assert row["score"] == pytest.approx(-0.5)


def test_wordllama_beside_people(wordllama: Metric, output: Callable[..., str]) -> None:
    metrics = "-m", str(wordllama), "-m", "chrf"
    document = json.loads(output("meta", "demo", *metrics, "--resamples", "0", "-f", "json"))
    values = {
        row["metric"]: row["value"]
        for row in document["rows"]
        if (row["dimension"], row["level"], row["statistic"]) == ("adequacy", "segment", "pearson")
    }
    expected = {str(wordllama): 0.6119, "chrf": 0.6950}
    assert values == pytest.approx(expected, abs=5e-4)


DATA = os.environ.get("KARAT_DATA")


@pytest.mark.skipif(not DATA, reason="KARAT_DATA is not set")
def test_wordllama_on_judged_paraphrases(
    wordllama: Metric, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lower-casing matters to a static model; blocks and threads change no bit."""
    from karat.paraphrase.pem.judged_pairs import judged_rows

    judged = judged_rows(kt.load_evalset("paraphrase-twitter"))
    originals = [[text] for text in judged.originals]
    lower = cosine("wordllama", case="lower")
    segment_scores = lower.segments(judged.paraphrases, originals, threads=1)
    agreement = np.corrcoef(segment_scores, judged.human)[0, 1]
    mixed = wordllama.segments(judged.paraphrases, originals)
    assert agreement == pytest.approx(0.4257, abs=5e-4)
    assert np.corrcoef(mixed, judged.human)[0, 1] == pytest.approx(0.3076, abs=5e-4)
    cosine_module._shared_vectors.cache_clear()
    monkeypatch.setattr(cosine_module, "_TEXTS", 17)
    assert (
        lower.segments(judged.paraphrases, originals, threads=3).tolist() == segment_scores.tolist()
    )


# ---------------------------------------------------------------------- sentence-transformers


def test_sentence_transformers_agrees_with_its_own_similarity(tmp_path: Path) -> None:
    library = pytest.importorskip(
        "sentence_transformers", reason="sentence-transformers is not installed"
    )
    from oracles.tiny_embeddings import write_transformer

    model = cosine(write_transformer(tmp_path / "st"))
    system_scores = library.SentenceTransformer(str(tmp_path / "st"))
    pairs = [("cat sat", "dog"), ("cat", "cat dog not"), ("sat " * 40, "dog")]
    segment_scores = model.segments([a for a, _ in pairs], [[b] for _, b in pairs])
    expected = [
        float(system_scores.similarity(*system_scores.encode(list(pair)))[0, 0]) for pair in pairs
    ]
    assert segment_scores.tolist() == pytest.approx(expected, abs=1e-5)
    assert model.corpus(["sat " * 40], [["dog"]]).notes


def test_sentence_transformers_is_quiet(tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")
    from oracles.tiny_embeddings import write_transformer

    name = str(cosine(write_transformer(tmp_path / "st")))
    code = f"import karat; karat.metric({name!r}).segments(['cat ' * 40], [['cat']])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")  # no bar, no warning about long texts


def test_sentence_transformers_without_a_longest_text(tmp_path: Path) -> None:
    """A static model says that it takes infinitely many tokens."""
    library = pytest.importorskip(
        "sentence_transformers", reason="sentence-transformers is not installed"
    )
    modules = pytest.importorskip("sentence_transformers.sentence_transformer.modules")
    weights = np.array([*VECTORS.values()], np.float32)
    static = modules.StaticEmbedding(word_tokenizer(), embedding_weights=weights)
    library.SentenceTransformer(modules=[static]).save(str(tmp_path / "static"))
    model = cosine(tmp_path / "static")
    pairs = [(a, b) for a in TEXTS for b in TEXTS]
    segment_scores = model.segments([a for a, _ in pairs], [[b] for _, b in pairs])
    assert segment_scores.tolist() == pytest.approx(
        [slow_cosine(*pair) for pair in pairs], abs=1e-6
    )
    assert model.corpus(["cat " * 5000], [["cat"]]).notes == ()


def test_a_damaged_model_of_sentence_transformers(tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")
    from oracles.tiny_embeddings import write_transformer

    folder = write_transformer(tmp_path / "st")
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:40])
    with pytest.raises(InputError, match="sentence-transformers cannot load it: ") as caught:
        cosine(folder).segments(["a"], [["a"]])
    assert "\n" not in str(caught.value)
