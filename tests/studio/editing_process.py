"""A process in which an owner edits the key while assessors judge, until it is killed.

    python -m studio.editing_process STORE OWNER ASSESSORS… < edits

First it sends again the edits that it reads, as clients do that got no answer. It prints an edit
before it is sent, and `ack UUID` when the store has acknowledged it.
"""

from __future__ import annotations

import json
import random
import sys
import threading
from itertools import count
from pathlib import Path
from typing import Any
from uuid import uuid4

from studio.judging_process import say
from studio.projects_in_store import START, answer

from karat.errors import InputError
from karat.studio.assignment import next_assignment
from karat.studio.key_editing import KeyEdit, edit_key, view_question
from karat.studio.store.judgements import SentJudgement, judge
from karat.studio.store.store import Store


def send(store: Store, owner: int, key_edit: KeyEdit) -> None:
    say(json.dumps(key_edit))
    try:
        edit_key(store, owner, key_edit)
    except InputError:  # somebody judged meanwhile
        say(f"refused {key_edit.uuid}")
    else:
        say(f"ack {key_edit.uuid}")


def drawn_edit(key_question: dict[str, Any], rng: random.Random, number: int) -> KeyEdit:
    """An edit that the question allows, of any kind."""
    nugget = rng.choice(key_question["nuggets"])
    other = "okay" if nugget["importance"] == "vital" else "vital"
    kinds = {
        "add": (key_question["adding"], None, [f"fact {number}"], "vital"),
        "reword": (nugget["concerns"], nugget["nugget"], [f"words {number}"], None),
        "importance": (0, nugget["nugget"], None, other),
    }
    if len(key_question["nuggets"]) > 1:
        kinds["drop"] = (nugget["concerns"], nugget["nugget"], None, None)
    if key_question["undoing"] is not None:
        kinds["undo"] = (key_question["undoing"], None, None, None)
    kind = rng.choice([*kinds])
    return KeyEdit(str(uuid4()), key_question["item"], kind, *kinds[kind], key_question["newest"])


def edit(store: Store, owner: int) -> None:
    rng = random.Random()
    for number in count():
        send(store, owner, drawn_edit(view_question(store, rng.randint(1, 2)), rng, number))


def work(store: Store, who: int) -> None:
    while True:
        view = next_assignment(store, who, START)
        if view is not None:
            sent = SentJudgement(str(uuid4()), view.assignment, answer(view), 1, view.newest)
            try:
                judge(store, who, sent)
            except InputError:  # the key was edited meanwhile
                continue


def main() -> None:
    store = Store.open(Path(sys.argv[1]))
    owner, *assessors = map(int, sys.argv[2:])
    for line in sys.stdin:
        send(store, owner, KeyEdit(*json.loads(line)))
    say("ready")
    for who in assessors:
        threading.Thread(target=work, args=(store, who)).start()
    threading.Thread(target=edit, args=(store, owner)).start()


if __name__ == "__main__":
    main()
