"""Segments to judge, the texts that prompts show, and agreement with human judges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from karat.errors import InputError
from karat.evalset.judgements import MODEL, PERSON, Dimension
from karat.evalset.sets import EvalSet
from karat.llm.interview import MAX_TEXT_LENGTH, draw_sample
from karat.llm.results import RatingRow, SupportRow
from karat.meta.judge_agreement import JudgeRow, judge_agreement
from karat.nuggets.sets.judgements import JudgedResponse
from karat.nuggets.sets.nugget_set import NuggetSet


@dataclass(frozen=True)
class Material:
    """A set to judge in one dimension: all segments, or a random sample."""

    evalset: EvalSet
    dimension: Dimension
    sample: int | None = None
    seed: int = 12345

    def __post_init__(self) -> None:
        texts = (text for texts in self.evalset.systems.values() for text in texts)
        if all(text is None for text in texts):
            raise InputError(f"{self.evalset.name} has no outputs: expected at least one to judge")
        _ = self.segments  # checks the sample size

    @cached_property
    def segments(self) -> list[str]:
        """Segments to judge, in set order."""
        return draw_sample(self.evalset.segments, self.sample, self.seed)

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {name: at for at, name in enumerate(self.evalset.segments)}

    def output(self, system: str, segment: str) -> str | None:
        """Return the output of a system, or None."""
        return self.evalset.systems[system][self._positions[segment]]

    def outputs(self, segment: str) -> dict[str, str]:
        """Return the outputs of a segment by system."""
        outputs = ((system, self.output(system, segment)) for system in self.evalset.systems)
        return {system: text for system, text in outputs if text is not None}

    def values(self, segment: str) -> dict[str, object]:
        """Return the values of placeholders, except for outputs."""
        index = self._positions[segment]
        lower = " (lower is better)" if self.dimension.better == "lower" else ""
        return {
            "dimension": f"{self.dimension.name}{lower}",
            "guideline": self.dimension.guideline or None,
            "source": None if self.evalset.sources is None else self.evalset.sources[index],
            "references": list(self._references(index)),
        }

    def _references(self, index: int) -> tuple[str, ...]:
        return self.evalset.references[index] if self.evalset.references else ()

    def fits(self, segment: str, *outputs: str) -> bool:
        """Return whether all texts of a request are short enough to send."""
        index = self._positions[segment]
        sources = () if self.evalset.sources is None else (self.evalset.sources[index],)
        texts = (*outputs, *sources, *self._references(index))
        return all(len(text) <= MAX_TEXT_LENGTH for text in texts)

    def settings(self, by_seed: bool = False) -> dict[str, object]:
        """Return the sample size, and the seed if anything depends on it."""
        sample: dict[str, object] = {} if self.sample is None else {"sample": self.sample}
        return {**sample, **({"seed": self.seed} if sample or by_seed else {})}

    @property
    def judge_kinds(self) -> dict[str, str]:
        """Kind of each judge of the set: person or model."""
        rows = self.evalset.judgements
        return {name: kind or PERSON for name, kind in zip(rows.judges, rows.kinds, strict=True)}

    def notes(self) -> Iterator[str]:
        """Yield how the set was read, and a note if the segments are a sample."""
        yield from self.evalset.remarks
        judged, total = len(self.segments), len(self.evalset)
        if judged < total:
            yield f"A random sample of {judged:,} of {total:,} segments was judged."


def rating_agreement(material: Material, judge: str, rows: Sequence[RatingRow]) -> JudgeRow | None:
    """Return the agreement of a model with people, or None without human ratings."""
    name = material.dimension.name
    people = material.evalset.judgements.without_models()
    if not people.select_dimension(name):
        return None
    judged = replace(material.evalset, judgements=people).with_judgements(
        [(row.system, row.segment, judge, name, row.value) for row in rows],
        judge_kinds={judge: MODEL},
    )
    judge_rows = judge_agreement(judged, [name]).judges
    return next((row for row in judge_rows if row.judge == judge), None)


def nugget_agreement(nuggets: NuggetSet, judge: str, rows: Sequence[SupportRow]) -> JudgeRow | None:
    """Return the agreement of a model with other judges, or None without judgements."""
    if not nuggets.judgements.deciding:
        return None
    model_rows = [
        JudgedResponse(row.question, row.nugget, row.response, row.value, run, judge, kind=MODEL)
        for row in rows
        for run in row.runs
    ]
    human_rows = [row for row in nuggets.judgements.rows if row.kind != MODEL]
    merged = replace(nuggets, judgements=nuggets.judgements.with_rows([*human_rows, *model_rows]))
    judge_rows = judge_agreement(merged).judges
    return next((row for row in judge_rows if row.judge == judge), None)
