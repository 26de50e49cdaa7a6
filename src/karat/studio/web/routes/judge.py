"""Routes of assessors: the page, the next assignment, earlier ones, answers and progress."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from karat.errors import InputError
from karat.studio.assignment.next_item import next_assignment, progress_of
from karat.studio.assignment.visits import visit
from karat.studio.store.clock import now
from karat.studio.store.judgements import Judgement, judge, undo
from karat.studio.store.projects import project
from karat.studio.store.shown import earlier, shown
from karat.studio.tasks.shown import Shown
from karat.studio.web.calls import Call, absent, only, route
from karat.studio.web.staff import staff_page


def _page(call: Call) -> Response:
    found = project(call.studio.store)
    place = f"{found.set_digest[:12]}.{call.studio.sessions.cookie[-12:]}.{call.who.id}"
    return staff_page(call, "judge.html", place=place)


def _next(call: Call) -> dict[str, Any]:
    store = call.studio.store
    found = next_assignment(store, call.who.id, now())
    if found is None:  # all is done, and may still be looked at again
        last = next(iter(reversed(earlier(store, call.who.id))), None)
        return {"item": None, "last": last, "progress": _progress(call)}
    # After one that is open again comes the next that is open, not those that are done.
    return {"item": {**_sent(call, found), "following": None}, "progress": _progress(call)}


def _item(call: Call) -> dict[str, Any]:
    with absent():
        found = shown(call.studio.store, call.who.id, call.number("assignment"))
    return {"item": _sent(call, found), "progress": _progress(call)}


def _sent(call: Call, found: Shown) -> dict[str, Any]:
    beside = visit(call.studio.store, call.who.id, found.assignment)
    return {**found.to_json(), **beside._asdict()}


def _progress(call: Call) -> dict[str, int]:
    return progress_of(call.studio.store, call.who.id)._asdict()


def _judge(call: Call) -> dict[str, Any]:
    only(call.given, *Judgement._fields)
    names = ("uuid", "assignment", "value", "ms")
    if lacking := [name for name in names if name not in call.given]:
        raise InputError(f"{lacking[0]} is missing: expected {', '.join(names)}")
    return judge(call.studio.store, call.who.id, Judgement(**call.given))._asdict()


def _undo(call: Call) -> dict[str, Any]:
    only(call.given, "uuid", "assignment", "supersedes")
    uuid, of, replaced = map(call.given.get, ("uuid", "assignment", "supersedes"))
    return undo(call.studio.store, call.who.id, uuid, of, replaced)._asdict()  # type: ignore[arg-type]  # checked there


ROUTES = [
    route("/", _page),
    route("/api/next", _next),
    route("/api/item/{assignment}", _item),
    route("/api/progress", _progress),
    route("/api/judgements", _judge, "POST"),
    route("/api/undo", _undo, "POST"),
]
