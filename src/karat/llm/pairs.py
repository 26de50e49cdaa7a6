"""Pairs: a model says which of two outputs is better, asked in both orders.

A preference that changes with the order is a tie. Equal outputs are a tie that nobody is asked
about. Outputs are judged blind, under the numbers 1 and 2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations
from os import PathLike
from typing import ClassVar, NamedTuple

from karat.errors import InputError
from karat.evalset.judgements import Dimension
from karat.evalset.sets import check_known
from karat.llm.interview import Case, Interview, Setup, Task, json_object, one_of, quote_from
from karat.llm.material import Material
from karat.llm.results import TOO_LONG, Asked, ModelPairs, Named, PairRow, PositionBias
from karat.llm.task_prompts import PAIRS, task_prompt
from karat.progress import Progress, silent

FORM = "better: 1, 2 or tie; evidence (a quote from the better output; empty for a tie)"
PREFERENCE = "preference"
"""The dimension that preferences are stored under."""
OVERALL = "overall quality"
WIN, TIE, LOSS = 1.0, 0.5, 0.0
_VALUES = {"1": WIN, "2": LOSS, "tie": TIE}


class Preference(NamedTuple):
    """1 if the output shown first is better, 0 if the second is, 0.5 for a tie."""

    value: float
    evidence: str


class Shown(NamedTuple):
    """Two outputs of a segment in the order in which they are shown."""

    segment: str
    first: str
    second: str

    @property
    def turned(self) -> Shown:
        """Both in the other order."""
        return Shown(self.segment, self.second, self.first)


@dataclass(frozen=True)
class PairTask:
    """Pairs of systems to compare on every segment: all, or each with a baseline."""

    name: ClassVar[str] = "judge-pairs"
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
    def dimension(self) -> Dimension:
        """The dimension of the log: preferences, on a scale from 0 to 1."""
        asked = self.material.dimension.name
        name = PREFERENCE if asked == OVERALL else f"{asked} {PREFERENCE}"
        return Dimension(name, low=0, high=1, guideline=self.material.dimension.guideline)

    @property
    def systems(self) -> list[tuple[str, str]]:
        """The pairs of systems; the baseline is the other one."""
        names = list(self.material.evalset.systems)
        if self.baseline is None:
            return list(combinations(names, 2))
        return [(name, self.baseline) for name in names if name != self.baseline]

    @cached_property
    def compared(self) -> list[tuple[tuple[str, str], Shown]]:
        """Two systems and their outputs, for each segment where both have one."""
        found = []
        for pair in self.systems:
            for segment in self.material.segments:
                first, second = (self.material.output(system, segment) for system in pair)
                if first is not None and second is not None:
                    found.append((pair, Shown(segment, first, second)))
        return found

    @cached_property
    def case_ids(self) -> dict[Shown, str]:
        """Outputs as shown -> the id of their case; equal texts are asked about once."""
        found: dict[Shown, str] = {}
        for _, shown in self.compared:
            if shown.first == shown.second or not self.material.fits(*shown):
                continue
            for one in (shown, shown.turned):
                found.setdefault(one, f"{one.segment}\t{len(found)}")
        return found

    def task(self) -> Task:
        """Return the cases to ask about."""
        return Task(task_prompt(PAIRS, self.prompt), FORM, list(self._cases()))

    def _cases(self) -> Iterator[Case]:
        for shown, id in self.case_ids.items():
            texts = {"1": shown.first, "2": shown.second}
            listed = [{"id": id, "text": text} for id, text in texts.items()]
            values = {**self.material.values(shown.segment), "outputs": listed}
            yield Case(id, values, partial(read_preference, texts))

    @property
    def settings(self) -> dict[str, object]:
        """Settings, as signatures have them."""
        found = {"quality": self.material.dimension.name, "baseline": self.baseline or "none"}
        return {**found, **self.material.settings()}

    def run(self, setup: Setup, judge: str = "", progress: Progress = silent) -> ModelPairs:
        """Ask a model and return its preferences."""
        judge, task = judge or setup.judge, self.task()
        self.material.check_judge(judge)
        found = task.ask(setup, progress)
        rows, missing = self._rows(found)
        name = self.material.evalset.name
        asked = Asked(self.name, name, judge, self.settings, task, setup, found)
        return ModelPairs(
            **asked.fields(rows, missing, [*self.material.notes(), *_equal(rows)]),
            dimension=self.dimension,
            bias=position_bias(rows, found),
        )

    def _rows(self, found: Interview) -> tuple[list[PairRow], list[Named]]:
        """Return the preferences, and the pair and reason of each that is missing."""
        rows, missing = [], []
        for (system, other), shown in self.compared:
            if shown.first == shown.second:
                rows.append(PairRow(shown.segment, system, other, TIE, "", None, 0))
                continue
            ids = [self.case_ids.get(one, "") for one in (shown, shown.turned)]
            first, second = (found.answers.get(id, ()) for id in ids)
            if both := list(zip(first, second, strict=False)):
                rows.append(_row(shown.segment, system, other, both))
            else:
                whys = [found.reasons[id] for id in ids if id in found.reasons]
                name = f"{system} and {other}, segment {shown.segment}"
                missing.append((name, whys[0] if whys else TOO_LONG))
        return rows, missing


def _equal(rows: Sequence[PairRow]) -> list[str]:
    """A sentence on equal outputs, if there are any."""
    same = sum(row.flipped is None for row in rows)
    if same == 1:
        return ["1 pair of equal outputs counts as a tie; nobody was asked about it."]
    told = f"{same:,} pairs of equal outputs count as ties; nobody was asked about them."
    return [told] if same else []


def _row(
    segment: str, system: str, other: str, both: Sequence[tuple[Preference, Preference]]
) -> PairRow:
    values = [settled(one, two) for one, two in both]
    flips = any(one.value == two.value != TIE for one, two in both)
    mean = sum(values) / len(values)
    evidence = next((one.evidence for one, _ in both if one.evidence and not flips), "")
    return PairRow(segment, system, other, mean, evidence, flips, 2 * len(both))


def settled(one: Preference, two: Preference) -> float:
    """Return the value for the first output of `one`, which is shown second in `two`.

    Both orders must agree; else it is a tie.
    """
    return one.value if one.value == WIN - two.value else TIE


def position_bias(rows: Sequence[PairRow], found: Interview) -> PositionBias:
    """Return how often the order decided, and how often the output shown first won."""
    asked = [row for row in rows if row.flipped is not None]
    flipped = sum(bool(row.flipped) for row in asked)
    answers = [answer.value for some in found.answers.values() for answer in some]
    decided = [value for value in answers if value != TIE]
    return PositionBias(
        *(len(asked), flipped, flipped / len(asked) if asked else None),
        *(len(decided), sum(decided) / len(decided) if decided else None),
    )


def read_preference(texts: Mapping[str, str], answer: str) -> Preference:
    """Return the preference in an answer."""
    found = json_object(answer)
    entry = {**found, "better": str(found.get("better"))}
    better = one_of(entry, "better", _VALUES)
    if better == "tie":
        return Preference(TIE, "")
    text = texts[better]
    return Preference(_VALUES[better], quote_from(found, text, needed=bool(text.strip())))
