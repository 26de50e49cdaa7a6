"""Rules for lemmas that were never seen: the edit of most known lemmas that end alike.

    P(edit | lemma, tag, features) = share of the types with the longest known suffix that have it

A type is a lemma with a tag and features; how often it occurs does not matter, so irregular verbs
count as little as they should. A suffix is known if two types have it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from karat.realize.inflection.edits import Edit, edit_between, edited

LONGEST, LAST_DIGITS = 5, 3
"""Characters of a suffix; `^` stands for the beginning of the lemma, `0` for any digit."""
SUPPORT = 2
LEAST = 0.3
"""Probability of a rule that is used; slips of the pen have rules that are less probable."""
SHARE = 0.2
"""Share of the types that must speak for a form that is not the best."""
_DIGIT = re.compile(r"\d")

Label = tuple[str, ...]
"""Tags, with or without features, that the lemmas of a rule share beside their ends."""


class Guess(NamedTuple):
    """Forms with the number of types that speak for each, and the probability of the best.

    `suffix` is the end of the lemma that the rule is for; None if there is no rule.
    """

    forms: Mapping[str, int]
    probability: float
    suffix: str | None = None


def suffixes(lemma: str) -> Iterator[str]:
    """Yield the suffixes of a lemma that rules are looked for under, the best first.

    Lemmas with digits are looked for by their whole shape, with and without the last digits.
    """
    whole = f"^{lemma}"
    shape = _DIGIT.sub("0", whole)
    if shape != whole:
        yield shape[:-LAST_DIGITS] + whole[-LAST_DIGITS:]
        yield shape
    yield from (shape[len(shape) - n :] for n in range(min(LONGEST, len(shape)), -1, -1))


class SuffixRules:
    """Edits of known types, by label and suffix."""

    def __init__(self) -> None:
        self._edits: dict[tuple[Label, str], Counter[Edit]] = defaultdict(Counter)

    @classmethod
    def learn(cls, types: Iterable[tuple[str, tuple[Label, ...], str]]) -> SuffixRules:
        """Learn from lemmas, each with its labels, the narrowest first, and its form."""
        found = cls()
        for lemma, labels, form in types:
            edit = edit_between(lemma, form)
            for suffix in set(suffixes(lemma)):
                for label in labels:
                    found._edits[label, suffix][edit] += 1
        return found

    def guess(self, lemma: str, labels: tuple[Label, ...]) -> Guess:
        """Return the forms of a lemma; the lemma itself if no rule is probable."""
        for label in labels:
            for suffix in suffixes(lemma):
                known = self._edits.get((label, suffix), Counter())
                if known.total() >= SUPPORT and (found := _most_probable(lemma, known)):
                    if found.probability >= LEAST:
                        return found._replace(suffix=suffix)
                    break
        return Guess({lemma: 0}, 0.0)


def _most_probable(lemma: str, edits: Counter[Edit]) -> Guess | None:
    """Return the forms that the most frequent edits make of a lemma, if any of them fits."""
    total, found = edits.total(), dict[str, int]()
    for edit, times in sorted(edits.items(), key=lambda one: (-one[1], one[0])):
        if form := edited(lemma, edit):
            found.setdefault(form, times)
    if not found:
        return None
    best = max(found.values())
    forms = {
        form: times for form, times in found.items() if times == best or times >= SHARE * total
    }
    return Guess(forms, best / (total + 1))
