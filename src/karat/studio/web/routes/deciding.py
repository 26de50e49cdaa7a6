"""Routes of adjudicators and editors of the key."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from karat.errors import InputError
from karat.studio.disputes import (
    Dispute,
    Target,
    ask_names,
    decide,
    find_disputes,
    find_disputes_on,
    view_dispute,
)
from karat.studio.export.formats import export_files
from karat.studio.key_editing import (
    KeyEdit,
    adjudicators_may_edit,
    allow_adjudicators,
    edit_key,
    may_edit,
)
from karat.studio.key_questions import question, questions
from karat.studio.store.events import record
from karat.studio.store.store import Store
from karat.studio.web.calls import (
    Call,
    Handler,
    NotAllowed,
    NotThere,
    absent,
    only,
    query_text,
    route,
    staff_page,
)

DECIDERS = ("adjudicator", "owner")
MAX_LISTED = 500
TARGET = ("task", "item", "output", "about")


def _adjudication_page(call: Call) -> Response:
    return staff_page(call, "adjudicate.html")


def _disputes(call: Call) -> dict[str, Any]:
    """Return the list of disputes, largest first; those that are settled only if asked for."""
    listed = find_disputes(call.studio.store, call.query.get("settled") == "yes")
    all_disputes = find_disputes(call.studio.store, settled=True)
    settled = sum(dispute.settled for dispute in all_disputes)
    rows = [_list_row(dispute) for dispute in listed[:MAX_LISTED]]
    return {"disputes": rows, "total": len(listed), "settled": settled, "all": len(all_disputes)}


def _list_row(dispute: Dispute) -> dict[str, Any]:
    names = (*TARGET, "segment", "amount", "settled")
    return {name: getattr(dispute, name) for name in names} | {
        "judgement": dispute.votes[0].judgement
    }


def _dispute(call: Call) -> dict[str, Any]:
    """Return one dispute whole; it is named by one of its judgements and what it is about."""
    store, judgement = call.studio.store, call.number("id")
    about = query_text(call, "about")
    for dispute in find_disputes_on(store, _item_of(store, judgement)):
        if dispute.about == about and any(vote.judgement == judgement for vote in dispute.votes):
            return view_dispute(store, dispute).to_json()
    raise NotThere("there is no such dispute: somebody may have changed an answer")


def _item_of(store: Store, judgement: int) -> int:
    with store.read() as connection:
        row = connection.row(
            "SELECT item FROM judgement JOIN assignment ON assignment.id = assignment "
            "WHERE judgement.id = ?",
            judgement,
        )
    return row[0] if row else 0


def _target(sent: Any) -> Target:
    task, item, output, about = (sent.get(name) for name in TARGET)
    is_item = isinstance(item, int) and not isinstance(item, bool)
    right = isinstance(task, str) and is_item and isinstance(about, str)
    if not right or not isinstance(output, int | None) or isinstance(output, bool):
        raise InputError(f"expected {', '.join(TARGET)} of a dispute")
    return task, item, output, about


def _decide(call: Call) -> dict[str, Any]:
    """Store a decision; an answer of null undoes it."""
    only(call.sent, "uuid", *TARGET, "answer", "supersedes")
    if "answer" not in call.sent:
        raise InputError("answer is missing: expected a decision, or null to undo one")
    uuid, answer, replaced = map(call.sent.get, ("uuid", "answer", "supersedes"))
    target = _target(call.sent)
    return decide(call.studio.store, call.who.id, uuid, target, answer, replaced)._asdict()  # type: ignore[arg-type]  # checked there


def _ask_names(call: Call) -> dict[str, Any]:
    only(call.sent, *TARGET)
    return {"names": ask_names(call.studio.store, call.who.id, _target(call.sent))}


ADJUDICATION_ROUTES = [
    route("/adjudicate", _adjudication_page, roles=DECIDERS),
    route("/api/disputes", _disputes, roles=DECIDERS),
    route("/api/disputes/{id}", _dispute, roles=DECIDERS),
    route("/api/adjudications", _decide, "POST", DECIDERS),
    route("/api/names", _ask_names, "POST", DECIDERS),
]


EDITORS = ("adjudicator", "owner")


def editing(handler: Handler) -> Handler:
    """Return a handler for those alone who may edit the key of this project."""

    def checked(call: Call) -> Any:
        if not may_edit(call.studio.store, call.who.role):
            expected = "expected an owner, or an adjudicator whom an owner allows it"
            raise NotAllowed(f"you may not edit the key: {expected}")
        return handler(call)

    return checked


def _key_page(call: Call) -> Response:
    with call.studio.store.read() as connection:
        allowed = adjudicators_may_edit(connection)
    return staff_page(call, "key.html", allowed=allowed)


def _questions(call: Call) -> dict[str, Any]:
    rows, total = questions(call.studio.store, query_text(call, "q"))
    return {"questions": [question._asdict() for question in rows], "total": total}


def _question(call: Call) -> dict[str, Any]:
    with absent():
        return question(call.studio.store, call.number("item")).to_json()


def _edit(call: Call) -> dict[str, Any]:
    only(call.sent, *KeyEdit._fields)
    if lacking := [name for name in KeyEdit._fields[:4] if name not in call.sent]:
        raise InputError(f"{lacking[0]} is missing: expected {', '.join(KeyEdit._fields[:4])}")
    return edit_key(call.studio.store, call.who.id, KeyEdit(**call.sent))._asdict()


def _allow(call: Call) -> dict[str, Any]:
    only(call.sent, "adjudicators")
    allowed = call.sent.get("adjudicators")
    if not isinstance(allowed, bool):
        raise InputError("adjudicators: expected true or false")
    allow_adjudicators(call.studio.store, call.who.id, allowed)
    return {}


def _key_file(call: Call) -> Response:
    """Return the key as it is now, which names no system: it needs no reveal."""
    ((name, text),) = export_files(call.studio.store, "key")
    with call.studio.store.write() as connection:
        record(connection, "export", call.who.id, format="key")
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type="application/x-ndjson; charset=utf-8", headers=headers)


KEY_ROUTES = [
    route("/key", editing(_key_page), roles=EDITORS),
    route("/key/key.jsonl", editing(_key_file), roles=EDITORS),
    route("/api/key", editing(_questions), roles=EDITORS),
    route("/api/key/edits", editing(_edit), "POST", EDITORS),
    route("/api/key/allow", _allow, "POST", ("owner",)),
    route("/api/key/{item}", editing(_question), roles=EDITORS),
]
