"""Slices: comparisons within parts of the segments, such as domains or bands of length.

Every slice is compared as if its segments were the whole test set: rows are added by unit, and a
unit with segments in several slices counts in each of them. All tests of all slices are one family,
which is corrected together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import Any, NamedTuple, TypeAlias

from karat.arithmetic import exact_sums
from karat.arrays import Ints, NDArray, np
from karat.errors import InputError, quoted
from karat.metrics.base import Metric
from karat.results import Column, number, program_columns
from karat.score_settings import CORRECTIONS, LENGTH
from karat.scoring import (
    METRIC,
    SYSTEM,
    StatsKey,
    SystemStats,
    TextInputs,
    difference_interval,
    row_digits,
)
from karat.stats.jackknife import UnitEstimate
from karat.stats.significance import WORSE, min_deciding_units, verdict
from karat.stats.simultaneous import NONE, JointEstimates, TestFamily
from karat.stats.units import Units
from karat.text.references import NoReferences, References
from karat.text.segments import STRIDE

SLICE_NAME = "slice"
"""The name of slices whose labels are given."""
BANDS = ("short", "medium", "long")
MAX_SLICES = 50
"""More slices are most likely ids or documents."""
_MAX_WORD = 16
"""Texts with more characters per word have no spaces between words."""
_MAX_INFLUENCES = 1 << 24
"""With more influences of units, Bonferroni's correction is used, which needs none of them."""
_BATCH = 64 * STRIDE

SliceLabels: TypeAlias = "str | Sequence[Any] | None"
"""The kind of slices, by name; or the label of each segment's slice; None: no slices."""


# ------------------------------------------------------------------------- slices of segments


@dataclass(frozen=True, eq=False)
class Slices:
    """The slice of each segment."""

    name: str
    """The kind of slice: `length`, `document`, `slice`, or the name of a column."""
    labels: Sequence[str]
    codes: NDArray[np.int32]
    """For each segment, the index of its slice in `labels`."""
    bounds: Sequence[str | None] = ()
    """For each band of length, its shortest and longest reference; empty for other slices."""
    counts: Ints | None = None
    """Numbers of segments where rows are sums of segments; None: a row is a segment."""

    @classmethod
    def from_labels(cls, name: str, labels: Sequence[Any]) -> Slices:
        """Return the slices with these labels, one label per segment; none may be missing."""
        missing = [at for at, label in enumerate(labels) if _is_missing(label)]
        if missing:
            count = f"{len(missing):,} of {len(labels):,} segments have"
            problem = f"{count} no {name}, the first is segment {missing[0] + 1:,}"
            raise InputError(f"{problem}: every segment needs the label of its slice")
        names: dict[str, int] = {}
        codes = [names.setdefault(str(label).strip(), len(names)) for label in labels]
        cls.check_number(name, len(names))
        return cls(name, list(names), np.array(codes, np.int32))

    @staticmethod
    def check_number(name: str, count: int) -> None:
        """Reject too many slices."""
        if count > MAX_SLICES:
            kind = "slices" if name == SLICE_NAME else f"slices by {quoted(name)}"
            raise InputError(
                f"found {count:,} {kind}, expected at most {MAX_SLICES}: use labels with fewer "
                f"values, such as domains, or slices by {LENGTH}"
            )

    @classmethod
    def by_length(cls, references: References) -> Slices:
        """Return the terciles of the length of the first reference."""
        return cls.from_lengths(*first_reference_lengths(references))

    @classmethod
    def from_lengths(cls, words: Ints, characters: Ints) -> Slices:
        """Return terciles from the numbers of words and of characters of each segment.

        Lengths are words, or characters if the texts have no spaces between words or if words do
        not tell segments apart. Segments of the same length are in the same band.
        """
        has_words = characters.sum() <= _MAX_WORD * words.sum() and len(np.unique(words)) > 1
        lengths, noun = (words, "word") if has_words else (characters, "character")
        ends = _tercile_ends(lengths)
        if not ends:
            size = int(lengths[0])
            count = f"{size:,} {noun}{'s' * (size != 1)}"
            raise InputError(
                f"slices by {LENGTH}: every first reference has {count}, so there are no bands"
            )
        codes = np.searchsorted(np.array(ends), lengths, side="left").astype(np.int32)
        labels = BANDS if len(ends) == 2 else (BANDS[0], BANDS[-1])
        bounds = []
        for code in range(len(labels)):
            band = lengths[codes == code]
            low, high = int(band.min()), int(band.max())
            limits = f"{low:,}" if low == high else f"{low:,} to {high:,}"
            bounds.append(f"{limits} {noun}{'s' * (high != 1)}")
        return cls(LENGTH, labels, codes, bounds)

    def __len__(self) -> int:
        return len(self.labels)

    def rows(self, code: int) -> Ints:
        """Return the indices of the rows of a slice."""
        return np.flatnonzero(self.codes == code)

    def n_segments(self, code: int) -> int:
        """Return the number of segments in a slice."""
        rows = self.rows(code)
        return len(rows) if self.counts is None else int(self.counts[rows].sum())

    def bound(self, code: int) -> str | None:
        """Return the bounds of a band of length; None for other slices."""
        return self.bounds[code] if self.bounds else None


def _is_missing(label: Any) -> bool:
    is_nan = isinstance(label, float) and isnan(label)
    return label is None or is_nan or (isinstance(label, str) and not label.strip())


def first_reference_lengths(references: References) -> tuple[Ints, Ints]:
    """Return the numbers of words and of characters of the first reference of each segment."""
    if isinstance(references, NoReferences):
        raise InputError(f"slices by {LENGTH}: the segments have no references to measure")
    words, characters = [], []
    for start in range(0, len(references), _BATCH):
        views, starts = references.views(start, min(start + _BATCH, len(references)))
        texts = views.strings()
        for first in starts[:-1].tolist():
            words.append(len(texts[first].split()))
            characters.append(len(texts[first].strip()))
    return np.array(words, np.int64), np.array(characters, np.int64)


def _tercile_ends(lengths: Ints) -> list[int]:
    """Return the largest length of every band but the last.

    The shares of segments up to the ends are as close to 1/3 and 2/3 as equal lengths allow; of two
    ends that are as close, the shorter is used. One end, or none, remains if few lengths differ.
    """
    values, counts = np.unique(lengths, return_counts=True)
    thirds = 3 * np.cumsum(counts)[:-1]  # whole numbers, compared without rounding
    if not len(thirds):
        return []
    nearest = [int(np.argmin(np.abs(thirds - share * len(lengths)))) for share in (1, 2)]
    return [int(values[at]) for at in dict.fromkeys(nearest)]


def check_single_rows(buckets: int | None) -> None:
    """Reject buckets: their segments are in several slices."""
    if buckets:
        raise InputError(
            f"slices need single segments, and intervals use {buckets:,} buckets: keep all rows "
            "with --buckets 0 (in Python buckets=0), or leave the slices out"
        )


def plan_slices(inputs: TextInputs, slices: SliceLabels) -> Slices | None:
    """Return the slices of texts or of a set; None without slices."""
    if slices is None:
        return None
    grouping, n_segments = inputs.segments.grouping, inputs.segments.count
    if not isinstance(slices, str):
        labels = list(slices)
        if len(labels) != n_segments:
            counts = f"{len(labels):,} labels of slices, and {n_segments:,} segments"
            raise InputError(f"found {counts}: expected one label per segment")
        return Slices.from_labels(SLICE_NAME, labels)
    if slices == LENGTH:
        return Slices.by_length(inputs.references)
    documents = next(iter(inputs.systems.values())).documents
    if documents is None or slices != grouping:
        names = LENGTH if documents is None else f"{LENGTH} and {grouping}"
        raise InputError(
            f"slices by {quoted(slices)}: the inputs know {names}; give labels (--slices FILE with "
            "a line per segment, in Python slices=[...]), or a table with such a column"
        )
    return Slices.from_labels(slices, documents)


# ------------------------------------------------------------------------ comparison of slices


class SliceRow(NamedTuple):
    """One system by one metric within one slice, against the baseline."""

    slice: str
    bounds: str | None  # of bands of length
    segments: int
    units: int  # with a score by this metric
    system: str
    metric: Metric
    baseline_score: float
    score: float
    delta: float
    delta_low: float | None  # None with too few units
    delta_high: float | None
    p: float | None
    verdict: str | None  # better, worse or undecided; None with too few units
    min_units: int  # the fewest units for a verdict


SLICE = Column("slice", "Slice", help="The part of the segments.", readers="programs")
SLICE_COLUMNS = (
    SLICE,
    *program_columns("bounds", "segments", "units"),
    METRIC,
    SYSTEM,
    number("baseline_score", "Baseline", row_digits, "The baseline's score in the slice."),
    number("score", "Score", row_digits, "The system's score in the slice."),
    number("delta", "Delta", row_digits, "Score minus the baseline's.", signed=True),
    *program_columns("delta_low", "delta_high"),
    number("p", "p", 4, "p of the difference, corrected with all slices.", positive=True),
    *program_columns("verdict", "min_units"),
)


def slice_note(rows: Sequence[SliceRow], name: str, correction: str) -> str:
    """Return a note on the slices, their bounds and the tests within them."""
    bounds = {row.slice: row.bounds for row in rows if row.bounds}
    listed = ", ".join(f"{band} {bounds[band]}" for band in BANDS if band in bounds)
    n_tests = sum(row.verdict is not None for row in rows)
    tests = f"{n_tests} test{'s' * (n_tests != 1)} within slices"
    if n_tests > 1:
        tests += f", {CORRECTIONS[correction]}"
    note = f"Slices by {name}{f' of the first reference ({listed})' if listed else ''}: {tests}"
    n_small = len({row.slice for row in rows if row.verdict is None})
    if n_small:
        note += f"; {n_small} slice{'s' * (n_small != 1)} with too few units for a verdict"
    return f"{note}."


class SliceTest(NamedTuple):
    """A system and the baseline within a slice."""

    code: int
    key: StatsKey
    system: UnitEstimate
    baseline: UnitEstimate
    members: Ints
    """The units of the slice."""
    score: float
    baseline_score: float

    @property
    def units(self) -> int:
        """Number of units with a score."""
        return min(self.system.units, self.baseline.units)


def compare_slices(
    stats: Mapping[StatsKey, SystemStats],
    slices: Slices,
    baseline: str,
    units: Units | None,
    correction: str,
) -> tuple[SliceRow, ...]:
    """Return the comparison of every system with the baseline in every slice.

    Slices where a system is worse come first. Tests with too few units for a verdict have no p and
    no interval, and other tests are not corrected for them.
    """
    tests = _slice_tests(stats, slices, baseline, units)
    min_units = min_deciding_units(1 if correction == NONE else len(tests))
    decidable = [at for at, test in enumerate(tests) if test.units >= min_units]
    n_units = len(slices.codes) if units is None else len(units)
    family = _test_family([tests[at] for at in decidable], n_units, correction)
    place = {at: number for number, at in enumerate(decidable)}
    rows = []
    for at, test in enumerate(tests):
        low = high = p = conclusion = None
        if at in place:
            low, high = difference_interval(test.key[1], family.interval(place[at]))
            p = family.p(place[at])
            conclusion = verdict(p, (low, high), test.units, test.key[1].sign, min_units)
        row = SliceRow(
            slices.labels[test.code],
            slices.bound(test.code),
            slices.n_segments(test.code),
            test.units,
            *test.key,
            test.baseline_score,
            test.score,
            (test.system - test.baseline).value,
            low,
            high,
            p,
            conclusion,
            min_units,
        )
        rows.append(row)
    losing = {row.slice for row in rows if row.verdict == WORSE}
    return tuple(sorted(rows, key=lambda row: row.slice not in losing))


def _slice_tests(
    stats: Mapping[StatsKey, SystemStats], slices: Slices, baseline: str, units: Units | None
) -> list[SliceTest]:
    """Return all tests, slice by slice, with the influences of the units of their slice."""
    tables = {key: np.concatenate(part.row_blocks) for key, part in stats.items()}
    metrics = list(dict.fromkeys(m for _, m in stats))
    tests = []
    for code in range(len(slices)):
        segments = members = slices.rows(code)
        slice_units = None
        if units is not None:
            members, codes = np.unique(units.codes[segments], return_inverse=True)
            labels = [units.labels[member] for member in members.tolist()]
            slice_units = Units(units.name, labels, codes.astype(np.int32))
        estimates, scores = {}, {}
        for key, table in tables.items():
            rows = table[segments]
            part = SystemStats(exact_sums(rows), (rows,), None)
            try:
                estimates[key] = part.estimate(key[1], slice_units)
            except InputError as error:
                raise InputError(f"slice {quoted(slices.labels[code])}: {error}") from None
            total = part.total
            if key[1].by_unit:
                total = exact_sums(part.unit_rows(key[1], slice_units))
            scores[key] = float(key[1].measure(total[None])["value"][0])
        for key in sorted(stats, key=lambda key: metrics.index(key[1])):
            if key[0] != baseline:
                base = baseline, key[1]
                pair = estimates[key], estimates[base]
                tests.append(SliceTest(code, key, *pair, members, scores[key], scores[base]))
    return tests


def _test_family(tests: Sequence[SliceTest], n_units: int, correction: str) -> TestFamily:
    """Return the family of all tests, with the correlations of slices that share units."""
    estimates: dict[tuple[int, StatsKey], UnitEstimate] = {}
    members: dict[int, Ints] = {}
    pairs = []
    for test in tests:
        system, base = (test.code, test.key), (test.code, ("", test.key[1]))
        estimates |= {system: test.system, base: test.baseline}
        members[test.code] = test.members
        pairs.append((system, base))
    if correction == NONE or len(estimates) * n_units > _MAX_INFLUENCES:
        differences = [test.system - test.baseline for test in tests]
        return TestFamily(differences, 1 if correction == NONE else len(tests), None)
    aligned = []
    for (code, _), estimate in estimates.items():
        influence = np.zeros(n_units)
        influence[members[code]] = estimate.influence
        aligned.append(replace(estimate, influence=influence))
    index = {key: at for at, key in enumerate(estimates)}
    joint = JointEstimates(aligned)
    return joint.family([(index[system], index[base]) for system, base in pairs], correction)
