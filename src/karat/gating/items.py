"""Scores per item: statistics of segments, questions or whatever a source scores one by one."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, NamedTuple, Protocol

from karat.arrays import Floats, NDArray
from karat.errors import InputError, quoted
from karat.progress import Progress, silent
from karat.registry import Registry, call, expect_type, load, make_check
from karat.settings import check_settings


class Measure(Protocol):
    """A score that is made from sums of rows; every `Metric` is one. Its string is its name."""

    @property
    def sign(self) -> int:
        """1 if higher is better, -1 if lower is."""

    @property
    def full_scale(self) -> float:
        """The end of the scale, such as 1 or 100."""

    def columns(self) -> tuple[str, ...]:
        """Return the names of the numbers in a row."""

    def measure(self, rows: NDArray[Any]) -> dict[str, Floats]:
        """Return the value, under `value`, of every (sum of) row(s); NaN where there is none."""

    def of_segments(self) -> Measure:
        """Return the measure that scores single items."""


class Measured(NamedTuple):
    """The statistics of all items by one measure."""

    measure: Measure
    signature: str
    """All settings that change the numbers."""
    rows: NDArray[Any]
    """Items x columns; an item without a score has a row that adds nothing."""

    @property
    def name(self) -> str:
        """The measure's name."""
        return str(self.measure)

    def item_values(self) -> Floats:
        """Return the score of every item; NaN where there is none."""
        return self.measure.of_segments().measure(self.rows)["value"]


class ItemText(NamedTuple):
    """Texts of an item, for reports."""

    output: str
    reference: str
    references: tuple[str, ...] | None = None
    """All references that the item is scored against; None if `reference` is the only one."""


@dataclass(frozen=True, eq=False)
class ItemScores:
    """The scores of one system, item by item."""

    system: str
    ids: tuple[str, ...]
    measures: tuple[Measured, ...]
    against: str
    """Digest of what the items were scored against."""
    texts: Callable[[Sequence[int]], list[ItemText]]
    """From places of items to their texts."""
    source: str = "texts"
    """The name of the source."""
    carried: tuple[tuple[str, ...], ...] | None = None
    """For each item the names of what it carries and should not lose; None if there is no such."""
    unit: str = "unit"
    """The word for what is carried, such as `vital nugget`."""
    notes: tuple[str, ...] = ()
    """Sentences that a reader of the numbers should know."""

    def __post_init__(self) -> None:
        if not self.ids:
            raise InputError(f"{self.system} has no items: there is nothing to compare")
        if len(set(self.ids)) < len(self.ids):
            twice = next(id for id, count in Counter(self.ids).items() if count > 1)
            told = f"two items have the id {quoted(twice)}"
            raise InputError(f"{self.system}: {told}: every item needs an id of its own")

    def ordered(self, places: Sequence[int]) -> ItemScores:
        """Return the items in another order."""
        chosen = list(places)
        if chosen == list(range(len(self.ids))):
            return self
        return replace(
            self,
            ids=tuple(self.ids[at] for at in chosen),
            measures=tuple(one._replace(rows=one.rows[chosen]) for one in self.measures),
            texts=lambda wanted: self.texts([chosen[at] for at in wanted]),
            carried=self.carried and tuple(self.carried[at] for at in chosen),
        )


def items_of(ids: Sequence[Any]) -> str:
    """The number of items in words: `1 item`, `1,200 items`."""
    return f"{len(ids):,} item{'s' * (len(ids) != 1)}"


def digest(items: Iterable[tuple[str, Any]]) -> str:
    """Return a digest of pairs of id and content, whatever their order."""
    ordered = sorted(items, key=lambda pair: pair[0])
    return sha256(json.dumps(ordered).encode("ascii")).hexdigest()[:32]


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
    check=make_check(lambda found: isinstance(found, Source), "source", "a karat.Source"),
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
        expect_type(ItemScores, "ItemScores"),
    )
    return found if found.source == source else replace(found, source=source)
