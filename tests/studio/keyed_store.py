"""Stores of a nugget project whose key is edited."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from studio.projects_in_store import START, assessor, judged_all, make_store, nugget_set, uuid

from karat.studio.contents import read_contents
from karat.studio.key_editing import KeyEdit, edit_key, view_question
from karat.studio.store.judgements import StoredRow
from karat.studio.store.people import assessors
from karat.studio.store.store import Store

Q1 = 1
"""The item of q1, whose nuggets are 1 (vital) and 2 (okay); two responses."""
BEFORE = {"1": ("vital", "born in 1867"), "2": ("okay", "won twice")}
OPENED: list[Store] = []


def close_stores() -> None:
    while OPENED:
        OPENED.pop().close()


class Keyed:
    """A store of two questions that ann judged, and an owner who edits."""

    def __init__(self, folder: Path, judged: bool = True, **settings: Any) -> None:
        self.store = make_store(folder, nugget_set(), {"nuggets": {}}, **settings)
        OPENED.append(self.store)
        self.owner = assessor(self.store, "olga", role="owner")
        self.ann = assessor(self.store)
        if judged:
            judged_all(self.store, self.ann, 100)
        self.number = 1000

    def look(self, item: int = Q1) -> dict[str, Any]:
        return view_question(self.store, item)

    def edit(self, kind: str, concerns: int, item: int = Q1, **more: Any) -> StoredRow:
        self.number += 1
        details = {"supersedes": self.look(item)["newest"], **more}
        sent = KeyEdit(uuid(self.number), item, kind, concerns, **details)
        return edit_key(self.store, self.owner, sent, START)

    def nuggets(self, item: int = Q1) -> dict[str, tuple[str, str]]:
        key_nuggets = self.look(item)["nuggets"]
        return {
            nugget["nugget"]: (nugget["importance"], " / ".join(nugget["descriptions"]))
            for nugget in key_nuggets
        }

    def labels(self) -> list[tuple[str, ...]]:
        """Question, and the nuggets with a label that counts, of each answer."""
        contents = read_contents(self.store)
        return sorted(
            (contents.items[answer.item].segment, *answer.value["nuggets"])
            for answer in contents.answers
        )

    def judged(self) -> int:
        assert self.store.check().ok, self.store.check().problems
        return next(person.judged for person in assessors(self.store) if person.id == self.ann)
