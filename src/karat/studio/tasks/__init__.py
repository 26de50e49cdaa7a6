"""Kinds of tasks: the units to judge, the checks of answers, and their meaning."""

from __future__ import annotations

from karat.studio.tasks.nuggets import NuggetTask
from karat.studio.tasks.pairs import PairTask
from karat.studio.tasks.ratings import RatingTask
from karat.studio.tasks.spans import SpanTask
from karat.studio.tasks.task import Task

RATINGS, PAIRS, SPANS, NUGGETS = RatingTask(), PairTask(), SpanTask(), NuggetTask()
TASKS: dict[str, Task] = {task.name: task for task in (RATINGS, PAIRS, SPANS, NUGGETS)}
