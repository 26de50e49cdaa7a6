"""GTM (Melamed, Green and Turian 2003): precision and recall from maximum matching.

A hit is a word of the candidate that equals a word of a reference. A matching uses every word at
most once; hits that follow each other in both texts form a run. With the exponent e

    size = (sum over runs of length^e)^(1/e)
    P = size / |C|     R = size / mean |R|     F = P R / (alpha R + (1 - alpha) P)

Several references stand one after the other, with a barrier that no run crosses after each; of the
hits no more than min(|C|, mean |R|) count, which may be a fraction (`cap=whole` deletes whole hits,
as in the paper): the shortest runs are given up first. A corpus or document has the sums of its
segments' sizes and lengths. 0/0 is 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from karat.arrays import Floats, NDArray, np
from karat.metrics.base import Metric
from karat.metrics.pairs import Pairs
from karat.metrics.rouge import f_measure
from karat.settings import setting
from karat.text.tokens import CASES, TOKENIZERS, Recipe, stemmers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from karat.metrics.explain.bitext import Explanation

SEARCHES = {
    "greedy": "the longest run first, as GTM 1.4 does",
    "exact": "the maximum under the cap, with a certificate",
}
"""The ways to search for a matching."""

CAPS = {
    "fraction": "min(|C|, mean |R|), of the last run a part, as GTM 1.4 does",
    "whole": "whole hits alone, as in the paper",
}
"""Limits on the hits that count."""

BUDGET = 50_000_000
"""Steps of the exact search in one segment: about half a second."""

MOST_TOKENS = 1_000_000
"""The longest candidate, and the longest references taken together, that are matched: some 250 MB
and, for texts made to be hard, a minute or two."""


@dataclass(frozen=True)
class GTM(Metric):
    """F-measure of the maximum matching of words, longer runs counting for more (e > 1)."""

    name: ClassVar[str] = "gtm"
    aliases: ClassVar[Any] = MappingProxyType(
        {"exponent": "e", "tokenize": "tok", "tokenizer": "tok", "stemmer": "stem"}
    )
    presets: ClassVar[Mapping[str, dict[str, Any]]] = MappingProxyType(
        {
            "paper": {"e": 2.0, "search": "exact", "cap": "whole"},  # equation 1, section 2.3
            "gtm-1.4": {"e": 1.0, "search": "greedy", "tok": "gtm"},  # what the tool does unasked
        }
    )

    e: float = setting(1.0, "exponent of run lengths: 1 counts words, 2 areas", low=1, high=50)
    search: str = setting("greedy", "how the matching is found", choices=SEARCHES)
    alpha: float = setting(0.5, "weight of precision: 0 is recall, 1 precision", low=0, high=1)
    tok: str = setting("none", "tokeniser", choices=TOKENIZERS)
    case: str = setting("mixed", "whether capitals count (mixed) or not (lower)", choices=CASES)
    stem: str = setting("none", "stemmer", choices=stemmers)
    stop: str = setting("none", "stop words: none, en, iso-LANGUAGE or a file")
    budget: int = setting(BUDGET, "most steps of the exact search in a segment", low=1, high=2**62)
    cap: str = setting("fraction", "hits that count of several references", choices=CAPS)

    @property
    def recipe(self) -> Recipe:
        """The recipe that turns text into tokens."""
        return Recipe(self.tok, self.case, self.stem, self.stop)

    @property
    def exact(self) -> bool:
        """True if the search is for the maximum, with a certificate."""
        return self.search == "exact"

    @property
    def whole_cap(self) -> bool:
        """True if hits count whole or not at all."""
        return self.cap == "whole"

    def full_name(self) -> str:
        """Return the name with every setting; the cap only if it is not GTM 1.4's."""
        return super().full_name().removesuffix(",cap=fraction")

    def columns(self) -> tuple[str, ...]:
        certificate = ("bound", "segments", "proven") if self.exact else ()
        return ("size", "candidate", "reference", *certificate)

    def rows(self, pairs: Pairs) -> NDArray[Any]:
        mine, theirs = (p.tokens(self.recipe) for p in (pairs.candidates, pairs.references))
        for lengths in (mine.lengths, pairs.sum(theirs.lengths)):
            pairs.refuse(pairs.spread(lengths), MOST_TOKENS, "tokens are too many for gtm")
        found = pairs.matching(self.recipe, self.e, self.exact, self.budget, self.whole_cap)
        if not self.exact:
            return found[:, :3]
        return np.insert(found, 4, 1.0, axis=1)

    def measure(self, rows: NDArray[Any]) -> dict[str, Floats]:
        size, mine, theirs = (rows[:, k].astype(float) for k in range(3))
        p, r = _share(size, mine), _share(size, theirs)
        lengths = {"size": size, "length": mine, "reference_length": theirs}
        found = {"value": f_measure(p, r, self.alpha), "precision": p, "recall": r, **lengths}
        if self.exact:
            bound = rows[:, 3].astype(float)
            most = f_measure(_share(bound, mine), _share(bound, theirs), self.alpha)
            found |= {"bound": most, "segments": rows[:, 4], "proven": rows[:, 5]}
        return found

    def notes(self, row: NDArray[Any]) -> tuple[str, ...]:
        """Return the number of segments that are certain to have the maximum matching."""
        if not self.exact:
            return ()
        segments, proven = (round(float(number)) for number in row[4:6])
        note = f"{proven:,} of {segments:,} segments proven optimal"
        if proven == segments:
            return (note,)
        bound = float(self.measure(row[None, :])["bound"][0])
        return (f"{note}; the maximum is at most {bound:.4f} (a larger budget may prove more)",)

    def explain(self, candidate: str, references: str | Sequence[str]) -> Explanation:
        """Return the matched words in their runs, the cap's share, and how certain they are."""
        from karat.metrics.explain.bitext import explain

        return explain(self, candidate, references)


def _share(size: Floats, length: Floats) -> Floats:
    return np.divide(size, length, out=np.zeros(len(size)), where=length > 0)
