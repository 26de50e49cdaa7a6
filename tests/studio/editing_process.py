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
from uuid import uuid4

from studio.judging_process import say
from studio.projects_in_store import START, answer

from karat.errors import InputError
from karat.studio.assignment import next_assignment
from karat.studio.key_editing import KeyEdit, KeyQuestion, edit_key, question
from karat.studio.store.judgements import SentJudgement, judge
from karat.studio.store.store import Store


def send(store: Store, owner: int, given: KeyEdit) -> None:
    say(json.dumps(given))
    try:
        edit_key(store, owner, given)
    except InputError:  # somebody judged meanwhile
        say(f"refused {given.uuid}")
    else:
        say(f"ack {given.uuid}")


def drawn_edit(found: KeyQuestion, drawn: random.Random, number: int) -> KeyEdit:
    """An edit that the question allows, of any kind."""
    one = drawn.choice(found.nuggets)
    other = "okay" if one.importance == "vital" else "vital"
    kinds = {
        "add": (found.adding, None, [f"fact {number}"], "vital"),
        "reword": (one.concerns, one.nugget, [f"words {number}"], None),
        "importance": (0, one.nugget, None, other),
    }
    if len(found.nuggets) > 1:
        kinds["drop"] = (one.concerns, one.nugget, None, None)
    if found.undoing is not None:
        kinds["undo"] = (found.undoing, None, None, None)
    what = drawn.choice([*kinds])
    return KeyEdit(str(uuid4()), found.item, what, *kinds[what], found.newest)


def edit(store: Store, owner: int) -> None:
    drawn = random.Random()
    for number in count():
        send(store, owner, drawn_edit(question(store, drawn.randint(1, 2)), drawn, number))


def work(store: Store, who: int) -> None:
    while True:
        shown = next_assignment(store, who, START)
        if shown is not None:
            sent = SentJudgement(str(uuid4()), shown.assignment, answer(shown), 1, shown.newest)
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
