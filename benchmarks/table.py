"""The table: one row per piece of work, as text and as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

HEADINGS = ("work", "karat", "peer", "ratio", "target", "reached")


@dataclass(frozen=True)
class Row:
    """A measurement: the task, its cost, and the target, if any."""

    work: str
    karat: str
    peer: str = ""
    ratio: float | None = None
    unit: str = "x"
    at_most: float | None = None
    at_least: float | None = None
    note: str = ""

    @property
    def target(self) -> str:
        """What is to be reached."""
        if self.at_most is not None:
            return f"<= {self.at_most:g}{self.unit}"
        return "" if self.at_least is None else f">= {self.at_least:g}{self.unit}"

    @property
    def reached(self) -> bool | None:
        """Whether the target is reached; None without a target."""
        if self.ratio is None or not self.target:
            return None
        if self.at_most is not None:
            return self.ratio <= self.at_most
        return self.at_least is not None and self.ratio >= self.at_least

    def cells(self) -> list[str]:
        """The row as it is shown."""
        ratio = "" if self.ratio is None else f"{self.ratio:.3g}{self.unit}"
        answer = {None: "", True: "yes", False: "NO"}[self.reached]
        return [self.work, self.karat, self.peer, ratio, self.target, answer]

    def record(self) -> dict[str, Any]:
        """The row as JSON holds it."""
        return asdict(self) | {"target": self.target, "reached": self.reached}


def duration(seconds: float) -> str:
    """A time in a unit that suits it."""
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1000:.1f} ms"


def text(rows: Sequence[Row]) -> str:
    """The table for a terminal, notes below."""
    lines = [list(HEADINGS), *(row.cells() for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEADINGS))]
    table_lines = [
        "  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) for line in lines
    ]
    table_lines.insert(1, "  ".join("-" * width for width in widths))
    notes = [f"- {row.work}: {row.note}" for row in rows if row.note]
    return "\n".join([line.rstrip() for line in table_lines] + ([""] if notes else []) + notes)


def markdown(rows: Sequence[Row], facts: Iterable[tuple[str, str]]) -> str:
    """The table, notes and machine for docs/lab/benchmarks.md."""
    head = ["| " + " | ".join(HEADINGS) + " |", "|" + "---|" * len(HEADINGS)]
    body = ["| " + " | ".join(row.cells()) + " |" for row in rows]
    notes = [f"- {row.work}: {row.note}" for row in rows if row.note]
    machine = [f"- {name}: {value}" for name, value in facts]
    return "\n".join([*head, *body, "", *notes, "", "Measured on:", "", *machine, ""])
