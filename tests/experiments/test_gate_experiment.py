"""The experiment about gates: a few of its changes, none of which may go far from what it found."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import karat as kt


def test_alarms_are_rare_and_regressions_are_caught(
    karat_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import gate_alarms as experiment

    monkeypatch.setenv("KARAT_DATA", str(karat_data))
    ted = kt.load_evalset("ted-zhen")
    rows = experiment.statistics(*ted.texts())
    exchanges = list(experiment.exchanges(rows, 50, 60))
    alarms = sum(decisions["both"].verdict == "fail" for decisions in exchanges)
    assert alarms <= 6  # 2 are expected
    pairs = list(experiment.damages(rows, ted, 0.1, 4))
    caught = [experiment.decide_metrics(*pair)["both"].verdict == "fail" for pair in pairs]
    assert caught == [True] * 4


def test_a_tenth_of_the_words_is_dropped() -> None:
    from gate_alarms import dropped

    words = [f"w{i}" for i in range(20)]
    left = dropped(" ".join(words), np.random.default_rng(1)).split()
    assert (len(left), set(left) < set(words)) == (18, True)
    assert dropped("one", np.random.default_rng(1)) == dropped("", np.random.default_rng(1)) == ""
