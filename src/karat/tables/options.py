"""What a user says about a table where it cannot be known: settings, and options of commands."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from karat.headings import TABLES
from karat.settings import NamedTexts, Settings, setting

REPEATS = {
    "answers": "every row is another answer",
    "first": "the first row counts",
    "last": "the last row counts",
}
"""Rows of one system with the same id, and what is done with them."""


def named_texts_setting(option: str, help: str, metavar: str) -> Any:
    more: dict[str, Any] = {"heading": TABLES, "metavar": metavar}
    return setting(
        NamedTexts(), f"{help} Repeat for several.", kind=NamedTexts, option=option, **more
    )


def text_setting(option: str, help: str, metavar: str | None = None, **more: Any) -> Any:
    return setting(None, help, kind=str, option=option, heading=TABLES, metavar=metavar, **more)


@dataclass(frozen=True)
class ReadingOptions(Settings):
    """How to read a table; by default everything is detected."""

    columns: NamedTexts = named_texts_setting(  # noqa: RUF009 - a field
        "--column columns",
        "Column of a role, such as reference=gold; several are separated by commas. Roles: "
        "candidate, reference, id, system, source, question, contexts, unit, judge, dimension and "
        "score; `records` is the path of the records in a JSON file.",
        "ROLE=COLUMN",
    )
    skip_missing: bool = setting(
        False,
        "Skip rows whose candidate or reference is missing, and count them. Default: refuse.",
        option="--skip-missing",
        heading=TABLES,
    )
    repeats: str | None = text_setting(
        "--repeats",
        "Rows of one system with the same id: several answers, or the first or last row counts. "
        "Default: answers if every id has equally many, else refused.",
        choices=REPEATS,
    )
    scale: NamedTexts = named_texts_setting(  # noqa: RUF009 - a field
        "--scale",
        "Scale of a rating: fluency=1..5, errors=5..1 if lower is better, quality=bad,ok,good for "
        "words. Default: detected.",
        "DIMENSION=SCALE",
    )
    sheet: str | None = text_setting(
        "--sheet", "Sheet of a workbook; `*` takes every sheet as a system.", "NAME"
    )
    header: str | None = text_setting(
        "--header", "Row of the header, from 1; 1-2 for several; none for no header.", "ROW"
    )
    encoding: str | None = text_setting("--encoding", "Encoding of a text file.", "NAME")
    separator: str | None = text_setting(
        "--separator", "Separator of fields: a character, or tab.", "C"
    )
    decimal: str | None = text_setting(
        "--decimal", "Decimal separator of numbers.", choices=(".", ",")
    )
    schema: str | None = text_setting(
        "--schema", "Tool that exported the table (`karat data list`); none for no tool.", "NAME"
    )

    def texts(self) -> tuple[str, ...]:
        """Return the options that differ from their defaults as NAME=VALUE."""
        texts: list[str] = []
        for f in fields(self):
            value = getattr(self, f.name)
            if isinstance(value, NamedTexts):
                texts += [f"{f.name}={name}={text}" for name, text in value.items()]
            elif value != f.default:
                texts.append(f"{f.name}={'yes' if value is True else value}")
        return tuple(texts)
