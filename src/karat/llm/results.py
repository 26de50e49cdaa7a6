"""Results of judging by a model: judgements, missing ones with reasons, and usage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar

from karat.errors import InputError, quoted, short
from karat.evalset.judgements import MODEL, Dimension
from karat.evalset.reading import format_json_line
from karat.llm.interview import Interview, InterviewTask, PromptCase, Setup, Slots, signature
from karat.llm.requests import Usage
from karat.llm.task_prompts import task_prompt
from karat.meta.judge_agreement import JudgeRow
from karat.progress import Progress, silent
from karat.results import Result
from karat.storage.output import write_atomically

if TYPE_CHECKING:
    from karat.llm.material import Material

TOO_LONG = "text too long"
"""Reason for a missing judgement of a text with more than `MAX_TEXT_LENGTH` characters."""


class RatingRow(NamedTuple):
    """Rating of one output by a model."""

    system: str
    segment: str
    value: float
    """Mean over replicates."""
    evidence: str
    output: str
    answers: int


class JudgedPairRow(NamedTuple):
    """Preference between the outputs of two systems, each shown first once."""

    segment: str
    system: str
    other: str
    value: float
    """1: the system is better, 0: the other is, 0.5: tie; the mean over replicates."""
    evidence: str
    flipped: bool | None
    """Whether a preference changed with the order in any replicate; None for equal outputs."""
    answers: int


class SupportRow(NamedTuple):
    """Label of one response and nugget by a model."""

    question: str
    nugget: str
    label: str
    value: float
    evidence: str
    response: str
    runs: tuple[str, ...]
    """Runs that gave this response."""
    answers: int


class MissingRow(NamedTuple):
    """A reason for missing judgements, and their number."""

    reason: str
    missing: int
    example: str


class SystemShares(NamedTuple):
    """Judgements of one system or run: count, mean, and share of each value."""

    system: str
    judged: int
    mean: float
    shares: Mapping[str, float]


class PositionBias(NamedTuple):
    """Effect of the order in which two outputs are shown."""

    pairs: int
    """Pairs of outputs judged in both orders."""
    flipped: int
    """Pairs whose winner changed with the order."""
    flipped_share: float | None
    n_decided: int
    """Answers that prefer one output."""
    first_share: float | None
    """Share of them that prefer the output shown first; 0.5 without bias."""


_SHORT_SCALE = 10
NO_BIAS = PositionBias(0, 0, None, 0, None)
"""The bias without any pairs."""


@dataclass(frozen=True, repr=False)
class Judging(Result):
    """Judgements of a model (`rows`); `expected` counts the missing ones, too."""

    name: str
    """Name of the set."""
    judge: str
    rows: Sequence[Any]
    expected: int
    missing: tuple[MissingRow, ...]
    usage: Usage
    settings: Mapping[str, object] = field(default_factory=dict)
    signature: str = ""
    notes: tuple[str, ...] = ()
    agreement: JudgeRow | None = None
    """Agreement with the people who judged the set, if any did."""

    def log_objects(self) -> Iterator[dict[str, Any]]:
        """Yield the header and the judgements of the log."""
        raise NotImplementedError

    def save_log(self, path: str | PathLike[str]) -> None:
        """Write the judgements as JSON lines (atomic)."""
        write_atomically(path, (format_json_line(entry) for entry in self.log_objects()))


@dataclass(frozen=True, repr=False)
class ModelRatings(Judging):
    """Ratings of outputs by a model."""

    dimension: Dimension = field(default_factory=lambda: Dimension("quality"))

    def log_objects(self) -> Iterator[dict[str, Any]]:
        """Yield the header and the ratings, as `--judgements` reads them."""
        yield _header(self, self.dimension)
        for row in self.rows:
            units = {"system": row.system, "segment": row.segment}
            yield {**units, **_judgement(self, self.dimension, row)}

    @property
    def values(self) -> list[str]:
        """Values of a distribution: all ratings, and all points of a short integer scale."""
        low, high = float(self.dimension.low or 0), float(self.dimension.high or 0)
        is_whole = low.is_integer() and high.is_integer() and high - low < _SHORT_SCALE
        scale = range(int(low), int(high) + 1) if is_whole else ()
        return sorted({f"{x:g}" for x in (*scale, *(row.value for row in self.rows))}, key=float)

    @property
    def systems(self) -> tuple[SystemShares, ...]:
        """Means and distributions of ratings by system."""
        return shares_of((row.system, row.value) for row in self.rows)


@dataclass(frozen=True, repr=False)
class ModelPairs(Judging):
    """Preferences between outputs by a model."""

    dimension: Dimension = field(default_factory=lambda: Dimension("preference"))
    bias: PositionBias = NO_BIAS

    def log_objects(self) -> Iterator[dict[str, Any]]:
        """Yield the header and the preferences, from which sets compute shares of wins."""
        yield _header(self, self.dimension)
        for row in self.rows:
            units = {"segment": row.segment, "system": row.system, "other": row.other}
            yield {**units, **_judgement(self, self.dimension, row)}

    @property
    def systems(self) -> tuple[SystemShares, ...]:
        """Shares of comparisons that each system won, tied and lost, the best first."""
        shares = shares_of(
            (name, value)
            for row in self.rows
            for name, value in ((row.system, row.value), (row.other, 1 - row.value))
        )
        return tuple(sorted(shares, key=lambda system: -system.mean))


@dataclass(frozen=True, repr=False)
class ModelSupports(Judging):
    """Labels of responses and nuggets by a model."""

    def log_objects(self) -> Iterator[dict[str, Any]]:
        """Yield the header and the labels, as `karat nuggets` reads them."""
        yield {"judgements": self.name, "signature": self.signature}
        for row in self.rows:
            entry = {"question": row.question, "nugget": row.nugget, "response": row.response}
            entry |= {"value": _number(row.value), "judge": self.judge, "kind": "model"}
            yield {**entry, **({"evidence": row.evidence} if row.evidence else {})}

    @property
    def systems(self) -> tuple[SystemShares, ...]:
        """Mean support and shares of labels by run."""
        return shares_of((run, row.value) for row in self.rows for run in row.runs)


def _number(value: float) -> float:
    """Return a whole number as an integer, so that a log has 4, not 4.0."""
    return int(value) if value.is_integer() else value


def _judgement(judging: Judging, dimension: Dimension, row: Any) -> dict[str, Any]:
    """Return the fields shared by ratings and preferences in a log."""
    value = {"dimension": dimension.name, "value": _number(row.value)}
    return {"judge": judging.judge, **value, "kind": "model", "evidence": row.evidence}


def _header(judging: Judging, dimension: Dimension) -> dict[str, Any]:
    fields: dict[str, Any] = {"name": dimension.name, "better": dimension.better}
    ends = {"low": dimension.low, "high": dimension.high, "guideline": dimension.guideline}
    fields |= {key: value for key, value in ends.items() if value not in (None, "")}
    return {"judgements": judging.name, "dimensions": [fields], "signature": judging.signature}


def shares_of(values: Iterable[tuple[str, float]]) -> tuple[SystemShares, ...]:
    """Return means and distributions by system, in the order of first occurrence."""
    values_by_system: dict[str, list[float]] = {}
    for system, value in values:
        values_by_system.setdefault(system, []).append(value)
    rows = []
    for system, listed in values_by_system.items():
        counts = Counter(f"{value:g}" for value in listed)
        shares = {key: count / len(listed) for key, count in counts.items()}
        rows.append(SystemShares(system, len(listed), sum(listed) / len(listed), shares))
    return tuple(rows)


def tally_reasons(reasons: Iterable[tuple[str, str]]) -> tuple[MissingRow, ...]:
    """Count missing judgements, given as (name, reason), by reason; most frequent first."""
    counts, examples = Counter[str](), dict[str, str]()
    for name, reason in reasons:
        counts[reason] += 1
        examples.setdefault(reason, name)
    return tuple(
        MissingRow(reason, count, examples[reason]) for reason, count in counts.most_common()
    )


NO_PERSON = (
    "A model's judgements are evidence, not human judgements: `karat data judges` compares them "
    "with people's."
)


class JudgedRows(NamedTuple):
    """Judgements, and the name and reason of each missing one."""

    rows: Sequence[Any]
    missing: Sequence[tuple[str, str]]
    notes: Sequence[str]


JudgingT = TypeVar("JudgingT", bound=Judging)


class JudgingTask(Generic[JudgingT]):
    """Outputs or responses to judge: makes the cases, and turns answers into rows."""

    name: ClassVar[str]
    """Name for signatures."""
    slots: ClassVar[Slots]
    """Placeholders of its prompts."""
    form: ClassVar[str]
    """Description of the form of answers."""

    if TYPE_CHECKING:  # fields or properties of each task
        prompt: str | PathLike[str] | None
        material: Material

        @property
        def settings(self) -> Mapping[str, object]:
            """Settings for signatures."""

    def make_cases(self) -> Iterator[PromptCase]:
        """Yield the cases."""
        raise NotImplementedError

    def judged_rows(self, interview: Interview) -> JudgedRows:
        """Return the judgements in the answers."""
        raise NotImplementedError

    def result(self, interview: Interview, **fields: Any) -> JudgingT:
        """Return the result; `fields` are those of a `Judging`."""
        raise NotImplementedError

    @property
    def judged_set(self) -> tuple[str, Mapping[str, str]]:
        """Name of the set, and the kinds of its judges."""
        return self.material.evalset.name, self.material.judge_kinds

    @cached_property
    def cases(self) -> list[PromptCase]:
        """All cases."""
        return list(self.make_cases())

    def task(self) -> InterviewTask:
        """Return the cases with their prompt."""
        return InterviewTask(task_prompt(self.slots, self.prompt), self.form, self.cases)

    def run(self, setup: Setup, judge: str = "", progress: Progress = silent) -> JudgingT:
        """Ask a model and return its judgements; raise InputError if no answer is valid."""
        judge, task = judge or setup.judge, self.task()
        name, kinds = self.judged_set
        if kinds.get(judge, MODEL) != MODEL:
            problem = f"{name} has a judge {quoted(judge)} who is not a model"
            raise InputError(f"{problem}: give the model another name with --judge")
        interview = task.ask(setup, progress)
        judgements = self.judged_rows(interview)
        rows, reasons = tuple(judgements.rows), tally_reasons(judgements.missing)
        if reasons and not any(row.answers for row in rows):
            counted = ", ".join(f"{row.reason} ({row.missing:,})" for row in reasons[:3])
            raise InputError(f"{short(judge)} gave no valid answer: {counted}; nothing was written")
        return self.result(
            interview,
            name=name,
            judge=judge,
            rows=rows,
            expected=len(rows) + sum(row.missing for row in reasons),
            missing=reasons,
            usage=interview.usage,
            settings={**self.settings, "prompt": task.prompt.label, **setup.settings},
            signature=signature(self.name, self.settings, task, setup),
            notes=(*setup.notes, NO_PERSON, *judgements.notes, *interview.notes),
        )
