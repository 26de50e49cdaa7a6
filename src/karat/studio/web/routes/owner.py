"""Routes of owners: the project at a glance; invite, withdraw, freeze, reveal."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from karat.studio.export.formats import FORMATS, formats_of
from karat.studio.live.estimates import ask_estimates
from karat.studio.store.assessors import ROLES, invite, renew, withdraw
from karat.studio.store.projects import freeze, reveal
from karat.studio.web.calls import Call, only, route
from karat.studio.web.owner_view import live_view
from karat.studio.web.staff import staff_page

OWNERS = ("owner",)


def _page(call: Call) -> Response:
    view = live_view(call.studio.store, call.who.id)
    names = {name: FORMATS[name].name for name in formats_of(view["project"].settings)}
    return staff_page(call, "owner.html", **view, roles=ROLES, formats=names)


def _live(call: Call) -> Response:
    """Return the part of the page that changes while people judge."""
    return staff_page(call, "owner_live.html", **live_view(call.studio.store, call.who.id))


def _invite(call: Call) -> dict[str, Any]:
    only(call.given, "name", "role", "quota")
    name, role = call.given.get("name"), call.given.get("role", "assessor")
    quota = call.given.get("quota")
    token = invite(call.studio.store, name, role, quota, call.who.id)  # type: ignore[arg-type]  # checked there
    call.studio.keys.add(str(name), token)
    return {"link": f"/join/{token}"}


def _renew(call: Call) -> dict[str, Any]:
    """Return a new link; the old one is no longer valid."""
    only(call.given, "assessor")
    name, token = renew(call.studio.store, call.given.get("assessor"), call.who.id)  # type: ignore[arg-type]  # checked there
    call.studio.keys.add(name, token)
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


def _ask_estimates(call: Call) -> dict[str, Any]:
    only(call.given)
    ask_estimates(call.studio.store, call.who.id)
    return {}


ROUTES = [
    route("/owner", _page, roles=OWNERS),
    route("/owner/live", _live, roles=OWNERS),
    route("/api/owner/invite", _invite, "POST", OWNERS),
    route("/api/owner/renew", _renew, "POST", OWNERS),
    route("/api/owner/withdraw", _withdraw, "POST", OWNERS),
    route("/api/owner/freeze", _freeze, "POST", OWNERS),
    route("/api/owner/reveal", _reveal, "POST", OWNERS),
    route("/api/owner/estimates", _ask_estimates, "POST", OWNERS),
]
