"""Links of invitations: the same at every start, as long as the private file is there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from karat.studio.store.assessors import assessor_of, assessors, invite, renew
from karat.studio.web.studio import Studio

OWNER = "owner"


class Link(NamedTuple):
    """Whose link it is, and the path of it."""

    name: str
    role: str
    path: str


def links(studio: Studio, names: Iterable[str]) -> list[Link]:
    """Invite the owner and those who are not invited yet; return the links of all."""
    known = {one.name for one in assessors(studio.store)}
    for name in dict.fromkeys((OWNER, *names)):
        if name not in known:
            role = "owner" if name == OWNER else "assessor"
            studio.keys.add(name, invite(studio.store, name, role))
    active = [one for one in assessors(studio.store) if one.active]
    return [Link(one.name, one.role, f"/join/{_token(studio, one.id, one.name)}") for one in active]


def _token(studio: Studio, id: int, name: str) -> str:
    """Return the token of an assessor; where it was lost, a new one that replaces it."""
    if studio.owner_token and name == OWNER:
        return studio.owner_token
    token = studio.keys.tokens.get(name, "")
    found = assessor_of(studio.store, token) if token else None
    if found is None or found.id != id:
        token = renew(studio.store, id)
        studio.keys.add(name, token)
    return token
