"""Informativeness, the paper's equations 1 and 2: which nuggets have an n-gram, and who says so."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from nuggets.nugget_world import pooled

import karat as kt
from karat.errors import InputError
from karat.nuggets.prediction.paper import Paper, ngram_scores
from karat.nuggets.prediction.pool import FoldedCells, folds, make_pool, run_labels
from karat.nuggets.prediction.predictions import parse_classifier
from karat.nuggets.sets.judgements import JudgedResponse, Judgements
from karat.nuggets.sets.keys_and_runs import Nugget, Question, Response, make_key, make_run

KEY = make_key(
    [
        Question(
            "birds",
            (
                Nugget("fox", ("red fox",)),
                Nugget("hen", ("red hen",)),
                Nugget("owl", ("blue owl",)),
            ),
        )
    ]
)
SAID = {"first": "a red fox ran", "second": "fox and hen", "third": "red red fox hen blue"}
POOL = make_pool(KEY, [make_run(tag, [("birds", Response(text))]) for tag, text in SAID.items()])
JUDGED = Judgements(
    tuple(
        JudgedResponse("birds", nugget, SAID[tag], value, tag)
        for tag, nugget, value in (
            ("first", "fox", 1.0),
            ("first", "hen", 0.0),
            ("first", "owl", 0.0),
            ("second", "fox", 1.0),
            ("second", "hen", 1.0),
            ("second", "owl", 0.0),
        )
    )
)


def scores(informativeness: str) -> list[list[float]]:
    rule = Paper(1, "count", informativeness=informativeness)
    labels, fold = run_labels(POOL, JUDGED), folds(POOL, "system")
    nugget_scores: list[list[float]] = (
        rule.scores(FoldedCells(POOL, labels, fold)).reshape(3, 3).tolist()
    )
    return nugget_scores


def test_the_equations_by_hand() -> None:
    """Equation 1 over the responses that carry a nugget, and over descriptions.

    Of `third`, which nobody judged: the words of the fox are those of `first` and `second`, of the
    hen those of `second`; the owl, which nobody found, has those of its description. So I(red) =
    1 - 1/3, I(fox) = I(hen) = 1 - 2/3, I(blue) = 1 - 1/3. In the descriptions I(red) = 1 - 2/3 and
    the others are 1 - 1/3.
    """
    assert scores("responses")[2] == pytest.approx([2 * 2 / 3 + 1 / 3, 2 * 2 / 3 + 1 / 3, 2 / 3])
    assert scores("descriptions")[2] == pytest.approx([2 * 1 / 3 + 2 / 3, 2 * 1 / 3 + 2 / 3, 2 / 3])


def test_a_response_says_nothing_of_itself() -> None:
    """Of `second`, only `first` tells: the hen has the words of its description."""
    assert scores("responses")[1] == pytest.approx([2 / 3, 2 / 3, 0])


def test_without_judged_responses_descriptions_tell() -> None:
    pool, labels, _ = pooled(questions=3, runs=4)
    plain, rule = ngram_scores(pool, Paper()), Paper(informativeness="responses")
    fold = folds(pool, "system")
    for no_labels in (np.full(len(labels), np.nan), np.zeros(len(labels))):
        assert (rule.scores(FoldedCells(pool, no_labels, fold)) == plain).all()
    left_out = folds(pool, "question")  # nothing is known of the question
    assert rule.scores(FoldedCells(pool, labels, left_out)) == pytest.approx(plain)
    assert (rule.scores(FoldedCells(pool, labels, fold)) != plain).any()
    assert (Paper().scores(FoldedCells(pool, labels, fold)) == plain).all()


def test_settings_and_signatures_name_it() -> None:
    nuggets = kt.load_nuggets("demo-nuggets")
    by = {
        informativeness: kt.score_nuggets(
            nuggets, classifier=f"paper:informativeness={informativeness}"
        )
        for informativeness in ("responses", "descriptions")
    }
    assert by["descriptions"].settings["classifier"] == "paper"
    assert by["responses"].settings["classifier"] == "paper:informativeness=responses"
    assert ",informativeness=responses," in by["responses"].signature
    assert "informativeness" not in by["descriptions"].signature
    tuned = kt.tune_nuggets(nuggets, classifier="paper:informativeness=responses")
    assert len(tuned.tuning.trials) == 24
    assert all(trial.classifier.informativeness == "responses" for trial in tuned.tuning.trials)
    assert any("informativeness=responses" in note for note in tuned.notes)
    with pytest.raises(InputError, match="informativeness=words is not one of descriptions, resp"):
        kt.tune_nuggets(nuggets, classifier="paper:informativeness=words")


def test_the_preset_is_the_papers_form() -> None:
    """Table 2: no stemming, bigrams, idf; equation 1; section 4.4: the likeliest model."""
    printed = parse_classifier("paper:preset=paper")
    form = {"n": 2, "weight": "idf", "stem": "none", "stop": "none", "threshold_model": "auto"}
    assert printed == Paper(**form, informativeness="responses")
    assert str(printed) == "paper:informativeness=responses"
    assert parse_classifier("paper:preset=paper,n=1") == Paper(1, informativeness="responses")
    with pytest.raises(InputError, match="paper: no preset 'pourpre'; there is paper"):
        parse_classifier("paper:preset=pourpre")
    scoring = kt.score_nuggets(kt.load_nuggets("demo-nuggets"), classifier="paper:preset=paper")
    assert scoring.settings["classifier"] == "paper:informativeness=responses"


SAME = "preset=paper n=2, weight=idf, stem=none, stop=none, threshold_model=auto, informativeness="
FIXED = "preset=paper stem=none, stop=none, informativeness="


@pytest.mark.parametrize(
    ("command", "means"), [("score", SAME), ("diff", SAME), ("tune", FIXED), ("evaluate", FIXED)]
)
def test_help_lists_the_preset(output: Callable[..., str], command: str, means: str) -> None:
    text = " ".join(output("nuggets", command, "--help-all").split())
    assert f"{means}responses" in text
    assert text.count("preset=paper") == 1
