"""Signatures: a changed byte of any file that a number depends on changes the signature."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from oracles.tiny_embeddings import write_model2vec

import karat as kt
from karat.evalset.conversion import save_evalset
from karat.metrics.names import metric as parse
from karat.paraphrase.pem.combination import SvrSetting
from karat.paraphrase.pem.features import as_features
from karat.paraphrase.pem.judged_pairs import judged_rows
from karat.paraphrase.pem.model import PEM
from karat.storage.digests import bytes_digest, data_digest, file_digest

DATA = Path(str(files("karat") / "data"))
CORPUS = (DATA / "paraphrase" / "en-fr.tsv").read_text("utf-8").splitlines()[:120]
IN = ["I want to buy a new car.", "Could you help me, please?", "She has a big house."]
OUT = ["I would like to purchase a new automobile.", "Please help.", "Her house is big."]

Output = Callable[..., str]


def signed(output: Output, *arguments: str) -> dict[str, str]:
    """The signatures that a command prints, by name."""
    signatures: dict[str, str] = json.loads(output(*arguments, "-f", "json"))["signature"]
    return signatures


def write(path: Path, lines: list[str]) -> None:
    path.write_text("\n".join(lines) + "\n", "utf-8")


def change(path: Path, old: str, new: str) -> None:
    """Replace the first occurrence of a text in a file."""
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")


@pytest.fixture
def place(folder: Path) -> Path:
    """A folder with texts, scores, sets, models and a treebank."""
    write(folder / "in.txt", IN)
    write(folder / "out.txt", OUT)
    write(folder / "other.txt", OUT[::-1])
    rows = [f"out\t{i}\t0.{i}" for i in range(1, 4)]
    write(folder / "scores.tsv", ["system\tsegment\tscore", *rows])
    write(folder / "stop.txt", ["the", "a"])
    write(folder / "corpus.txt", [line.partition("\t")[0] for line in CORPUS])
    save_evalset(kt.load_evalset("demo"), folder / "set")
    trees = (DATA / "treebank" / "demo.conllu").read_text("utf-8").split("\n\n")
    (folder / "few.conllu").write_text("\n\n".join(trees[:4]) + "\n\n", "utf-8")
    kt.LanguageModel.train(IN, 2).write_arpa(folder / "m.arpa")
    return folder


FILES = {
    "given scores": (
        ["score", "out.txt", "-r", "in.txt", "-m", "given:file=scores.tsv"],
        ("scores.tsv", "0.2", "0.3"),
    ),
    "a stop list": (
        ["score", "out.txt", "-r", "in.txt", "-m", "aev:stop=stop.txt"],
        ("stop.txt", "the", "thy"),
    ),
    "a stop list of a comparison": (
        ["compare", "out.txt", "other.txt", "-r", "in.txt", "-m", "aev:stop=stop.txt"],
        ("stop.txt", "the", "thy"),
    ),
    "an ARPA file": (["lm", "score", "in.txt", "--model", "m.arpa"], ("m.arpa", "0.", "1.")),
    "human scores of meta": (
        ["meta", "set", "-m", "bleu", "-d", "fluency", "--resamples", "0", "--trials", "0"],
        ("set/human.tsv", "fluency\t4", "fluency\t3"),
    ),
    "outputs of meta": (
        ["meta", "set", "-m", "bleu", "-d", "fluency", "--resamples", "0", "--trials", "0"],
        ("set/systems/atlas.txt", "bridge", "ridge"),
    ),
    "references of meta": (
        ["meta", "set", "-m", "bleu", "-d", "fluency", "--resamples", "0", "--trials", "0"],
        ("set/references/1.txt", "bridge", "ridge"),
    ),
    "human scores of a fit": (
        ["meta", "fit", "set", "-m", "ter", "-d", "fluency"],
        ("set/human.tsv", "fluency\t4", "fluency\t3"),
    ),
    "human scores of reliability": (
        ["meta", "reliability", "set", "-m", "bleu", "-d", "fluency", "--lengths", "1"],
        ("set/human.tsv", "fluency\t4", "fluency\t3"),
    ),
    "labels of an estimate": (
        ["estimate", "set", "-d", "fluency", "-J", "chrf"],
        ("set/human.tsv", "fluency\t4", "fluency\t3"),
    ),
    "labels of a metric": (
        ["score", "--set", "set", "-m", "estimate:dimension=fluency,judge=chrf"],
        ("set/human.tsv", "fluency\t4", "fluency\t3"),
    ),
    "texts of a model judge": (
        ["judge", "ratings", "set", "-d", "fluency", "--endpoint", "demo", "-o", "log.jsonl"],
        ("set/systems/atlas.txt", "bridge", "ridge"),
    ),
}
"""What changes -> a command, and the file with a text to be replaced."""


@pytest.mark.parametrize("name", FILES)
def test_a_changed_byte_changes_the_signature(output: Output, place: Path, name: str) -> None:
    arguments, (file, old, new) = FILES[name]
    before = signed(output, *arguments)
    (place / "log.jsonl").unlink(missing_ok=True)
    assert signed(output, *arguments) == before
    (place / "log.jsonl").unlink(missing_ok=True)
    change(place / file, old, new)
    after = signed(output, *arguments)
    assert after.keys() == before.keys()
    assert after != before


def test_the_human_scores_of_a_plane(place: Path) -> None:
    def fitted() -> kt.PlaneFit:
        return kt.fit_plane(place / "set", "fluency", resamples=0, permutations=0)

    before = fitted().signatures
    assert list(before) == ["aev", "set"]
    change(place / "set" / "human.tsv", "fluency\t4", "fluency\t3")
    after = fitted().signatures
    assert before["aev"] == after["aev"]
    assert before["set"] != after["set"]


def test_a_set_elsewhere_has_the_same_signature(output: Output, place: Path) -> None:
    arguments = ("-m", "bleu", "-d", "fluency", "--resamples", "0", "--trials", "0")
    before = signed(output, "meta", "set", *arguments)
    shutil.move(place / "set", place / "elsewhere")
    after = signed(output, "meta", "elsewhere", *arguments)
    assert after["set"].partition("@")[2] == before["set"].partition("@")[2]
    assert str(place) not in json.dumps([before, after])


def test_judgements_that_are_added_to_a_set(output: Output, place: Path) -> None:
    rows = [
        {"system": "atlas", "segment": str(i), "judge": "X", "dimension": "fluency", "value": 3}
        for i in range(1, 5)
    ]
    write(place / "more.jsonl", list(map(json.dumps, rows)))
    arguments = ("meta", "set", "-m", "bleu", "-d", "fluency", "--resamples", "0", "--trials", "0")
    plain = signed(output, *arguments)
    more = signed(output, *arguments, "--judgements", "more.jsonl")
    change(place / "more.jsonl", '"value": 3', '"value": 4')
    changed = signed(output, *arguments, "--judgements", "more.jsonl")
    assert len({plain["set"], more["set"], changed["set"]}) == 3
    assert plain["bleu"] == more["bleu"]  # the scores of the metric are the same


# ------------------------------------------------------------------------------------- nuggets


@pytest.mark.parametrize(
    ("arguments", "old", "new"),
    [
        ((), '"descriptions": ["', '"descriptions": ["X'),
        ((), '"value": 1.0', '"value": 0.0'),
        (("--pourpre",), '"descriptions": ["', '"descriptions": ["X'),
    ],
)
def test_keys_and_judgements(
    output: Output, place: Path, arguments: tuple[str, ...], old: str, new: str
) -> None:
    output("nuggets", "convert", "demo-nuggets", "key.jsonl")
    score = ("nuggets", "score", "heron", "--key", "key.jsonl", *arguments)
    before = signed(output, *score)
    change(place / "key.jsonl", old, new)
    after = signed(output, *score)
    assert all(before[name] != after[name] for name in before)


def test_the_corpus_of_idf(output: Output, place: Path) -> None:
    rule = "calibrated:idf=corpus.txt"
    score = ("nuggets", "score", "heron", "--key", "demo-nuggets", "--classifier", rule)
    before = signed(output, *score)
    change(place / "corpus.txt", "e", "é")
    assert signed(output, *score) != before


def test_prompts_and_guidelines(output: Output, place: Path) -> None:
    output("judge", "prompts", "ratings", "-o", "own.txt")
    judge = ("judge", "ratings", "set", "-d", "fluency", "--endpoint", "demo", "-o", "log.jsonl")

    def judging_signature(*options: str) -> str:
        (place / "log.jsonl").unlink(missing_ok=True)
        return str(signed(output, *judge, *options))

    before = judging_signature("--prompt", "own.txt")
    assert judging_signature("--prompt", "own.txt") == before
    change(place / "own.txt", "e", "a")
    assert judging_signature("--prompt", "own.txt") != before
    assert judging_signature() != judging_signature("--guideline", "Is it plain?")


# -------------------------------------------------------------------------------------- models


def trained(output: Output, place: Path, name: str, corpus: list[str]) -> None:
    write(place / "pairs.tsv", corpus)
    options = ("--combine", "mean")
    output("paraphrase", "train", "fr=pairs.tsv", "-o", name, *options)


def test_two_models_that_differ_in_one_line(output: Output, place: Path) -> None:
    """All commands that score by a model sign the two differently, and a copy alike."""
    trained(output, place, "one.npz", CORPUS)
    trained(output, place, "two.npz", [*CORPUS[:-1], "I want a house.\tJe veux une maison."])
    shutil.copy(place / "one.npz", place / "copy.npz")
    texts = ("out.txt", "--originals", "in.txt")
    commands: list[tuple[str, ...]] = [
        ("paraphrase", "score", *texts, "--model"),
        ("paraphrase", "explain", *texts, "--model"),
        ("paraphrase", "generate", "in.txt", "--model"),
    ]
    for arguments in commands:
        first_result, two = (
            _without_name(output, name, *arguments) for name in ("one.npz", "two.npz")
        )
        for name in first_result:
            assert first_result[name] != two[name]
    first_result, copy = (
        _without_name(output, name, *commands[0]) for name in ("one.npz", "copy.npz")
    )
    assert first_result == copy
    evaluated = [
        kt.evaluate_paraphrases(
            "demo-paraphrases", place / name, folds=2, grid=[SvrSetting()], resamples=0
        ).signature
        for name in ("one.npz", "two.npz", "copy.npz")
    ]
    assert evaluated[0] == evaluated[2] != evaluated[1]


def test_the_judgements_of_an_evaluation(place: Path) -> None:
    save_evalset(kt.load_evalset("demo-paraphrases"), place / "judged")

    def evaluated(**settings: object) -> str:
        quick = {"folds": 2, "grid": [SvrSetting()], "resamples": 0, **settings}
        return kt.evaluate_paraphrases(place / "judged", **quick).signature  # type: ignore[arg-type]

    before = evaluated()
    other_signatures = [evaluated(grid=[SvrSetting(3)]), evaluated(dimension="fluency")]
    change(place / "judged" / "human.tsv", "overall\t4", "overall\t3")
    assert len({before, *other_signatures, evaluated()}) == 4


def _without_name(output: Output, model: str, *arguments: str) -> dict[str, str]:
    """The signatures of a command, without the name of the model's file."""
    return {k: v.replace(model, "M") for k, v in signed(output, *arguments, model).items()}


def test_one_number_has_one_signature(output: Output, place: Path) -> None:
    for model in ("bundled", "bundled-paper", "m.npz"):
        PEM.open().save(place / "m.npz")
        name = "pem" if model == "bundled" else f"pem:model={model}"
        score = json.loads(output("score", "out.txt", "-r", "in.txt", "-m", name, "-f", "json"))
        texts = ("out.txt", "--originals", "in.txt", "--model", model)
        paraphrases = json.loads(
            output("paraphrase", "score", *texts, "--resamples", "0", "-f", "json")
        )
        (signature,) = score["signature"].values()
        assert paraphrases["signature"] == {"pem": signature}
        assert str(parse(signature)) == name
        (row,), (other,) = score["rows"], paraphrases["rows"]
        assert row["score"] == pytest.approx(other["pem"], abs=1e-12)
        explained = json.loads(
            output("paraphrase", "explain", *texts, "-f", "json")
        )  # one pair, without an interval
        assert explained["signature"]["pem"] == signature


def test_a_model_in_memory_is_signed_as_its_file_will_be(tmp_path: Path) -> None:
    trained_model = PEM.of(PEM.open().pivots, PEM.open().language).train_on_controls(IN)
    trained_model.save(tmp_path / "m.npz")
    stored = PEM.open(tmp_path / "m.npz")
    assert trained_model.digest == stored.digest != PEM.open().digest
    scores = [
        kt.score_paraphrases(OUT, IN, model, resamples=0) for model in (trained_model, stored)
    ]
    assert scores[0].signature.startswith(f"pem:model=unsaved@{trained_model.digest},copies=")
    name = f"pem:model={tmp_path / 'm.npz'}@{trained_model.digest},copies="
    assert scores[1].signature.startswith(name)


def test_a_path_that_a_signature_cannot_carry_is_escaped(tmp_path: Path) -> None:
    place = tmp_path / "my model, old|new.npz"
    PEM.open().save(place)
    head, *fields = kt.score_paraphrases(OUT, IN, place).signature.split("|")
    assert (
        head
        == f"pem:model={tmp_path}/my%20model%2C%20old%7Cnew.npz@{PEM.open().digest},copies=good"
    )
    assert fields[0] == "nrefs=1"


def test_scores_that_a_feature_reads(tmp_path: Path) -> None:
    """Every text has its own file of scores, which is no part of the model."""
    judged = judged_rows(kt.load_evalset("demo-paraphrases"))
    rows = zip(judged.outputs.segments(), judged.systems, judged.human.tolist(), strict=True)
    scores_file = tmp_path / "own.tsv"
    write(scores_file, ["segment\tsystem\tscore", *("\t".join(map(str, row)) for row in rows)])
    plain = PEM.open()
    features = as_features([f"given:file={scores_file}"])
    model = PEM.of(plain.pivots, plain.language, metrics=features).train(judged)
    model.save(tmp_path / "m.npz")

    def score(*values: float) -> kt.ParaphraseScores:
        lines = [f"candidate\t{i}\t{value}" for i, value in enumerate(values, 1)]
        write(tmp_path / "new.tsv", ["system\tsegment\tscore", *lines])
        feature_names = [f"given:file={tmp_path / 'new.tsv'}"]
        return kt.score_paraphrases(OUT, IN, tmp_path / "m.npz", features=feature_names)

    first_result, again, two = score(1, 2, 3), score(1, 2, 3), score(1, 2, 5)
    assert first_result.rows[0].pem != two.rows[0].pem
    assert first_result.signature == again.signature != two.signature
    metric = kt.metric(f"pem:model={tmp_path / 'm.npz'}")
    full_signature, alone = (
        metric.signature(),
        metric.method(1),
    )  # a gate compares runs by the latter
    assert f"@{PEM.open(tmp_path / 'm.npz').stored_digest}," in alone
    assert full_signature != alone
    assert kt.metric("pem").method(1) == kt.metric("pem").signature(1)


def test_phrase_tables(output: Output, place: Path) -> None:
    for name, lines in (("one", CORPUS), ("two", [*CORPUS[:-1], "a house\tune maison"])):
        for column, ending in enumerate(("en", "fr")):
            write(place / f"{name}.{ending}", [line.split("\t")[column] for line in lines])
        output("paraphrase", "table", f"{name}.en", f"{name}.fr", "-o", f"{name}.npz")
    first_result, two = (
        signed(output, "score", "out.txt", "-r", "in.txt", "-m", f"pivot_f1:table={name}.npz")
        for name in ("one", "two")
    )
    (first,), (second,) = first_result.values(), two.values()
    assert first.replace("one.npz@", "") != second.replace("two.npz@", "")


def test_language_models(output: Output, place: Path) -> None:
    for name, word in (("one", "car"), ("two", "cab")):
        write(place / f"{name}.txt", [*IN, f"my {word}"])
        output("lm", "train", f"{name}.txt", "--order", "2", "-o", f"{name}.lm")
    shutil.copy(place / "one.lm", place / "copy.lm")
    first_result, two, copy = (
        signed(output, "lm", "score", "in.txt", "--model", f"{name}.lm")["lm"]
        for name in ("one", "two", "copy")
    )
    assert first_result == copy != two
    assert ".lm" not in first_result  # no path
    trained_model = kt.LanguageModel.train([*IN, "my car"], 2)
    assert trained_model.signature == first_result  # in memory


def test_a_damaged_model_is_refused(place: Path) -> None:
    trained_model = kt.LanguageModel.train(IN, 2)
    trained_model.save(place / "m.lm")
    data = bytearray((place / "m.lm").read_bytes())
    data[data.index(b"\x93NUMPY") + 200] ^= 1
    (place / "m.lm").write_bytes(data)
    with pytest.raises(kt.InputError, match="damaged"):
        kt.LanguageModel.open(place / "m.lm")


def test_embedding_models(output: Output, place: Path) -> None:
    model = write_model2vec(place / "model")
    arguments = ("score", "out.txt", "-r", "in.txt", "-m", "cosine:model=model")
    before = signed(output, *arguments)
    weights = model / "model.safetensors"
    data = bytearray(weights.read_bytes())
    data[-1] ^= 64
    weights.write_bytes(data)
    assert signed(output, *arguments) != before


def test_realisers(output: Output, place: Path) -> None:
    bank = (DATA / "treebank" / "demo.conllu").read_text("utf-8").split("\n\n")
    (place / "bank.conllu").write_text("\n\n".join(bank[:40]) + "\n\n", "utf-8")
    train = ("realize", "train", "bank.conllu", "--realizer", "fergus", "-o")
    output(*train, "one.npz")
    shutil.copy(place / "one.npz", place / "copy.npz")
    (place / "bank.conllu").write_text("\n\n".join(bank[:39]) + "\n\n", "utf-8")
    output(*train, "two.npz")
    evaluate = ("realize", "evaluate", "few.conllu", "--model")
    first_result, two, copy = (
        signed(output, *evaluate, f"{name}.npz") for name in ("one", "two", "copy")
    )
    assert first_result == copy
    assert first_result["realize"] != two["realize"]
    word = next(line for line in bank[0].splitlines() if line[:2] == "2\t").split("\t")[1]
    change(place / "few.conllu", f"2\t{word}\t", f"2\t{word}x\t")
    assert signed(output, *evaluate, "one.npz")["realize"] not in (
        first_result["realize"],
        two["realize"],
    )


# ----------------------------------------------------------------------------------- the helper


def test_digests_of_files_are_those_of_their_bytes(tmp_path: Path) -> None:
    for name, data in (("a", b"x" * (9 << 20)), ("b", b"x" * (9 << 20)), ("c", b"y")):
        (tmp_path / name).write_bytes(data)
    assert file_digest(tmp_path / "a") == file_digest(tmp_path / "b")
    assert file_digest(tmp_path / "c") == bytes_digest(b"y") == "a1fce436"
    (tmp_path / "c").write_bytes(b"yz")
    assert file_digest(tmp_path / "c") == bytes_digest(b"yz")


def test_missing_values_of_data_are_alike() -> None:
    nan = np.array([0x7FF8000000000001], np.uint64).view(np.float64)
    assert data_digest(np.array([np.nan, 0.0])) == data_digest(np.array([nan[0], -0.0]))
    assert data_digest(np.array([1.0])) != data_digest(np.array([np.nan]))
    assert data_digest("a", "b") != data_digest("ab")
    assert data_digest(["a", "b"]) != data_digest("a", "b")
