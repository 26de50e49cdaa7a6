"""All live results of one state of a store, as the owner's page shows them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from karat.studio.live.agreement import LiveAgreement, live_agreement
from karat.studio.live.coverage import Coverage, coverage
from karat.studio.live.disputes import Dispute, disputes
from karat.studio.live.estimates import LiveEstimate, estimates
from karat.studio.live.progress import Work, work_done
from karat.studio.live.state import Version, version_in
from karat.studio.store.clock import stamp
from karat.studio.store.projects import REVEALED
from karat.studio.store.store import Store

MOST_DISPUTES = 10


class LiveResults(NamedTuple):
    """Results of one version of a store."""

    version: Version
    time: str
    """When they were computed."""
    coverage: Coverage
    agreement: LiveAgreement
    work: Mapping[int, Work]
    disputes: list[Dispute]
    """The largest."""
    estimates: list[LiveEstimate]
    """Empty before somebody may see them."""


def live_results(store: Store) -> LiveResults:
    """Compute what is not known of the store as it is now."""
    with store.read() as connection:
        version = version_in(connection)
        told = version.told or version.state == REVEALED
        return LiveResults(
            version,
            stamp(),
            coverage(store),
            live_agreement(store),
            work_done(store),
            disputes(store)[:MOST_DISPUTES],
            estimates(store) if told else [],
        )
