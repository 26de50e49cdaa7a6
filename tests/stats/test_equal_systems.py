"""Two equal systems do not differ significantly."""

from __future__ import annotations

import pytest

import karat as kt

TEXTS = ["the cat sat on the mat", "a dog barked at night", "rain fell all day long"]
REFERENCES = ["the cat sat on a mat", "the dog barked at night", "rain fell the whole day"]


@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
def test_a_copy_has_a_p_of_one(test: str) -> None:
    comparison = kt.compare(
        {"A": TEXTS, "B": list(TEXTS)}, REFERENCES, ["bleu", "rouge1"], test=test
    )
    for name in ("bleu", "rouge1"):
        row = comparison["B", name]
        assert (row.delta, row.p, row.wins, row.losses, row.ties) == (0, 1, 0, 0, 3)


def test_the_bootstrap_test_makes_its_intervals_from_its_own_resamples() -> None:
    with pytest.raises(kt.InputError, match="trials=40 and resamples=50: the bootstrap test"):
        kt.compare({"A": TEXTS, "B": TEXTS}, REFERENCES, "bleu", trials=40, resamples=50)
    comparison = kt.compare({"A": TEXTS, "B": TEXTS}, REFERENCES, "bleu", resamples=50)
    assert (comparison.trials, comparison.resamples) == (50, 50)
    comparison = kt.compare(
        {"A": TEXTS, "B": TEXTS}, REFERENCES, "bleu", test="randomization", trials=20, resamples=50
    )
    assert (comparison.trials, comparison.resamples) == (20, 50)


def test_segment_scores_are_found_by_name() -> None:
    scored = kt.score({"A": TEXTS}, REFERENCES, ["chrf++"], segments=True)
    expected = kt.metric("chrf++").segments(TEXTS, REFERENCES)
    assert scored.segment_scores("A", "chrf++").tolist() == expected.tolist()
