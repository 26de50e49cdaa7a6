"""The column that says which of two systems side by side was better."""

from __future__ import annotations

from dataclasses import replace

from karat.errors import quoted
from karat.tables.cells import is_missing
from karat.tables.comparisons import (
    SidePair,
    is_rated_winner,
    share_of,
    side_names,
    side_pairs,
    unknown_winner,
)
from karat.tables.names import compact, role_rank, word_lists
from karat.tables.roles import RoleSearch
from karat.tables.rows import names_of_outputs


def find_winner(search: RoleSearch) -> None:
    """Choose a column named like winners whose cells are sides, names of columns, or ties."""
    if search.roles.winner is not None or search.roles.has_ratings:
        return
    pairs = side_pairs(search.table.columns)
    for name in search.columns_named("winner"):
        profile = search.profiles[name]
        if profile.is_nested or profile.is_list or profile.is_boolean:
            continue
        if _names_sides(search, name, pairs):
            search.take("winner", name)
            return


def _names_sides(search: RoleSearch, name: str, pairs: list[SidePair]) -> bool:
    """Return whether the cells of a column name the two sides of other columns."""
    cells = [value for value in search.profiles[name].present]
    columns = {compact(column) for column in search.table.columns if column != name}
    keys = {compact(str(value)) for value in cells} - word_lists()["ties"]
    if keys and keys <= columns and len(keys) <= 2:
        return True
    return any(
        all(share_of(value, side_names("", "", pair, [])) is not None for value in cells)
        for pair in pairs
    )


def check_winner(search: RoleSearch) -> None:
    """Refuse winners that are not of two systems side by side; leave out a column without them."""
    roles = search.roles
    if search.table.compared:
        return
    if roles.winner is None:
        _refuse_unknown_winner(search)
        return
    if len(roles.outputs) == 2:
        names = names_of_outputs(roles)
        for row, record in enumerate(search.table.records):
            cell = record.get(roles.winner)
            if not is_missing(cell) and share_of(cell, names) is None:
                location, systems = search.table.location(row), [*roles.outputs]
                raise unknown_winner(location, roles.winner, cell, systems)
        return
    if "winner" in search.declared:
        raise search.refuse(
            f"column {quoted(roles.winner)} says which of two systems was better, and the rows do "
            "not have two systems",
            "name the columns of their outputs with --column system=COLUMN,COLUMN",
        )
    search.free.append(roles.winner)
    search.roles = replace(roles, winner=None)


def _refuse_unknown_winner(search: RoleSearch) -> None:
    """Refuse a column named like winners beside two systems whose cells are not known."""
    roles = search.roles
    if len(roles.outputs) != 2 or roles.has_ratings:
        return
    for name in search.columns_named("winner"):
        profile = search.profiles[name]
        is_short = profile.mean_length < 30 and profile.mean_words < 4
        if is_rated_winner(name) or not is_short or role_rank("rating", name) is not None:
            continue
        row = next(i for i, value in enumerate(profile.values) if not is_missing(value))
        raise unknown_winner(
            search.table.location(row), name, profile.values[row], [*roles.outputs]
        )
