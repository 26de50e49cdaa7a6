"""Two equal systems do not differ significantly."""

from __future__ import annotations

import pytest

import karat as kt

TEXTS = ["the cat sat on the mat", "a dog barked at night", "rain fell all day long"]
REFERENCES = ["the cat sat on a mat", "the dog barked at night", "rain fell the whole day"]


@pytest.mark.parametrize("copies", [1, 40])
@pytest.mark.parametrize("test", ["jackknife", "sacrebleu-bootstrap", "sacrebleu-ar"])
def test_a_copy_has_a_p_of_one(test: str, copies: int) -> None:
    comparison = kt.compare(
        {"A": TEXTS * copies, "B": TEXTS * copies}, REFERENCES * copies, ["bleu", "ter"], test=test
    )
    for name in ("bleu", "ter"):
        row = comparison["B", name]
        assert (row.delta, row.delta_low, row.delta_high, row.p) == (0, 0, 0, 1)
        assert (row.wins, row.losses, row.ties) == (0, 0, 3 * copies)
        assert row.verdict == "undecided"
        assert row.sacrebleu_p == (None if test == "jackknife" else 1)


def test_trials_are_for_tests_of_sacrebleu() -> None:
    with pytest.raises(kt.InputError, match="trials=40: test jackknife has no trials"):
        kt.compare({"A": TEXTS, "B": TEXTS}, REFERENCES, "bleu", trials=40)
    comparison = kt.compare({"A": TEXTS, "B": TEXTS}, REFERENCES, "bleu", test="sacrebleu-ar")
    assert (comparison.trials, comparison.seed) == (10_000, 12345)
    comparison = kt.compare(
        {"A": TEXTS, "B": TEXTS}, REFERENCES, "bleu", test="sacrebleu-bootstrap", trials=20
    )
    assert comparison.trials == 20
    assert kt.compare({"A": TEXTS, "B": TEXTS}, REFERENCES, "bleu").trials is None


def test_segment_scores_are_found_by_name() -> None:
    scored = kt.score({"A": TEXTS}, REFERENCES, ["chrf++"], segments=True)
    expected = kt.metric("chrf++").segments(TEXTS, REFERENCES)
    assert scored.segment_scores("A", "chrf++").tolist() == expected.tolist()
