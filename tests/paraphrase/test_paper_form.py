"""The paper's form: what it is trained with, the bundled model of it, and the paper's split."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import karat as kt
from karat.errors import InputError
from karat.paraphrase import Pivot, judged_rows, read_parallel
from karat.paraphrase.pem.combination import GRID, fit_svr, search_setting
from karat.paraphrase.pem.model import PEM
from karat.paraphrase.pem.training import train_language, train_pem
from karat.text.segments import Strings

pytest.importorskip("sklearn")

BUNDLED = resources.files("karat") / "data" / "paraphrase" / "en-fr.tsv"
PAIRS = "the house\tdas haus\nthe house\tdas haus\na house\tein haus\nthe book\tdas buch\n"


@pytest.fixture
def pivot(tmp_path: Path) -> Pivot:
    (tmp_path / "pairs.tsv").write_text(PAIRS)
    return Pivot([read_parallel(tmp_path / "pairs.tsv")])


@pytest.mark.parametrize(
    ("form", "settings", "expected"),
    [
        ("paper", {}, ("katz", "hmm product", True)),
        ("unigram", {}, ("kneser-ney", "fertility min", False)),
        ("rich", {}, ("kneser-ney", "fertility min", False)),
        ("paper", {"smoothing": "kneser-ney"}, ("kneser-ney", "hmm product", True)),
        (
            "unigram",
            {"smoothing": "katz", "agreement": "product"},
            ("katz", "fertility product", False),
        ),
        ("unigram", {"aligner": "hmm"}, ("kneser-ney", "hmm root", False)),
    ],
)
def test_what_a_form_is_trained_with(
    pivot: Pivot, form: str, settings: dict[str, str], expected: tuple[str, str, bool]
) -> None:
    model = train_pem({"de": pivot}, form=form, generate=False, **settings)
    smoothing, links, running = expected
    aligner, agreement = links.split()
    assert model.language.about["smoothing"] == smoothing
    assert model.pivots["de"].about["aligner"].startswith(f"{aligner}-joint:")
    assert f",{agreement}," in model.pivots["de"].about["aligner"]
    assert (",running text|" in model.description) == running == model.about.get("running", False)


def test_running_text_counts_lines_that_come_again() -> None:
    lines = ["a b", "a b", "a c"]
    different, running = (
        train_language([Strings(lines, "text")], smoothing="katz", running=again)
        for again in (False, True)
    )
    expected_model = kt.LanguageModel.train(
        lines, 4, "katz", tok="13a", case="lower", stem="porter"
    )
    assert running.score(["a b"]) == expected_model.score(["a b"])
    assert running.score(["a b"])[0] > different.score(["a b"])[0]


def test_a_text_beside_two_pivots_is_counted_once(pivot: Pivot) -> None:
    """Else no n-gram would have a count of 1, and Good-Turing nothing to go by."""
    first, two = (
        train_pem(dict.fromkeys(names, pivot), form="paper", generate=False)
        for names in (("de",), ("de", "again"))
    )
    for name, array in first.language.arrays.items():
        np.testing.assert_array_equal(array, two.language.arrays[name])


def test_a_form_that_there_is_not(pivot: Pivot) -> None:
    with pytest.raises(InputError, match="form 'papr': expected one of paper, unigram, rich"):
        train_pem({"de": pivot}, form="papr")
    with pytest.raises(InputError, match="smoothing=katzz: expected one of"):
        train_pem({"de": pivot}, smoothing="katzz", generate=False)


def test_scores_of_a_form() -> None:
    texts = ["I would like to purchase a car."], ["I want to buy a car."]
    scores = kt.score_paraphrases(*texts, form="paper")
    assert scores.signature.startswith("pem:model=bundled-paper@")
    assert str(scores.settings["model_settings"]).startswith("form=paper,")
    assert "lm=4-gram,katz,running text" in str(scores.settings["model_settings"])
    assert scores.rows[0].pem == kt.score_paraphrases(*texts, "bundled-paper").rows[0].pem
    plain = kt.score_paraphrases(*texts, form="unigram", resamples=0)
    assert plain.signature == PEM.open().signature
    with pytest.raises(InputError, match=r"has the form unigram.*train a model with --form rich"):
        kt.score_paraphrases(*texts, form="rich")


def test_the_command_takes_the_form(output: Callable[..., str], folder: Path) -> None:
    (folder / "in.txt").write_text("I want to buy a car.\n")
    (folder / "out.txt").write_text("I would like to purchase a car.\n")
    arguments = ("paraphrase", "score", "out.txt", "--originals", "in.txt", "-f", "json")
    report = json.loads(output(*arguments, "--form", "paper"))
    assert report["signature"]["pem"].startswith("pem:model=bundled-paper@")
    assert "(Pearson 0.04; its pivot F1 alone: 0.40)" in report["notes"][0]


# ------------------------------------------------------------------------------- a fixed split


def test_the_split_of_the_paper() -> None:
    evaluation = kt.evaluate_paraphrases("demo-paraphrases", train_first=27, resamples=0)
    judged = judged_rows(kt.load_evalset("demo-paraphrases"))
    sources = kt.load_evalset("demo-paraphrases").sources or ()
    first = np.array([text in sources[:27] for text in judged.originals])
    matrix = PEM.open().features(judged.originals, judged.paraphrases).matrix
    training_originals = [text for text in judged.originals if text in sources[:27]]
    setting = search_setting(matrix[first], judged.human[first], training_originals, GRID, 3)
    predicted = fit_svr(matrix[first], judged.human[first], setting).predict(matrix[~first])
    assert evaluation.rows[0].rows == len(evaluation.predictions) == 13 * 4
    predictions = np.array([point.y for point in evaluation.predictions])
    np.testing.assert_array_equal(predictions, np.clip(predicted, 1, 5))
    assert evaluation.inter_judge[0].rows == 160  # judges are compared on all originals
    assert "Trained on the first 27 originals, tested on the other 13" in evaluation.notes[0]


@pytest.mark.parametrize("number", [1, 40, 100])
def test_a_split_that_leaves_too_little(number: int) -> None:
    expected = f"train_first={number}: demo-paraphrases has 40 judged originals"
    with pytest.raises(InputError, match=expected):
        kt.evaluate_paraphrases("demo-paraphrases", train_first=number)


def test_evaluate_takes_a_form_and_rivals() -> None:
    settings: dict[str, Any] = {"folds": 2, "resamples": 0, "compare_with": ["ter"]}
    evaluation = kt.evaluate_paraphrases("demo-paraphrases", form="paper", **settings)
    assert [row.first for row in evaluation.rows][-1] == "ter"
    assert [row.first for row in evaluation.alone] == ["ter"]
    assert "pem:form=paper" in evaluation.signature
    assert not any("not the language model" in note for note in evaluation.notes)
    rich = kt.evaluate_paraphrases("demo-paraphrases", form="rich", **settings)
    assert "pem:form=rich" in rich.signature
    own_evaluation = kt.evaluate_paraphrases(
        "demo-paraphrases", PEM.open(), form="paper", **settings
    )
    assert any("not the language model" in note for note in own_evaluation.notes)


def test_metrics_alone_are_those_of_the_metrics() -> None:
    evaluation = kt.evaluate_paraphrases("demo-paraphrases", folds=2, resamples=0)
    judged = judged_rows(kt.load_evalset("demo-paraphrases"))
    scores = kt.metric("bleu").segments(judged.paraphrases, [[text] for text in judged.originals])
    by_name = {row.first: row for row in evaluation.alone}
    assert by_name["bleu"].pearson == pytest.approx(np.corrcoef(scores, judged.human)[0, 1])
    assert [row.first for row in evaluation.rows][-3] == "BLEU"
