"""Routes of owners: who was invited and how far they are; invite, withdraw, freeze, reveal."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from karat.studio.store.assessors import assessors, invite, withdraw
from karat.studio.store.projects import freeze, project, reveal
from karat.studio.web.calls import Call, only, route
from karat.studio.web.pages import page

OWNERS = ("owner",)


def _page(call: Call) -> Response:
    store = call.studio.store
    return page("owner.html", project=project(store), assessors=assessors(store), csrf=call.csrf)


def _invite(call: Call) -> dict[str, Any]:
    only(call.given, "name", "role", "quota")
    name, role = call.given.get("name"), call.given.get("role", "assessor")
    token = invite(call.studio.store, name, role, call.given.get("quota"))  # type: ignore[arg-type]  # checked there
    call.studio.keys.add(str(name), token)
    return {"link": f"/join/{token}"}


def _withdraw(call: Call) -> dict[str, Any]:
    only(call.given, "assessor")
    withdraw(call.studio.store, call.given.get("assessor"), call.who.id)  # type: ignore[arg-type]  # checked there
    return {}


def _freeze(call: Call) -> dict[str, Any]:
    only(call.given)
    freeze(call.studio.store, call.who.id)
    return {}


def _reveal(call: Call) -> dict[str, Any]:
    only(call.given, "anyway")
    reveal(call.studio.store, call.who.id, call.given.get("anyway") is True)
    return {}


ROUTES = [
    route("/owner", _page, roles=OWNERS),
    route("/api/owner/invite", _invite, "POST", OWNERS),
    route("/api/owner/withdraw", _withdraw, "POST", OWNERS),
    route("/api/owner/freeze", _freeze, "POST", OWNERS),
    route("/api/owner/reveal", _reveal, "POST", OWNERS),
]
