"""Tables that compare two systems in each row.

    question, model_a, model_b, response_a, response_b, winner     systems named in the row
    question, response_a, response_b, winner                       a system for each column

The first kind becomes a record for each of the two outputs. The winner is a side (`a`, `model_b`,
`left`), the name of a system or a column, or a tie; other values are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from karat.errors import InputError, quoted, short
from karat.tables.cells import ColumnProfile, id_of, is_messages, is_missing, profile_columns
from karat.tables.files import InputTable
from karat.tables.names import compact, find_phrase, role_rank, sides, split_words, word_lists
from karat.tables.options import ReadingOptions

_LONGEST_NAME = 60
_FILLERS = frozenset(
    [
        *("is", "was", "better", "best", "wins", "won", "much", "slightly", "clearly", "the"),
        *("model", "system", "response", "answer", "output", "assistant", "option", "text"),
        *("prefer", "preferred", "winner", "translation", "summary", "candidate", "completion"),
    ]
)
_BETTER = re.compile(r"(.+?)\s*(>+|<+|=+)\s*(.+)")


@dataclass(frozen=True)
class SidePair:
    """Two columns whose names differ only in their sides: `model_a` and `model_b`."""

    base: str
    """The name without the side."""
    columns: tuple[str, str]
    words: tuple[str, str]
    """The words of the sides."""


def side_pairs(columns: Sequence[str]) -> list[SidePair]:
    """Return the pairs of columns whose names differ only in a word such as `a` and `b`."""
    found_sides: dict[tuple[str, tuple[str, str]], dict[int, tuple[str, str]]] = {}
    for name in columns:
        for base, words, side in _sides_of(name):
            found_sides.setdefault((compact(base), words), {}).setdefault(side, (name, base))
    pairs = []
    for (_, words), by_side in found_sides.items():
        if len(by_side) == 2:
            (first, base), (second, _) = by_side[0], by_side[1]
            pairs.append(SidePair(base, (first, second), words))
    return pairs


def _sides_of(name: str) -> Iterator[tuple[str, tuple[str, str], int]]:
    """Yield the name without a word of a side, the words of both sides, and the side."""
    words = split_words(name)
    if len(words) < 2:
        return
    for at in (len(words) - 1, 0):
        for pair in sides():
            if compact(words[at]) in pair:
                rest = words[:-1] if at else words[1:]
                yield "_".join(rest), pair, pair.index(compact(words[at]))


def unfold_comparisons(table: InputTable, options: ReadingOptions) -> InputTable:
    """Return a table whose rows name two systems with a record for each of them.

    Other tables stay as they are, also if the user gives roles to the columns of a side.
    """
    pairs = side_pairs(table.columns)
    if not pairs:
        return table
    named_columns = {name for pair in pairs for name in pair.columns}
    declared = {part.strip() for text in options.columns.values() for part in text.split(",")}
    profiles = profile_columns(sorted(named_columns), table.records, table.decimal)
    systems = next((pair for pair in pairs if _are_systems(pair, pairs, profiles)), None)
    if systems is None or named_columns & declared:
        return table
    pairs = [pair for pair in pairs if pair.words == systems.words]
    winner, shares = _shares(table, options, systems, pairs)
    shared = [c for c in table.columns if c != winner and not _is_of_side(c, pairs)]
    labels = {
        pair.base: _free_name(_base_name(pair, table), shared) for pair in pairs if _is_kept(pair)
    }
    records: list[Mapping[str, Any]] = []
    lines: list[int] = []
    for row, record in enumerate(table.records):
        for side in (0, 1):
            values = {name: record.get(name) for name in shared}
            for pair in pairs:
                if pair.base in labels:
                    values[labels[pair.base]] = record.get(pair.columns[side])
            records.append(values)
            lines += table.lines[row : row + 1]
    return replace(
        table,
        columns=(*shared, *labels.values()),
        records=records,
        lines=lines,
        winner=winner or "",
        shares=tuple(shares),
        compared=systems.columns,
        system_column=labels[systems.base],
    )


def _is_kept(pair: SidePair) -> bool:
    return not compact(pair.base).startswith("winner")


def _is_of_side(column: str, pairs: Sequence[SidePair]) -> bool:
    return any(column in pair.columns for pair in pairs) or compact(column) == "winnertie"


def _base_name(pair: SidePair, table: InputTable) -> str:
    """Return the name of a column for both sides; chats are responses."""
    cells = [record.get(pair.columns[0]) for record in table.records]
    is_chat = any(map(is_messages, cells)) and all(map(is_messages, filter(None, cells)))
    return "response" if is_chat else pair.base


def _free_name(name: str, columns: Sequence[str]) -> str:
    return name if name not in columns else f"{name} of the system"


def _are_systems(
    pair: SidePair, pairs: Sequence[SidePair], profiles: Mapping[str, ColumnProfile]
) -> bool:
    """Return whether the columns of a pair have the names of two systems."""
    if role_rank("system", pair.base) is None:
        return False
    sides_of_pair = [profiles[name] for name in pair.columns]
    for profile in sides_of_pair:
        if not profile.is_full or profile.is_list or profile.is_nested or profile.is_boolean:
            return False
        is_fraction = profile.is_numeric and not profile.is_whole
        if profile.mean_length > _LONGEST_NAME or profile.mean_words > 4 or is_fraction:
            return False
    has_texts = any(other is not pair and _is_text(other) for other in pairs)
    labels = {*sides_of_pair[0].distinct, *sides_of_pair[1].distinct}
    return has_texts or len(labels) < sum(len(p.present) for p in sides_of_pair)


def _is_text(pair: SidePair) -> bool:
    roles = ("candidate", "either", "text")
    is_named = any(role_rank(role, pair.base) is not None for role in roles)
    return is_named or find_phrase(pair.base, roles) is not None or "conversation" in pair.base


def _shares(
    table: InputTable, options: ReadingOptions, systems: SidePair, pairs: Sequence[SidePair]
) -> tuple[str | None, list[float | None]]:
    """Return the column of winners, and for each row the share of the first system."""
    one_hot = next((pair for pair in pairs if not _is_kept(pair)), None)
    ignored = {part.strip() for part in options.columns.get("ignore", "").split(",")}
    named_columns = [c for c in table.columns if role_rank("winner", c) is not None]
    named_columns.sort(key=lambda name: role_rank("winner", name) or 0)
    named_columns = [c for c in named_columns if not _is_of_side(c, pairs) and c not in ignored]
    if declared := options.columns.get("winner"):
        named_columns = [declared]
    for name in named_columns:
        values = [record.get(name) for record in table.records]
        labels = [
            tuple(id_of(record.get(column)) or "" for column in systems.columns)
            for record in table.records
        ]
        names = [side_names(first, second, systems, pairs) for first, second in labels]
        shares = [share_of(value, n) for value, n in zip(values, names, strict=True)]
        is_bad = [
            share is None and not is_missing(value)
            for share, value in zip(shares, values, strict=True)
        ]
        bad = [row for row, bad_row in enumerate(is_bad) if bad_row]
        if not bad:
            return name, shares
        is_first = name == named_columns[0]
        if is_first and (2 * len(bad) < len(values) or not is_rated_winner(name)):
            raise unknown_winner(table.location(bad[0]), name, values[bad[0]], labels[bad[0]])
    if one_hot is not None:
        first, second = one_hot.columns
        return None, [_one_hot_share(r.get(first), r.get(second)) for r in table.records]
    return None, []


def is_rated_winner(name: str) -> bool:
    """Return whether a column named like winners may have other values, too."""
    names = ("label", "result", "verdict", "judgement", "judgment", "outcome", "decision", "urteil")
    return compact(name) in names or compact(name) in word_lists()["dimensions"]


def _one_hot_share(first: object, second: object) -> float | None:
    values = [str(value).strip().lower() in ("1", "1.0", "true") for value in (first, second)]
    return 0.5 if values[0] == values[1] else float(values[0])


def side_names(
    first: str, second: str, systems: SidePair | None, pairs: Sequence[SidePair]
) -> dict[str, float]:
    """Return the share of the first system by the names of sides and of systems."""
    names = {compact(first): 1.0, compact(second): 0.0}
    for pair in (*([systems] if systems else []), *pairs):
        for at in (0, 1):
            names.setdefault(compact(pair.words[at]), 1.0 - at)
            names.setdefault(compact(pair.columns[at]), 1.0 - at)
        initials = [word[0] for word in pair.words]
        if initials[0] != initials[1]:
            names.setdefault(initials[0], 1.0)
            names.setdefault(initials[1], 0.0)
    return names


def share_of(value: object, names: Mapping[str, float]) -> float | None:
    """Return 1 if a value says that the first system won, 0 the second, 0.5 a tie; else None."""
    text = (id_of(value) or "").strip("[]() ")
    if not text:
        return None
    if compact(text) in names:
        return names[compact(text)]
    if compact(text) in word_lists()["ties"]:
        return 0.5
    if match := _BETTER.fullmatch(text):
        left, right = names.get(compact(match[1])), names.get(compact(match[3]))
        if left is None or right is None or left == right:
            return None
        return 0.5 if match[2][0] == "=" else left if match[2][0] == ">" else right
    words = [word for word in split_words(text) if compact(word) not in _FILLERS]
    key = compact("".join(words))
    return names.get(key) if key else None


def unknown_winner(
    location: object, column: str, value: object, systems: Sequence[str]
) -> InputError:
    """Return the error for a winner that is neither a side nor a system."""
    return InputError(
        f"{location}: found {quoted(value)} in column {quoted(column)}, which does not say whether "
        f"{short(systems[0])} or {short(systems[1])} was better: expected the name of one of them, "
        f"its side such as a or b, or tie; --column 'ignore={column}' leaves the column out"
    )
