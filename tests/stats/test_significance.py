"""Paired tests: p-values by explicit resampling, and sacreBLEU's."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.resampling_loops import p_bootstrap, p_exchange
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.significance import PairedTest

import karat as kt
from karat.metrics.base import Metric
from karat.stats.significance import ahead, approximate_randomization, paired_bootstrap

WORDS = ("the", "a", "cat", "dog", "sat", "ran", "on", "in", "mat", "house", "red", ",", ".")
SEGMENTS = 150


def corrupted(texts: list[str], share: float, seed: int) -> list[str]:
    """Texts with a share of the words replaced."""
    rng = np.random.default_rng(seed)
    return [
        " ".join(str(rng.choice(WORDS)) if rng.random() < share else word for word in text.split())
        for text in texts
    ]


def made_up() -> tuple[dict[str, list[str]], list[str]]:
    """Systems of different quality, and references."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(4, 16, size=SEGMENTS)
    references = [" ".join(rng.choice(WORDS, size=n)) for n in lengths]
    shares = {"base": 0.3, "same": 0.3, "better": 0.27, "best": 0.15, "worse": 0.36}
    systems = {
        name: corrupted(references, share, seed)
        for seed, (name, share) in enumerate(shares.items())
    }
    return systems, references


SYSTEMS, REFERENCES = made_up()
PEERS = {"bleu": "BLEU", "chrf": "chrF2"}


def peer(test: str, trials: int) -> dict[str, list[object]]:
    """sacreBLEU's results for all systems, the baseline first."""
    metrics = {"BLEU": BLEU(force=True), "CHRF": CHRF()}
    chosen_name = list(SYSTEMS.items())
    return PairedTest(chosen_name, metrics, [REFERENCES], test_type=test, n_samples=trials)()[1]


def test_paired_bootstrap_is_sacrebleus() -> None:
    peer_results = peer("bs", 500)
    test = {"test": "sacrebleu-bootstrap", "trials": 500}
    comparison = kt.compare(SYSTEMS, REFERENCES, list(PEERS), **test)
    for name, column in PEERS.items():
        for system, result in zip(SYSTEMS, peer_results[column], strict=True):
            row = comparison[system, name]
            assert row.score.value == pytest.approx(result.score, abs=1e-9)
            assert row.sacrebleu_p == result.p_value


def test_approximate_randomization_is_sacrebleus_within_chance() -> None:
    trials = 1000
    peer_results = peer("ar", trials)
    comparison = kt.compare(SYSTEMS, REFERENCES, list(PEERS), test="sacrebleu-ar", trials=trials)
    for name, column in PEERS.items():
        for system, result in zip(SYSTEMS, peer_results[column], strict=True):
            p = comparison[system, name].sacrebleu_p
            if system == "base":
                assert p is None
            else:
                error = np.sqrt(result.p_value * (1 - result.p_value) / trials)
                assert abs(p - result.p_value) <= 4 * error + 1 / trials


def test_the_tests_of_sacrebleu_change_no_other_number() -> None:
    plain = kt.compare(SYSTEMS, REFERENCES, "bleu")
    for test in ("sacrebleu-bootstrap", "sacrebleu-ar"):
        comparison = kt.compare(SYSTEMS, REFERENCES, "bleu", test=test, trials=50)
        for row, other in zip(plain.rows, comparison.rows, strict=True):
            signed = other.score.signature.replace(f"{test}|trials=50|seed=12345", "jackknife")
            assert row.score.signature == signed
            assert row == other._replace(score=row.score, sacrebleu_p=None)


def test_the_tests_tell_a_clear_difference_from_none() -> None:
    for test in ("sacrebleu-bootstrap", "sacrebleu-ar"):
        comparison = kt.compare(SYSTEMS, REFERENCES, "bleu", test=test, trials=500)
        best, same = comparison["best", "bleu"], comparison["same", "bleu"]
        assert best.sacrebleu_p == pytest.approx(1 / 501)
        assert best.p < 1e-4
        assert best.verdict == "better"
        assert min(same.p, same.sacrebleu_p) > 0.05
        assert same.verdict == "undecided"


Test = Callable[[Sequence[list[float]], Sequence[list[float]], Callable, int, int], float]


@pytest.mark.parametrize(
    ("test", "oracle"), [("sacrebleu-bootstrap", p_bootstrap), ("sacrebleu-ar", p_exchange)]
)
@pytest.mark.parametrize("name", ["bleu", "chrf", "aev:n=2,smooth=exp", "rouge2"])
def test_p_values_are_those_of_explicit_resampling(test: str, oracle: Test, name: str) -> None:
    size, trials = 25, 120
    systems = {name: texts[:size] for name, texts in SYSTEMS.items()}
    metric: Metric = kt.metric(name)
    rows = {key: metric.stats(texts, REFERENCES[:size]).tolist() for key, texts in systems.items()}

    def score(row: Sequence[float]) -> float:
        return metric.score(np.array(row)).value

    comparison = kt.compare(systems, REFERENCES[:size], [metric], test=test, trials=trials, seed=7)
    for system in list(systems)[1:]:
        expected = oracle(rows[system], rows["base"], score, trials, 7)
        p = comparison[system, name].sacrebleu_p
        assert p == pytest.approx(expected, abs=1.5 / trials)


SCORES = st.integers(0, 6400).map(lambda n: n / 64)  # differences without rounding


@given(first=st.lists(SCORES, min_size=1, max_size=30), data=st.data())
@settings(max_examples=60)
def test_p_values_count_trials_beyond_the_difference(
    first: list[float], data: st.DataObject
) -> None:
    size = len(first)
    second = data.draw(st.lists(SCORES, min_size=size, max_size=size))
    real = data.draw(st.integers(-3200, 3200).filter(bool)) / 64  # 0 has a rule of its own
    a, b = np.array(first), np.array(second)
    gaps = [abs(x - y) for x, y in zip(first, second, strict=True)]
    beyond = sum(gap > abs(real) for gap in gaps)
    assert approximate_randomization(a, b, real) == (1 + beyond) / (1 + size)
    mean = float(np.mean(np.array(gaps)))
    beyond = sum(gap - mean > abs(real) for gap in gaps)
    assert paired_bootstrap(a, b, real) == (1 + beyond) / (1 + size)


def test_a_system_against_itself_is_never_significant() -> None:
    twins = {"a": SYSTEMS["base"], "b": list(SYSTEMS["base"])}
    test = {"test": "sacrebleu-bootstrap", "trials": 200}
    comparison = kt.compare(twins, REFERENCES, "bleu", **test)
    # Here Karat departs from sacreBLEU, whose rule gives 1 / (1 + trials).
    peer_result = PairedTest(
        list(twins.items()), {"BLEU": BLEU(force=True)}, [REFERENCES], "bs", n_samples=200
    )()[1]
    assert peer_result["BLEU"][1].p_value == 1 / 201
    assert (comparison["b", "bleu"].p, comparison["b", "bleu"].sacrebleu_p) == (1, 1)
    assert comparison["b", "bleu"].delta == 0
    assert (comparison["b", "bleu"].wins, comparison["b", "bleu"].losses) == (0, 0)


def test_rounding_is_no_difference() -> None:
    third, nearly = np.full(50, 1 / 3), np.full(50, 1 - 2 / 3)
    assert third[0] != nearly[0]
    assert not ahead(third, nearly).any()
    assert not ahead(nearly, third).any()
    assert paired_bootstrap(third, nearly, third[0] - nearly[0]) == 1
    assert approximate_randomization(third, nearly, third[0] - nearly[0]) == 1
    # Trials that reach the real difference up to rounding are not beyond it.
    gaps = np.array([0.1 + 0.2, 0.3, 0.4])
    assert approximate_randomization(gaps, np.zeros(3), 0.3) == 2 / 4
