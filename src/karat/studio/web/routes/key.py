"""Routes of those who edit the key: questions with their nuggets, edits, the key as a file."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from karat.errors import InputError
from karat.studio.export.formats import export_files
from karat.studio.key_editing.editors import adjudicators_may, allow_adjudicators, may_edit
from karat.studio.key_editing.edits import KeyEdit, edit_key
from karat.studio.key_editing.questions import question, questions
from karat.studio.store.events import record
from karat.studio.web.calls import Call, Handler, NotAllowed, absent, only, route
from karat.studio.web.query import text_of
from karat.studio.web.staff import staff_page

EDITORS = ("adjudicator", "owner")


def editing(handler: Handler) -> Handler:
    """Return a handler for those alone who may edit the key of this project."""

    def checked(call: Call) -> Any:
        if not may_edit(call.studio.store, call.who.role):
            told = "expected an owner, or an adjudicator whom an owner allows it"
            raise NotAllowed(f"you may not edit the key: {told}")
        return handler(call)

    return checked


def _page(call: Call) -> Response:
    with call.studio.store.read() as connection:
        allowed = adjudicators_may(connection)
    return staff_page(call, "key.html", allowed=allowed)


def _questions(call: Call) -> dict[str, Any]:
    rows, total = questions(call.studio.store, text_of(call, "q"))
    return {"questions": [one._asdict() for one in rows], "total": total}


def _question(call: Call) -> dict[str, Any]:
    with absent():
        return question(call.studio.store, call.number("item")).to_json()


def _edit(call: Call) -> dict[str, Any]:
    only(call.given, *KeyEdit._fields)
    if lacking := [name for name in KeyEdit._fields[:4] if name not in call.given]:
        raise InputError(f"{lacking[0]} is missing: expected {', '.join(KeyEdit._fields[:4])}")
    return edit_key(call.studio.store, call.who.id, KeyEdit(**call.given))._asdict()


def _allow(call: Call) -> dict[str, Any]:
    only(call.given, "adjudicators")
    allowed = call.given.get("adjudicators")
    if not isinstance(allowed, bool):
        raise InputError("adjudicators: expected true or false")
    allow_adjudicators(call.studio.store, call.who.id, allowed)
    return {}


def _file(call: Call) -> Response:
    """Return the key as it is now, which names no system: it needs no reveal."""
    ((name, text),) = export_files(call.studio.store, "key")
    with call.studio.store.write() as connection:
        record(connection, "export", call.who.id, format="key")
    shown = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type="application/x-ndjson; charset=utf-8", headers=shown)


ROUTES = [
    route("/key", editing(_page), roles=EDITORS),
    route("/key/key.jsonl", editing(_file), roles=EDITORS),
    route("/api/key", editing(_questions), roles=EDITORS),
    route("/api/key/edits", editing(_edit), "POST", EDITORS),
    route("/api/key/allow", _allow, "POST", ("owner",)),
    route("/api/key/{item}", editing(_question), roles=EDITORS),
]
