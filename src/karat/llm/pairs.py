"""Pairs: a model says which of two outputs is better, asked in both orders.

A preference that changes with the order is a tie. Equal outputs are a tie without a request.
Outputs are judged blind, under the numbers 1 and 2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain, combinations
from os import PathLike
from typing import Any, ClassVar, NamedTuple

from karat.errors import InputError
from karat.evalset.judgements import Dimension
from karat.evalset.sets import EvalSet, check_known
from karat.llm.interview import (
    Interview,
    JudgedValue,
    PromptCase,
    Slots,
    json_object,
    one_of,
    quote_from,
)
from karat.llm.material import Material
from karat.llm.results import (
    TOO_LONG,
    JudgedPairRow,
    JudgedRows,
    JudgingTask,
    ModelPairs,
    PositionBias,
)
from karat.llm.task_prompts import PAIRS

FORM = "better: 1, 2 or tie; evidence (a quote from the better output; empty for a tie)"
PREFERENCE = "preference"
"""The dimension that preferences are stored under."""
OVERALL = "overall quality"
WIN, TIE, LOSS = 1.0, 0.5, 0.0
_VALUES = {"1": WIN, "2": LOSS, "tie": TIE}


class ShownPair(NamedTuple):
    """Two outputs of a segment in the order shown."""

    segment: str
    first: str
    second: str

    @property
    def swapped(self) -> ShownPair:
        """The pair in the other order."""
        return ShownPair(self.segment, self.second, self.first)


@dataclass(frozen=True)
class ModelPairTask(JudgingTask[ModelPairs]):
    """Pairs of systems to compare on every segment: all, or each with a baseline."""

    name: ClassVar[str] = "judge-pairs"
    slots: ClassVar[Slots] = PAIRS
    form: ClassVar[str] = FORM
    material: Material
    prompt: str | PathLike[str] | None = None
    baseline: str | None = None

    def __post_init__(self) -> None:
        evalset = self.material.evalset
        if self.baseline is not None:
            check_known("system", [self.baseline], evalset.systems, evalset.name)
        if len(evalset.systems) < 2:
            raise InputError(f"{evalset.name} has one system: expected at least two to compare")

    @property
    def systems(self) -> list[tuple[str, str]]:
        """The pairs of systems; a baseline comes second."""
        names = list(self.material.evalset.systems)
        if self.baseline is None:
            return list(combinations(names, 2))
        return [(name, self.baseline) for name in names if name != self.baseline]

    @cached_property
    def compared(self) -> list[tuple[tuple[str, str], ShownPair]]:
        """Two systems and their outputs, for each segment where both have one."""
        pairs = []
        for pair in self.systems:
            for segment in self.material.segments:
                first, second = (self.material.output(system, segment) for system in pair)
                if first is not None and second is not None:
                    pairs.append((pair, ShownPair(segment, first, second)))
        return pairs

    @cached_property
    def case_ids(self) -> dict[ShownPair, str]:
        """Outputs as shown -> id of their case."""
        ids: dict[ShownPair, str] = {}
        for _, pair in self.compared:
            if pair.first == pair.second or not self.material.fits(*pair):
                continue
            for order in (pair, pair.swapped):
                ids.setdefault(order, f"{order.segment}\t{len(ids)}")
        return ids

    def make_cases(self) -> Iterator[PromptCase]:
        """Yield every pair of outputs in both orders."""
        for pair, id in self.case_ids.items():
            texts = {"1": pair.first, "2": pair.second}
            listed = [{"id": id, "text": text} for id, text in texts.items()]
            values = {**self.material.values(pair.segment), "outputs": listed}
            yield PromptCase(id, values, partial(parse_preference, texts))

    @property
    def settings(self) -> dict[str, object]:
        """Settings for signatures."""
        settings = {"quality": self.material.dimension.name, "baseline": self.baseline or "none"}
        return {**settings, **self.material.settings()}

    def result(self, interview: Interview, **fields: Any) -> ModelPairs:
        """Return the preferences, as a dimension on a scale from 0 to 1."""
        quality, guideline = self.material.dimension.name, self.material.dimension.guideline
        name = PREFERENCE if quality == OVERALL else f"{quality} {PREFERENCE}"
        dimension = Dimension(name, low=0, high=1, guideline=guideline)
        replies = chain.from_iterable(interview.answers.values())
        bias = position_bias(fields["rows"], [reply.value for reply in replies])
        return ModelPairs(**fields, dimension=dimension, bias=bias)

    def judged_rows(self, interview: Interview) -> JudgedRows:
        """Return the preferences, and the pair and reason of each missing one."""
        rows: list[JudgedPairRow] = []
        missing = []
        for (system, other), pair in self.compared:
            if pair.first == pair.second:
                rows.append(JudgedPairRow(pair.segment, system, other, TIE, "", None, 0))
                continue
            ids = [self.case_ids.get(order, "") for order in (pair, pair.swapped)]
            first, second = (interview.answers.get(id, ()) for id in ids)
            if both := list(zip(first, second, strict=False)):
                rows.append(_row(pair.segment, system, other, both))
            else:
                reasons = [interview.reasons[id] for id in ids if id in interview.reasons]
                name = f"{system} and {other}, segment {pair.segment}"
                missing.append((name, reasons[0] if reasons else TOO_LONG))
        notes = list(self.material.notes())
        n_equal = sum(row.flipped is None for row in rows)
        if n_equal == 1:
            notes.append("1 pair of equal outputs counts as a tie; nobody was asked about it.")
        elif n_equal:
            count = f"{n_equal:,} pairs of equal outputs count as ties"
            notes.append(f"{count}; nobody was asked about them.")
        return JudgedRows(rows, missing, notes)


def pair_task(
    evalset: EvalSet,
    baseline: str | None = None,
    dimension: str | None = None,
    guideline: str = "",
    prompt: str | PathLike[str] | None = None,
    sample: int | None = None,
    seed: int = 12345,
) -> ModelPairTask:
    """Return the task of comparing the systems of a set; the quality needs no scale."""
    name = dimension or OVERALL
    compared = evalset.dimensions.get(name, Dimension(name))
    compared = replace(compared, guideline=guideline) if guideline else compared
    return ModelPairTask(Material(evalset, compared, sample, seed), prompt, baseline)


def _row(
    segment: str, system: str, other: str, orders: Sequence[tuple[JudgedValue, JudgedValue]]
) -> JudgedPairRow:
    values = [settle_orders(first, second) for first, second in orders]
    flips = any(first.value == second.value != TIE for first, second in orders)
    mean = sum(values) / len(values)
    evidence = next((first.evidence for first, _ in orders if first.evidence and not flips), "")
    return JudgedPairRow(segment, system, other, mean, evidence, flips, 2 * len(orders))


def settle_orders(first: JudgedValue, second: JudgedValue) -> float:
    """Return the value for the output that is shown first in `first` and second in `second`.

    The value is 1 for a win, 0 for a loss and 0.5 for a tie. If the orders disagree, it is a tie.
    """
    return first.value if first.value == WIN - second.value else TIE


def position_bias(rows: Sequence[JudgedPairRow], values: Sequence[float]) -> PositionBias:
    """Return how often the order decided, and how often the output shown first won.

    `values` are those of all answers, for the output shown first.
    """
    compared = [row for row in rows if row.flipped is not None]
    flipped = sum(bool(row.flipped) for row in compared)
    decisive = [value for value in values if value != TIE]
    return PositionBias(
        *(len(compared), flipped, flipped / len(compared) if compared else None),
        *(len(decisive), sum(decisive) / len(decisive) if decisive else None),
    )


def parse_preference(texts: Mapping[str, str], answer: str) -> JudgedValue:
    """Return the preference in an answer."""
    parsed = json_object(answer)
    entry = {**parsed, "better": str(parsed.get("better"))}
    better = one_of(entry, "better", _VALUES)
    if better == "tie":
        return JudgedValue(TIE, "")
    text = texts[better]
    return JudgedValue(_VALUES[better], quote_from(parsed, text, needed=bool(text.strip())))
