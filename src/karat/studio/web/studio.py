"""An open studio, as routes know it: the store, sessions and the private file beside the store."""

from __future__ import annotations

import hmac
from dataclasses import dataclass

from karat.studio.store.assessors import Assessor, active_link, assessor_of
from karat.studio.store.store import Store
from karat.studio.web.keys import Keys
from karat.studio.web.sessions import Sessions

LONGEST_TOKEN = 200


@dataclass(frozen=True)
class Studio:
    """An open studio."""

    store: Store
    keys: Keys

    @property
    def sessions(self) -> Sessions:
        """Sessions under the key of this studio."""
        return Sessions(self.keys.key)

    def invited(self, token: str) -> Assessor | None:
        """Return whose token it is."""
        if not token or len(token) > LONGEST_TOKEN:
            return None
        return assessor_of(self.store, token)

    def signed_in(self, cookie: str) -> Assessor | None:
        """Return whose session it is; None if it expired or its link was renewed or withdrawn."""
        sessions = self.sessions
        session = sessions.read(cookie)
        link = session and active_link(self.store, session.assessor)
        if not session or not link:
            return None
        who, token_hash = link
        return who if hmac.compare_digest(session.mark, sessions.mark(token_hash)) else None
