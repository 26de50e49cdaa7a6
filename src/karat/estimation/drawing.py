"""`draw_units`: segments or groups of a set to label, drawn at random."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from karat.arrays import np
from karat.errors import InputError
from karat.evalset.catalogue import GivenPath
from karat.evalset.draws import GROUP, SEGMENT, Draw
from karat.evalset.loading import as_evalset
from karat.evalset.sets import EvalSet
from karat.progress import Progress, silent
from karat.results import Result
from karat.settings import check_seed
from karat.stats.resampling import SEED

RANDOM = "random"


@dataclass(frozen=True, repr=False)
class DrawnUnits(Result):
    """Units that were drawn, in the order of the set; `rows` are those of `draws.tsv`."""

    name: str
    rows: tuple[Draw, ...]
    notes: tuple[str, ...]
    settings: Mapping[str, object]
    signature: str = ""


def draw_units(
    evalset: EvalSet | GivenPath,
    count: int,
    unit: str = SEGMENT,
    *,
    seed: int = SEED,
    progress: Progress = silent,
) -> DrawnUnits:
    """Draw units of a set for labelling, all with the same probability.

    Args:
        evalset: a set, or its name or path.
        count: number of units.
        unit: `segment`, or `group` for whole documents or questions.
        seed: seed of the random numbers.
        progress: function that is called with the progress.
    """
    check_seed(seed)
    found = as_evalset(evalset, progress)
    if unit not in (SEGMENT, GROUP):
        raise InputError(f"unit {unit!r}: expected segment or group")
    if unit == GROUP and found.groups is None:
        raise InputError(f"{found.name} has no groups of segments: draw segments")
    if found.draws:
        told = "it says how its segments were drawn; karat estimate --next draws more"
        raise InputError(f"{found.name} has draws already: {told}")
    names = tuple(dict.fromkeys(found.groups or ())) if unit == GROUP else found.segments
    if isinstance(count, bool) or not 1 <= count <= len(names):
        raise InputError(f"{count:,} {unit}s: expected 1 to {len(names):,}, as {found.name} has")
    chosen = np.sort(np.random.default_rng(seed).permutation(len(names))[:count]).tolist()
    share = count / len(names)
    rows = tuple(Draw(names[at], share, RANDOM, 1, unit) for at in chosen)
    note = f"{count:,} of {len(names):,} {unit}s, each with probability {share:.4g}; seed {seed}."
    return DrawnUnits(found.name, rows, (note,), {"count": count, "unit": unit, "seed": seed})
