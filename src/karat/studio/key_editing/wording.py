"""Words and ids of nuggets: a nugget with other words is another nugget, with an id of its own."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Sequence

from karat.errors import InputError, quoted
from karat.studio.tasks.task import first_wrong, wrong_text

IMPORTANCE = ("vital", "okay")
LONGEST = 2000
"""Characters of one wording."""
MOST_WORDINGS = 20
MOST_NUGGETS = 500
"""Nuggets of a question."""
_VERSION = re.compile(r"(.*)\.v(\d{1,6})", re.DOTALL)


def check_words(descriptions: object) -> tuple[str, ...]:
    """Return the wordings of a nugget, without blanks at the ends; wrong ones are refused."""
    if not isinstance(descriptions, list | tuple) or not 0 < len(descriptions) <= MOST_WORDINGS:
        raise InputError(f"expected a list of 1 to {MOST_WORDINGS} wordings of the nugget")
    if told := first_wrong([wrong_text("wording", text, LONGEST) for text in descriptions]):
        raise InputError(told)
    found = tuple(" ".join(text.split()) for text in descriptions)
    if not all(found):
        raise InputError("a wording is empty: expected words that say the fact")
    if len({*found}) < len(found):
        raise InputError("a wording stands twice: expected each once")
    return found


def check_importance(importance: object) -> str:
    """Return an importance, which must be vital or okay."""
    if not isinstance(importance, str) or importance not in IMPORTANCE:
        told = f"found importance={quoted(importance)}, expected {' or '.join(IMPORTANCE)}"
        raise InputError(told)
    return importance


def check_new(connection: sqlite3.Connection, item: int, words: Sequence[str]) -> None:
    """Refuse words that a nugget of the question has already."""
    rows = connection.execute(
        "SELECT nugget, descriptions FROM nugget WHERE item = ? AND NOT dropped", (item,)
    )
    for nugget, text in rows:
        if tuple(json.loads(text)) == tuple(words):
            raise InputError(f"nugget {quoted(nugget)} has these words: expected other ones")


def next_id(connection: sqlite3.Connection, item: int, of: str | None) -> str:
    """Return an id that no nugget of the question ever had.

    A reworded nugget `3` becomes `3.v2`, then `3.v3`; an added one gets the next number.
    """
    rows = connection.execute("SELECT nugget FROM nugget WHERE item = ?", (item,)).fetchall()
    taken = {id for (id,) in rows}
    if of is None:
        numbers = [int(id) for id in taken if id.isascii() and id.isdigit() and len(id) < 10]
        number, form = max(numbers, default=len(taken)) + 1, "{}"
    else:
        known = _VERSION.fullmatch(of)
        stem, number = (known[1], int(known[2]) + 1) if known else (of, 2)
        form = stem.replace("{", "{{").replace("}", "}}") + ".v{}"
    while form.format(number) in taken:
        number += 1
    return form.format(number)
