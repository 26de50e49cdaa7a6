"""The settings of a project: tasks, texts to show, and assignment of work."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import lru_cache
from math import isfinite
from typing import Any

from karat.errors import InputError, quoted
from karat.evalset.judgements import Dimension
from karat.studio.options import MAX_WHOLE, OPTIONS
from karat.studio.store.schema import DamagedStore
from karat.studio.tasks import RATINGS, TASKS
from karat.studio.tasks.checks import is_integer, is_number
from karat.studio.tasks.task import Task

MAX_LEASE_SECONDS = 366 * 24 * 3600
"""A limit that keeps the end of a lease a valid date."""
CALIBRATION_LISTS = ("outputs", "references", "nuggets")
_MINIMUMS: dict[str, float] = {
    **{name: f.metadata["low"] for name, f in OPTIONS.items() if isfinite(f.metadata["low"])},
    **{"round_items": 1, "calibration_rate": 0.0},
}
"""Setting -> minimum: an integer for whole numbers, 0.0 for shares from 0 to 1."""


@dataclass(frozen=True)
class Show:
    """Whether texts are shown beside the outputs."""

    source: bool = True
    context: bool = True
    reference: bool = False


@dataclass(frozen=True)
class CalibrationItem:
    """Texts with a known answer, mixed in to measure the quality of assessors."""

    task: str
    outputs: tuple[str, ...]
    value: Mapping[str, Any]
    """The known answer; for pairs, `first` is the first of `outputs`."""
    source: str | None = None
    references: tuple[str, ...] = ()
    nuggets: tuple[str, ...] = ()
    """Descriptions of nuggets, whose ids are 1, 2 and so on."""


@dataclass(frozen=True)
class ProjectSettings:
    """All settings of a project; the constructor checks them."""

    tasks: Mapping[str, Mapping[str, Any]]
    """Name of a task -> its settings."""
    show: Show = field(default_factory=Show)
    overlap: int = 1
    """Number of assessors per unit."""
    quota: int | None = None
    """Maximum units per assessor, unless the invitation sets another."""
    lease_seconds: int = 1800
    random_share: float = 0.2
    """Share of rounds in which all items are equally likely; the first round is always random."""
    round_items: int = 100
    """Items per round; their usefulness is computed for each round."""
    predictor: str | None = None
    """A metric, or a model that judged the set, from which usefulness is computed."""
    calibration: tuple[CalibrationItem, ...] = ()
    calibration_rate: float = 0.1
    """Share of assignments that are calibration, as long as units are left."""
    seed: int = 1

    def __post_init__(self) -> None:
        if not isinstance(self.tasks, Mapping) or not self.tasks:
            raise InputError(f"a project needs a task: expected one of {', '.join(TASKS)}")
        if unknown := [name for name in self.tasks if name not in TASKS]:
            raise InputError(f"no task {quoted(unknown[0])}: expected one of {', '.join(TASKS)}")
        full = {name: TASKS[name].settings(options) for name, options in self.tasks.items()}
        object.__setattr__(self, "tasks", full)
        object.__setattr__(self, "calibration", tuple(self.calibration))
        for name, low in _MINIMUMS.items():
            value = getattr(self, name)
            if isinstance(low, float):
                if not is_number(value) or not 0 <= value <= 1:
                    raise InputError(f"{name}={quoted(value)}: expected a number from 0 to 1")
            elif value is None and name == "quota":
                continue
            elif not is_integer(value) or not low <= value <= MAX_WHOLE:
                raise InputError(f"{name}={quoted(value)}: expected a whole number, {low} or more")
        if self.lease_seconds > MAX_LEASE_SECONDS:
            expected = f"expected at most {MAX_LEASE_SECONDS:,} seconds, which is a year"
            raise InputError(f"lease_seconds={self.lease_seconds}: {expected}")
        for entry in self.calibration:
            if entry.task not in self.tasks:
                raise InputError(f"calibration: the project has no task {quoted(entry.task)}")

    def has(self, task: Task) -> bool:
        """Return whether the project has a task."""
        return task.name in self.tasks

    @property
    def rating_scales(self) -> list[Mapping[str, Any]]:
        """The scales of ratings; none if the project has no ratings."""
        return RATINGS.scales(self.tasks.get(RATINGS.name, {}))

    @property
    def dimensions(self) -> list[Dimension]:
        """The dimensions of the resulting values."""
        dimensions = [
            dimension
            for name, settings in self.tasks.items()
            for dimension in TASKS[name].dimensions(settings)
        ]
        return list({dimension.name: dimension for dimension in dimensions}.values())

    def to_json(self) -> str:
        """Return the settings as text."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> ProjectSettings:
        """Return the settings in a store; raise DamagedStore if they are invalid."""
        try:
            values = json.loads(text)
            values["show"] = Show(**values["show"])
            values["calibration"] = [
                CalibrationItem(**entry | {name: tuple(entry[name]) for name in CALIBRATION_LISTS})
                for entry in values["calibration"]
            ]
            names = [setting.name for setting in fields(cls) if setting.name in values]
            return cls(**{name: values[name] for name in names})
        except (InputError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
            raise DamagedStore(
                "the settings of the store are damaged: use a copy or an export of it"
            ) from None


@lru_cache(maxsize=4)
def parse_settings(text: str) -> ProjectSettings:
    """Return settings from their text; cached: every request needs them."""
    return ProjectSettings.from_json(text)


def compared_dimensions(tasks: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the dimensions whose question compares an output with another text."""
    scales = RATINGS.scales(tasks.get(RATINGS.name, {}))
    return [scale["dimension"] for scale in scales if scale["compares"]]
