"""Recovery of an owner's link by whoever can write to the store file."""

from __future__ import annotations

import os

from karat.studio.store.assessors import OWNER, recover_owner
from karat.studio.store.store import Store


def recover_link(path: str | os.PathLike[str], name: str = OWNER) -> str:
    """Return the path of a new owner's link; the studio may be running."""
    from karat.studio.web.keys import Keys

    with Store.open(path, exclusive=False, may_be_empty=False) as store:
        token = recover_owner(store, name)
        Keys.beside(store.path).add(name, token)
    return f"/join/{token}"
