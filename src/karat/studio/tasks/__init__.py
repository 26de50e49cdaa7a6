"""Kinds of tasks by name: what is judged, how an answer is checked, what it means."""

from __future__ import annotations

from karat.studio.tasks.nuggets import Nuggets
from karat.studio.tasks.pairs import Pairs
from karat.studio.tasks.ratings import Ratings
from karat.studio.tasks.spans import Spans
from karat.studio.tasks.task import Task

TASKS: dict[str, Task] = {task.name: task for task in (Ratings(), Pairs(), Spans(), Nuggets())}
