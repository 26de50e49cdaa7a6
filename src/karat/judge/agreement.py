"""Agreement of a model with the other judges of a set, where it has any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from karat.evalset.judgements import MODEL
from karat.judge.material import Material
from karat.judge.results import RatingRow, SupportRow
from karat.meta.judge_agreement import JudgeRow, judge_agreement
from karat.nuggets.sets.judgements import Judged
from karat.nuggets.sets.nugget_set import NuggetSet


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
        Judged(row.question, row.nugget, row.response, row.value, run, judge, kind=MODEL)
        for row in rows
        for run in row.runs
    ]
    others = [row for row in nuggets.judgements.rows if row.kind != MODEL]
    both = replace(nuggets, judgements=nuggets.judgements.with_rows([*others, *own]))
    found = judge_agreement(both).judges
    return next((row for row in found if row.judge == judge), None)
