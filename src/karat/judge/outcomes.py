"""Outcomes: the fields that the results of all tasks share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from karat.asking.interview.signatures import signature
from karat.asking.interview.tasks import Interview, Setup, Task
from karat.errors import InputError, quoted, short
from karat.evalset.judgements import MODEL
from karat.judge.results import MissingRow, missing_rows

NO_PERSON = (
    "A model's judgements are evidence, not human judgements: `karat data judges` compares them "
    "with people's."
)
Named = tuple[str, str]
"""The name of a judgement that is missing, and the reason."""


class Asked(NamedTuple):
    """A task that a model was asked about."""

    name: str
    """Of the task, as signatures have it."""
    evalset: str
    judge: str
    settings: Mapping[str, object]
    task: Task
    setup: Setup
    found: Interview

    def fields(
        self, rows: Sequence[Any], missing: Iterable[Named], notes: Iterable[str]
    ) -> dict[str, Any]:
        """Return the fields of a `Judging`; refuse one without a single judgement."""
        reasons = missing_rows(missing)
        _check_answered(rows, reasons, self.judge)
        return {
            "name": self.evalset,
            "judge": self.judge,
            "rows": tuple(rows),
            "wanted": len(rows) + sum(row.missing for row in reasons),
            "missing": reasons,
            "usage": self.found.usage,
            "settings": {
                **self.settings,
                "prompt": self.task.prompt.label,
                **self.setup.settings,
            },
            "signature": signature(self.name, self.settings, self.task, self.setup),
            "notes": (*self.setup.notes, NO_PERSON, *notes, *self.found.notes),
        }


def _check_answered(rows: Sequence[Any], missing: Sequence[MissingRow], judge: str) -> None:
    if missing and not any(row.answers for row in rows):
        why = ", ".join(f"{row.why} ({row.missing:,})" for row in missing[:3])
        raise InputError(f"{short(judge)} gave no valid answer: {why}; nothing was written")


def check_judge(judge: str, kinds: Mapping[str, str], name: str) -> None:
    """Refuse the name of a person of the set: nobody is a model and a person."""
    if kinds.get(judge, MODEL) != MODEL:
        told = f"{name} has a judge {quoted(judge)} who is no model"
        raise InputError(f"{told}: give the model another name with --judge")
