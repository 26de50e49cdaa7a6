"""Segments of a set to judge, what prompts show of them, and agreement with human judges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from karat.errors import InputError, quoted, short
from karat.evalset.judgements import MODEL, PERSON, Dimension
from karat.evalset.sets import EvalSet
from karat.llm.interview import LONGEST_TEXT, drawn
from karat.llm.results import RatingRow, SupportRow, check_judge
from karat.meta.judge_agreement import JudgeRow, judge_agreement
from karat.nuggets.sets.judgements import JudgedResponse
from karat.nuggets.sets.nugget_set import NuggetSet


@dataclass(frozen=True)
class Material:
    """A set to judge in one dimension; all segments, or a sample that a seed draws."""

    evalset: EvalSet
    dimension: Dimension
    sample: int | None = None
    seed: int = 12345

    def __post_init__(self) -> None:
        texts = (text for texts in self.evalset.systems.values() for text in texts)
        if all(text is None for text in texts):
            raise InputError(f"{self.evalset.name} has no outputs: expected at least one to judge")
        drawn(self.evalset.segments[:1], self.sample, self.seed)  # refuses a wrong size

    @cached_property
    def segments(self) -> list[str]:
        """Segments to judge, in the order of the set."""
        return drawn(self.evalset.segments, self.sample, self.seed)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: at for at, name in enumerate(self.evalset.segments)}

    def output(self, system: str, segment: str) -> str | None:
        """Return the output of a system, or None."""
        return self.evalset.systems[system][self._places[segment]]

    def outputs(self, segment: str) -> dict[str, str]:
        """System -> output of a segment, where there is one."""
        at = self._places[segment]
        found = ((name, texts[at]) for name, texts in self.evalset.systems.items())
        return {name: text for name, text in found if text is not None}

    def values(self, segment: str) -> dict[str, object]:
        """Return what prompts may show beside outputs."""
        at = self._places[segment]
        lower = " (lower is better)" if self.dimension.better == "lower" else ""
        return {
            "dimension": f"{self.dimension.name}{lower}",
            "guideline": self.dimension.guideline or None,
            "source": None if self.evalset.sources is None else self.evalset.sources[at],
            "references": list(self._references(at)),
        }

    def _references(self, at: int) -> tuple[str, ...]:
        return self.evalset.references[at] if self.evalset.references else ()

    def fits(self, segment: str, *outputs: str) -> bool:
        """Return whether no text of a request is too long to be sent."""
        at = self._places[segment]
        sources = () if self.evalset.sources is None else (self.evalset.sources[at],)
        texts = (*outputs, *sources, *self._references(at))
        return all(len(text) <= LONGEST_TEXT for text in texts)

    def settings(self, by_seed: bool = False) -> dict[str, object]:
        """Return how segments were drawn; the seed where something depends on it."""
        sample: dict[str, object] = {} if self.sample is None else {"sample": self.sample}
        return {**sample, **({"seed": self.seed} if sample or by_seed else {})}

    def check_judge(self, judge: str) -> None:
        """Refuse the name of a person of the set."""
        rows = self.evalset.judgements
        kinds = dict(zip(rows.judges, rows.kinds, strict=True))
        people = {name: kind or PERSON for name, kind in kinds.items()}
        check_judge(judge, people, self.evalset.name)

    def notes(self) -> Iterator[str]:
        """Yield a sentence on the sample, if there is one."""
        judged, every = len(self.segments), len(self.evalset)
        if judged < every:
            yield f"A random sample of {judged:,} of {every:,} segments was judged."


def chosen_dimension(
    evalset: EvalSet, name: str, scale: tuple[float, float] | None = None, guideline: str = ""
) -> Dimension:
    """Return the dimension of the set, or a new one on a scale; both with a guideline if given."""
    if name not in evalset.dimensions and scale is None:
        known = short(", ".join(evalset.dimensions) or "none")
        told = f"{evalset.name} has no dimension {quoted(name)} (it has {known})"
        raise InputError(f"{told}: to rate a new one, give its scale, such as --scale 1-5")
    found = evalset.dimensions.get(name, Dimension(name))
    if scale is not None:
        for mine, theirs in zip((found.low, found.high), scale, strict=True):
            if mine is not None and mine != theirs:
                told = f"found a scale that ends at {theirs:g}, but {evalset.name} has {mine:g}"
                raise InputError(f"dimension {short(name)}: {told}; rate under another name")
        found = replace(found, low=scale[0], high=scale[1])
    return replace(found, guideline=guideline) if guideline else found


def rating_agreement(material: Material, judge: str, rows: Sequence[RatingRow]) -> JudgeRow | None:
    """Return how a model stands beside the people who judged a dimension; None if nobody did."""
    name = material.dimension.name
    people = material.evalset.judgements.by_people()
    if not people.of_dimension(name):
        return None
    judged = replace(material.evalset, judgements=people).with_judgements(
        [(row.system, row.segment, judge, name, row.value) for row in rows],
        judge_kinds={judge: MODEL},
    )
    found = judge_agreement(judged, [name]).judges
    return next((row for row in found if row.judge == judge), None)


def nugget_agreement(nuggets: NuggetSet, judge: str, rows: Sequence[SupportRow]) -> JudgeRow | None:
    """Return how a model stands beside the judges of nuggets; None if there are none."""
    if not nuggets.judgements.deciding:
        return None
    own = [
        JudgedResponse(row.question, row.nugget, row.response, row.value, run, judge, kind=MODEL)
        for row in rows
        for run in row.runs
    ]
    others = [row for row in nuggets.judgements.rows if row.kind != MODEL]
    both = replace(nuggets, judgements=nuggets.judgements.with_rows([*others, *own]))
    found = judge_agreement(both).judges
    return next((row for row in found if row.judge == judge), None)
