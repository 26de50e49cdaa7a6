"""Kinds of judges: who of them is a person, who a model, and what was adjudicated.

The kind stands beside a judgement, or models are named when judgements are read. What one row says
of a named judge holds for all rows of that judge, but for what was adjudicated. A judge of unknown
kind counts as a person.
"""

from __future__ import annotations

from collections.abc import Sequence

from karat.errors import quoted, short
from karat.evalset.reading import Place, Reading
from karat.nuggets.sets.judgements import Judged
from karat.nuggets.sets.voting import ADJUDICATED, MODEL, PERSON

NAMELESS = "-"
"""The judge without a name, where the judges that are models are named."""


def with_kinds(
    rows: Sequence[tuple[Place, Judged]], models: Sequence[str], name: str, reading: Reading
) -> tuple[Judged, ...]:
    """The rows with the kinds of their judges; `models` are the names of judges that are models."""
    said = _said(rows, reading)
    judges = {row.judge or NAMELESS for _, row in rows}
    for model in dict.fromkeys(models):
        beside = {row.kind for _, row in rows if not row.judge and model == NAMELESS}
        if model not in judges:
            known = ", ".join(short(judge) for judge in sorted(judges)[:10]) or "none"
            told = f"no judgement is by a judge {quoted(model)}, named as a model"
            reading.problem(name, f"{told} (the judges are {known})")
        elif said.setdefault(model, MODEL) != MODEL or (beside and not beside & {"", MODEL}):
            reading.problem(
                name, f"judge {short(model)} is named as a model, but its file says another kind"
            )
    if NAMELESS in models:
        said[""] = MODEL
    # Who adjudicates here and there may have judged the rest as anybody else.
    fill = {judge: kind for judge, kind in said.items() if kind != ADJUDICATED}
    return tuple(
        row if row.kind or row.judge not in fill else row._replace(kind=fill[row.judge])
        for _, row in rows
    )


def _said(rows: Sequence[tuple[Place, Judged]], reading: Reading) -> dict[str, str]:
    """Return the kind of each named judge that has one; nobody is a model and something else."""
    found: dict[str, str] = {}
    for place, row in rows:
        if not row.kind or not row.judge:
            continue
        first = found.setdefault(row.judge, row.kind)
        if first != row.kind and MODEL in (first, row.kind):
            reading.problem(
                place,
                f"judge {short(row.judge)} is of the kind {row.kind} here and {first} before; "
                "expected a model to be one everywhere",
            )
        elif first != row.kind:  # a person who also adjudicates
            found[row.judge] = PERSON
    return found
