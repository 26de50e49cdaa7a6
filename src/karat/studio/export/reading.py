"""Readers of stores: the judgements of now as an evaluation set or a nugget set."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from karat.evalset.reading import Place, Reading
from karat.evalset.sets import EvalSet
from karat.nuggets.formats.jsonl import jsonl_lines, take_rows
from karat.nuggets.sets.draft import NuggetDraft
from karat.studio.export.contents import read_contents
from karat.studio.export.sets import evalset_of, nuggets_of
from karat.studio.store.store import Store


def read_rated_store(path: Path, reading: Reading, anonymous: bool = False) -> EvalSet:
    """Return ratings, penalties, scores and win shares with their draws.

    Args:
        path: the store; another process may be using it.
        reading: a reading, which a store does not need: what it holds was checked.
        anonymous: use pseudonyms instead of the names of assessors.
    """
    with Store.reading(path) as store, store.intact():
        return evalset_of(read_contents(store, anonymous))


def read_nugget_store(path: Path, draft: NuggetDraft) -> None:
    """Put the key, the runs and every current label of a store into a draft."""
    with Store.reading(path) as store, store.intact():
        found = nuggets_of(read_contents(store, False))
    take_rows(_rows(path, jsonl_lines(found)), draft)


def _rows(path: Path, lines: Iterator[str]) -> Iterator[tuple[Place, dict[str, Any]]]:
    for number, line in enumerate(lines, 1):
        yield Place(str(path), number), json.loads(line)
