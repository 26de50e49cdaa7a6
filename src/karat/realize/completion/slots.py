"""Slots: the places at a word that function words and marks can fill, and what fills them.

Relations of Universal Dependencies decide what a function word is: auxiliaries and copulas (aux,
cop), markers of clauses (mark), adpositions and case markers (case), conjunctions (cc), and
articles (det with PronType=Art). What fills a slot of a word is a set of such daughters.

A word that has daughters of its own is a content word, whatever its relation; `fixed` daughters
(because of) are part of it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from karat.errors import InputError, quoted
from karat.realize.given import as_names

SLOTS = ("aux", "mark", "case", "cc", "article", "final", "comma", "other")
"""In the order in which they are filled: a slot sees what the earlier ones have."""
CLASSES = {"function-words": SLOTS[:5], "punctuation": SLOTS[5:]}
"""Names of what can be completed, and their slots."""

_BY_RELATION = {"aux": "aux", "cop": "aux", "mark": "mark", "case": "case", "cc": "cc"}
FIXED = "fixed"


class SlotWord(NamedTuple):
    """A word in a slot."""

    word: str
    relation: str
    tag: str


Item = tuple[SlotWord, ...]
"""A function word with its `fixed` daughters."""
Filling = tuple[Item, ...]
"""All that is in a slot, sorted; empty if nothing is."""


def base(relation: str) -> str:
    """Return a relation without its subtype: aux for aux:pass."""
    return relation.partition(":")[0]


def slot_of(word: str, relation: str, features: str, final: frozenset[str]) -> str:
    """Return the slot that a daughter is in; empty for content words.

    `final` has the marks that end sentences, which `final_marks` finds.
    """
    kind = base(relation)
    if kind == "det":
        return "article" if "PronType=Art" in features.split("|") else ""
    if kind != "punct":
        return _BY_RELATION.get(kind, "")
    if is_comma(word):
        return "comma"
    return "final" if word in final else "other"


def is_comma(word: str) -> bool:
    """Return whether a mark is a comma of any script."""
    return all(
        unicodedata.category(c) == "Po" and unicodedata.name(c, "").endswith("COMMA") for c in word
    )


def may_end(word: str) -> bool:
    """Return whether a mark could end a sentence: no comma, quote, bracket or dash."""
    plain = all(unicodedata.category(c) == "Po" and c not in "\"'" for c in word)
    return plain and not is_comma(word)


def wanted_slots(complete: Sequence[str], keep: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the slots of some classes but for those to keep, in the order they are filled."""
    complete, keep = as_names("complete", complete), as_names("keep", keep)
    for what, given, known in (("complete", complete, CLASSES), ("keep", keep, SLOTS)):
        for name in given:
            if name not in known:
                raise InputError(f"{what}={quoted(name)}: expected some of {', '.join(known)}")
    for slot in keep if complete else ():
        if _class_of(slot) not in complete:
            told = f"it is for --complete {_class_of(slot)}: leave it out, or give both"
            raise InputError(f"keep={quoted(slot)}: nothing is inserted there, as {told}")
    return tuple(slot for slot in SLOTS if slot not in keep and _class_of(slot) in complete)


def classes_said(slots: Sequence[str]) -> str:
    """Return what is in some slots, as people call it."""
    found = (name for name, some in CLASSES.items() if {*some} & {*slots})
    return " and ".join(found).replace("-", " ")


def _class_of(slot: str) -> str:
    return next(name for name, slots in CLASSES.items() if slot in slots)


def filling_text(filling: Sequence[Item]) -> str:
    """Return the words of a filling, for people and for symbols; empty if it is."""
    return " + ".join(" ".join(one.word for one in item) for item in filling)
