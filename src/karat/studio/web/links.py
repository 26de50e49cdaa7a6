"""Links of invitations: the same at every start, as long as the private file is there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from karat.studio.store.assessors import OWNER, Assessor, assessor_of, assessors, invite, renew
from karat.studio.web.studio import Studio


class Link(NamedTuple):
    """Whose link it is, and the path of it."""

    name: str
    role: str
    path: str


def links(studio: Studio, names: Iterable[str], owner_token: str | None = None) -> list[Link]:
    """Invite the owner and those who are not invited yet; return the links of all.

    `owner_token` is the token of the owner's link for as long as the studio is open.
    """
    known = {one.name for one in assessors(studio.store)}
    for name in dict.fromkeys((OWNER, *names)):
        if name not in known:
            role = "owner" if name == OWNER else "assessor"
            studio.keys.add(name, invite(studio.store, name, role))
    active = [one for one in assessors(studio.store) if one.active]
    owner = next((one for one in active if one.role == OWNER), None)
    return [
        Link(
            one.name,
            one.role,
            f"/join/{_token(studio, one, owner_token if one == owner else None)}",
        )
        for one in active
    ]


def _token(studio: Studio, who: Assessor, chosen: str | None) -> str:
    """Return the token of an assessor; where it was lost or another was chosen, a new one."""
    token = chosen or studio.keys.tokens.get(who.name, "")
    holder = assessor_of(studio.store, token) if token else None
    if holder is None or holder.id != who.id:
        _, token = renew(studio.store, who.id, token=chosen)
    if chosen is None:
        studio.keys.add(who.name, token)
    return token
