"""References that were taken for candidates: `-r ref1.txt ref2.txt` makes a system of the second.

A candidate that is a reference, by file or by content, is refused; so is one that is named like a
reference beside other candidates. `NAME=FILE` says that it is meant.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

import click

from karat.cli.groups import TYPED
from karat.errors import InputError
from karat.text.segments import Lines, Segments

_NAMED = re.compile(r"(^|[^a-z])(refs?|references?|gold)([^a-z]|[a-z]?$|[a-z][^a-z])")
_WITHOUT = re.compile(r"(^|[^a-z])(no[-_ .]?(refs?|references?)|(ref|reference)[-_ .]?(free|less))")


def refuse_by_name(candidates: Sequence[str], references: Sequence[str]) -> None:
    """Refuse candidates that are a reference's file, or are named like one beside others."""
    for path in candidates:
        for reference in references:
            both = os.path.isfile(path) and os.path.isfile(reference)
            if both and os.path.samefile(path, reference):
                raise InputError(
                    f"{path} is given as candidate and as reference: use the output of a system; "
                    f"to score it anyway, name it: reference={path}"
                )
    followers = _after_references(candidates)
    for path in candidates:
        others = [other for other in candidates if other != path]
        like = followers.get(path)
        counted = like is not None and any(_shape(other) != _shape(like) for other in others)
        name = os.path.basename(path).lower()
        named = _NAMED.search(name) and not _WITHOUT.search(name)
        if others and (named or (counted and _shape(path) == _shape(like))):
            raise InputError(
                f"{path} would be scored as a system, but looks like a reference: write -r before "
                f"each reference (-r {path}); to score it anyway, name it: human={path}"
            )


def refuse_by_content(path: str, candidate: Segments, references: Sequence[Segments]) -> None:
    """Refuse a candidate that has the very text of a reference."""
    if not isinstance(candidate, Lines):
        return
    for reference in references:
        if isinstance(reference, Lines) and candidate.same_text(reference):
            raise InputError(
                f"{path} has the same text as the reference {reference.name}: use the output of a "
                f"system; to score it anyway, name it: copy={path}"
            )


def _shape(path: str | None) -> str:
    """A file's name with its numbers left out."""
    return re.sub(r"\d+", "#", os.path.basename(path or ""))


def _after_references(candidates: Sequence[str]) -> dict[str, str]:
    """Candidates that were typed straight after `-r FILE`, with that file."""
    context = click.get_current_context(silent=True)
    typed: Sequence[str] = context.meta.get(TYPED, ()) if context else ()
    found: dict[str, str] = {}
    last = None
    for word, before in zip(typed, ("", *typed), strict=False):
        if before in ("-r", "--reference"):
            last = word
        elif word.startswith(("--reference=", "-r")) and word != "-r":
            last = word.removeprefix("--reference=").removeprefix("-r")
        elif last is not None and word in candidates:
            found[word] = last
        else:
            last = None
    return found
