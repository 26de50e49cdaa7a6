"""Numbers of examples of slow property tests: few in `make test`, all in `make test-long`."""

from __future__ import annotations

import os

from hypothesis import settings

SHORT = os.environ.get("HYPOTHESIS_PROFILE", "karat") not in ("long", "explore")
"""Whether this is `make test`; the profiles `long` and `explore` try all examples."""


def examples(short: int, long: int) -> settings:
    """Settings of a property test, each example of which takes long."""
    return settings(max_examples=short if SHORT else long)
