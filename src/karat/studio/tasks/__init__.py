"""Kinds of tasks by name: what is judged, how an answer is checked, what it means."""

from __future__ import annotations

from karat.studio.tasks.nuggets import NuggetTask
from karat.studio.tasks.pairs import PairTask
from karat.studio.tasks.ratings import RatingTask
from karat.studio.tasks.spans import SpanTask
from karat.studio.tasks.task import Task

TASKS: dict[str, Task] = {
    task.name: task for task in (RatingTask(), PairTask(), SpanTask(), NuggetTask())
}
