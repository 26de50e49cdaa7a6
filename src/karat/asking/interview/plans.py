"""Dry runs: what asking would take, as a result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from karat.asking.interview.signatures import signature
from karat.asking.asker import Plan
from karat.asking.interview.tasks import Setup, Task
from karat.results import Result

ESTIMATED = "Tokens are estimated: four characters are taken for one."


@dataclass(frozen=True, repr=False)
class AskingPlan(Result):
    """What asking would take."""

    task: str
    rows: tuple[Plan, ...]
    notes: tuple[str, ...] = (ESTIMATED,)
    settings: Mapping[str, object] = field(default_factory=dict)
    signature: str = ""


def plan_task(name: str, task: Task, setup: Setup) -> AskingPlan:
    """Return what asking about a task would take; nothing is sent."""
    told = signature(name, {}, task.prompt, setup)
    settings = {"prompt": task.prompt.label, **setup.settings}
    return AskingPlan(name, (task.plan(setup),), (*setup.notes, ESTIMATED), settings, told)
