"""One alignment from two: what both directions have, what either has, or something between.

After Och & Ney (2003) and Koehn, Och & Marcu (2003).
"""

from __future__ import annotations

from karat import _kernel
from karat.arrays import np
from karat.paraphrase.align.links import Links, check_sentences
from karat.text.recipe import check_choice
from karat.text.tokens import Tokens

RULES = {
    "intersection": "links that both have",
    "union": "links that either has",
    "grow-diag": "from the intersection to neighbours that one has and a word without links needs",
    "grow-diag-final-and": "the same, then links of either whose words both have none",
}
"""The rules and what they keep."""


def symmetrize(source: Tokens, pivot: Tokens, first: Links, second: Links, rule: str) -> Links:
    """Join two alignments of the same texts; both have their links as (source, pivot)."""
    check_choice("rule", rule, RULES)
    check_sentences(source, pivot, first)
    check_sentences(source, pivot, second)
    found = _kernel.symmetrize(
        np.diff(source.offsets),
        np.diff(pivot.offsets),
        *(first.source, first.pivot, first.offsets),
        *(second.source, second.pivot, second.offsets),
        rule,
    )
    return Links(*found)
