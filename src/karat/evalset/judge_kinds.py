"""Kinds of judges: people, models, and adjudication, which settles what judges dispute.

What a model says is never what people said: it is evidence, whose error is measured.
"""

from __future__ import annotations

from collections.abc import Collection

from karat.errors import InputError, quoted

PERSON, MODEL, ADJUDICATED = "person", "model", "adjudicated"
KINDS = (PERSON, MODEL, ADJUDICATED)
"""Kinds of judges; an unknown one ("") counts as a person."""

UNNAMED_RATERS = ("all", "merged", "raters", "annotators", "experts")
"""Names that readers give to the raters of a file with one score per output and no rater's name."""


def raters_unnamed(judges: Collection[str]) -> bool:
    """Return whether the raters are not named, so that their number is unknown."""
    return bool(judges) and all(judge in UNNAMED_RATERS for judge in judges)


def no_kind(kind: object) -> str:
    """Return why this cannot be the kind of a judge; "" if it can."""
    if kind == "" or kind in KINDS:
        return ""
    return f"found the kind {quoted(kind)}, expected one of {', '.join(KINDS)}"


def check_kinds(kinds: Collection[str]) -> None:
    """Refuse what is no kind of a judge."""
    if unknown := sorted(kind for kind in kinds if no_kind(kind)):
        raise InputError(f"kind {quoted(unknown[0])}: expected one of {', '.join(KINDS)}")
