"""Routes of adjudicators: disputes, decisions, and the names of those who disagree."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from karat.errors import InputError
from karat.studio.adjudication.deciding import Target, ask_names, decide
from karat.studio.adjudication.disputed import disputed
from karat.studio.live.disputes import Dispute, disputes, disputes_on
from karat.studio.store.store import Store
from karat.studio.web.calls import Call, NotThere, only, route
from karat.studio.web.query import text_of
from karat.studio.web.staff import staff_page

DECIDERS = ("adjudicator", "owner")
MOST_LISTED = 500
TARGET = ("task", "item", "output", "about")


def _page(call: Call) -> Response:
    return staff_page(call, "adjudicate.html")


def _disputes(call: Call) -> dict[str, Any]:
    """Return the list of disputes, largest first; those that are settled only if asked for."""
    found = disputes(call.studio.store, call.query.get("settled") == "yes")
    every = disputes(call.studio.store, settled=True)
    settled = sum(one.settled for one in every)
    rows = [_line(one) for one in found[:MOST_LISTED]]
    return {"disputes": rows, "total": len(found), "settled": settled, "all": len(every)}


def _line(one: Dispute) -> dict[str, Any]:
    names = (*TARGET, "segment", "amount", "settled")
    return {name: getattr(one, name) for name in names} | {"judgement": one.said[0].judgement}


def _dispute(call: Call) -> dict[str, Any]:
    """Return one dispute whole; it is named by one of its judgements and what it is about."""
    store, judgement = call.studio.store, call.number("id")
    about = text_of(call, "about")
    for one in disputes_on(store, _item_of(store, judgement)):
        if one.about == about and any(said.judgement == judgement for said in one.said):
            return disputed(store, one).to_json()
    raise NotThere("there is no such dispute: somebody may have changed an answer")


def _item_of(store: Store, judgement: int) -> int:
    with store.read() as connection:
        row = connection.execute(
            "SELECT item FROM judgement JOIN assignment ON assignment.id = assignment "
            "WHERE judgement.id = ?",
            (judgement,),
        ).fetchone()
    return row[0] if row else 0


def _target(given: Any) -> Target:
    task, item, output, about = (given.get(name) for name in TARGET)
    whole = isinstance(item, int) and not isinstance(item, bool)
    right = isinstance(task, str) and whole and isinstance(about, str)
    if not right or not isinstance(output, int | None) or isinstance(output, bool):
        raise InputError(f"expected {', '.join(TARGET)} of a dispute")
    return task, item, output, about


def _decide(call: Call) -> dict[str, Any]:
    """Store a decision; an answer of null undoes it."""
    only(call.given, "uuid", *TARGET, "answer", "supersedes")
    if "answer" not in call.given:
        raise InputError("answer is missing: expected a decision, or null to undo one")
    uuid, answer, replaced = map(call.given.get, ("uuid", "answer", "supersedes"))
    where = _target(call.given)
    return decide(call.studio.store, call.who.id, uuid, where, answer, replaced)._asdict()  # type: ignore[arg-type]  # checked there


def _names(call: Call) -> dict[str, Any]:
    only(call.given, *TARGET)
    return {"names": ask_names(call.studio.store, call.who.id, _target(call.given))}


ROUTES = [
    route("/adjudicate", _page, roles=DECIDERS),
    route("/api/disputes", _disputes, roles=DECIDERS),
    route("/api/disputes/{id}", _dispute, roles=DECIDERS),
    route("/api/adjudications", _decide, "POST", DECIDERS),
    route("/api/names", _names, "POST", DECIDERS),
]
