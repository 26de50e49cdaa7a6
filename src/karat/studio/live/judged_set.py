"""The evaluation set of a store as it is now, made once for all that is computed from it."""

from __future__ import annotations

from karat.evalset.sets import EvalSet
from karat.studio.export.sets import evalset_of
from karat.studio.live.state import remembered
from karat.studio.store.store import Store


def judged_set(store: Store) -> EvalSet:
    """Return ratings, penalties, scores and win shares under pseudonyms."""
    return remembered(store, "set", evalset_of)
