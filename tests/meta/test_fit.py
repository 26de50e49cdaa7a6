"""Human scores fitted by metrics: terms, points, the published coefficients, the command."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracles import regression_loops
from oracles.small_sets import small_set

import karat as kt
from karat.errors import InputError

SMALL = small_set(3, systems=4, segments=12)
STA = "simple_tree_accuracy"


def parsed(values: Callable[[float, float], float]) -> kt.EvalSet:
    """A set of trees in which `values` of simple tree accuracy and S are the human scores."""
    tree = kt.Tree(("a", "b", "c", "d", "e"), (0, 1, 1, 1, 2))
    outputs = ["a b c d e", "b a c d", "e d c b a", "x b c y e", "a c b x x", "c d a b e"]
    rows = kt.metric(STA).stats(outputs, [tree] * len(outputs))
    parts = kt.metric(STA).measure(np.asarray(rows))
    scores = zip(parts["value"], parts["substitutions"], strict=True)
    judged = [
        ("A", str(i), "j", "quality", float(values(*score))) for i, score in enumerate(scores, 1)
    ]
    return kt.make_evalset(
        "p", {"A": outputs}, trees=[tree] * 6, dimensions=["quality"], judgements=judged
    )


def test_coefficients_are_those_of_fractions() -> None:
    fit = kt.fit_scores(SMALL, ["bleu", "ter"], ["quality"])
    human = SMALL.human("quality")
    at = [(i, j) for i, j in np.argwhere(~np.isnan(human)).tolist()]
    scores = [
        [
            m.segments([text or "" for text in texts], SMALL.references)
            for texts in SMALL.systems.values()
        ]
        for m in map(kt.metric, ("bleu", "ter"))
    ]
    x = [[float(values[i][j]) for values in scores] for i, j in at]
    y = [float(human[i, j]) for i, j in at]
    exact = regression_loops.coefficients(x, y)
    assert [row.term for row in fit.rows] == ["intercept", "bleu:eff=yes", "ter"]
    assert [row.coefficient for row in fit.rows] == pytest.approx([float(b) for b in exact])
    assert [point.human for point in fit.points] == y
    segments = [j for _, j in at]
    unseen = regression_loops.left_out(x, y, segments)
    row = next(left_out_row for left_out_row in fit.left_out if left_out_row.unit == "segment")
    errors = [a - b for a, b in zip(unseen, y, strict=True)]
    assert row.rmse == pytest.approx(math.sqrt(sum(e * e for e in errors) / len(errors)))
    assert [left_out_row.unit for left_out_row in fit.left_out] == [
        "output",
        "segment",
        "system",
        "document",
    ]


def test_the_published_coefficients_are_found_again() -> None:
    evalset = parsed(lambda sta, s: 1.3147 * sta - 0.1039 * s - 0.4458)
    fit = kt.fit_scores(evalset, [f"{STA}@substitutions", STA])
    for row in fit.rows:
        assert row.coefficient == pytest.approx(row.understandability)
    assert [row.quality for row in fit.rows] == [-0.3553, -0.0869, 1.0192]
    assert fit.fits[0].r2 == pytest.approx(1)
    assert "Published: Bangalore" in fit.notes[-1]
    other = kt.fit_scores(evalset, [STA])
    assert other.rows[0].understandability is None


def test_a_difference_and_z_scores_are_fitted() -> None:
    demo = kt.load_evalset("demo")
    apart = [kt.fit_scores(demo, "chrf", [name], normalise="z") for name in ("adequacy", "fluency")]
    fit = kt.fit_scores("demo", "chrf", "adequacy - fluency", normalise="z")
    first, second = (left_out_row.rows[1].coefficient for left_out_row in apart)
    assert fit.rows[1].coefficient == pytest.approx(first - second)


def test_points_may_be_systems() -> None:
    fit = kt.fit_scores("demo", ["bleu"], ["fluency"], level="system", exclude=["drift"])
    demo = kt.load_evalset("demo").without("drift")
    scores = kt.score(demo, metrics=["bleu"])
    x = [[row.score.value] for row in scores.rows]
    y = [float(v) for v in demo.human("fluency").mean(axis=1)]
    exact = regression_loops.coefficients(x, y)
    assert [row.coefficient for row in fit.rows] == pytest.approx([float(b) for b in exact])
    assert [(left_out_row.unit, left_out_row.groups) for left_out_row in fit.left_out] == [
        ("system", 3)
    ]
    assert [point.segment for point in fit.points] == ["", "", ""]


@pytest.mark.parametrize(
    ("metrics", "more", "message"),
    [
        ([], {}, "no metric was given"),
        (["bleu", "bleu:eff=yes"], {}, "bleu:eff=yes is named twice"),
        (["bleu@taste"], {}, r"bleu:eff=yes has no part 'taste' \(it has "),
        (["wer", "wer@substitutions", "wer@taste"], {}, "has no part 'taste'"),
        (["bleu"], {"level": "item"}, "level='item' is not one of segment, system"),
        (["bleu", "chrf", "ter"], {"level": "system"}, "4 points for 4 coefficients"),
        (["bleu"], {"dimensions": ["taste"]}, "has no dimension 'taste'"),
        (["blue"], {}, "blue"),
    ],
)
def test_what_cannot_be_fitted(metrics: list[str], more: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        kt.fit_scores("demo", metrics, **more)


def test_the_command_and_its_page(output: Callable[..., str], folder: Path) -> None:
    kt.save_evalset(parsed(lambda sta, s: sta - s * s), folder / "p")
    arguments = ("meta", "fit", "p", "-m", STA, "-m", f"{STA}@substitutions")
    document = json.loads(output(*arguments, "-f", "json"))
    assert [row["quality"] for row in document["rows"]] == [-0.3553, 1.0192, -0.0869]
    assert len(document["points"]) == document["fits"][0]["points"] == 6
    text = output(*arguments)
    assert "substitutions of" in text
    assert "Published" in text
    output(*arguments, "-o", "fit.html")
    page = (folder / "fit.html").read_text()
    assert page.count("<svg") == 1
    assert "Predicted and human quality" in page


def test_the_command_refuses(run_karat: Callable[..., Any]) -> None:
    for typed, message in (
        (("meta", "fit", "demo"), "--metric"),
        (("meta", "fit", "demo", "-m", "bleu@taste"), "has no part 'taste'"),
        (("meta", "fit", "demo", "-m", STA), "needs dependency trees"),
    ):
        done = run_karat(*typed)
        assert done.returncode == 2
        assert message in done.stderr
