"""Metrics as features of PEM: stored by name and content, recomputed, refused when they differ."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from oracles.tiny_embeddings import write_model2vec
from oracles.tiny_encoder import slow_bertscore, write_encoder

import karat as kt
from karat import registry
from karat.errors import InputError
from karat.paraphrase.align.parallel_text import read_parallel
from karat.paraphrase.cli.group import command
from karat.paraphrase.pem.features import as_features
from karat.paraphrase.pem.judged_pairs import JudgedPairs, judged_rows
from karat.paraphrase.pem.model import PEM
from karat.paraphrase.pem.training import Pivot, train_pem

IN = ["I want to buy a new car.", "Could you help me, please?", "She has a big house."]
OUT = ["I would like to purchase a new automobile.", "Please help.", "She has a big house."]
METRICS = ("chrf++", "rouge1:stem=porter-nltk")


@cache
def judged() -> JudgedPairs:
    return judged_rows(kt.load_evalset("demo-paraphrases"))


@cache
def plain() -> PEM:
    """A model without metrics, of little text."""
    corpus = read_parallel(files("karat") / "data" / "paraphrase" / "en-fr.tsv")  # type: ignore[arg-type]
    return train_pem({"fr": Pivot([corpus])}, judged(), generate=False)


def trained(*metrics: str, judged_pairs: JudgedPairs | None = None) -> PEM:
    trained_model = PEM.of(
        plain().pivots, plain().language, "unigram", metrics=as_features(metrics)
    )
    return trained_model.train(judged_pairs or judged())


def given_file(path: Path, rows: JudgedPairs, scores: np.ndarray, left_out: int = 0) -> str:
    lines = zip(rows.systems, rows.segments, scores.tolist(), strict=True)
    table = [f"{system}\t{segment}\t{score!r}" for system, segment, score in lines]
    selected_rows = table[: len(table) - left_out]
    path.write_text("\n".join(["system\tsegment\tscore", *selected_rows]) + "\n")
    return f"given:file={path}"


def test_columns_are_the_scores_of_each_pair() -> None:
    pem, rows = trained(*METRICS), judged()
    features = pem.features(rows.originals, rows.paraphrases)
    without = plain().features(rows.originals, rows.paraphrases)
    assert features.names == (*without.names, "chrf:words=2", "rouge1:stem=porter-nltk")
    np.testing.assert_array_equal(features.matrix[:, :-2], without.matrix)
    for at, name in enumerate(METRICS):
        expected = kt.metric(name).segments(rows.paraphrases, rows.originals)
        np.testing.assert_array_equal(features.matrix[:, at - 2], expected)
    assert features.parts[0].tolist() == without.parts[0].tolist()


def test_a_model_keeps_its_metrics(tmp_path: Path) -> None:
    pem = trained(*METRICS)
    pem.save(tmp_path / "m.npz")
    again = PEM.open(tmp_path / "m.npz")
    assert [feature.name for feature in again.metrics] == [
        "chrf:words=2",
        "rouge1:stem=porter-nltk",
    ]
    assert (again.digest, again.description) == (pem.digest, pem.description)
    assert "|features=chrf:n=6,words=2," in pem.description
    np.testing.assert_array_equal(again.score(IN, OUT).pem, pem.score(IN, OUT).pem)
    assert "chrf:words=2, rouge1:stem=porter-nltk; learned" in repr(again)


def test_a_model_without_metrics_says_nothing_of_them(tmp_path: Path) -> None:
    plain().save(tmp_path / "m.npz")
    with np.load(tmp_path / "m.npz") as stored:
        assert b"metrics" not in stored["about.json"]
    assert "features=" not in plain().description
    assert plain().metrics == ()


def test_as_a_metric_it_scores_every_original_by_itself(tmp_path: Path) -> None:
    trained(*METRICS).save(tmp_path / "m.npz")
    metric = kt.metric(f"pem:model={tmp_path / 'm.npz'}")
    alone = [metric.segments(OUT, originals) for originals in (IN, IN[::-1])]
    np.testing.assert_array_equal(alone[0], PEM.open(tmp_path / "m.npz").score(IN, OUT).pem)
    both = [[a, b] for a, b in zip(IN, IN[::-1], strict=True)]
    np.testing.assert_array_equal(metric.segments(OUT, both), np.maximum(*alone))


def test_given_scores_go_by_system_and_segment(tmp_path: Path) -> None:
    rows = judged()
    scores = np.random.default_rng(3).random(len(rows))
    name = given_file(tmp_path / "own.tsv", rows, scores)
    features = trained(name).features(rows.originals, rows.paraphrases, rows.outputs)
    np.testing.assert_array_equal(features.matrix[:, -1], scores)


def test_a_perfect_score_is_learned(tmp_path: Path) -> None:
    rows = judged()
    name = given_file(tmp_path / "own.tsv", rows, rows.human)
    scores = trained(name).score(rows.originals, rows.paraphrases, rows.outputs).pem
    without = plain().score(rows.originals, rows.paraphrases).pem
    assert np.corrcoef(scores, rows.human)[0, 1] > 0.95 > np.corrcoef(without, rows.human)[0, 1]


def test_a_file_that_lacks_rows_is_refused(tmp_path: Path) -> None:
    rows = judged()
    name = given_file(tmp_path / "own.tsv", rows, rows.human, left_out=1)
    last = f"'{rows.segments[-1]}' of system '{rows.systems[-1]}'"
    with pytest.raises(InputError, match=f"has no score for segment {last}: every pair needs one"):
        trained(name)


def test_new_files_of_given_scores(tmp_path: Path) -> None:
    rows = judged()
    pem = trained(given_file(tmp_path / "own.tsv", rows, rows.human))
    pem.save(tmp_path / "m.npz")
    path = tmp_path / "new.tsv"
    path.write_text("system\tsegment\tscore\n" + "".join(f"A\t{i}\t{i}\n" for i in (1, 2, 3)))
    (tmp_path / "own.tsv").unlink()
    model = tmp_path / "m.npz"
    scores = kt.paraphrase.score_paraphrases({"A": OUT}, IN, model, features=[f"given:file={path}"])
    assert len({row.pem for row in scores.segments}) == 3
    with pytest.raises(InputError, match="No such file"):
        kt.paraphrase.score_paraphrases({"A": OUT}, IN, model)
    with pytest.raises(InputError, match="no scores of system 'B'; it has scores of A"):
        kt.paraphrase.score_paraphrases({"B": OUT}, IN, model, features=[f"given:file={path}"])


def test_an_embedding_is_found_elsewhere_but_must_be_the_same(tmp_path: Path) -> None:
    first = write_model2vec(tmp_path / "first")
    pem = trained(f"cosine:model={first}")
    pem.save(tmp_path / "m.npz")
    expected = pem.score(IN, OUT).pem.tolist()
    moved = first.rename(tmp_path / "moved")
    with pytest.raises(InputError, match=r"no such folder.*was moved, name it with --feature"):
        PEM.open(tmp_path / "m.npz").score(IN, OUT)
    with pytest.raises(InputError, match="no such folder"):  # before any training
        train_pem({}, features=[f"cosine:model={first}"])
    again = PEM.open(tmp_path / "m.npz").with_metrics([f"cosine:model={moved}"])
    assert again.score(IN, OUT).pem.tolist() == expected
    (moved / "config.json").write_text((moved / "config.json").read_text() + " ")
    with pytest.raises(InputError, match="this model was trained with cosine:model=") as caught:
        again.score(IN, OUT)
    assert "\n" not in str(caught.value)


def test_texts_that_are_longer_than_a_model_takes_are_noted(tmp_path: Path) -> None:
    pem = trained(f"cosine:model={write_model2vec(tmp_path / 'tiny')}")
    texts = ["cat dog " * 5, "cat"]
    scores = kt.paraphrase.score_paraphrases({"A": texts}, ["cat", "dog"], pem)
    long = "1 of 2 segments has a text longer than the model takes (8 tokens)"
    assert scores.notes[0].startswith(f"A, feature cosine:model={tmp_path / 'tiny'}: {long}")
    (copies,) = kt.paraphrase.score_paraphrases({"A": ["cat", "cat"]}, ["cat", "dog"], pem).notes
    assert copies.startswith("A: 1 of 2 paraphrases equals its original")
    message = f"feature cosine:model={tmp_path / 'tiny'}: {long}: only its beginning counts"
    assert kt.explain_paraphrases(texts, ["cat", "dog"], pem, segments=[1, 2]).notes == (message,)
    assert kt.explain_paraphrases(texts, ["cat", "dog"], pem, segments=[2]).notes == ()


def test_the_metric_pem_notes_long_texts_too(tmp_path: Path) -> None:
    name = f"cosine:model={write_model2vec(tmp_path / 'tiny')}"
    trained("chrf", name).save(tmp_path / "m.npz")
    metric, texts = kt.metric(f"pem:model={tmp_path / 'm.npz'}"), ["cat dog " * 5, "cat"]
    message = (
        "1 of 2 segments has a text longer than the model takes (8 tokens): only its beginning"
    )
    score = metric.corpus(texts, ["cat", "dog"])
    assert score.notes == (f"feature {name}: {message} counts",)
    assert score.value == PEM.open(tmp_path / "m.npz").score(["cat", "dog"], texts).pem.mean()
    assert metric.columns()[5:] == ("model1_cosine", "model1_segments", "model1_cut")
    assert metric.corpus(["cat", "cat"], ["cat", "dog"]).notes == ()
    (row,) = kt.score({"A": texts}, ["cat", "dog"], [str(metric)]).rows
    assert row.score.notes == score.notes
    baseline = tmp_path / "gate.tsv"
    kt.write_baseline(texts, ["cat", "dog"], [str(metric)], baseline=baseline)
    assert kt.gate(texts, ["cat", "dog"], baseline=baseline).rows[0].delta == 0


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["chrf", "chrf"], "feature chrf is given twice"),
        (["nonsense"], "unknown metric 'nonsense'"),
        (["estimate"], "is made from human scores"),
        (
            ["facts:against=contexts"],
            "feature facts:against=contexts reads sources or contexts, which pairs of sentences",
        ),
    ],
)
def test_metrics_that_cannot_be_features(names: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        trained(*names)


@pytest.mark.parametrize("name", ["cosine", "pivot_f1"])
def test_what_a_metric_lacks_is_said_before_training(name: str) -> None:
    with pytest.raises(kt.KaratError, match=f"{name} needs "):
        as_features([name])


def test_other_metrics_than_those_of_the_model() -> None:
    with pytest.raises(InputError, match="features of this model are chrf; give the same metrics"):
        trained("chrf").with_metrics(["bleu"])
    with pytest.raises(InputError, match="the features of this model are none"):
        plain().with_metrics(["bleu"])


def test_a_metric_that_is_not_known_here(tmp_path: Path) -> None:
    pem = trained("chrf")
    plugin = type("Ours", (kt.ChrF,), {"name": "ours"})
    kt.register(plugin)
    try:
        replace(pem, metrics=as_features(["ours"])).save(tmp_path / "m.npz")
    finally:
        del registry.declared("metrics")["ours"]
    with pytest.raises(InputError, match=r"m\.npz: a feature of this model is not known here: "):
        PEM.open(tmp_path / "m.npz")


def test_explanations_and_generated_paraphrases_have_them() -> None:
    pem = replace(PEM.open(), metrics=as_features(METRICS)).train(judged())
    explanation = kt.explain_paraphrases(OUT, IN, pem, worst=2)
    expected = pem.score(IN, OUT).pem
    assert [row.pem for row in explanation.pem] == [
        expected[row.segment - 1] for row in explanation.pem
    ]
    for row in explanation.pem:
        features = {
            feature.feature: feature.value
            for feature in explanation.features
            if feature.pair == row.segment
        }
        assert list(features)[-len(METRICS) :] == [str(feature.metric) for feature in pem.metrics]
        assert features["target F1"] == row.target_f1
    (best, *_), *_ = pem.generate(IN[:1], confidence=0.0)
    assert best.pem == pem.score(IN[:1], [best.text]).pem[0]


def test_evaluation_says_what_metrics_add() -> None:
    more: dict[str, Any] = {"folds": 3, "resamples": 50, "compare_with": ["bleu"]}
    evaluation = kt.paraphrase.evaluate_paraphrases(
        judged().evalset, plain(), features=["chrf"], **more
    )
    without = kt.paraphrase.evaluate_paraphrases(judged().evalset, plain(), **more)
    by_name = {row.first: row.pearson for row in evaluation.rows if row.second == "human average"}
    assert by_name["no metrics as features"] == without.rows[0].pearson
    assert [gain.second for gain in evaluation.gains] == ["bleu", "no metrics as features"]
    assert evaluation.settings["features"] == ["chrf"]
    assert evaluation.notes[1].startswith("All regressions have the metrics chrf as features")


def test_bertscore_and_facts_are_features_in_parts(tmp_path: Path) -> None:
    folder = write_encoder(tmp_path / "tiny")
    features = as_features([f"bertscore:model={folder}", "facts", "chrf"])
    assert [feature.name for feature in features] == [
        f"bertscore:model={folder}",
        f"bertscore:model={folder},part=p",
        f"bertscore:model={folder},part=r",
        *(f"facts:check={kind}" for kind in ("numbers", "negation", "names")),
        "chrf",
    ]
    pem = replace(plain(), metrics=features)
    paraphrases, originals = ["cat sat", "the dog did not run 3 times"], ["red cat sat", "dog ran"]
    columns = pem.features(originals, paraphrases).matrix[:, -7:]
    for row, texts in zip(columns, zip(paraphrases, originals, strict=True), strict=True):
        p, r, f = slow_bertscore(*texts)
        assert row[:3].tolist() == pytest.approx([f, p, r], abs=1e-6)
    assert columns[:, 3:6].tolist() == [[1, 1, 1], [0, 0, 1]]


def test_one_part_stays_one_feature(tmp_path: Path) -> None:
    name = f"bertscore:model={write_encoder(tmp_path / 'tiny')},part=r"
    single = as_features([name, "facts:check=numbers"])
    assert [feature.name for feature in single] == [name, "facts:check=numbers"]
    whole = as_features([name.removesuffix(",part=r"), "facts"], in_parts=False)
    assert [feature.name for feature in whole] == [name.removesuffix(",part=r"), "facts"]


def test_a_moved_encoder_is_named_once(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    folder = write_encoder(tmp_path / "tiny")
    learned = trained(f"bertscore:model={folder}", "facts")
    mean = replace(PEM.open(), metrics=as_features([f"bertscore:model={folder}"], in_parts=False))
    mean = mean.train_on_controls(["cat sat", "red dog", "not ran"])
    expected = [model.score(IN, OUT).pem for model in (learned, mean)]
    for name, model in (("learned", learned), ("mean", mean)):
        model.save(tmp_path / f"{name}.npz")
    moved = folder.rename(tmp_path / "moved")
    features = ([f"bertscore:model={moved}", "facts"], [f"bertscore:model={moved}"])
    for name, names, values in zip(("learned", "mean"), features, expected, strict=True):
        with pytest.raises(InputError, match="name it with --feature"):
            PEM.open(tmp_path / f"{name}.npz").score(IN, OUT)
        again = PEM.open(tmp_path / f"{name}.npz").with_metrics(names)
        np.testing.assert_array_equal(again.score(IN, OUT).pem, values)
    with pytest.raises(InputError, match="the features of this model are bertscore"):
        PEM.open(tmp_path / "learned.npz").with_metrics(["facts"])


def test_the_parts_of_an_encoder_share_one_note(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    name = f"bertscore:model={write_encoder(tmp_path / 'tiny')}"
    pem, long = trained(name), "cat " * 20
    pem.save(tmp_path / "m.npz")
    scores = kt.score_paraphrases({"A": [long]}, ["dog"], pem)
    (note,) = scores.notes
    assert note.startswith(f"A, feature {name}: 1 of 1 segments has a text longer than the model")
    metric = kt.metric(f"pem:model={tmp_path / 'm.npz'}")
    assert metric.corpus([long], ["dog"]).notes == (note.removeprefix("A, "),)
    assert metric.columns()[5] == "model1_precision"


def run(*arguments: str) -> str:
    """Return what a command prints, or its error."""
    done = CliRunner().invoke(command, arguments, standalone_mode=False)
    assert done.exception is None or isinstance(done.exception, InputError)
    return str(done.exception or done.stdout)


def test_the_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    corpus = files("karat") / "data" / "paraphrase" / "en-fr.tsv"
    (tmp_path / "en-fr.tsv").write_text("\n".join(corpus.read_text("utf-8").splitlines()[:300]))
    for name, lines in (("in.txt", IN), ("out.txt", OUT)):
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    train = ["train", "fr=en-fr.tsv", "-o", "m.npz", "--judged", "demo-paraphrases"]
    train += ["--no-generate", "--work", "stages"]
    assert "; chrf:words=2; learned from 160 judged" in run(*train, "--feature", "chrf++")
    score = ["score", "out.txt", "--originals", "in.txt", "--model", "m.npz"]
    first = json.loads(run(*score, "-f", "json"))
    assert "|features=chrf:n=6,words=2," in PEM.open("m.npz").description
    run(*train)  # the stages of tables are done already, the regression is not
    second = json.loads(run(*score, "-f", "json"))
    assert "features=" not in PEM.open("m.npz").description
    assert first["rows"][0]["pem"] != second["rows"][0]["pem"]
    assert first["signature"] != second["signature"]
    assert "the features of this model are none" in run(*score, "--feature", "bleu")
    mean = ("train", "fr=en-fr.tsv", "-o", "m.npz", "--combine", "mean", "--controls")
    assert "--controls is for --judged: leave it out, or give both" in run(*mean)
