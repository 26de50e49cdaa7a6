"""Tables that can be scored row by row as they are read, without being held in memory.

Most tables are: a header, a candidate and references in every row, and perhaps columns of systems
and ids. Other tables (nested records, ratings, odd encodings, workbooks) are read whole, as sets.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from karat.errors import InputError
from karat.evalset.reading import USUAL_COLUMNS
from karat.tables.files import InputTable, read_table
from karat.tables.options import ReadingOptions
from karat.tables.roles import infer_roles
from karat.tables.schemas import apply_schema

SAMPLE = 1000
"""Records from which the roles of columns are inferred."""
LARGE = 1 << 25
"""Bytes of files from which they are streamed; smaller files are read whole, as sets."""
_FORMS = {"csv": ("csv",), "tsv": ("tsv", "tab"), "jsonl": ("jsonl", "ndjson")}
_FORMS |= {"parquet": ("parquet", "pq")}


class StreamColumns(NamedTuple):
    """Columns of a table that can be streamed."""

    candidate: tuple[str, ...]
    reference: tuple[str, ...]
    by: str | None
    id: str | None


def stream_columns(table: InputTable, options: ReadingOptions) -> StreamColumns | None:
    """Return the columns of a table that can be streamed, inferred from its first records.

    None if only `read_outputs` can read the table: its records are nested or in an unusual form, it
    has ratings, or its systems share items that no column of ids names.
    """
    if table.form != "frame" and (table.remarks or not _has_usual_ending(table)):
        return None
    exported, schema = apply_schema(table, options)
    roles = infer_roles(exported, options, schema)
    candidates = tuple(roles.outputs.values()) or tuple(filter(None, [roles.candidate]))
    columns = (*candidates, *roles.references, roles.system, roles.id)
    is_flat = all(column is None or column in table.columns for column in columns)
    is_plain = is_flat and exported.columns == table.columns and not roles.has_ratings
    has_ids = roles.system is None or (roles.id is not None and roles.id_within is None)
    named_by_column = all(system == column for system, column in roles.outputs.items())
    texts = [record.get(column) for record in table.records for column in candidates]
    if not (candidates and is_plain and has_ids and named_by_column and not roles.answers):
        return None
    if not all(text is None or isinstance(text, str) for text in texts):
        return None
    return StreamColumns(candidates, roles.references, roles.system, roles.id)


def sample_columns(source: Any, options: ReadingOptions | None = None) -> StreamColumns | None:
    """Return the columns of a file or frame that can be streamed, inferred from a sample."""
    options = options or ReadingOptions()
    return stream_columns(read_table(source, options, limit=SAMPLE), options)


def has_texts_only(columns: Sequence[str]) -> bool:
    """Return whether usual names show the candidate and the reference, and no system."""
    names = [column.lower() for column in columns]
    counts = {role: sum(name in USUAL_COLUMNS[role] for name in names) for role in USUAL_COLUMNS}
    return (counts["candidate"], counts["reference"], counts["system"]) == (1, 1, 0)


def can_be_streamed(path: str) -> bool:
    """Return whether a table can be streamed; False if its columns are not clear."""
    try:
        return not os.path.isfile(path) or sample_columns(path) is not None
    except InputError:
        return False


def reason_to_stream(paths: Sequence[str]) -> str | None:
    """Return why files are streamed, for messages; None for small files, which are read whole."""
    for path in paths:
        if os.path.isdir(path):
            return f"the folder {path} is streamed"
        if not os.path.exists(path):
            return f"{path} is streamed"  # an address or a pattern
    if sum(os.path.getsize(path) for path in paths) >= LARGE:
        return f"files of {LARGE >> 20} MB and more are streamed"
    return None


def _has_usual_ending(table: InputTable) -> bool:
    """Return whether the ending of a file names its format, by which it will be streamed."""
    endings = _FORMS.get(table.form, ())
    return table.name.lower().removesuffix(".gz").endswith(tuple(f".{end}" for end in endings))
