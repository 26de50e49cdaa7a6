"""Trees as Hypothesis draws them."""

from __future__ import annotations

from hypothesis import strategies as st

import karat as kt


@st.composite
def trees(draw: st.DrawFn, letters: str, longest: int) -> kt.Tree:
    """A tree of any shape, with repeated words."""
    n = draw(st.integers(1, longest))
    words = draw(st.lists(st.sampled_from(letters), min_size=n, max_size=n))
    order = draw(st.permutations(range(n)))
    heads = [0] * n
    for k in range(1, n):
        heads[order[k]] = order[draw(st.integers(0, k - 1))] + 1
    return kt.Tree(tuple(words), tuple(heads))
