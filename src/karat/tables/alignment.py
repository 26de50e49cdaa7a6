"""Items of several systems or files: which rows belong together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from karat.errors import InputError, quoted, short
from karat.tables.cells import id_of, text_of
from karat.tables.files import InputTable
from karat.tables.names import role_rank
from karat.tables.roles import Roles
from karat.tables.rows import has_items_in_columns, record_ids

_TEXT_ROLES = ("question", "source", "references", "contexts")


def find_ids(tables: Sequence[InputTable], roles: Sequence[Roles]) -> tuple[list[list[str]], str]:
    """Return the id of the item of each record of each table, and a remark.

    Ids come from columns of ids; else equal questions or sources are one item if there are several
    systems, judges or files; else rows are numbered.
    """
    with_ids = [
        record_ids(table, table_roles) for table, table_roles in zip(tables, roles, strict=True)
    ]
    ids = [table_ids for table_ids in with_ids if table_ids is not None]
    shared = _shared_text_roles(roles)
    if len(ids) == len(tables) and not (shared and _are_disjoint(ids)):
        return ids, ""
    if len(ids) == len(tables):
        keys = _text_keys(tables, roles, shared)
        if not _are_disjoint(keys):
            by_text, remark = _align_files(tables, roles, keys, shared)
            return by_text, f"ids differ between all files; {remark}"
        return ids, ""
    if ids and len(tables) > 1:
        missing = next(
            t.name for t, table_ids in zip(tables, with_ids, strict=True) if not table_ids
        )
        id_column = next(r.id for r in roles if r.id)
        raise InputError(
            f"{missing}: no ids, and other files have them in column {quoted(id_column)}: name the "
            "column of ids with --column id=NAME"
        )
    keys = _text_keys(tables, roles, shared)
    if len(tables) > 1:
        return _align_files(tables, roles, keys, shared)
    return _align_rows(tables[0], roles[0], keys[0], shared)


def _shared_text_roles(roles: Sequence[Roles]) -> tuple[str, ...]:
    """Return the roles of texts that identify an item and that all tables have."""
    shared = [role for role in _TEXT_ROLES if all(getattr(r, role) for r in roles)]
    inputs = tuple(role for role in shared if role in ("question", "source"))
    return inputs or tuple(shared[:1])


def _are_disjoint(items: Sequence[Sequence[Any]]) -> bool:
    """Return whether no item of the first file is in another."""
    return len(items) > 1 and not any({*items[0]} & {*other_items} for other_items in items[1:])


def _text_keys(
    tables: Sequence[InputTable], roles: Sequence[Roles], shared: Sequence[str]
) -> list[list[tuple[str | None, ...]]]:
    """Return the texts that identify the item of each record."""
    return [
        [_text_key(record, table_roles, shared) for record in table.records]
        for table, table_roles in zip(tables, roles, strict=True)
    ]


def _text_key(
    record: Mapping[str, Any], roles: Roles, shared: Sequence[str]
) -> tuple[str | None, ...]:
    columns: list[str] = []
    for role in shared:
        columns += roles.references if role == "references" else [getattr(roles, role)]
    return tuple(text_of(record.get(column)) for column in columns)


def _numbers(n_rows: int) -> list[str]:
    return [str(i) for i in range(1, n_rows + 1)]


def _align_rows(
    table: InputTable, roles: Roles, keys: list[tuple[str | None, ...]], shared: Sequence[str]
) -> tuple[list[list[str]], str]:
    """Return the items of one table without ids."""
    systems = [id_of(record.get(roles.system)) for record in table.records] if roles.system else []
    judges = [id_of(record.get(roles.judge)) for record in table.records] if roles.judge else []
    if has_items_in_columns(roles):
        return [_numbers(len(table.records))], ""
    has_several = len({*systems}) > 1
    is_long = len({*judges}) > 1 or bool(roles.dimension) or bool(roles.epoch)
    if not has_several and not is_long:
        return [_numbers(len(table.records))], ""
    if not shared and roles.candidate and not has_several:
        column = roles.candidate
        keys = [(text_of(record.get(column)),) for record in table.records]
        shared = ("candidate",)
    if table.compared and (not shared or any(None in key for key in keys)):
        return [[str(row // 2 + 1) for row in range(len(keys))]], ""
    if not shared or any(None in key for key in keys):
        if len({*systems}) == len(table.records):
            return [["1"] * len(table.records)], ""  # one item
        rows = f"rows of {len({*systems}):,} systems" if has_several else "rows of several judges"
        texts = "question or source" if has_several else "text"
        raise InputError(
            f"{table.name}: {rows} have no id and no {texts} that says which of them belong to "
            "one item: name a column of ids with --column id=NAME"
        )
    numbers: dict[tuple[str | None, ...], str] = {}
    ids = [numbers.setdefault(key, str(len(numbers) + 1)) for key in keys]
    return [ids], f"rows with the same {' and '.join(shared)} are one item"


def _align_files(
    tables: Sequence[InputTable],
    roles: Sequence[Roles],
    keys: list[list[tuple[str | None, ...]]],
    shared: Sequence[str],
) -> tuple[list[list[str]], str]:
    """Return the items of several tables without ids: by their texts, or by row."""
    systems = [
        [id_of(record.get(r.system)) if r.system else None for record in table.records]
        for table, r in zip(tables, roles, strict=True)
    ]
    is_unique = shared and all(
        len({*zip(names, table_keys, strict=True)}) == len(table_keys)
        and not any(None in key for key in table_keys)
        for names, table_keys in zip(systems, keys, strict=True)
    )
    if is_unique:
        numbers: dict[tuple[str | None, ...], str] = {}
        ids = [
            [numbers.setdefault(key, str(len(numbers) + 1)) for key in table_keys]
            for table_keys in keys
        ]
        return ids, f"files are aligned by {' and '.join(shared)}"
    first = keys[0]
    for table, table_keys in zip(tables, keys, strict=True):
        if len(table_keys) != len(first):
            raise InputError(
                f"{table.name} has {len(table_keys):,} rows and {tables[0].name} {len(first):,}, "
                "without ids that say which belong together: name a column with --column id=NAME"
            )
        row = next(
            (i for i, pair in enumerate(zip(first, table_keys, strict=True)) if pair[0] != pair[1]),
            None,
        )
        if row is not None:
            texts = [next(filter(None, k[row]), "") for k in (first, table_keys)]
            raise InputError(
                f"{table.location(row)}: the {shared[0]} {quoted(texts[1])} differs from "
                f"{quoted(texts[0])} in {short(tables[0].name)}: files in another order need ids "
                "(--column id=NAME)"
            )
    return [_numbers(len(first)) for _ in tables], "files are aligned by the number of the row"


def with_reference_files(tables: Sequence[InputTable]) -> list[InputTable]:
    """Return the tables of outputs, with the columns of a table of references joined by id.

    A table of references has a column of ids that all tables have, a column that is named like a
    reference and none that is named like outputs, judges or ratings.
    """
    references = [table for table in tables if _has_references_only(table)]
    outputs = [table for table in tables if not _has_references_only(table)]
    if len(references) != 1 or not outputs:
        return list(tables)
    gold = references[0]
    shared = [{*gold.columns}.intersection(table.columns) for table in outputs]
    keys = [name for name in gold.columns if role_rank("id", name) is not None]
    key = next((name for name in keys if all(names == {name} for names in shared)), None)
    if key is None:
        return list(tables)
    rows = {id_of(record.get(key)): record for record in gold.records}
    ids = {id_of(record.get(key)) for table in outputs for record in table.records}
    if None in ids or len(rows) < len(gold.records) or not ids <= {*rows}:
        return list(tables)
    columns = [name for name in gold.columns if name != key]
    remark = f"{', '.join(columns)} from {gold.name}, joined by {key}"
    return [
        replace(
            table,
            records=[
                {**record, **{name: rows[id_of(record.get(key))].get(name) for name in columns}}
                for record in table.records
            ],
            columns=(*table.columns, *columns),
            remarks=(*table.remarks, remark),
        )
        for table in outputs
    ]


def _has_references_only(table: InputTable) -> bool:
    named_columns = {
        role: any(role_rank(role, name) is not None for name in table.columns)
        for role in ("reference", "target", "candidate", "either", "judge", "rating", "score")
    }
    is_reference = named_columns.pop("reference") | named_columns.pop("target")
    return is_reference and not any(named_columns.values())
