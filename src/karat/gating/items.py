"""Scores per item: statistics of segments, questions or other units, and where they come from."""

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
from karat.stats.units import Units


class ItemMeasure(Protocol):
    """A score that is computed from sums of rows, as by every `Metric`; `str()` is its name."""

    @property
    def sign(self) -> int:
        """1 if higher is better, -1 if lower is."""

    @property
    def full_scale(self) -> float:
        """The end of the scale, such as 1 or 100."""

    def columns(self) -> tuple[str, ...]:
        """Return the names of the numbers in a row."""

    def measure(self, rows: NDArray[Any]) -> dict[str, Floats]:
        """Return the `value` of every row or sum of rows; NaN if undefined."""

    def of_segments(self) -> ItemMeasure:
        """Return the measure that scores single items."""


class MeasuredItems(NamedTuple):
    """The statistics of all items by one measure."""

    measure: ItemMeasure
    signature: str
    """All settings that affect the numbers."""
    rows: NDArray[Any]
    """Items x columns; the row of an item without a score adds nothing."""

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
    measures: tuple[MeasuredItems, ...]
    against: str
    """Digest of what the items were scored against."""
    texts: Callable[[Sequence[int]], list[ItemText]]
    """From indices of items to their texts."""
    source: str = "texts"
    """The name of the source."""
    carried: tuple[tuple[str, ...], ...] | None = None
    """For each item the names of what it must not lose, such as nuggets; None if not applicable."""
    unit: str = "unit"
    """The noun for what is carried, such as `vital nugget`."""
    notes: tuple[str, ...] = ()
    """Sentences that qualify the numbers."""
    units: Units | None = None
    """The documents or questions that the items belong to; None if items are independent."""

    def __post_init__(self) -> None:
        if not self.ids:
            raise InputError(f"{self.system} has no items: there is nothing to compare")
        if len(set(self.ids)) < len(self.ids):
            twice = next(id for id, count in Counter(self.ids).items() if count > 1)
            problem = f"two items have the id {quoted(twice)}"
            raise InputError(f"{self.system}: {problem}: every item needs an id of its own")

    def ordered(self, places: Sequence[int]) -> ItemScores:
        """Return the items in another order."""
        chosen = list(places)
        if chosen == list(range(len(self.ids))):
            return self
        return replace(
            self,
            ids=tuple(self.ids[at] for at in chosen),
            measures=tuple(run._replace(rows=run.rows[chosen]) for run in self.measures),
            texts=lambda wanted: self.texts([chosen[at] for at in wanted]),
            carried=self.carried and tuple(self.carried[at] for at in chosen),
            units=self.units and self.units.take(chosen),
        )


def count_items(ids: Sequence[Any]) -> str:
    """The number of items in words: `1 item`, `1,200 items`."""
    return f"{len(ids):,} item{'s' * (len(ids) != 1)}"


def digest(items: Iterable[tuple[str, Any]]) -> str:
    """Return a digest of (id, content) pairs that ignores their order."""
    ordered = sorted(items, key=lambda pair: pair[0])
    return sha256(json.dumps(ordered).encode("ascii")).hexdigest()[:32]


class ScoreSource(NamedTuple):
    """A source of scores per item; functions are given as "module:function" or directly."""

    read: Any
    """From an output, its references, names of measures (None: the default ones), `progress` and
    settings to `ItemScores`."""
    options: Any = None
    """Decorator that adds the source's options to `karat gate` and passes them under the source's
    name: a mapping of settings with `against`, or None if the options were not given."""


SOURCES: Registry[ScoreSource] = Registry(
    "sources",
    "source",
    {"texts": ScoreSource("karat.gating.texts:read_texts")},
    check=make_check(lambda entry: isinstance(entry, ScoreSource), "source", "a karat.ScoreSource"),
)


def source_reader(source: str) -> Callable[..., Any]:
    """Return the function that reads the scores of a source."""
    reader: Callable[..., Any] = load(SOURCES[source].read)
    return reader


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
            advice = "leave references, metrics and settings out"
            raise InputError(f"the output is scored already, item by item: {advice}")
        return output
    read = source_reader(source)
    check_settings(item_scores, [read], settings)
    scores: ItemScores = call(
        f"source {source}",
        read,
        lambda: read(output, against, measures, progress=progress, **settings),
        expect_type(ItemScores, "ItemScores"),
    )
    return scores if scores.source == source else replace(scores, source=source)
