"""The parts of a report: documents of tables and figures, free of any output format."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from karat.report.render.terminal import Sheet

if TYPE_CHECKING:
    from karat.report.charts.models import Chart


class Decimals(float):
    """A number with its own decimals, where the metrics in one column are on different scales."""

    digits: int

    def __new__(cls, value: float, digits: int) -> Decimals:
        """The number `value`, to be read with so many decimals."""
        made = super().__new__(cls, value)
        made.digits = digits
        return made


class Link(str):
    """Words that lead to the figure of a title where the report is a page."""

    figure: str
    __slots__ = ("figure",)

    def __new__(cls, words: str, figure: str) -> Link:
        """The words, and the title of a figure in the same document."""
        made = super().__new__(cls, words)
        made.figure = figure
        return made


Cell: TypeAlias = str | int | float | bool | None
Row: TypeAlias = Mapping[str, Cell]

Readers: TypeAlias = Literal["all", "people", "programs"]
Align: TypeAlias = Literal["left", "right"]

WARNING = "Warning:"
"""The beginning of a note that a reader must not miss."""
RESERVED_KEYS = frozenset({"command", "signature", "summary", "notes"})


@dataclass(frozen=True)
class Column:
    """One column of a table.

    `key` names it in JSON and TSV, `title` is what a reader sees.  `digits` are the decimals of
    floats where people read them (None shows every digit); JSON and TSV always get the full value.
    Where `positive`, what rounds to zero is written as below the last digit: <0.0001.
    Text that does not fit a terminal is cut, or goes on in further lines with `wrap`. Some columns
    are for people alone, some for programs (JSON and TSV). A page shows a column of `detail` only
    on demand, and offers the values of a `filter` column to choose rows by.
    """

    key: str
    title: str
    digits: int | None = None
    align: Align = "left"
    help: str = ""
    signed: bool = False
    positive: bool = False
    wrap: bool = False
    readers: Readers = "all"
    detail: bool = False
    filter: bool = False


def columns(readers: Readers = "all", align: Align = "left", **titles: str) -> tuple[Column, ...]:
    """Columns that have a key and a title alone."""
    return tuple(Column(key, t, align=align, readers=readers) for key, t in titles.items())


@dataclass(frozen=True)
class Table:
    """Flat rows under named columns.

    A missing key, None and NaN all mean "missing".  `group` names a column whose runs of equal
    values become sub-headings where people read the table; `emphasis` holds the (row index, column
    key) pairs to stress. Some tables are for people alone, some for programs (JSON and TSV).
    A page folds tables up below its answer and pictures, unless `open` says otherwise.
    """

    key: str
    title: str
    columns: tuple[Column, ...]
    rows: Sequence[Row]
    group: str | None = None
    emphasis: frozenset[tuple[int, str]] = frozenset()
    notes: tuple[str, ...] = ()
    readers: Readers = "all"
    open: bool | None = None

    def __post_init__(self) -> None:
        keys = [column.key for column in self.columns]
        if len(set(keys)) < len(keys):
            raise ValueError(f"table {self.key!r} has two columns of the same key: {keys}")
        if self.group is not None and self.group not in keys:
            raise ValueError(f"table {self.key!r} has no column {self.group!r} to group by")
        if not set(keys) - {self.group}:
            raise ValueError(f"table {self.key!r} has no column to show")

    @property
    def shown(self) -> tuple[Column, ...]:
        """All columns that people read, but the one that became sub-headings."""
        return tuple(c for c in self.columns if c.readers != "programs" and c.key != self.group)


Sketch: TypeAlias = Callable[[Sheet], list[str]]
"""A figure drawn with letters: from the sheet it is for to its lines."""


@dataclass(frozen=True)
class Figure:
    """A picture that is drawn when a renderer asks for it: the model of a chart, or what draws it.

    `sketch` draws it in a terminal, where a figure without one is left out. A page shows what
    `page` makes instead of the drawing, and instead of the tables whose keys it `covers`, and runs
    `script`, a file of the package.
    """

    title: str
    drawing: Chart | Callable[[], str]
    caption: str = ""
    sketch: Sketch | None = None
    page: Callable[[], str] | None = None
    script: str = ""
    covers: tuple[str, ...] = ()

    @cached_property
    def svg(self) -> str:
        """The drawing: trusted markup."""
        if callable(self.drawing):
            return self.drawing()
        from karat.report.charts.svg.drawings import chart_svg

        return chart_svg(self.drawing)

    @cached_property
    def html(self) -> str:
        """The drawing for pages."""
        return self.page() if self.page else self.svg


@dataclass(frozen=True)
class Gallery:
    """Small figures side by side under one title; a page folds them up where `folded`.

    Figures of their own sizes, such as grids, stand one below the other: `wide`.
    """

    title: str
    figures: tuple[Figure, ...]
    caption: str = ""
    folded: bool = False
    wide: bool = False


class Passage(NamedTuple):
    """A text under its label; `marks` are the parts to mark, as (start, end) in characters."""

    label: str
    text: str
    marks: tuple[tuple[int, int], ...] = ()


class Case(NamedTuple):
    """Texts that belong together, such as a reference and two outputs, with facts about them.

    `tags` say which choices of a page's switches it belongs to; `figure` is the title of the
    figure that it leads to.
    """

    title: str
    facts: str
    passages: tuple[Passage, ...]
    tags: Mapping[str, str]
    figure: str = ""


@dataclass(frozen=True)
class Examples:
    """Cases as a page shows them, and the same as a table for all other formats.

    `switches` maps the name of a tag to its label: a page shows the cases of one choice at a time.
    `marked` says what the marks mean.
    """

    title: str
    cases: tuple[Case, ...]
    table: Table
    switches: Mapping[str, str] = field(default_factory=dict)
    marked: str = "Marked: words that no reference contains as often."


@dataclass(frozen=True)
class Texts:
    """Cases for pages alone: texts that other formats have in their figures or tables."""

    title: str
    cases: tuple[Case, ...]
    switches: Mapping[str, str] = field(default_factory=dict)
    marked: str = "Marked: words without a match."


Block: TypeAlias = Table | Figure | Gallery | Examples | Texts


@dataclass(frozen=True)
class Document:
    """A whole report: its answer, its tables and figures, and how to make it again.

    `answer` are the sentences that the reader came for, `basis` is what they rest on; both are
    empty where the numbers say nothing. `signatures` maps the short name of each metric to its full
    signature.
    """

    title: str
    blocks: tuple[Block, ...]
    command: str
    signatures: Mapping[str, str]
    notes: tuple[str, ...] = ()
    appendix: Mapping[str, str] = field(default_factory=dict)
    """Longer texts by their titles, for pages alone."""
    answer: tuple[str, ...] = ()
    basis: str = ""

    def __post_init__(self) -> None:
        keys = [table.key for table in self.tables]
        if len(set(keys)) < len(keys):
            raise ValueError(f"a document cannot hold two tables of the same key: {keys}")
        if taken := RESERVED_KEYS.intersection(keys):
            raise ValueError(f"a table cannot be called {min(taken)!r}: JSON uses that member")

    @property
    def warnings(self) -> tuple[str, ...]:
        """The notes that stand beside the answer."""
        return tuple(note for note in self.notes if note.startswith(WARNING))

    @property
    def remarks(self) -> tuple[str, ...]:
        """The other notes."""
        return tuple(note for note in self.notes if not note.startswith(WARNING))

    @property
    def parts(self) -> list[Table | Figure]:
        """Tables and figures in order, those of galleries one by one; tables of examples last."""
        shown = sorted(self.blocks, key=lambda block: isinstance(block, Examples))
        return [part for block in shown for part in _parts(block)]

    @property
    def for_people(self) -> list[Table | Figure]:
        """The tables and figures that people read, in order."""
        return [b for b in self.parts if isinstance(b, Figure) or b.readers != "programs"]

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables alone."""
        return tuple(part for part in self.parts if isinstance(part, Table))

    @property
    def figures(self) -> tuple[Figure, ...]:
        """The figures alone."""
        return tuple(part for part in self.parts if isinstance(part, Figure))


def _parts(block: Block) -> Sequence[Table | Figure]:
    if isinstance(block, Gallery):
        return block.figures
    if isinstance(block, Texts):
        return ()
    return [block.table] if isinstance(block, Examples) else [block]
