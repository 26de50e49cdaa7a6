"""`save_nuggets`: a set in any format, written whole or not at all, and never over another."""

from __future__ import annotations

from karat.evalset.catalogue import GivenPath
from karat.evalset.saving import save_as
from karat.nuggets.formats.loading import NUGGET_SETS
from karat.nuggets.sets.nugget_set import NuggetSet


def save_nuggets(nuggets: NuggetSet, path: GivenPath, format: str = "jsonl") -> None:
    """Write a set that `load_nuggets` reads back, as far as the format can hold it.

    Only `jsonl` keeps everything.
    """
    save_as(NUGGET_SETS, nuggets, path, format)
