"""The experiment with gains: its baselines, its rule, and collections that obey the model."""

from __future__ import annotations

import gains
import numpy as np
import pytest

from karat.arithmetic import sigmoid
from karat.meta.gains import PairGains

KINDS = ("translation", "translation", "summary", "summary", "answer")


def collection(slope: float, seed: int, kind: str = "translation", systems: int = 14) -> PairGains:
    """Return a collection in which people agree with a gain d with probability s(slope d)."""
    rng = np.random.default_rng(seed)
    score = np.sort(rng.normal(size=systems))[::-1]
    first, second = np.triu_indices(systems, 1)
    gain = score[first] - score[second]
    agreement = np.asarray(sigmoid(slope * gain))[:, None]
    return PairGains(f"c{seed}", kind, systems, first, second, gain, agreement, ("quality",))


def row(
    scores: tuple[float, float, float], low: float, share: float, high: float
) -> gains.LeftOutRow:
    pairs = collection(0.0, 1)._replace(agreement=np.full((91, 1), share))
    prediction = gains.Prediction(np.full(91, 0.5), np.full(91, low), np.full(91, high))
    return gains.LeftOutRow(pairs, ("points", "linear"), prediction, scores)


def test_the_published_curve() -> None:
    pairs = collection(1.0, 1)._replace(gain=np.array([0.0, 2.0]))
    assert gains.published("bleu", pairs) == pytest.approx([0.4415, 0.883 / (1 + np.exp(-1.932))])
    assert gains.published("rougeL", pairs) is None


def test_the_brier_score_of_soft_labels() -> None:
    pairs = collection(0.0, 1)._replace(agreement=np.array([[0.75]]))
    assert gains.brier(0.5, pairs) == pytest.approx(0.25)
    assert gains.brier(0.75, pairs) == pytest.approx(0.75 * 0.0625 + 0.25 * 0.5625)


def test_bands_hold_in_whole_percentages() -> None:
    scores = (0.1, 0.2, 0.3)
    assert row(scores, 0.504, 0.496, 0.9).holds
    assert not row(scores, 0.506, 0.494, 0.9).holds


@pytest.mark.parametrize(
    ("scores", "n_held", "expected"),
    [
        ((0.1, 0.2, 0.3), 6, True),
        ((0.1, 0.2, float("nan")), 6, True),
        ((0.1, 0.2, 0.3), 5, False),
        ((0.2, 0.1, 0.3), 7, False),
        ((0.2, 0.3, 0.1), 7, False),
    ],
)
def test_the_rule(scores: tuple[float, float, float], n_held: int, expected: bool) -> None:
    rows = [row(scores, 0.4, 0.5 if k < n_held else 0.9, 0.6) for k in range(7)]
    assert gains.is_reliable(rows) is expected


def test_collections_of_one_slope_are_predicted() -> None:
    """Predictions for a collection that was left out use no pair of it, and are right."""
    collections = [collection(2.0, seed, kind) for seed, kind in enumerate(KINDS)]
    study = gains.Study(collections)
    everything = frozenset(range(len(KINDS)))
    forms = dict.fromkeys(everything, ("points", "linear"))
    for left_out in gains.left_out_rows("rougeL", study, forms, everything):
        assert left_out.holds
        model, constant, _ = left_out.scores
        assert model < constant
    changed = [collection(-3.0, 0), *collections[1:]]
    training = everything - {0}
    probabilities = [
        gains.Study(several).predict(0, training, ("points", "linear")).probability
        for several in (collections, changed)
    ]
    assert (probabilities[0] == probabilities[1]).all()
