"""Items and outputs to judge, from evaluation sets and nugget sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from karat.errors import InputError, short
from karat.evalset.sets import EvalSet
from karat.nuggets.sets.keys_and_runs import Nugget
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.progress import Progress
from karat.studio.store.settings import ProjectSettings, compared_dimensions
from karat.studio.tasks import NUGGETS

CONTEXT = 3
"""Segments of the same group that are shown before a segment."""


class ImportedOutput(NamedTuple):
    """An output, its system, and the value that a predictor gives it."""

    system: str
    text: str
    predicted: float | None = None


class ImportedItem(NamedTuple):
    """A segment or question with the outputs of systems."""

    segment: str
    group: str | None
    source: str | None
    context: str | None
    references: tuple[str, ...]
    outputs: tuple[ImportedOutput, ...]
    nuggets: tuple[Nugget, ...] = ()


class ImportedSet(NamedTuple):
    """A set as a store takes it."""

    name: str
    items: Sequence[ImportedItem]


def make_import(
    source: EvalSet | NuggetSet, settings: ProjectSettings, progress: Progress
) -> ImportedSet:
    """Return what a set has to judge; one without outputs or what a task needs is refused."""
    is_nuggets = isinstance(source, NuggetSet)
    if settings.has(NUGGETS) and not is_nuggets:
        raise InputError(f"{short(source.name)} has no nuggets: expected a nugget set")
    if isinstance(source, NuggetSet):
        if settings.predictor is not None:
            raise InputError("a nugget set takes no predictor: leave it out")
        items = _nugget_items(source)
    else:
        items = _evalset_items(source, settings, progress)
    if not any(item.outputs for item in items):
        lacks = "no responses: add runs" if is_nuggets else "no outputs of systems: add some"
        raise InputError(f"{short(source.name)} has {lacks}, then there is something to judge")
    _check_compared(source.name, items, settings)
    return ImportedSet(source.name, items)


def _check_compared(name: str, items: Sequence[ImportedItem], settings: ProjectSettings) -> None:
    """Raise InputError if a question compares with a text that is not shown."""
    dimensions = compared_dimensions(settings.tasks)
    if not dimensions:
        return
    show = settings.show
    for item in items:
        texts = show.source and item.source, show.reference and any(item.references)
        if item.outputs and not any(texts):
            problem = f"{short(dimensions[0])} compares an output with another text, and segment "
            raise InputError(
                f"{problem}{short(item.segment)} of {short(name)} {_missing_text_advice(item)}"
            )


def _missing_text_advice(item: ImportedItem) -> str:
    """Return what an item has to compare with, and the option that shows it."""
    parts = [("source", item.source), ("reference", any(item.references))]
    options = [f"--show {part}" for part, has_text in parts if has_text]
    if options:
        return f"shows none: add {' or '.join(options)}"
    return "has neither source nor reference: rate something else, such as fluency"


def _nugget_items(nuggets: NuggetSet) -> list[ImportedItem]:
    return [
        ImportedItem(
            question.id,
            None,
            question.text or question.id,
            None,
            (),
            tuple(
                ImportedOutput(tag, response.text)
                for tag, run in nuggets.runs.items()
                for response in run.responses(question.id)
            ),
            question.nuggets,
        )
        for question in nuggets.key.questions.values()
    ]


def _evalset_items(
    evalset: EvalSet, settings: ProjectSettings, progress: Progress
) -> list[ImportedItem]:
    predicted = _predict(evalset, settings, progress)
    columns = list(evalset.systems.items())
    return [
        ImportedItem(
            segment,
            evalset.groups[at] if evalset.groups else None,
            evalset.sources[at] if evalset.sources else None,
            _context_before(evalset, at),
            evalset.references[at] if evalset.references else (),
            tuple(
                ImportedOutput(system, text, predicted[k][at] if predicted else None)
                for k, (system, texts) in enumerate(columns)
                if (text := texts[at]) is not None
            ),
        )
        for at, segment in enumerate(evalset.segments)
    ]


def _context_before(evalset: EvalSet, at: int) -> str | None:
    """Return the sources of the segments before one, of the same group."""
    groups, sources = evalset.groups, evalset.sources
    if groups is None or sources is None:
        return None
    before = [k for k in range(max(at - CONTEXT, 0), at) if groups[k] == groups[at]]
    return "\n".join(sources[k] for k in before) or None


def _predict(evalset: EvalSet, settings: ProjectSettings, progress: Progress) -> Any:
    """Return the values of the predictor, systems x segments; None without one."""
    if settings.predictor is None:
        return None
    from karat.estimation.samples import judge_values

    scales = settings.rating_scales
    dimension = scales[0]["dimension"] if scales else ""
    (predictor,) = judge_values(evalset, [settings.predictor], dimension, None, progress)
    return predictor.values.tolist()
