"""Readers of stores: the judgements of now as an evaluation set or a nugget set."""

from __future__ import annotations

import json
from pathlib import Path

from karat.evalset.reading import Place, Reading
from karat.evalset.sets import EvalSet
from karat.nuggets.formats.json_lines import jsonl_lines, take_rows
from karat.nuggets.sets.nugget_set import NuggetDraft
from karat.studio.export.contents import Contents, read_contents
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
        put_nuggets(read_contents(store), str(path), draft)


def put_nuggets(contents: Contents, name: str, draft: NuggetDraft) -> None:
    """Put the key, the runs and every current label of a project into a draft."""
    lines = enumerate(jsonl_lines(nuggets_of(contents)), 1)
    take_rows(((Place(name, number), json.loads(line)) for number, line in lines), draft)
