"""`refs=best` does not depend on the order of the references."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat as kt

WORDS = st.lists(st.sampled_from("abcd"), max_size=6).map(" ".join)


@given(WORDS, st.lists(WORDS, min_size=2, max_size=3))
def test_the_order_of_references_does_not_matter(candidate: str, references: list[str]) -> None:
    metric = kt.AEv(n=2, refs="best")
    rows = {
        tuple(metric.stats([candidate], [list(order)])[0][2:]) for order in permutations(references)
    }
    matches = {row[:2] for row in rows}
    assert len(matches) == 1


def test_of_references_that_score_zero_the_one_with_longer_matches_counts() -> None:
    candidate, near, far = "a b x y", "a b p q", "a z p q"
    rows = [
        kt.AEv(refs="best").stats([candidate], [refs])[0] for refs in ([near, far], [far, near])
    ]
    assert rows[0].tolist() == rows[1].tolist()
    assert rows[0][2:4].tolist() == [2, 1]


@pytest.mark.parametrize("refs", ["all", "best", "average"])
def test_equal_references_count_as_one(refs: str) -> None:
    metric = kt.AEv(n=2, refs=refs)
    corpus_score = metric.corpus(["a b c"], ["a b d"]).value
    assert metric.corpus(["a b c"], [["a b d", "a b d"]]).value == pytest.approx(
        corpus_score, abs=1e-12
    )
