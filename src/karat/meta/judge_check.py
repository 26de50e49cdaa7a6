"""`check_judge`: may a judge, such as a language model, replace people, and how does it err?

The alternative annotator test (`stats/alternative_annotator.py`) with its control judges, and the
judge's errors against people: by system, by length, by position, for systems of its own family, and
against its own earlier judgements (`stats/judge_errors.py`). An item is an output or, in dimensions
of comparisons, a pair of outputs of a segment.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import nan
from typing import TypeAlias

from karat.arithmetic import log
from karat.arrays import Flags, Floats, Ints, np
from karat.errors import InputError, quoted, short
from karat.evalset.catalogue import SET_KINDS
from karat.evalset.judgements import (
    PERSON,
    JudgedPair,
    Judgement,
    count_once,
    raters_unnamed,
)
from karat.evalset.loading import SetSource, as_evalset
from karat.evalset.sets import EvalSet, check_known
from karat.meta.judge_check_results import (
    DISADVANTAGED,
    FAVOURED,
    AnnotatorRow,
    JudgeBiasRow,
    JudgeCheck,
    JudgeCheckRow,
    JudgeMeasureRow,
    SystemErrorRow,
    calibration_warnings,
    unit_interval,
)
from karat.meta.settings import JudgeCheckSettings
from karat.score_settings import SEGMENT
from karat.stats.alternative_annotator import (
    MIN_ANNOTATORS,
    AnnotatorPanel,
    judge_verdict,
)
from karat.stats.correlation import quotient
from karat.stats.jackknife import UnitEstimate
from karat.stats.judge_errors import (
    MEASURE_LIMITS,
    difference_of_units,
    errors_by_group,
    mean_of_units,
    panel_agreement,
    slope_of_units,
)
from karat.stats.significance import MIN_DECIDING_UNITS, holm, is_significant
from karat.stats.units import Units

AnchorSource: TypeAlias = (
    "str | os.PathLike[str] | Iterable[Judgement | tuple[str, str, str, str, float]]"
)

MAX_RATING = 1e100
"""Ratings are squared, and squares must be finite."""

# --------------------------------------------------------------------------- ratings of items


@dataclass(frozen=True, eq=False)
class ItemRatings:
    """Ratings of the items that a judge rated, by people (a row each) and by the judge."""

    people: tuple[str, ...]
    annotator: Ints
    item: Ints
    value: Floats
    judge: Floats
    """The judge's value of each item."""
    segment: Ints
    """The segment of each item."""
    system: Ints | None
    """The system of each item; None if items are comparisons of two systems."""

    @cached_property
    def people_mean(self) -> Floats:
        """The mean of people for each item; NaN for items that no person rated."""
        counts = np.bincount(self.item, minlength=len(self.judge))
        return quotient(np.bincount(self.item, self.value, len(self.judge)), counts)

    def outputs(self) -> list[tuple[int, int]]:
        """Return the system and segment of each item, unless items are comparisons."""
        systems = [] if self.system is None else self.system.tolist()
        return list(zip(systems, self.segment.tolist(), strict=True))


def collect_ratings(evalset: EvalSet, dimension: str, judge: str) -> ItemRatings:
    """Return the ratings of outputs or, in dimensions of comparisons, of pairs of outputs."""
    pairs = [pair for pair in evalset.pairs if pair.dimension == dimension]
    if pairs:
        return _compared_items(evalset, pairs, judge)
    rows = evalset.judgements.select_dimension(dimension)
    by_judge = rows.select_judges([judge])
    kinds = rows.judge_kinds
    names = [name for name in rows.judges if kinds.get(name, PERSON) == PERSON and name != judge]
    people = count_once(rows.select_judges(names), evalset.representatives(dimension))
    n = len(evalset)
    codes, judge_item = np.unique(
        by_judge.system.astype(np.int64) * n + by_judge.segment, return_inverse=True
    )
    judge_values = np.full(len(codes), np.nan)
    judge_values[judge_item.reshape(-1)] = by_judge.value
    people_codes = people.system.astype(np.int64) * n + people.segment
    is_shared = np.isin(people_codes, codes)
    return ItemRatings(
        people.judges,
        people.judge[is_shared].astype(np.int64),
        np.searchsorted(codes, people_codes[is_shared]),
        people.value[is_shared],
        judge_values,
        codes % n,
        codes // n,
    )


def _compared_items(evalset: EvalSet, pairs: Sequence[JudgedPair], judge: str) -> ItemRatings:
    """Return comparisons as items; of comparisons in both orders, the mean counts."""
    systems = {name: k for k, name in enumerate(evalset.systems)}
    segments = {name: k for k, name in enumerate(evalset.segments)}
    values: dict[tuple[int, int, int], dict[str, list[float]]] = {}
    for pair in pairs:
        first, second = systems[pair.system], systems[pair.other]
        share = pair.value if first < second else 1 - pair.value
        item = (segments[pair.segment], min(first, second), max(first, second))
        values.setdefault(item, {}).setdefault(pair.judge, []).append(share)
    items = [item for item, shares in values.items() if judge in shares]
    kinds = evalset.judgements.judge_kinds
    names = dict.fromkeys(name for item in items for name in values[item])
    people = tuple(name for name in names if kinds.get(name, PERSON) == PERSON and name != judge)
    rows = [
        (people.index(name), k, sum(shares) / len(shares))
        for k, item in enumerate(items)
        for name, shares in values[item].items()
        if name in people
    ]
    annotator, numbers, shares = zip(*rows, strict=True) if rows else ((), (), ())
    return ItemRatings(
        people,
        np.array(annotator, np.int64),
        np.array(numbers, np.int64),
        np.array(shares, np.float64),
        np.array([sum(values[item][judge]) / len(values[item][judge]) for item in items]),
        np.array([segment for segment, _, _ in items], np.int64),
        None,
    )


# --------------------------------------------------------------------------------- one judge


@dataclass(frozen=True, eq=False)
class _DimensionCheck:
    """The check of one judge in one dimension."""

    evalset: EvalSet
    judge: str
    dimension: str
    units: Units
    options: JudgeCheckSettings
    ratings: ItemRatings

    @property
    def names(self) -> tuple[str, str]:
        return self.judge, self.dimension

    @cached_property
    def panel(self) -> AnnotatorPanel:
        """The ratings of items that the judge and at least two people rated."""
        ratings, unit_of_item = self.ratings, self.units.codes[self.ratings.segment]
        columns = ratings.annotator, ratings.item, ratings.value, ratings.judge
        return AnnotatorPanel.from_ratings(*columns, unit_of_item.astype(np.int64))

    def problem(self) -> str:
        """Describe why the judge cannot be checked in this dimension; "" if it can."""
        subject, ratings = f"{self.evalset.name}: {short(self.judge)}", self.ratings
        if not len(ratings.judge):
            return f"{subject} rated nothing in {short(self.dimension)}: name another dimension"
        if not len(ratings.item):
            return (
                f"{subject} and people rated no common item in {short(self.dimension)}: have the "
                "judge rate outputs that people rated"
            )
        if raters_unnamed(ratings.people):
            return (
                f"{self.evalset.name}: the raters of {short(self.dimension)} are not named: the "
                "test needs the ratings of each person, not their means"
            )
        largest = max(np.abs(ratings.value).max(), np.abs(ratings.judge).max())
        if largest > MAX_RATING:
            return (
                f"{self.evalset.name}: found a rating of {largest:g} in {short(self.dimension)}, "
                f"expected at most {MAX_RATING:g}"
            )
        n_tested = len(self.panel.tested)
        if n_tested < MIN_ANNOTATORS:
            people = f"{n_tested} {'person' if n_tested == 1 else 'people'}"
            return (
                f"{self.evalset.name}: found {people} who rated {short(self.dimension)} in at "
                f"least {MIN_DECIDING_UNITS} {self.units.name}s together with another person and "
                f"{short(self.judge)}, expected at least {MIN_ANNOTATORS} annotators"
            )
        return ""

    def tests(self) -> tuple[JudgeCheckRow, list[AnnotatorRow]]:
        """Return the test of the judge and its controls, and the test against each annotator."""
        panel, options = self.panel, self.options
        epsilon = options.allowance
        tests = panel.test(panel.judge[None], epsilon, options.similarity)
        controls = panel.controls(epsilon, options.similarity, options.shuffles, options.seed)
        row = JudgeCheckRow(
            *self.names,
            annotators=len(tests.annotators),
            items=len(panel.judge),
            units=len(np.unique(panel.unit)),
            epsilon=epsilon,
            winning_rate=float(tests.winning_rate[0]),
            advantage=float(tests.advantage[0]),
            constant=controls.constant,
            constant_rate=controls.constant_rate,
            shuffled_rate=controls.shuffled_rate,
            shuffled_passes=controls.shuffled_passes,
            verdict=judge_verdict(bool(tests.passed[0]), controls),
        )
        names = [self.ratings.people[annotator] for annotator in tests.annotators]
        matrices = tests.judge_share, tests.annotator_share, tests.p, tests.p_corrected, tests.won
        columns = (matrix[0].tolist() for matrix in matrices)
        annotators = [
            AnnotatorRow(*self.names, *values)
            for values in zip(names, tests.items, tests.units, *columns, strict=True)
        ]
        return row, annotators

    def agreement(self) -> Iterator[JudgeMeasureRow]:
        """Yield the agreement of the judge with people, beside that of people."""
        for measure, judge, people in panel_agreement(self.panel):
            low, high = MEASURE_LIMITS[measure]
            estimates = (
                (judge, (low, high)),
                (people, (low, high)),
                (judge - people, (low - high, high - low)),
            )
            numbers = (
                number
                for estimate, limits in estimates
                for number in (estimate.value, *unit_interval(estimate, limits))
            )
            yield JudgeMeasureRow(*self.names, measure, *numbers)

    @property
    def has_people(self) -> Flags:
        """Whether a person rated each item."""
        return ~np.isnan(self.ratings.people_mean)

    @property
    def errors(self) -> Floats:
        """The judge's value minus the mean of people, for items that people rated."""
        return (self.ratings.judge - self.ratings.people_mean)[self.has_people]

    @property
    def error_units(self) -> Ints:
        """The unit of each item that people rated."""
        return self.units.codes[self.ratings.segment[self.has_people]].astype(np.int64)

    def systems(self) -> list[SystemErrorRow]:
        """Return the mean error of each system, and how it differs from the others'."""
        if self.ratings.system is None:
            return []
        names, system = list(self.evalset.systems), self.ratings.system[self.has_people]
        judged, rated = self.ratings.judge, self.ratings.people_mean
        groups = errors_by_group(self.errors, system, self.error_units)
        p_values = holm([nan if g.relative is None else g.relative.p() for g in groups]).tolist()
        sign = self.evalset.dimensions[self.dimension].sign
        rows = []
        for group, p in zip(groups, p_values, strict=True):
            relative = nan if group.relative is None else group.relative.value
            finding = FAVOURED if sign * relative > 0 else DISADVANTAGED
            items = np.flatnonzero(self.has_people)[system == group.group]
            rows.append(
                SystemErrorRow(
                    *self.names,
                    names[group.group],
                    group.items,
                    float(judged[items].mean()),
                    float(rated[items].mean()),
                    group.mean.value,
                    *unit_interval(group.mean),
                    relative,
                    p,
                    finding if is_significant(p) else "",
                )
            )
        return rows

    def biases(self, anchor: EvalSet | None) -> Iterator[JudgeBiasRow]:
        """Yield the biases that the data can show."""
        units = self.error_units
        if self.ratings.system is None:
            yield from self._position()
            return
        system = self.ratings.system[self.has_people]
        if self.evalset.has_texts:
            outputs = list(self.evalset.systems.values())
            places = zip(
                system.tolist(), self.ratings.segment[self.has_people].tolist(), strict=True
            )
            lengths = np.array([len(outputs[k][i] or "") for k, i in places])
            doublings = log(np.maximum(lengths, 1)) / log(2.0)
            if len(np.unique(lengths)) > 1:
                slope = slope_of_units(doublings, self.errors, units)
                meaning = "change of the error when an output is twice as long"
                yield self._bias("length", meaning, slope, len(lengths))
        if self.options.family:
            names = list(self.evalset.systems)
            is_family = np.isin(system, [names.index(name) for name in self.options.family])
            if is_family.any() and not is_family.all():
                gap = difference_of_units(self.errors, is_family, units)
                meaning = "error for systems of the judge's family minus error for other systems"
                yield self._bias("family", meaning, gap, len(is_family))
        if anchor is not None:
            yield from self._drift(anchor)

    def _position(self) -> Iterator[JudgeBiasRow]:
        """Yield by how much the output shown first wins more often, from pairs in both orders."""
        shares: dict[tuple[str, str, str], float] = {}
        for pair in self.evalset.pairs:
            if pair.judge == self.judge and pair.dimension == self.dimension:
                shares[pair.segment, pair.system, pair.other] = pair.value
        both = [
            (segment, share + shares[segment, other, system] - 1)
            for (segment, system, other), share in shares.items()
            if system < other and (segment, other, system) in shares
        ]
        if both:
            places = {segment: k for k, segment in enumerate(self.evalset.segments)}
            segments = [places[segment] for segment, _ in both]
            values = np.array([value for _, value in both])
            estimate = mean_of_units(values, self.units.codes[segments].astype(np.int64))
            meaning = "wins of an output when it comes first minus its wins when it comes second"
            yield self._bias("position", meaning, estimate, len(both))

    def _drift(self, anchor: EvalSet) -> Iterator[JudgeBiasRow]:
        earlier = collect_ratings(anchor, self.dimension, self.judge)
        places = {output: k for k, output in enumerate(earlier.outputs())}
        shared = [
            (k, places[output])
            for k, output in enumerate(self.ratings.outputs())
            if output in places
        ]
        if shared:
            now, before = np.array(shared).T
            changes = self.ratings.judge[now] - earlier.judge[before]
            units = self.units.codes[self.ratings.segment[now]].astype(np.int64)
            share = float((changes != 0).mean())
            meaning = f"change since the anchor judgements; {share:.0%} of the values changed"
            yield self._bias("drift", meaning, mean_of_units(changes, units), len(now))

    def _bias(self, bias: str, meaning: str, estimate: UnitEstimate, items: int) -> JudgeBiasRow:
        flagged = is_significant(estimate.p()) and estimate.units >= MIN_DECIDING_UNITS
        numbers = estimate.value, *unit_interval(estimate), estimate.p()
        return JudgeBiasRow(*self.names, bias, meaning, items, estimate.units, *numbers, flagged)


# ------------------------------------------------------------------------------ all judges


def check_judge(
    evalset: SetSource,
    dimensions: Sequence[str] = JudgeCheckSettings.dimensions,
    judges: Sequence[str] = JudgeCheckSettings.judges,
    *,
    annotators: str = JudgeCheckSettings.annotators,
    epsilon: float | None = JudgeCheckSettings.epsilon,
    similarity: str = JudgeCheckSettings.similarity,
    units: str | None = JudgeCheckSettings.units,
    family: Sequence[str] = JudgeCheckSettings.family,
    anchor: AnchorSource | None = None,
    shuffles: int = JudgeCheckSettings.shuffles,
    seed: int = JudgeCheckSettings.seed,
) -> JudgeCheck:
    """Return whether judges can replace people, and how their values differ from those of people.

    The alternative annotator test (Calderon, Reichart and Dror 2025) asks for each annotator: is
    the judge at least as close to the other annotators? Where a constant or a shuffled judge passes
    it as well, the verdict is that the test cannot tell.

    Args:
        evalset: an evaluation set with the ratings of at least three people and of the judge: its
            name or path, the path of a table, or a frame.
        dimensions: by default all that both rated.
        judges: by default the models.
        annotators: the people: `expert`, `trained` or `crowd`, with epsilon .2, .15 and .1.
        epsilon: how much worse than a person a judge may be; replaces `annotators`.
        similarity: `numbers` or `labels`.
        units: `segment`, `document` or `question`; by default the documents or questions that are
            known, if there are at least six, else segments.
        family: systems of the judge's own family.
        anchor: earlier judgements of the judge, a file or rows, to measure its drift.
        shuffles: number of shuffled judges.
        seed: seed of the shuffled judges.
    """
    options = JudgeCheckSettings(
        *(tuple(dimensions), tuple(judges), annotators, epsilon, similarity, units),
        *(tuple(family), shuffles, seed),
    )
    if type(evalset).__name__ in SET_KINDS:
        raise InputError(
            f"this is a {type(evalset).__name__}: expected ratings of the outputs of systems; "
            "karat data judges compares the judges of nuggets"
        )
    loaded = as_evalset(evalset)
    chosen_judges = _choose_judges(loaded, options.judges)
    names = loaded.known_dimensions(options.dimensions)
    check_known("system", options.family, loaded.systems, loaded.name)
    if len(options.family) == len(loaded.systems):
        raise InputError(
            f"family has every system of {loaded.name}: expected at least one system of another "
            "family to compare with"
        )
    chosen_units, notes = _choose_units(loaded, options.units)
    checks: list[_DimensionCheck] = []
    problems: list[tuple[int, str]] = []
    for judge in chosen_judges:
        for dimension in names:
            ratings = collect_ratings(loaded, dimension, judge)
            check = _DimensionCheck(loaded, judge, dimension, chosen_units, options, ratings)
            problem = check.problem()
            if not problem:
                checks.append(check)
            elif options.dimensions or len(names) == 1:
                raise InputError(problem)
            else:
                problems.append((len(ratings.judge), problem))
    if not checks:
        raise InputError(max(problems, key=lambda entry: entry[0])[1])
    notes = (*notes, *(problem for rated, problem in problems if rated))
    anchors = {judge: _anchor_set(loaded, judge, anchor) for judge in chosen_judges}
    return _check_result(loaded, checks, anchors, options, notes)


def _check_result(
    evalset: EvalSet,
    checks: Sequence[_DimensionCheck],
    anchors: Mapping[str, EvalSet | None],
    options: JudgeCheckSettings,
    notes: Sequence[str],
) -> JudgeCheck:
    tests = [check.tests() for check in checks]
    systems = [check.systems() for check in checks]
    biases = [row for check in checks for row in check.biases(anchors[check.judge])]
    warnings = [
        warning
        for check, rows in zip(checks, systems, strict=True)
        for warning in calibration_warnings(rows, evalset.dimensions[check.dimension].sign)
    ]
    if len(evalset.systems) == 1:
        notes = (*notes, "One system: errors by system need the ratings of several systems.")
    unit = checks[0].units.name
    test = f"alternative annotator test, Benjamini-Yekutieli, by {unit}"
    controls = f"constant judges, {options.shuffles} shuffled judges, seed {options.seed}"
    return JudgeCheck(
        evalset.name,
        tuple(row for row, _ in tests),
        tuple(row for _, rows in tests for row in rows),
        tuple(row for check in checks for row in check.agreement()),
        tuple(row for rows in systems for row in rows),
        tuple(biases),
        tuple(warnings),
        {
            "dimensions": tuple(dict.fromkeys(check.dimension for check in checks)),
            "judges": tuple(dict.fromkeys(check.judge for check in checks)),
            "epsilon": options.allowance,
            "similarity": options.similarity,
            "unit": unit,
            "family": options.family,
            "shuffles": options.shuffles,
            "seed": options.seed,
        },
        (*notes, *evalset.remarks, *evalset.identical_notes(check.dimension for check in checks)),
        {"test": f"{test}; {controls}", "set": evalset.signature},
    )


def _choose_judges(evalset: EvalSet, judges: Sequence[str]) -> tuple[str, ...]:
    """Return the judges to check: those that are named, or the models."""
    check_known("judge", judges, evalset.judgements.judges, evalset.name)
    chosen = tuple(judges) or evalset.model_judges
    if not chosen:
        raise InputError(
            f"{evalset.name}: no judge is known to be a model: add its ratings (-j LOG, in Python "
            "with_judgements), or name the judge (--judge NAME, in Python judges=[...])"
        )
    return chosen


def _choose_units(evalset: EvalSet, unit: str | None) -> tuple[Units, tuple[str, ...]]:
    """Return the units, and notes on them."""
    segments = Units.from_labels(SEGMENT, evalset.segments)
    if unit == SEGMENT or (unit is None and evalset.groups is None):
        return segments, ()
    if evalset.groups is None:
        raise InputError(
            f"unit {quoted(unit)}: {evalset.name} does not have the {unit} of each segment"
        )
    groups = Units.from_labels(unit or evalset.grouping, evalset.groups)
    if unit is None and groups.too_few:
        count = f"{len(groups)} {groups.name}{'s' * (len(groups) != 1)}"
        return segments, (f"Tests are by segment: {count} are too few to be units.",)
    return groups, ()


def _anchor_set(evalset: EvalSet, judge: str, anchor: AnchorSource | None) -> EvalSet | None:
    """Return the set with the judge's earlier judgements in place of its own."""
    if anchor is None:
        return None
    rows = evalset.judgements
    remaining = rows.select_judges([name for name in rows.judges if name != judge])
    pairs = tuple(pair for pair in evalset.pairs if pair.judge != judge)
    earlier = replace(evalset, judgements=remaining, pairs=pairs).with_judgements(anchor)
    if judge not in earlier.judgements.judges:
        raise InputError(
            f"the anchor has no judgement by {quoted(judge)}: expected its earlier ones"
        )
    return earlier
