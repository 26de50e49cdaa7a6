"""An open studio, as routes know it: the store, sessions and the private file beside the store."""

from __future__ import annotations

import hmac
from dataclasses import dataclass

from karat.studio.store.assessors import Assessor, assessor, assessor_of, assessors
from karat.studio.store.store import Store
from karat.studio.web.keys import Keys
from karat.studio.web.sessions import Sessions

LONGEST_TOKEN = 200


@dataclass(frozen=True)
class Studio:
    """An open studio."""

    store: Store
    keys: Keys
    owner_token: str | None = None
    """A further token of the owner, chosen at the start and not stored."""

    @property
    def sessions(self) -> Sessions:
        """Sessions under the key of this studio."""
        return Sessions(self.keys.key)

    def invited(self, token: str) -> Assessor | None:
        """Return whose token it is."""
        if not token or len(token) > LONGEST_TOKEN:
            return None
        if self.owner_token and hmac.compare_digest(token.encode(), self.owner_token.encode()):
            return next((one for one in assessors(self.store) if one.role == "owner"), None)
        return assessor_of(self.store, token)

    def signed_in(self, cookie: str) -> Assessor | None:
        """Return whose session it is; None if it has ended or the invitation was withdrawn."""
        id = self.sessions.assessor(cookie)
        return None if id is None else assessor(self.store, id)
