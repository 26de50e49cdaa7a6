"""Pages of owners, adjudicators and readers: one frame with links, and who may open what."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from karat.studio.key_editing.editors import may_edit
from karat.studio.store.projects import REVEALED, project
from karat.studio.web.calls import Call, NotAllowed
from karat.studio.web.pages import page


def staff_page(call: Call, template: str, **values: object) -> Response:
    """Return a page with the links that its reader may follow."""
    found = project(call.studio.store)
    shared: dict[str, Any] = {
        "project": found,
        "who": call.who,
        "csrf": call.csrf,
        "links": _links(call),
    }
    return page(template, **{**shared, **values})


def _links(call: Call) -> dict[str, str]:
    """Return address -> title of the pages that somebody may open."""
    found = {"/": "Judge"}
    if call.who.role != "assessor":
        found["/adjudicate"] = "Adjudicate"
    if may_edit(call.studio.store, call.who.role):
        found["/key"] = "Key"
    if may_browse(call):
        titles = {"": "Segments", "/outputs": "Outputs", "/reports": "Reports"}
        found |= {f"/browse{path}": title for path, title in titles.items()}
    if call.who.role == "owner":
        found["/owner"] = "Owner"
    return found


def may_browse(call: Call) -> bool:
    """Return whether somebody may browse: the owner, and everybody after the reveal."""
    return call.who.role == "owner" or project(call.studio.store).state == REVEALED


def check_may_browse(call: Call) -> None:
    """Refuse browsing to those who still judge blind."""
    if not may_browse(call):
        raise NotAllowed("browsing is for the owner until the systems are revealed")


def check_revealed(call: Call, what: str) -> None:
    """Refuse what names systems before the reveal."""
    if project(call.studio.store).state != REVEALED:
        raise NotAllowed(f"{what} name the systems: reveal them first")
