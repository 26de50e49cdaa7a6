"""Sources of scores per item: texts with metrics here, others by the registry `sources`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from karat.errors import InputError
from karat.gating.items import ItemScores
from karat.progress import Progress, silent
from karat.registry import Registry, call, check_that, load, returned
from karat.settings import check_settings


class Source(NamedTuple):
    """A source of scores per item, its functions as "module:function" or themselves."""

    read: Any
    """From an output, what it is scored against, names of measures (None: the usual ones),
    `progress` and settings to `ItemScores`."""
    options: Any = None
    """Decorator that adds the source's options to `karat gate` and passes them under the source's
    name: a mapping of settings with `against`, or None if the options were not given."""


SOURCES: Registry[Source] = Registry(
    "sources",
    "source",
    {"texts": Source("karat.gating.texts:read_texts")},
    check=check_that(lambda found: isinstance(found, Source), "source", "a karat.Source"),
)


def source_reader(source: str) -> Callable[..., Any]:
    """Return the function that reads the scores of a source."""
    found: Callable[..., Any] = load(SOURCES[source].read)
    return found


def item_scores(
    output: Any,
    against: Any = None,
    measures: Sequence[Any] | str | None = None,
    *,
    source: str = "texts",
    progress: Progress = silent,
    **settings: Any,
) -> ItemScores:
    """Return the scores of an output, item by item.

    Args:
        output: output of one system, in the form that the source takes.
        against: references for texts, an answer key for nuggets.
        measures: metrics, by default those of the source.
        source: `texts`, `nuggets` or another registered source.
        progress: function that is called with the progress.
        settings: settings of the source.
    """
    if isinstance(output, ItemScores):
        if against is not None or measures is not None or settings:
            given = "leave references, metrics and settings out"
            raise InputError(f"the output is scored already, item by item: {given}")
        return output
    check_settings(item_scores, [source_reader(source)], settings)
    read = load(SOURCES[source].read)
    found: ItemScores = call(
        f"source {source}",
        read,
        lambda: read(output, against, measures, progress=progress, **settings),
        returned(ItemScores, "ItemScores"),
    )
    return found if found.source == source else replace(found, source=source)
