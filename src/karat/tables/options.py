"""Settings for reading a table where its contents do not decide; the commands' options follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

from karat.errors import InputError, quoted
from karat.headings import TABLES
from karat.settings import NamedTexts, Settings, setting

REPEATS = {
    "answers": "every row is another answer",
    "first": "the first row counts",
    "last": "the last row counts",
}
"""Meanings of rows of one system with the same id."""
ColumnNames: TypeAlias = Mapping[str, str | Sequence[str]] | Sequence[str] | str
"""Columns by role, or texts such as `candidate=text`."""
ScaleTexts: TypeAlias = Mapping[str, str] | Sequence[str] | str
"""Scales by dimension, or texts such as `fluency=1..5`; `1..5` is the scale of all."""


def named_texts_setting(option: str, help: str, metavar: str) -> Any:
    """Return a setting that maps names to texts, and its repeated option."""
    more: dict[str, Any] = {"heading": TABLES, "metavar": metavar}
    return setting(
        NamedTexts(), f"{help} Repeat for several.", kind=NamedTexts, option=option, **more
    )


def text_setting(option: str, help: str, metavar: str | None = None, **more: Any) -> Any:
    """Return a setting that is a text or None, and its option."""
    return setting(None, help, kind=str, option=option, heading=TABLES, metavar=metavar, **more)


@dataclass(frozen=True)
class ReadingOptions(Settings):
    """Settings for reading a table; by default everything is detected."""

    columns: NamedTexts = named_texts_setting(  # noqa: RUF009 - a field
        "--column columns",
        "Column of a role, such as reference=gold; separate several by commas. Roles: candidate, "
        "reference, id, system, source, question, contexts, unit, judge, dimension, score (a "
        "rating), metric (any other number), winner (of two systems), epoch (the number of a "
        "repeated answer) and ignore. "
        "records=PATH is where a JSON file has its records.",
        "ROLE=COLUMN",
    )
    skip_missing: bool = setting(
        False,
        "Leave out rows without a candidate or a reference, and count them. Default: refuse to "
        "score such a table.",
        option="--skip-missing",
        heading=TABLES,
    )
    repeats: str | None = text_setting(
        "--repeated-ids repeated_ids",
        "Meaning of rows of one system with the same id: several answers, or only the first or "
        "last row counts. Default: answers if all ids have as many rows, else refused.",
        choices=REPEATS,
    )
    scale: NamedTexts = named_texts_setting(  # noqa: RUF009 - a field
        "--rating-scale rating_scale",
        "Scale of a rating: fluency=1..5, errors=5..1 if lower is better, or words from the lowest "
        "to the highest, quality=bad,ok,good. Default: detected.",
        "DIMENSION=SCALE",
    )
    sheet: str | None = text_setting(
        "--sheet",
        "Sheet of a workbook; `*` reads every sheet as a system. Default: the only table.",
        "NAME",
    )
    header: str | None = text_setting(
        "--header",
        "Row of the header, counted from 1, or rows such as 1-2; `none` if there is no header. "
        "Default: detected.",
        "ROW",
    )
    encoding: str | None = text_setting(
        "--encoding", "Encoding of a text file, such as cp1252. Default: detected.", "NAME"
    )
    separator: str | None = text_setting(
        "--separator", "Separator of fields: a character, or `tab`. Default: detected.", "C"
    )
    decimal: str | None = text_setting(
        "--decimal", "Decimal separator of numbers. Default: detected.", choices=(".", ",")
    )
    schema: str | None = text_setting(
        "--schema",
        "Tool that exported the table, such as ragas; `none` for no tool. Default: detected.",
        "NAME",
    )

    @classmethod
    def parse(
        cls,
        columns: ColumnNames | None = None,
        scale: ScaleTexts | None = None,
        header: str | int | None = None,
        skip_missing: bool | str = False,
        **settings: Any,
    ) -> ReadingOptions:
        """Return settings in the forms that Python functions and `--option` accept."""
        if isinstance(skip_missing, str):
            if skip_missing.lower() not in ("yes", "no", "true", "false"):
                raise InputError(f"skip_missing={skip_missing}: expected yes or no")
            skip_missing = skip_missing.lower() in ("yes", "true")
        if isinstance(header, bool | float):
            raise InputError(f"header={header}: expected a row such as 1, rows 1-2, or none")
        return cls(
            columns=NamedTexts() if not columns else _columns_by_role(columns),
            scale=NamedTexts() if not scale else _scales_by_dimension(scale),
            header=None if header is None else str(header),
            skip_missing=skip_missing,
            **settings,
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


def _columns_by_role(columns: ColumnNames) -> NamedTexts:
    if isinstance(columns, Mapping):
        for role, names in columns.items():
            _check_texts(f"columns: {role}", names)
        return NamedTexts(
            (str(role), names if isinstance(names, str) else ",".join(names))
            for role, names in columns.items()
        )
    _check_texts("columns", columns)
    by_role: dict[str, str] = {}
    for text in [columns] if isinstance(columns, str) else columns:
        role, equals, column = str(text).partition("=")
        if not (role and equals and column):
            raise InputError(f"columns: found {quoted(text)}, expected ROLE=COLUMN")
        by_role[role] = f"{by_role[role]},{column}" if role in by_role else column
    return NamedTexts(by_role)


def _check_texts(title: str, value: object) -> None:
    """Refuse a value that is neither a text nor a list of texts."""
    is_texts = isinstance(value, list | tuple) and all(isinstance(text, str) for text in value)
    if not isinstance(value, str) and not (value and is_texts):
        raise InputError(f"{title}={quoted(value)}: expected a text or a list of texts")


def _scales_by_dimension(scales: ScaleTexts) -> NamedTexts:
    """Return scales by dimension; the key of a scale for all dimensions is `*`."""
    if isinstance(scales, Mapping):
        return NamedTexts(scales)
    _check_texts("scale", scales)
    texts = [scales] if isinstance(scales, str) else scales
    pairs = [text.partition("=") for text in texts]
    return NamedTexts((name, scale) if equals else ("*", name) for name, equals, scale in pairs)
