"""The mean of features on the scale of controls: worked values, and models that have one."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from arguments import with_option

import karat as kt
from karat.errors import InputError
from karat.paraphrase.pem.combination import POWER, SVR, ControlMean, fit_mean
from karat.paraphrase.pem.features import as_features
from karat.paraphrase.pem.judged_pairs import judged_rows
from karat.paraphrase.pem.model import PEM
from karat.paraphrase.pem.training import sample_lines, train_pem
from karat.text.segments import Strings

Called = Callable[..., subprocess.CompletedProcess[str]]
SENTENCES = ["I want to buy a new car.", "Could you help me, please?", "She has a big house."]
OTHERS = ["I would like to purchase a new automobile.", "Please help.", "Go home."]


def untrained(*metrics: str) -> PEM:
    """The tables of the bundled model, without a score."""
    model = PEM.open()
    return PEM.of(model.pivots, model.language, "unigram", metrics=as_features(metrics))


def test_worked_values() -> None:
    """a = .5 and 1, so A = 4; target F1 of .5 costs 1/64 of the way to 2."""
    mean = ControlMean(np.array([0.2, 10.0]), np.array([1.0, 90.0]))
    predictions = mean.predict(np.array([[0.6, 120.0, 0.5], [0.6, 120.0, 0.0], [0.1, 0.0, 0.0]]))
    assert predictions.tolist() == pytest.approx([4 - 2 * 0.5**POWER, 4, 1], abs=1e-15)
    assert mean.predict(np.array([[0.6, 50.0, 1.0]])).tolist() == [2]


def test_the_scale_is_set_by_means_of_controls() -> None:
    mean = fit_mean(("x", "y"), np.array([[1.0, 0], [1, 2]]), np.array([[0.1, 5], [0.3, 7]]))
    assert mean.none.tolist() == pytest.approx([0.2, 6])
    assert mean.copy.tolist() == [1, 1]
    less = mean.predict(np.array([[1.0, 1.0, 0.0], [1.0, 3.5, 0.0]]))  # y: the less, the better
    assert less.tolist() == pytest.approx([5, 4])


def test_a_feature_that_tells_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="feature y is 3 for a copy and for an unrelated sentence"):
        fit_mean(("x", "y"), np.array([[1.0, 3]]), np.array([[0.0, 3]]))


def test_controls_have_the_scores_of_the_paper() -> None:
    model = untrained("chrf++").train_on_controls(SENTENCES, copies="bad")
    assert model.score(SENTENCES, SENTENCES).pem.tolist() == [2, 2, 2]
    turned = model.score(SENTENCES, [*SENTENCES[1:], SENTENCES[0]]).pem
    assert turned.mean() == pytest.approx(1, abs=0.2)
    assert model.score(SENTENCES, OTHERS).pem[0] > 2.5


def test_pivots_count_once_together() -> None:
    single_pivot = untrained("chrf++")
    both = {"fr": single_pivot.pivots["fr"], "again": single_pivot.pivots["fr"]}
    two = PEM.of(both, single_pivot.language, "unigram", metrics=single_pivot.metrics)
    models = (model.train_on_controls(SENTENCES) for model in (single_pivot, two))
    scores = [model.score(SENTENCES, OTHERS).pem for model in models]
    np.testing.assert_array_equal(*scores)


def test_a_model_keeps_its_mean(tmp_path: Path) -> None:
    model = untrained("ter").train_on_controls(SENTENCES)
    model.save(tmp_path / "m.npz")
    again = PEM.open(tmp_path / "m.npz")
    assert isinstance(again.combination, ControlMean)
    assert (again.digest, again.description) == (model.digest, model.description)
    assert "|combine=mean,controls=3,copies=good|features=ter:" in model.description
    bad = model.with_copies("bad").description
    assert "|combine=mean,copy=target F1^6,controls=3,copies=bad|features=ter:" in bad
    assert repr(again).endswith("; mean on the scale of controls of 3 sentences; copies good>")
    np.testing.assert_array_equal(
        again.score(SENTENCES, OTHERS).pem, model.score(SENTENCES, OTHERS).pem
    )


def test_judgements_replace_the_mean() -> None:
    pytest.importorskip("sklearn")
    trained = PEM.open().train(judged_rows(kt.load_evalset("demo-paraphrases")))
    assert isinstance(trained.combination, SVR)
    assert "mean" not in trained.about
    assert "learned=demo-paraphrases" in trained.description


@pytest.mark.parametrize(
    "arrays",
    [
        {"mean_none": np.zeros(2), "mean_copy": np.array([1.0, 0])},
        {"mean_none": np.zeros(2), "mean_copy": np.ones(3)},
        {"mean_none": np.zeros(2), "mean_copy": np.array([1.0, np.nan])},
        {"mean_none": np.zeros(0), "mean_copy": np.zeros(0)},
    ],
)
def test_damaged_means(arrays: dict[str, np.ndarray]) -> None:
    with pytest.raises(ValueError, match=r"mean|finite|nan|features|none"):
        ControlMean.from_arrays(arrays)


def test_no_judgements_and_no_other_names(tmp_path: Path) -> None:
    judged = judged_rows(kt.load_evalset("demo-paraphrases"))
    with pytest.raises(InputError, match="combine=mean takes no judgements: leave out --judged"):
        train_pem({}, judged, combine="mean")
    scores = tmp_path / "scores.tsv"
    scores.write_text("system\tsegment\tscore\nA\t1\t0.5\n")
    with pytest.raises(InputError, match=r"scores\.tsv cannot score controls"):
        train_pem({}, combine="mean", features=[f"given:file={scores}"])
    with pytest.raises(InputError, match="combine=men: expected one of regression, mean"):
        train_pem({}, combine="men")


def test_lines_are_spread_over_all_texts() -> None:
    texts = [Strings([f"a {i}" for i in range(10)], "a"), Strings(["", "b", "b", "c"], "b")]
    assert sample_lines(texts, 7) == ["a 0", "a 2", "a 4", "a 6", "a 8", "b"]
    assert sample_lines(texts, 100) == [*(f"a {i}" for i in range(10)), "b", "c"]


def test_the_command_needs_no_judgements(
    folder: Path, output: Callable[..., str], run_karat: Called
) -> None:
    lines = "I want a car\tje veux une voiture\na big house\tune grande maison\n"
    (folder / "pairs.tsv").write_text(lines)
    (folder / "in.txt").write_text("I want a house\n")
    (folder / "out.txt").write_text("I want a large house\n")
    train = ("paraphrase", "train", "fr=pairs.tsv", "-o", "m.npz", "--combine", "mean")
    assert "mean on the scale of controls of 2 sentences" in output(*train, "--no-generate")
    score = ("paraphrase", "score", "out.txt", "--originals", "in.txt", "--model", "m.npz")
    report = json.loads(output(*score, "-f", "json"))
    assert 2 < report["rows"][0]["pem"] < 5
    assert report["notes"] == []
    (folder / "m.npz").unlink()
    for options, message in (
        (("--judged", "demo-paraphrases"), "combine=mean takes no judgements"),
        (("--controls",), "--controls is for --judged"),
        (("-d", "overall"), "--dimension is for --judged: leave it out, or give both"),
        (("-o", ""), "cannot write to a file without a name: name a file"),
    ):
        wrong = run_karat(*with_option(train, *options))
        assert wrong.returncode == 2
        assert wrong.stderr.count("\n") == 1
        assert message in wrong.stderr
    assert not (folder / "m.npz").exists()


def test_evaluate_shows_the_mean_beside_the_regression() -> None:
    pytest.importorskip("sklearn")
    name = "the model's mean, nothing learned"
    settings: dict[str, object] = {"folds": 2, "resamples": 0, "compare_with": ["bleu"]}
    judged = judged_rows(kt.load_evalset("demo-paraphrases"))
    scores = PEM.open().score(judged.originals, judged.paraphrases).pem
    evaluation = kt.evaluate_paraphrases("demo-paraphrases", **settings)  # type: ignore[arg-type]
    row = next(row for row in evaluation.rows if row.first == name)
    assert row.pearson == pytest.approx(np.corrcoef(scores, judged.human)[0, 1])
    other = kt.evaluate_paraphrases("demo-paraphrases", features=["ter"], **settings)  # type: ignore[arg-type]
    assert name not in {row.first for row in other.rows}
