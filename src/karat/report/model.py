"""The parts of a report: documents of tables and figures, free of any output format."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from karat.metrics.base import Metric
from karat.registry import load
from karat.results import Cell, Column, Readers, interval_digits, people_column, program_columns
from karat.settings import unquote_value

if TYPE_CHECKING:
    from karat.report.charts.models import Chart
    from karat.report.render.text import TextLayout


WARNING = "Warning:"
"""The beginning of an important note."""
RESERVED_KEYS = frozenset({"command", "signature", "summary", "notes"})


@dataclass(frozen=True)
class Table:
    """Flat rows (NamedTuples or dictionaries) under columns that read their cells.

    A missing field, None and NaN all mean "missing".  `group` names a column whose runs of equal
    values become sub-headings where people read the table; `emphasis` holds the (row index, column
    key) pairs to stress. Some tables are for people alone, some for programs (JSON and TSV).
    A page with an answer or pictures folds tables up, unless they are `open`.
    """

    key: str
    title: str
    columns: Sequence[Column]
    rows: Sequence[Any]
    group: str | None = None
    emphasis: frozenset[tuple[int, str]] = frozenset()
    notes: tuple[str, ...] = ()
    readers: Readers = "all"
    open: bool | None = None
    lines: Callable[[Any], str] | None = None
    """The line of a row in text, never cut, instead of columns: for commands to copy."""

    def __post_init__(self) -> None:
        keys = [column.key for column in self.columns]
        if len(set(keys)) < len(keys):
            raise ValueError(f"table {self.key!r} has two columns of the same key: {keys}")
        if self.group is not None and self.group not in keys:
            raise ValueError(f"table {self.key!r} has no column {self.group!r} to group by")
        if not set(keys) - {self.group}:
            raise ValueError(f"table {self.key!r} has no column to show")

    def column(self, key: str) -> Column:
        """Return the column of a key."""
        return next(column for column in self.columns if column.key == key)

    @property
    def shown_columns(self) -> tuple[Column, ...]:
        """All columns that people read, but the one that became sub-headings."""
        return tuple(c for c in self.columns if c.readers != "programs" and c.key != self.group)


def data_table(key: str, fields: Iterable[str], rows: Sequence[Any]) -> Table:
    """Return a table for programs alone, with these fields of its rows as columns."""
    return Table(key, key, program_columns(*fields), rows, readers="programs")


Sketch: TypeAlias = "Callable[[TextLayout], list[str]]"
"""A figure drawn with letters: a function from the layout of the text to lines."""


@dataclass(frozen=True)
class Figure:
    """A picture that is drawn on demand: the model of a chart, or a function that draws it.

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
        return str(load("karat.report.charts.svg.drawings:chart_svg")(self.drawing))

    @cached_property
    def html(self) -> str:
        """The drawing for pages."""
        return self.page() if self.page else self.svg


@dataclass(frozen=True)
class Gallery:
    """Small figures side by side under one title; a page folds them up where `folded`.

    `wide` figures, such as grids, are one below the other.
    """

    title: str
    figures: tuple[Figure, ...]
    caption: str = ""
    folded: bool = False
    wide: bool = False


class TextPassage(NamedTuple):
    """A text under its label; `marks` are the parts to mark, as (start, end) in characters."""

    label: str
    text: str
    marks: tuple[tuple[int, int], ...] = ()


def reference_passages(references: Sequence[str]) -> list[TextPassage]:
    """Return the references, numbered if there are several."""
    if len(references) == 1:
        return [TextPassage("reference", references[0])]
    return [TextPassage(f"reference {n}", text) for n, text in enumerate(references, 1)]


def text_column(passages: Callable[[Any], Iterable[TextPassage]], help: str) -> Column:
    """Return the column with the passages of a row, for people."""

    def text(row: Any) -> str:
        return "\n".join(f"{passage.label}: {passage.text}" for passage in passages(row))

    return people_column("text", "Text", text, help=help, wrap=True)


class ExampleCase(NamedTuple):
    """Texts that belong together, such as a reference and two outputs, with facts about them.

    `tags` say which choices of a page's switches it belongs to; `figure` is the title of the
    figure that it leads to.
    """

    title: str
    facts: str
    passages: tuple[TextPassage, ...]
    tags: Mapping[str, str]
    figure: str = ""


@dataclass(frozen=True)
class Examples:
    """Cases as a page shows them, and the same as a table for all other formats.

    There is no table if other tables or figures contain the texts. `switches` maps the name of a
    tag to its label: a page shows the cases of one choice at a time. `marked` explains the marks.
    """

    title: str
    cases: tuple[ExampleCase, ...]
    table: Table | None
    switches: Mapping[str, str] = field(default_factory=dict)
    marked: str = "Marked: words that no reference contains as often."

    @property
    def choices(self) -> dict[str, list[str]]:
        """The choices of each switch that has several."""
        tags = {tag: [c.tags[tag] for c in self.cases if tag in c.tags] for tag in self.switches}
        return {tag: [*dict.fromkeys(v)] for tag, v in tags.items() if len(set(v)) > 1}


Block: TypeAlias = Table | Figure | Gallery | Examples


@dataclass(frozen=True)
class Document:
    """A whole report: its answer, its tables and figures, and how to make it again.

    `answer` holds the main conclusions and `basis` the data and tests behind them; both are empty
    if the numbers are inconclusive. `signatures` maps names of metrics to full signatures.
    `Result.document` fills in the command, the settings and, where they are None, signatures and
    notes.
    """

    title: str
    blocks: Sequence[Block]
    command: str = ""
    signatures: Mapping[str, str] | None = None
    notes: tuple[str, ...] | None = None
    appendix: Mapping[str, str] = field(default_factory=dict)
    """Longer texts by their titles, for pages alone."""
    answer: tuple[str, ...] = ()
    basis: str = ""
    settings: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        keys = [part.key for part in self.parts if isinstance(part, Table)]
        if len(set(keys)) < len(keys):
            raise ValueError(f"a document cannot hold two tables of the same key: {keys}")
        if reserved := RESERVED_KEYS.intersection(keys):
            raise ValueError(f"a table cannot be called {min(reserved)!r}: JSON uses that member")

    def split_notes(self) -> tuple[list[str], list[str]]:
        """Return the warnings, which are shown next to the answer, and the other notes."""
        notes = self.notes or ()
        warnings = [note for note in notes if note.startswith(WARNING)]
        return warnings, [note for note in notes if note not in warnings]

    @property
    def parts(self) -> list[Table | Figure]:
        """Tables and figures in order, including those of galleries; tables of examples last."""
        parts: list[Table | Figure] = []
        for block in sorted(self.blocks, key=lambda block: isinstance(block, Examples)):
            if isinstance(block, Gallery):
                parts += block.figures
            elif not isinstance(block, Examples):
                parts.append(block)
            elif block.table:
                parts.append(block.table)
        return parts

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables alone."""
        return tuple(part for part in self.parts if isinstance(part, Table))

    @property
    def figures(self) -> tuple[Figure, ...]:
        """The figures alone."""
        return tuple(part for part in self.parts if isinstance(part, Figure))


DASH = "\u2013"  # the en dash
MAX_ENUMERATED = 12  # items in a sentence before "and more"
MAX_PLAIN = 1e15  # larger floats have no exact decimals


def cell_text(
    cell: Cell, column: Column, quote: Callable[[str], str], missing: str = DASH, row: Any = None
) -> str:
    """Format a cell with its column's decimals and sign; strings go through the format's `quote`.

    `row` is the cell's row, for columns whose decimals depend on it.
    """
    if cell is None:
        return missing
    if isinstance(cell, str):
        return quote(cell)
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    digits = column.digits(row) if callable(column.digits) else column.digits
    if isinstance(cell, int):
        text = str(cell)
    elif math.isinf(cell):
        text = "∞" if cell > 0 else "-∞"
    elif digits is None:
        text = repr(float(cell))  # float(): a NumPy scalar's repr would name its type
    else:
        text = f"{cell:.{digits}{'f' if abs(cell) < MAX_PLAIN else 'e'}}"
    if column.positive and digits and not text.strip("0."):
        return f"<{text[:-1]}1"
    if not text.strip("-0."):
        return text.lstrip("-")  # what rounds to zero has no sign: neither -0.00 nor +0.00
    return f"+{text}" if column.signed and cell > 0 else text


class CellText(NamedTuple):
    """A cell with its column, its text and whether it is emphasized."""

    cell: Cell
    column: Column
    text: str
    is_emphasized: bool


def sections(
    table: Table, columns: Sequence[Column], quote: Callable[[str], str], missing: str = DASH
) -> Iterator[tuple[str | None, list[list[CellText]]]]:
    """Yield runs of rows with the same value of the group column, with that value as sub-heading.

    A table without groups is one section, whose sub-heading is None.
    """
    group = next((column for column in table.columns if column.key == table.group), None)
    numbered = enumerate(table.rows)
    for value, run in groupby(numbered, lambda item: group.cell(item[1]) if group else None):
        rows = []
        for index, row in run:
            cells = []
            for column in columns:
                cell, is_emphasized = column.cell(row), (index, column.key) in table.emphasis
                text = cell_text(cell, column, quote, missing, row)
                cells.append(CellText(cell, column, text, is_emphasized))
            rows.append(cells)
        yield cell_text(value, group, quote, missing) if group else None, rows


def format_brief(value: float) -> str:
    """Format a number for running text: at most three decimals, no trailing zeros."""
    return f"{value:,.3f}".rstrip("0").rstrip(".")


def format_count(count: int, noun: str) -> str:
    """Format a count with its noun: 1 word, 2 words."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def join_items(items: Sequence[str]) -> str:
    """Join items with semicolons; after a dozen, count the others."""
    n_more = len(items) - MAX_ENUMERATED
    first_items = "; ".join(items[:MAX_ENUMERATED])
    return f"{first_items}; and {n_more} more" if n_more > 0 else first_items


MAX_LISTED = 6  # names that a sentence lists before it counts the others
MAX_SENTENCES = 4  # systems or dimensions with a sentence each

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
    given_name = name.removeprefix("given:metric=").removeprefix("given:column=")
    if name.startswith("bertscore:model=") and "," not in name:
        return "BERTScore"
    return _LABELS.get(name) or unquote_value(given_name) or given_name


def clear_labels(metrics: Iterable[Metric | str]) -> dict[str, str]:
    """Return the label of each metric by name; metrics with the same label keep their names."""
    labels = {str(m): metric_label(m) for m in metrics}
    all_labels = list(labels.values())
    return {m: label if all_labels.count(label) == 1 else m for m, label in labels.items()}


def join_names(items: Sequence[str], most: int = MAX_LISTED) -> str:
    """Return `a, b and c`, or `a, b and 7 more` for many names."""
    listed = list(items) if len(items) <= most else list(items[: most - 1])
    if len(listed) < len(items):
        listed.append(f"{len(items) - len(listed):,} more")
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}"


def sentence_case(text: str) -> str:
    """Return the text with a capital at its beginning."""
    return text[:1].upper() + text[1:]


def score_digits(metric: Any) -> int:
    """Return the decimals of a score in text: one on a scale of 100, three on a scale of 1."""
    return 1 if metric.full_scale > 10 else 3


def format_interval(low: float, high: float, digits: int) -> str:
    """Format an interval for running text: `[1.2, 7.9]`."""
    return f"[{_format_plain(low, digits)}, {_format_plain(high, digits)}]"


def format_difference(delta: float, ends: tuple[float, float], digits: int) -> str:
    """Format a difference and its interval, with decimals that show on which side of 0 it is."""
    digits = interval_digits(*ends, digits)
    return f"{format_signed(delta, digits)} {format_interval(*ends, digits)}"


def format_signed(value: float, digits: int) -> str:
    """Format a difference for running text, with its sign."""
    text = _format_plain(value, digits)
    return f"+{text}" if value > 0 and text.strip("0.") else text


def _format_plain(value: float, digits: int) -> str:
    text = f"{value:,.{digits}f}"
    return text if text.strip("-0.,") else text.lstrip("-")
