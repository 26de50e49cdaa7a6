"""Work on one long segment can be stopped before it is done, whatever the routine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from karat import _kernel

Side = tuple[Any, Any]


class Stopped(Exception):
    """What the check raises."""


def stop() -> None:
    """A request to stop."""
    raise Stopped


def segment(words: int, types: int, seed: int) -> Side:
    """One segment of random words as ids and offsets."""
    ids = np.random.default_rng(seed).integers(0, types, words, dtype=np.int32)
    return ids, np.array([0, words], dtype=np.int64)


STARTS = np.arange(2, dtype=np.int64)
SAME, OTHER = segment(200_000, 20_000, 1), segment(200_000, 20_000, 2)
ROUTINES: dict[str, Callable[[], object]] = {
    # Equal texts need no shift, yet all of both is looked through.
    "ter": lambda: _kernel.ter_edits(*SAME, *SAME, STARTS, stop),
    "ter_script": lambda: _kernel.ter_script(SAME[0], SAME[0], stop),
    "overlap": lambda: _kernel.overlap(*segment(600_000, 9, 1), *SAME, STARTS, 4, stop),
    "lcs": lambda: _kernel.lcs(*SAME, *OTHER, STARTS, 10**12, stop),
    "word_edits": lambda: _kernel.word_edits(*SAME, *OTHER, STARTS, stop),
    "accuracy_scripts": lambda: _kernel.accuracy_scripts(*SAME, *OTHER, STARTS, stop),
    "gtm": lambda: _kernel.gtm_sizes(
        *segment(200_000, 2, 1), *segment(200_000, 2, 2), STARTS, 2.0, False, 1, stop
    ),
    "exact gtm": lambda: _kernel.gtm_sizes(
        *segment(1_500, 40, 1), *segment(1_500, 40, 2), STARTS, 2.0, True, 10**12, stop
    ),
}


@pytest.mark.parametrize("routine", ROUTINES)
def test_work_on_one_segment_can_be_stopped(routine: str) -> None:
    with pytest.raises(Stopped):
        ROUTINES[routine]()
