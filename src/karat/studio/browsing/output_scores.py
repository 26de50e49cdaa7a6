"""The score of each output in each dimension: what was adjudicated, else the mean of people."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from statistics import fmean

from karat.evalset.judgements import ADJUDICATED
from karat.studio.export.contents import Contents
from karat.studio.export.decided import decided_label
from karat.studio.export.sets import NUGGETS
from karat.studio.export.values import dimensions_of, values_of
from karat.studio.live.state import remembered
from karat.studio.store.settings import ProjectSettings
from karat.studio.store.store import Store
from karat.studio.tasks import TASKS

Scores = Mapping[int, Mapping[str, float]]
"""Output -> dimension -> score."""


def score_names(settings: ProjectSettings) -> list[str]:
    """Return the dimensions in which outputs have scores; for nuggets, the share supported."""
    nuggets = [NUGGETS] if NUGGETS in settings.tasks else []
    return [one.name for one in dimensions_of(settings)] + nuggets


def output_scores(store: Store) -> Scores:
    """Return the scores of all outputs that somebody judged."""
    return remembered(store, "scores", _scores)


def _scores(contents: Contents) -> Scores:
    said: dict[tuple[int, str], list[float]] = defaultdict(list)
    settled: dict[tuple[int, str], float] = {}
    for one in values_of(contents):
        if one.kind == ADJUDICATED:
            settled[one.output, one.dimension] = one.value
        else:
            said[one.output, one.dimension].append(one.value)
    found: dict[int, dict[str, float]] = defaultdict(dict)
    for (output, name), values in said.items():
        found[output][name] = settled.get((output, name), fmean(values))
    for output, share in _nuggets(contents):
        found[output][NUGGETS] = share
    return dict(found)


def _nuggets(contents: Contents) -> Iterator[tuple[int, float]]:
    """Yield the mean label of the nuggets of each response."""
    said: dict[int, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for one in contents.of_task(NUGGETS):
        for output, nugget, value in TASKS[NUGGETS].to_judgements(one.value, one.outputs):
            said[output][nugget].append(value)
    for decision in contents.decided(NUGGETS):
        if decision.output in said:
            said[decision.output][decision.about] = [decided_label(decision)]
    for output, labels in said.items():
        if labels:
            yield output, fmean(fmean(values) for values in labels.values())
