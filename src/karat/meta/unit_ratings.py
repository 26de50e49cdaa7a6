"""The ratings of an evaluation set by unit and rater: who rated what."""

from __future__ import annotations

from dataclasses import dataclass, replace

from karat.arrays import Flags, Floats, Ints, np
from karat.evalset.judgements import raters_unnamed
from karat.evalset.sets import EvalSet
from karat.stats.raters import Ratings, merge_ratings
from karat.storage.digests import data_digest


@dataclass(frozen=True, eq=False)
class UnitRatings:
    """Who rated what: for each system, the ratings behind the labels of its units."""

    by_system: tuple[Ratings, ...]
    """Means by unit and rater; the weights of a unit add up to 1 and give its label."""
    unknown: str = ""
    """Why raters are not known, in words; `by_system` is then empty."""

    @property
    def digest(self) -> str:
        """Eight characters that depend on all ratings and their raters."""
        return data_digest([self.unknown], *(array for rows in self.by_system for array in rows))

    @property
    def numbers(self) -> list[int]:
        """The number of raters of each system."""
        return [len(np.unique(ratings.rater)) for ratings in self.by_system]

    def select(self, systems: Ints) -> UnitRatings:
        """Return the ratings of some systems."""
        if self.unknown:
            return self
        return replace(self, by_system=tuple(self.by_system[k] for k in systems.tolist()))

    def weighted(
        self, system: int, units: Ints, unit_weights: Floats, shifts: Floats
    ) -> Ratings | None:
        """Return a system's ratings of some units, minus a shift, weighted; None if unknown."""
        if self.unknown:
            return None
        rows = self.by_system[system]
        n = max(int(rows.unit.max(initial=-1)), int(units.max(initial=-1))) + 1
        weight, shift = np.zeros(n), np.zeros(n)
        weight[units], shift[units] = unit_weights, shifts
        is_used = weight[rows.unit] > 0
        unit = rows.unit[is_used]
        value, share = rows.value[is_used] - shift[unit], rows.weight[is_used] * weight[unit]
        return Ratings(unit, rows.rater[is_used], value, share)


def unit_ratings(
    evalset: EvalSet, dimension: str, normalise: str, has_label: Flags, unit_of_segment: Ints
) -> UnitRatings:
    """Return who rated what, for the outputs with a label."""
    parts = evalset.difference(dimension) or (dimension,)
    tables = [evalset.ratings(part, normalise) for part in parts]
    raters = sorted({judge for table in tables for judge in table.judges})
    if not raters or raters_unnamed(raters):
        return UnitRatings((), "the raters are not named")
    columns = []
    for table, part in zip(tables, parts, strict=True):
        rater = np.array([raters.index(judge) for judge in table.judges], np.int64)[table.judge]
        output = table.system.astype(np.int64) * len(evalset) + table.segment
        is_used = has_label[table.system, table.segment]
        code = (output * len(raters) + rater)[is_used]
        value = (evalset.dimensions[part].sign * table.value)[is_used]
        order = np.argsort(code, kind="stable")
        columns.append((code[order], value[order]))
    code, value = columns[0]
    for part, (part_code, part_value) in zip(parts[1:], columns[1:], strict=True):
        if not np.array_equal(code, part_code):
            return UnitRatings((), f"{parts[0]} and {part} of some outputs have other raters")
        value = value - part_value
    output, rater = code // len(raters), code % len(raters)
    system, segment = output // len(evalset), output % len(evalset)
    raters_of_output = np.bincount(output, minlength=has_label.size)
    by_system = []
    for k, labels in enumerate(has_label):
        rows = system == k
        labelled = np.bincount(unit_of_segment, labels)
        unit = unit_of_segment[segment[rows]]
        share = 1 / (raters_of_output[output[rows]] * labelled[unit])
        by_system.append(merge_ratings(Ratings(unit, rater[rows], value[rows], share)))
    return UnitRatings(tuple(by_system))
