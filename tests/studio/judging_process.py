"""A process in which assessors judge until it is killed.

    python -m studio.judging_process STORE ASSESSORS < requests

First it sends again the requests that it reads, as clients do that got no answer. It prints a
request before it is sent, and `ack UUID` when the store has acknowledged it.
"""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path
from uuid import uuid4

from studio.projects_in_store import START, answer

from karat.studio.assignment import next_assignment
from karat.studio.store.judgements import SentJudgement, judge
from karat.studio.store.store import Store

_printing = threading.Lock()


def say(text: str) -> None:
    with _printing:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


def send(store: Store, who: int, judgement: SentJudgement) -> None:
    say(json.dumps([who, judgement]))
    judge(store, who, judgement)
    say(f"ack {judgement.uuid}")


def work(store: Store, who: int) -> None:
    while (view := next_assignment(store, who, START)) is not None:
        send(
            store,
            who,
            SentJudgement(str(uuid4()), view.assignment, answer(view), 1, view.newest),
        )


def main() -> None:
    store = Store.open(Path(sys.argv[1]))
    for line in sys.stdin:
        who, fields = json.loads(line)
        send(store, who, SentJudgement(*fields))
    say("ready")
    for who in range(1, int(sys.argv[2]) + 1):
        threading.Thread(target=work, args=(store, who)).start()


if __name__ == "__main__":
    main()
