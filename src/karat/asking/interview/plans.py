"""Dry runs: what asking would take, as a result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from karat.asking.asker import Plan
from karat.asking.interview.signatures import signature
from karat.asking.interview.tasks import Asks, Setup
from karat.results import Result

ESTIMATED = "Tokens are estimated: four characters are taken for one."


@dataclass(frozen=True, repr=False)
class AskingPlan(Result):
    """Requests, tokens and cost that asking would take."""

    task: str
    rows: tuple[Plan, ...]
    notes: tuple[str, ...] = (ESTIMATED,)
    settings: Mapping[str, object] = field(default_factory=dict)
    signature: str = ""


def plan_task(asks: Asks, setup: Setup) -> AskingPlan:
    """Return what asking about a task would take; nothing is sent."""
    task = asks.task()
    told = signature(asks.name, asks.settings, task, setup)
    settings = {**asks.settings, "prompt": task.prompt.label, **setup.settings}
    return AskingPlan(asks.name, (task.plan(setup),), (*setup.notes, ESTIMATED), settings, told)
