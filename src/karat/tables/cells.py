"""Values of cells: numbers, marks of missing ratings, texts, lists; and profiles of columns."""

from __future__ import annotations

import ast
import datetime
import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from karat.errors import date_text
from karat.evalset.reading import parse_number
from karat.tables.names import compact, missing_marks, word_lists

_COMMA = re.compile(r"[+-]?\d+,(?:\d{1,2}|\d{4,})")
_WITH_COMMA = re.compile(r"[+-]?(?:\d+|\d{1,3}(?:\.\d{3})+)?(?:,\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_WITH_POINT = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?", re.ASCII)
_STARS = re.compile(r"[★⭐☆️\s]+")
_CHOICE = re.compile(r"(-?\d{1,3})\s*[-–—:.)=(]+\s*([^\W\d_]+)(?:[^\d]*)")
_OUT_OF = re.compile(r"(\d{1,3}(?:[.,]\d+)?)\s*/\s*([1-9]\d{0,2})", re.ASCII)
_CODE = re.compile(r"[A-Za-z]{1,4}[-_ ]?\d{1,6}|[A-Za-z][A-Za-z0-9.]{0,15}[-_#/]\d{1,6}")
_LONGEST_MARK = 40  # with spaces
_SAMPLE = 2000  # cells from which lengths are estimated
_LONGEST_LIST = 1 << 20
SHORT = 40
"""Most characters of a label."""
LONG = 25
"""Mean characters from which a column has texts, not labels."""


def is_missing(value: object) -> bool:
    """Return whether a cell is empty."""
    if value is None:
        return True
    if isinstance(value, str):
        return not value or value.isspace()
    if isinstance(value, float):
        return math.isnan(value)
    return type(value).__name__ in ("NAType", "NaTType")


def is_missing_mark(value: object) -> bool:
    """Return whether a cell of a rating is marked as missing: `N/A`, `-`, `#VALUE!` and so on."""
    return isinstance(value, str) and len(value) < _LONGEST_MARK and _is_mark(value)


@lru_cache(maxsize=4096)
def _is_mark(text: str) -> bool:
    return text.strip().lower() in missing_marks()


def parse_rating(value: object, decimal: str = "") -> float | None:
    """Return a cell as a finite number, None for other values.

    Texts may be percentages (`85 %` is 85) or stars (`★★☆`, 2), and have the decimal separator of
    their table; if it is unknown (""), also a decimal comma (`3,5`).
    """
    if isinstance(value, bool):
        return float(value)
    if not isinstance(value, str):
        number = value.item() if hasattr(value, "item") else value
        return parse_number(number)
    text = value.strip()
    if text.isdecimal() and text.isascii():
        return parse_number(text)
    if text.lower() in ("true", "false"):
        return float(text.lower() == "true")
    if text and _STARS.fullmatch(text):
        return float(sum(c in "★⭐" for c in text)) or None
    return parse_number(_with_point(text.removesuffix("%").rstrip(), decimal))


def _with_point(text: str, decimal: str) -> str:
    """Return a number without marks of thousands and with a point; "" if it is none."""
    if decimal == ",":
        is_number = _WITH_COMMA.fullmatch(text) is not None
        return text.replace(".", "").replace(",", ".") if is_number else ""
    if _WITH_POINT.fullmatch(text) and decimal == ".":
        return text.replace(",", "")
    is_unknown = not decimal and _COMMA.fullmatch(text) is not None
    return text.replace(",", ".") if is_unknown else text


def is_percentage(value: object) -> bool:
    """Return whether a cell is a number with a percent sign."""
    return isinstance(value, str) and value.rstrip().endswith("%")


def parse_choice(value: object) -> float | None:
    """Return the number at the start of a choice: `4 - good` is 4; `4-May` is a date."""
    match = _CHOICE.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None or len(match[0]) > SHORT or compact(match[2]) in word_lists()["months"]:
        return None
    return parse_number(match[1])


def parse_choices(values: Sequence[object], decimal: str = "") -> dict[str, float]:
    """Return the numbers of choices by text: `4 - good` and `4/5` are 4.

    Nothing is returned if a value is neither a choice nor a number, if most values are numbers
    alone, or if texts and numbers do not correspond one to one.
    """
    texts = {value for value in values if isinstance(value, str)}
    if all(parse_rating(text, decimal) is not None for text in texts):
        return {}
    choices = _parse_shares(values, decimal)
    if choices:
        return choices
    n_choices = 0
    for value in values:
        number = parse_choice(value)
        if number is not None:
            choices[str(value).strip()] = number
            n_choices += 1
        elif parse_rating(value, decimal) is None:
            return {}
    labels = {re.sub(r"\W+", " ", text).strip() for text in choices}
    is_unique = len({*choices.values()}) == len(choices) == len(labels)
    is_usual = 2 * n_choices > len(values) and len(choices) < max(len(values), 2)
    return choices if is_unique and is_usual else {}


def highest_rating(value: object) -> float | None:
    """Return the end of the scale that a rating names: 5 for `4/5`; None for other cells."""
    match = _OUT_OF.fullmatch(value.strip()) if isinstance(value, str) else None
    return None if match is None else float(match[2])


def _parse_shares(values: Sequence[object], decimal: str) -> dict[str, float]:
    """Return the numbers of ratings such as `4/5`; all have one scale, which numbers fit."""
    choices: dict[str, float] = {}
    highest: set[float] = set()
    numbers: list[float] = []
    for value in values:
        match = _OUT_OF.fullmatch(value.strip()) if isinstance(value, str) else None
        number = parse_rating(value if match is None else match[1], decimal)
        if number is None:
            return {}
        numbers.append(number)
        if match is not None:
            choices[str(value).strip()] = number
            highest.add(float(match[2]))
    return choices if len(highest) == 1 and max(numbers) <= max(highest) else {}


def parse_list(value: object) -> list[Any] | None:
    """Return a cell as a list; None if it is not one.

    A text may be a list in JSON or as Python prints it.
    """
    if isinstance(value, list | tuple):
        return list(value)
    if hasattr(value, "tolist") and not isinstance(value, str):
        items = value.tolist()
        return items if isinstance(items, list) else None
    if not isinstance(value, str):
        return None
    text = value.strip()
    if not (text.startswith("[") and text.endswith("]")) or len(text) > _LONGEST_LIST:
        return None
    for parse in (json.loads, ast.literal_eval, _numpy_strings):
        try:
            items = parse(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        if isinstance(items, list):
            return items
    return None


def _numpy_strings(text: str) -> list[Any]:
    """Parse strings as numpy prints them, without commas: `['a' 'b']`."""
    tree = ast.parse(text, mode="eval").body
    if not isinstance(tree, ast.List):
        raise ValueError(text)
    pieces = re.findall(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", text)
    if re.sub(r"\s+", "", "".join(pieces)) != re.sub(r"\s+", "", text)[1:-1]:
        raise ValueError(text)
    return [ast.literal_eval(piece) for piece in pieces]


def text_of(value: object) -> str | None:
    """Return a cell as text: values that are not text as JSON, None if it is missing."""
    if isinstance(value, str):
        return value if value.strip() else None
    if is_missing(value):
        return None
    if isinstance(value, datetime.date):
        return date_text(value)
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list) and value and is_messages(value):
        return text_of(value[-1]["content"])
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        return str(value)


def is_messages(value: object) -> bool:
    """Return whether a cell is a list of chat messages."""
    return isinstance(value, list) and all(
        isinstance(item, Mapping) and "role" in item and "content" in item for item in value
    )


def id_of(value: object) -> str | None:
    """Return a cell as an id or name: leading zeros stay, `3.0` of a workbook is `3`."""
    if isinstance(value, bool | str):
        text = str(value).strip()
        return (_one_line(text) if _has_line_ends(text) else text) or None
    if is_missing(value):
        return None
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    plain = text_of(value)
    return None if plain is None else _one_line(plain)


def _has_line_ends(text: str) -> bool:
    return "\n" in text or "\t" in text or "\r" in text


def _one_line(text: str) -> str:
    return re.sub(r"[\t\r\n]+", " ", text)


@dataclass(frozen=True)
class ColumnProfile:
    """The contents of one column, as far as roles depend on them."""

    name: str
    values: Sequence[Any] = field(repr=False)
    """All cells, None if missing."""
    decimal: str = ""
    """The decimal separator of numbers in texts; "" if it is unknown."""

    @cached_property
    def present(self) -> list[Any]:
        """Cells that are not missing."""
        return [value for value in self.values if not is_missing(value)]

    @property
    def is_empty(self) -> bool:
        """Whether all cells are missing."""
        return not self.present

    @property
    def is_full(self) -> bool:
        """Whether no cell is missing."""
        return len(self.present) == len(self.values)

    @cached_property
    def distinct(self) -> dict[str, int]:
        """The distinct cells as text, with their numbers."""
        return dict(Counter(key or "" for key in self.keys if key is not None))

    @cached_property
    def keys(self) -> list[str | None]:
        """All cells as ids or names."""
        return [id_of(value) for value in self.values]

    @property
    def is_unique(self) -> bool:
        """Whether every cell differs from all others."""
        return len(self.distinct) == len(self.values)

    @cached_property
    def numbers(self) -> list[float]:
        """The cells as numbers; empty if a cell is not a number, nor marked as missing."""
        first = next((value for value in self.present if not is_missing_mark(value)), None)
        if isinstance(first, str) and len(first) > SHORT:
            return []
        choices = self.choices
        numbers: list[float] = []
        for value in self.present:
            number = choices.get(value.strip()) if choices and isinstance(value, str) else None
            number = parse_rating(value, self.decimal) if number is None else number
            if number is not None:
                numbers.append(number)
            elif not is_missing_mark(value):
                return []
        return numbers

    @cached_property
    def choices(self) -> dict[str, float]:
        """The numbers of cells such as `4 - good` or `4/5`."""
        cells = [value for value in self.present if not is_missing_mark(value)]
        return parse_choices(cells, self.decimal)

    @property
    def is_numeric(self) -> bool:
        """Whether the cells are numbers."""
        return bool(self.numbers)

    @cached_property
    def number_share(self) -> float:
        """Share of numbers among the cells that are not marked as missing."""
        cells = [value for value in self.present[:_SAMPLE] if not is_missing_mark(value)]
        n_numbers = sum(parse_rating(value, self.decimal) is not None for value in cells)
        return n_numbers / max(len(cells), 1)

    @property
    def is_boolean(self) -> bool:
        """Whether the cells are truth values, or `true` and `false`."""
        return bool(self.present) and all(
            isinstance(value, bool)
            or (isinstance(value, str) and value.strip().lower() in ("true", "false"))
            for value in self.present
        )

    @cached_property
    def is_list(self) -> bool:
        """Whether the cells are lists, or texts of lists."""
        return bool(self.present) and all(parse_list(value) is not None for value in self.present)

    @cached_property
    def is_nested(self) -> bool:
        """Whether the cells are objects."""
        return bool(self.present) and all(isinstance(value, Mapping) for value in self.present)

    @cached_property
    def mean_length(self) -> float:
        """Mean number of characters."""
        lengths = [len(text_of(value) or "") for value in self.present[:_SAMPLE]]
        return sum(lengths) / max(len(lengths), 1)

    @cached_property
    def mean_words(self) -> float:
        """Mean number of words."""
        words = [len((text_of(value) or "").split()) for value in self.present[:_SAMPLE]]
        return sum(words) / max(len(words), 1)

    @property
    def is_text(self) -> bool:
        """Whether the cells are texts, neither numbers nor a few labels."""
        if self.is_empty or self.is_numeric or self.is_nested or self.is_boolean or self.is_list:
            return False
        return self.mean_length >= LONG or (self.mean_words > 2 and not self.is_label)

    @cached_property
    def is_label(self) -> bool:
        """Whether the cells are short and repeat."""
        n_labels, n_texts = len(self.distinct), len(self.present)
        is_short = all(len(text) <= SHORT for text in self.distinct)
        return (
            bool(n_texts) and is_short and n_labels < n_texts and n_labels <= max(2, n_texts // 2)
        )

    @cached_property
    def is_code(self) -> bool:
        """Whether the cells are codes: letters and a number, such as `P01` or `run2-7`."""
        codes = [str(value).strip() for value in self.present]
        return len(codes) > 1 and all(map(_CODE.fullmatch, codes))

    @property
    def has_small_numbers(self) -> bool:
        """Whether the numbers may be ratings: a few values, or within 0 to 100."""
        if not self.is_numeric:
            return False
        low, high = min(self.numbers), max(self.numbers)
        return low >= -100 and high <= 100

    @property
    def is_whole(self) -> bool:
        """Whether the numbers are integers."""
        return self.is_numeric and all(number.is_integer() for number in self.numbers)


def profile_columns(
    columns: Sequence[str], records: Sequence[Mapping[str, Any]], decimal: str = ""
) -> dict[str, ColumnProfile]:
    """Return the profile of each column."""
    return {
        name: ColumnProfile(name, [record.get(name) for record in records], decimal)
        for name in columns
    }
