"""Ratings: values of an output on one or more scales.

{"ratings": {"quality": 6, "understandability": 5}, "comment": "", "done": true}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from karat.errors import InputError, quoted, short
from karat.studio.tasks.scales import scale_of, wrong_value
from karat.studio.tasks.shown import Shown
from karat.studio.tasks.task import first_wrong, is_done, only_known, wrong_parts


class Ratings:
    """One output at a time, on all scales of the project."""

    name = "ratings"

    def settings(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the scales in full; the setting `scales` names them or has them as objects."""
        only_known(self.name, given, ("scales",))
        wanted = given.get("scales") or ()
        if not isinstance(wanted, list | tuple) or not wanted:
            raise InputError("task ratings: expected scales, such as quality-7 and fluency-5")
        scales = [scale_of(one) for one in wanted]
        names = [one.dimension for one in scales]
        if twice := [name for name in names if names.count(name) > 1]:
            raise InputError(f"task ratings: two scales of {short(twice[0])}: expected one")
        return {"scales": [one.to_json() for one in scales]}

    def targets(self, outputs: Sequence[int]) -> list[tuple[int, ...]]:
        """Return each output alone."""
        return [(one,) for one in outputs]

    def check(self, value: object, shown: Shown) -> str:
        """Return what is wrong with an answer."""
        if told := wrong_parts(value, ("ratings",)):
            return told
        given: Any = value
        found = given.get("ratings", {})
        if not isinstance(found, dict):
            return f"found ratings={quoted(found)}, expected an object of values by dimension"
        scales = {one["dimension"]: one for one in shown.settings["scales"]}
        if unknown := [name for name in found if name not in scales]:
            return f"found the dimension {quoted(unknown[0])}, expected {', '.join(scales)}"
        if told := first_wrong([wrong_value(scales[name], found[name]) for name in found]):
            return told
        missing = [name for name in scales if name not in found]
        return f"no value for {short(missing[0])}" if missing and is_done(given) else ""

    def likeness(self, value: Any, answer: Any, shown: Shown) -> float:
        """Return 1 less the mean distance from the known values, as a share of the scale."""
        ends = {one["dimension"]: (one["low"], one["high"]) for one in shown.settings["scales"]}
        given, known = value["ratings"], answer["ratings"]
        return fmean(
            1 - abs(given[name] - known[name]) / (ends[name][1] - ends[name][0]) for name in known
        )

    def to_judgements(
        self, value: Mapping[str, Any], outputs: Sequence[int]
    ) -> list[tuple[int, str, Any]]:
        """Return the value of each dimension."""
        return [(outputs[0], name, found) for name, found in value["ratings"].items()]
