"""The plane where there is little to fit: three systems, or none that any cell agrees with."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import karat as kt
from karat.cli.main import main
from karat.meta.plane import fit_plane, plane_data
from karat.meta.plane_study import split_halves
from karat.meta.scores import score_evalset

OUTPUTS = {
    "same": "the cat sat on the mat",
    "near": "the cat sat on a rug",
    "far": "dog the ran in park",
}


def three_systems(scores: tuple[float, float, float]) -> kt.EvalSet:
    """Three systems with these human scores, best output first."""
    segments = ["1", "2", "3", "4"]
    return kt.make_evalset(
        "three",
        {name: [text] * len(segments) for name, text in OUTPUTS.items()},
        segments=segments,
        references=[OUTPUTS["same"]] * len(segments),
        dimensions=[kt.Dimension("quality")],
        judgements=[
            (name, segment, "judge", "quality", score)
            for name, score in zip(OUTPUTS, scores, strict=True)
            for segment in segments
        ],
    )


@pytest.mark.parametrize("scores", [(3.0, 2.0, 1.0), (1.0, 2.0, 3.0)])
def test_three_systems_have_no_halves(scores: tuple[float, float, float]) -> None:
    metric = kt.AEv()
    data = plane_data(score_evalset(three_systems(scores), metric), metric, "quality")
    halves = split_halves(data, 10)
    assert halves.splits == 0
    assert np.isnan(halves[1:]).all()


def test_no_cell_is_picked_where_none_agrees() -> None:
    metric = kt.AEv()
    data = plane_data(score_evalset(three_systems((1.0, 2.0, 3.0)), metric), metric, "quality")
    fit = fit_plane(data, "quality", resamples=20, permutations=20)
    assert fit.maximum is fit.pick is None
    assert fit.p == 1


def test_the_command_says_that_there_are_too_few(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kt.save_evalset(three_systems((1.0, 2.0, 3.0)), tmp_path / "three")
    assert main(["plane", "fit", str(tmp_path / "three"), "--resamples", "20"]) == 0
    assert "systems are too few, or too much alike" in capsys.readouterr().out
