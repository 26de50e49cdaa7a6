"""Settings are declared once: checks, options of commands and parameters of functions follow."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import click
import pytest
from click.testing import CliRunner

import karat as kt
from karat.cli.options import settings_options
from karat.estimation.settings import EstimateSettings
from karat.gating.gates import GateSettings
from karat.meta.settings import (
    ChallengeSettings,
    FitSettings,
    MetaSettings,
    PlaneSettings,
    PlantingSettings,
    ReliabilitySettings,
)
from karat.score_settings import ComparisonSettings, ScoreSettings
from karat.settings import Settings, parameter_name, setting


@dataclass(frozen=True)
class Sample(Settings):
    """Settings of every kind."""

    name: str = setting(help="Name.", kind=str)
    count: int = setting(3, "Count.", low=1, high=5000, option="-c --count")
    share: float = setting(0.5, "Share.", above=0, below=1)
    order: str = setting("up", "Order.", choices=("up", "down"), option="--order")
    lengths: tuple[int, ...] = setting((), "Lengths.", items=int, option="--lengths")
    words: tuple[str, ...] = setting(("a",), "Words.", items=str, distinct=True, option="--word")
    statistics: tuple[str, ...] = setting(
        ("pearson",), "{names}.", items=str, registry="statistics", option="--statistic"
    )
    quiet: bool = setting(False, "Quiet.", option="--quiet")
    limit: int | None = setting(None, "Limit.", kind=int, option="--limit")


def run(*args: str) -> dict[str, Any]:
    """The values that a command with these options receives."""
    received: dict[str, Any] = {}
    command = click.command()(settings_options(Sample)(lambda **values: received.update(values)))
    outcome = CliRunner().invoke(command, args)
    assert outcome.exit_code == 0, outcome.output
    return received


def test_options_have_the_defaults_of_the_settings() -> None:
    values = run()
    assert values == {f.name: f.default for f in fields(Sample) if f.metadata["option"]}
    assert Sample("x", **values) == Sample("x")


def test_options_are_read_as_their_settings_are() -> None:
    args = "-c 7 --order down --lengths 1-3 --word b --word c --statistic tau-b --quiet --limit 2"
    assert Sample("x", **run(*args.split())) == Sample(
        "x", 7, 0.5, "down", (1, 2, 3), ("b", "c"), ("tau-b",), True, 2
    )


def test_lists_become_tuples_and_whole_numbers_floats() -> None:
    sample = Sample("x", words=["b"], lengths=[2])  # type: ignore[arg-type]
    assert (sample.words, sample.lengths) == (("b",), (2,))
    with pytest.raises(
        kt.InputError, match=r"share=1\.0 is out of range: expected above 0 and bel"
    ):
        Sample("x", share=1)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"name": 3}, "name=3 is int, expected a string"),
        ({"count": 0}, "count=0 is out of range: expected at least 1 and at most 5,000"),
        ({"count": True}, "count=True is bool, expected a whole number"),
        ({"count": None}, "count=None is missing"),
        ({"order": "dwn"}, r"order='dwn' is not one of up, down; did you mean down\?"),
        ({"lengths": (1, "a")}, "has 'a', which is str, expected a whole number"),
        ({"lengths": "12"}, "lengths='12' is str, expected a list"),
        ({"words": ("b", "b")}, "has 'b' twice"),
        ({"statistics": ("tau",)}, "statistic 'tau': expected one of pearson"),
    ],
)
def test_a_wrong_value_is_one_sentence(values: dict[str, Any], message: str) -> None:
    with pytest.raises(kt.InputError, match=message):
        Sample(**{"name": "x", **values})


@pytest.mark.parametrize(
    ("cls", "function"),
    [
        (ScoreSettings, kt.score),
        (ComparisonSettings, kt.compare),
        (MetaSettings, kt.Experiment),
        (ReliabilitySettings, kt.reliability),
        (ChallengeSettings, kt.meta_challenge),
        (ChallengeSettings, kt.read_challenge),
        (PlantingSettings, kt.make_challenge),
        (FitSettings, kt.fit_scores),
        (PlaneSettings, kt.study_plane),
        (EstimateSettings, kt.estimate),
        (GateSettings, kt.gate),
    ],
)
def test_every_option_is_a_parameter(cls: type[Settings], function: Callable[..., Any]) -> None:
    parameters = inspect.signature(function).parameters
    for f in fields(cls):
        if f.metadata.get("option"):
            assert parameters[parameter_name(f)].default == f.default
