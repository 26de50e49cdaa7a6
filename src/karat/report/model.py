"""The parts of a report: documents of tables and figures, free of any output format."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from karat.metrics.base import Metric

if TYPE_CHECKING:
    from karat.report.charts.models import Chart
    from karat.report.render.text import Sheet


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


Sketch: TypeAlias = "Callable[[Sheet], list[str]]"
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


DASH = "\u2013"  # the en dash
MAX_ENUMERATED = 12  # items that a sentence enumerates before it says "and more"
LONGEST_PLAIN = 1e15  # beyond it a float has no true decimals, only a long row of digits


def is_missing(cell: Cell) -> bool:
    """Return whether there is no value: None or NaN; an infinity is a value."""
    return cell is None or (isinstance(cell, float) and math.isnan(cell))


def cell_text(cell: Cell, column: Column, quote: Callable[[str], str], missing: str = DASH) -> str:
    """The cell as its column wants it, with strings passed through the format's own `quote`."""
    if cell is None or is_missing(cell):
        return missing
    return quote(cell) if isinstance(cell, str) else number_text(cell, column)


class Shown(NamedTuple):
    """A cell, its column, how it reads, and whether it is stressed."""

    cell: Cell
    column: Column
    text: str
    stressed: bool


def sections(
    table: Table, columns: Sequence[Column], quote: Callable[[str], str], missing: str = DASH
) -> Iterator[tuple[str | None, list[list[Shown]]]]:
    """Runs of rows that agree on the group column, each after its sub-heading.

    A table without groups is one section, whose sub-heading is None.
    """
    group = next((column for column in table.columns if column.key == table.group), None)

    def key(numbered: tuple[int, Row]) -> Cell:
        value = numbered[1].get(group.key) if group else None
        return None if is_missing(value) else value  # NaN differs from itself, missing does not

    def shown(index: int, row: Row, column: Column) -> Shown:
        cell, stressed = row.get(column.key), (index, column.key) in table.emphasis
        return Shown(cell, column, cell_text(cell, column, quote, missing), stressed)

    for value, run in groupby(enumerate(table.rows), key):
        rows = [[shown(index, row, column) for column in columns] for index, row in run]
        yield cell_text(value, group, quote, missing) if group else None, rows


def number_text(value: float, column: Column) -> str:
    """A number with the column's decimals and sign, a truth value as yes or no."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    decimals = value.digits if isinstance(value, Decimals) else column.digits
    digits = _digits_of(value, decimals)
    if column.positive and decimals and not digits.strip("0."):
        return f"<{digits[:-1]}1"
    if not digits.strip("-0."):
        return digits.lstrip("-")  # what rounds to zero has no sign: neither -0.00 nor +0.00
    return f"+{digits}" if column.signed and value > 0 else digits


def brief(value: float) -> str:
    """A number in running text: at most three decimals, and none that are zero."""
    return f"{value:,.3f}".rstrip("0").rstrip(".")


def several(count: int, noun: str) -> str:
    """A count with its noun: 1 word, 2 words."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def enumeration(items: Sequence[str]) -> str:
    """The items in one sentence, the first dozen by name."""
    rest = len(items) - MAX_ENUMERATED
    named = "; ".join(items[:MAX_ENUMERATED])
    return f"{named}; and {rest} more" if rest > 0 else named


def _digits_of(value: float, decimals: int | None) -> str:
    if isinstance(value, int):
        return str(value)
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if decimals is None:
        return repr(float(value))  # float(): a NumPy scalar's repr would name its type
    kind = "f" if abs(value) < LONGEST_PLAIN else "e"
    return f"{value:.{decimals}{kind}}"


MAX_LISTED = 6  # names that a sentence lists before it counts the others

_LABELS = {
    "bleu": "BLEU",
    "bleu:eff=yes": "sentence BLEU",
    "chrf": "chrF",
    "chrf:words=2": "chrF++",
    "ter": "TER",
    "aev": "AEv",
    "gtm": "GTM",
    "pem": "PEM",
    "words": "word overlap",
    "rougeL": "ROUGE-L",
    "rougeLsum": "ROUGE-Lsum",
    "rougeW": "ROUGE-W",
} | {f"rouge{n}": f"ROUGE-{n}" for n in range(1, 5)}


def metric_label(metric: Metric | str) -> str:
    """Return the usual name of a metric with its defaults, else its name with its settings."""
    name = str(metric)
    return _LABELS.get(name, name.removeprefix("given:metric="))


def clear_labels(metrics: Iterable[Metric | str]) -> dict[str, str]:
    """Return the label of each metric by its name; those that would share one keep their names."""
    labels = {str(m): metric_label(m) for m in metrics}
    taken = list(labels.values())
    return {m: label if taken.count(label) == 1 else m for m, label in labels.items()}


def listing(items: Sequence[str], most: int = MAX_LISTED) -> str:
    """Return `a, b and c`, or `a, b and 7 more` where there are many."""
    shown = list(items) if len(items) <= most else list(items[: most - 1])
    if len(shown) < len(items):
        shown.append(f"{len(items) - len(shown):,} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def sentence_case(text: str) -> str:
    """Return the text with a capital at its beginning."""
    return text[:1].upper() + text[1:]


def score_digits(metric: Metric) -> int:
    """Decimals of a score in running text: one on a scale of 100, three on a scale of 1."""
    return 1 if metric.full_scale > 10 else 3


def span(low: float, high: float, digits: int) -> str:
    """An interval in running text: `[1.2, 7.9]`."""
    return f"[{_plain(low, digits)}, {_plain(high, digits)}]"


def signed(value: float, digits: int) -> str:
    """A difference in running text, with its sign."""
    text = _plain(value, digits)
    return f"+{text}" if value > 0 and text.strip("0.") else text


def _plain(value: float, digits: int) -> str:
    text = f"{value:,.{digits}f}"
    return text if text.strip("-0.,") else text.lstrip("-")
