"""Known exports of other tools: schemas are data, and one interpreter applies them.

A file `data/schemas/TOOL.toml` has the `title` of the tool, its `documentation`, the `version`
whose fields it describes, and a `[[form]]` for each kind of file:

    name        of the form, shown as `TOOL NAME`
    requires    paths that the records (or, with `/`, the document) have
    absent      paths that they do not have
    columns     patterns, each of which some column matches
    records     path of the records in the document; `*` stands for all items
    join        {by, kind, value}: records with the same `by` become one, `value` under their `kind`
    where       path -> its only values; records without it stay
    json        columns whose cells are JSON
    explode     paths of lists: a record for each item
    first       names of the first column
    skip        paths of marks of records that do not count
    roots       path that only records below another have
    strip       prefix of columns, or several, that is dropped where the rest is of one column
    fields      column -> paths; the first that is present counts
    constants   column -> paths that one record of the file has
    text        fields that are text, whatever they hold
    metrics     paths of objects or lists of metrics with a name and a score
    unwrap      members of a single object in a cell that are its value
    zip         pattern of columns of lists, one of ratings and one of users (`.users`)
    free_text   field of which dimensions with texts, not ratings, are left out
    grid        true if rows are respondents, and columns `QUESTION [ITEM]` are items
    expand      paths of objects whose members become columns
    qualify     column -> paths of the number and of the label of a variant, such as a prompt, that
                names its values if one of them has several variants
    roles       role -> columns
    outputs     pattern of columns of systems side by side, with the group `system`
    clean       column or `outputs` -> pattern whose group `text` is the text
    other_columns   `infer` their roles, infer those of `texts`, numbers are a `score`, or `ignore`
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib import resources
from typing import Any

from karat.errors import InputError, short
from karat.settings import nearest
from karat.tables.cells import is_missing, parse_list, text_of
from karat.tables.comparisons import unfold_comparisons
from karat.tables.files import InputTable
from karat.tables.form_grids import grid_columns, grid_ratings
from karat.tables.names import read_data, role_rank
from karat.tables.options import ReadingOptions
from karat.tables.paths import (
    MISSING,
    exploded,
    first_value,
    flattened,
    items_at,
    parsed_cell,
    value_at,
    with_value,
)
from karat.tables.roles import RECORDS, RatingColumn

_INSPECTED = 50
_LONGEST_LABEL = 60


@dataclass(frozen=True)
class Schema:
    """One form of the exports of a tool."""

    tool: str
    name: str
    title: str
    roles: Mapping[str, tuple[str, ...]]
    form: Mapping[str, Any]
    other_columns: str = "infer"

    outputs: Mapping[str, str] = field(default_factory=dict)
    """System -> column, if each system has a column."""
    ratings: tuple[RatingColumn, ...] = ()

    @property
    def label(self) -> str:
        """Name for summaries."""
        return f"{self.title} {self.name}".strip()

    def fits(self, table: InputTable) -> bool:
        """Return whether a table has this form."""
        records = table.records[:_INSPECTED]

        def has(path: str) -> bool:
            if path.startswith("/"):
                return next(items_at(table.document, path[1:]), MISSING) is not MISSING
            return any(value_at(record, path) is not MISSING for record in records)

        return (
            all(map(has, self.form["requires"]))
            and not any(map(has, self.form.get("absent", ())))
            and all(self._has_column(table, self.form.get(key)) for key in ("outputs", "zip"))
            and all(self._has_column(table, text) for text in self.form.get("columns", ()))
            and self._begins(table.columns)
            and ("grid" not in self.form or len(grid_columns(table.columns)) > 1)
        )

    def _begins(self, columns: Sequence[str]) -> bool:
        """Return whether the first column is that of the form; in a grid, it may be of people."""
        first = {*columns[:1]}
        if first <= {*self.form.get("first", columns)}:
            return True
        is_known = any(role_rank("judge", name) is not None for name in first)
        return "grid" in self.form and is_known

    @staticmethod
    def _has_column(table: InputTable, pattern: str | None) -> bool:
        return pattern is None or any(re.fullmatch(pattern, name) for name in table.columns)


@lru_cache(maxsize=1)
def known_schemas() -> tuple[Schema, ...]:
    """Return all forms in `data/schemas`, those with more requirements first."""
    folder = resources.files("karat") / "data" / "schemas"
    files = sorted(file.name for file in folder.iterdir() if file.name.endswith(".toml"))
    schemas = []
    for file in files:
        content = read_data(f"schemas/{file}")
        for form in content["form"]:
            roles = {
                role: (columns,) if isinstance(columns, str) else tuple(columns)
                for role, columns in form.get("roles", {}).items()
            }
            other_columns = form.get("other_columns", "infer")
            tool = file.removesuffix(".toml")
            schemas.append(Schema(tool, form["name"], content["title"], roles, form, other_columns))

    def strength(schema: Schema) -> int:
        in_document = any(path.startswith("/") for path in schema.form["requires"])
        return 100 * in_document + len(schema.form["requires"])

    return tuple(sorted(schemas, key=strength, reverse=True))


def apply_schema(table: InputTable, options: ReadingOptions) -> tuple[InputTable, Schema | None]:
    """Return the table with one record per output or rating, and its schema if it has one."""
    schema = _find_schema(table, options)
    if schema is None:
        if table.unsettled:
            raise InputError(table.unsettled)
        table = unfold_comparisons(_flatten(_turned(table)), options)
    else:
        table, schema = _transform(table, schema, options)
    return _with_declared_paths(_with_named_index(table), options), schema


_TEXT_ROLES = ("candidate", "either", "question", "source", "reference", "contexts")
_MOST_TURNED = 20  # rows of a table whose rows and columns are exchanged


def _turned(table: InputTable) -> InputTable:
    """Return a table with an output in each record, where rows and columns are exchanged.

    Such a table has the names of roles in its first column, which has no name, and in no header.
    """
    first, *items = table.columns or ("",)
    if (first and not first.lower().startswith("unnamed: 0")) or len(items) < 2:
        return table
    labels = [record.get(first) for record in table.records[: _MOST_TURNED + 1]]
    names = [label.strip() for label in labels if isinstance(label, str) and label.strip()]
    if not 2 <= len(names) == len(labels) <= _MOST_TURNED or len({*names}) < len(names):
        return table
    roles = [{role for role in _TEXT_ROLES if role_rank(role, name) is not None} for name in names]
    n_known = sum(map(bool, roles))
    is_output = any({"candidate", "either"} & text_roles for text_roles in roles)
    is_usual = any(role_rank(role, name) is not None for role in _TEXT_ROLES for name in items)
    if not is_output or n_known < 2 or 2 * n_known < len(names) or is_usual:
        return table
    column = next(name for name in ("item", "item of the header") if name not in names)
    records = [
        {column: item}
        | {name: record.get(item) for name, record in zip(names, table.records, strict=True)}
        for item in items
    ]
    remark = "rows and columns are exchanged: each column is one item"
    return replace(
        table,
        records=records,
        columns=(column, *names),
        lines=[],
        remarks=(*table.remarks, remark),
    )


def _with_named_index(table: InputTable) -> InputTable:
    """Return a table whose index, as pandas writes it without a name, is named `index`."""
    first = next(iter(table.columns), "x")
    if re.fullmatch(r"unnamed: 0(_level_\d+)?", first, re.IGNORECASE):
        return replace(table, index=first)
    if first:
        return table
    name = next(n for n in ("index", "index of rows", "row label") if n not in table.columns)
    records = [{name: record.get(""), **record} for record in table.records]
    return replace(table, records=records, columns=(name, *table.columns[1:]), index=name)


def _find_schema(table: InputTable, options: ReadingOptions) -> Schema | None:
    name = options.schema
    if name == "none":
        return None
    schemas = known_schemas()
    if name is not None:
        tools = dict.fromkeys(schema.tool for schema in schemas)
        schemas = tuple(schema for schema in schemas if schema.tool == name)
        if not schemas:
            hint = nearest(name, tools) or f" (known are {', '.join(tools)})"
            raise InputError(f"schema={name}: no such schema{hint}")
    fitting = next((schema for schema in schemas if schema.fits(table)), None)
    if name is not None and fitting is None:
        forms = "; ".join(f"{s.name} has {', '.join(s.form['requires'])}" for s in schemas)
        raise InputError(f"{table.name}: not an export of {schemas[0].title}: {short(forms)}")
    return fitting


def _flatten(table: InputTable) -> InputTable:
    """Return a table whose nested objects are columns."""
    nested = {
        name
        for name in table.columns
        if _are_objects([record.get(name) for record in table.records])
    }
    if not nested:
        return table
    records = [
        {**flattened({name: cell for name, cell in record.items() if name in nested}), **record}
        for record in table.records
    ]
    return replace(table, records=records, columns=_columns(records))


def _are_objects(values: Sequence[Any]) -> bool:
    """Return whether all cells that are not missing are objects."""
    present = [value for value in values if not is_missing(value)]
    return bool(present) and all(isinstance(value, Mapping) for value in present)


def _columns(records: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for record in records for name in record))


def _with_declared_paths(table: InputTable, options: ReadingOptions) -> InputTable:
    """Add the columns that the user names by their paths."""
    added: dict[str, list[Any]] = {}
    for role, path in options.columns.items():
        if role == RECORDS or path in table.columns or "{" in path:
            continue
        for name in path.split(","):
            if name in table.columns:
                continue
            values = [first_value(record, [name], table.document) for record in table.records]
            if any(value is not None for value in values):
                added[name] = values
    if not added:
        return table
    records = [
        {**record, **{name: values[row] for name, values in added.items()}}
        for row, record in enumerate(table.records)
    ]
    return replace(table, records=records, columns=(*table.columns, *added))


def _transform(
    table: InputTable, schema: Schema, options: ReadingOptions
) -> tuple[InputTable, Schema]:
    """Return the records of an export as a schema describes them, and the schema with all roles."""
    form = schema.form
    rows = [
        (_parsed(record, form.get("json", ())), row) for record, row in _source_records(table, form)
    ]
    constants = {
        name: first_value({"": [record for record, _ in rows]}, [f".*.{path}" for path in paths])
        for name, paths in form.get("constants", {}).items()
    }
    if join := form.get("join"):
        rows = _joined(rows, join["by"], join["kind"], join["value"])
    for path in form.get("explode", ()):
        rows = [(part, row) for record, row in rows for part in exploded(record, path)]
    if "zip" in form:
        rows = [(part, row) for record, row in rows for part in _zipped(record, form["zip"])]
    rows, remarks = _filtered(rows, form)
    metrics: dict[str, None] = {}
    records = [_fields(record, form, table.document, metrics) for record, _ in rows]
    for name, values in constants.items():
        for record in records:
            record[name] = values[0] if values else None
    _qualify(records, form, [record for record, _ in rows])
    for column, pattern in form.get("clean", {}).items():
        _clean(records, column, re.compile(pattern, re.DOTALL), form.get("outputs"))
    if "free_text" in form:
        rows, records, more = _without_texts(rows, records, form["free_text"])
        remarks += more
    if form.get("grid"):
        for number, record in enumerate(records, 1):
            record["respondent"] = str(number)
    records = [flattened(record) for record in records]
    if not records:
        raise InputError(f"{table.name}: an export of {schema.label} without outputs")
    has_lines = bool(table.lines) and all(row is not None for _, row in rows)
    lines = [table.lines[row] for _, row in rows if row is not None] if has_lines else []
    columns = _columns(records)
    if "note" in form and (remarks or "where" not in form):
        remarks = [f"{schema.label}: {form['note']}", *remarks]
    table = replace(
        table,
        records=records,
        columns=columns,
        lines=lines,
        remarks=(*table.remarks, *remarks),
        unsettled="",
    )
    roles = {**schema.roles, "metric": (*schema.roles.get("metric", ()), *metrics)}
    outputs = {}
    if pattern := form.get("outputs"):
        matches = {name: re.fullmatch(pattern, name) for name in columns}
        systems = {name: match["system"] for name, match in matches.items() if match}
        outputs = {label: name for name, label in _labels_of_outputs(systems).items()}
    has_pattern = "{" in options.columns.get("score", "")
    is_grid = form.get("grid") and not has_pattern
    ratings = grid_ratings(columns, table.name) if is_grid else ()
    return table, replace(schema, roles=roles, outputs=outputs, ratings=ratings)


def _labels_of_outputs(systems: Mapping[str, str]) -> dict[str, str]:
    """Return the system of each column; columns of one system are named by the rest of the name."""
    labels = [*systems.values()]
    if len({*labels}) == len(labels):
        return dict(systems)
    rests = [name.replace(f"[{system}]", "").strip() for name, system in systems.items()]
    is_short = all(0 < len(rest) <= _LONGEST_LABEL for rest in rests)
    if len({*labels}) == 1 and is_short and len({*rests}) == len(rests):
        return dict(zip(systems, rests, strict=True))
    return {name: name if labels.count(s) > 1 else s for name, s in systems.items()}


def _parsed(record: Mapping[str, Any], columns: Sequence[str]) -> dict[str, Any]:
    """Return a record whose cells in these columns, or at these paths, are parsed from JSON."""
    parsed = {name: parsed_cell(cell) if name in columns else cell for name, cell in record.items()}
    for path in columns:
        if path not in parsed and (value := value_at(parsed, path)) is not MISSING:
            parsed = with_value(parsed, path.split("."), parsed_cell(value))
    return parsed


def _filtered(rows: _Rows, form: Mapping[str, Any]) -> tuple[_Rows, list[str]]:
    """Return the rows that count, and a remark on others."""
    n_rows = len(rows)
    for path, allowed in form.get("where", {}).items():
        rows = [(r, row) for r, row in rows if (first_value(r, [path]) or allowed[0]) in allowed]
    for path in form.get("skip", ()):
        rows = [(r, row) for r, row in rows if not first_value(r, [path])]
    if path := form.get("roots"):
        roots = [(r, row) for r, row in rows if is_missing(first_value(r, [path]))]
        rows = roots or rows
    n_left_out = n_rows - len(rows)
    return rows, [f"{n_left_out:,} of {n_rows:,} records are left out"] if n_left_out else []


def _zipped(record: Mapping[str, Any], pattern: str) -> Iterator[dict[str, Any]]:
    """Yield a record for each rating in columns of lists, with its dimension and user."""
    matches = {name: re.fullmatch(pattern, name) for name in record}
    questions = {name: match["dimension"] for name, match in matches.items() if match}
    other_columns = {
        name: cell
        for name, cell in record.items()
        if not any(
            name == q or name.startswith((f"{q}.", f"{d}.suggestion")) for q, d in questions.items()
        )
    }
    is_rated = False
    for column, dimension in questions.items():
        values = parse_list(record.get(column)) or []
        users = parse_list(record.get(f"{column}.users")) or [None] * len(values)
        for value, user in zip(values, users, strict=False):
            is_rated = True
            yield {**other_columns, "dimension": dimension, "annotator": user, "rating": value}
    if not is_rated:
        yield {**other_columns, "dimension": None, "annotator": None, "rating": None}


def _without_texts(
    rows: _Rows, records: list[dict[str, Any]], column: str
) -> tuple[_Rows, list[dict[str, Any]], list[str]]:
    """Leave out dimensions with texts, such as comments, or with lists and objects."""
    words: dict[Any, list[int]] = {}
    for record in records:
        value = record.get(column)
        if value is not None:
            n_words = 99 if isinstance(value, list | Mapping) else len(str(value).split())
            words.setdefault(record.get("dimension"), []).append(n_words)
    texts = {name for name, counts in words.items() if sum(counts) / len(counts) > 4}
    selected = [i for i, record in enumerate(records) if record.get("dimension") not in texts]
    remarks = [f"answers to {', '.join(map(str, texts))} are no ratings"] if texts else []
    return [rows[i] for i in selected], [records[i] for i in selected], remarks


_Rows = list[tuple[dict[str, Any], "int | None"]]


def _source_records(
    table: InputTable, form: Mapping[str, Any]
) -> Iterator[tuple[Mapping[str, Any], int | None]]:
    """Yield the records of an export with their numbers in the table, if they are in it."""
    if "records" not in form:
        yield from zip(table.records, range(len(table.records)), strict=True)
        return
    for record in items_at(table.document, form["records"].removeprefix("/")):
        if isinstance(record, Mapping):
            yield record, None


def _joined(rows: _Rows, by: str, kind: str, value: str) -> _Rows:
    """Return one record for each value of `by`, with the first event of each kind."""
    joined: dict[Any, tuple[dict[str, Any], int | None]] = {}
    for record, row in rows:
        key = value_at(record, by)
        if key is MISSING or key is None:
            continue
        merged, _ = joined.setdefault(key, ({by: key}, row))
        merged.setdefault(str(value_at(record, kind)), value_at(record, value))
        for name, item in record.items():
            if name not in (kind, value):
                merged.setdefault(name, item)
    return list(joined.values())


def _fields(
    record: Mapping[str, Any],
    form: Mapping[str, Any],
    document: Any,
    metrics: dict[str, None],
) -> dict[str, Any]:
    """Return the columns of a record: named fields, and members of expanded objects."""
    fields: Mapping[str, Any] = form.get("fields", {})
    if prefix := form.get("strip"):
        record = _without_prefixes(record, [prefix] if isinstance(prefix, str) else prefix)
    is_whole = not fields and "expand" not in form
    columns: dict[str, Any] = dict(record) if is_whole else {}
    for name, paths in fields.items():
        value = first_value(record, [paths] if isinstance(paths, str) else paths, document)
        columns[name] = text_of(value) if name in form.get("text", ()) else value
    for path in form.get("expand", ()):
        inner = value_at(record, path)
        for key, item in inner.items() if isinstance(inner, Mapping) else ():
            columns.setdefault(str(key), item)
    for path in form.get("metrics", ()):
        inner = value_at(record, path)
        columns.pop(path, None)
        for key, item in _named_scores(inner):
            columns.setdefault(key, item)
            metrics.setdefault(key)
    for member in form.get("unwrap", ()):
        for name, cell in columns.items():
            items = parse_list(cell)
            if (
                items
                and len(items) == 1
                and isinstance(items[0], Mapping)
                and {*items[0]} == {member}
            ):
                value = items[0][member]
                columns[name] = value[0] if isinstance(value, list) and value else value
    return columns


def _without_prefixes(record: Mapping[str, Any], prefixes: Sequence[str]) -> dict[str, Any]:
    """Return a record without prefixes of its columns, except where names would become equal."""
    names = {name: name for name in record}
    for prefix in prefixes:
        names |= {name: name.removeprefix(prefix) for name in record if name.startswith(prefix)}
    counts = Counter(names.values())
    return {
        names[name] if counts[names[name]] == 1 else name: cell for name, cell in record.items()
    }


def _named_scores(scores: Any) -> Iterator[tuple[str, Any]]:
    """Yield names and numbers of an object of scores, or of a list of objects with a name."""
    if isinstance(scores, Mapping):
        yield from ((str(name), score) for name, score in scores.items())
    elif isinstance(scores, list):
        for item in scores:
            if isinstance(item, Mapping) and isinstance(item.get("name"), str):
                yield item["name"], item.get("score")


def _qualify(
    records: Sequence[dict[str, Any]], form: Mapping[str, Any], sources: Sequence[Mapping[str, Any]]
) -> None:
    """Name values of a column by their variants, where one of them has several.

    A single value, such as the only provider, is left out of the names.
    """
    for column, (number_path, label_path) in form.get("qualify", {}).items():
        keys = [
            (str(record.get(column) or ""), str(first_value(source, [number_path])))
            for record, source in zip(records, sources, strict=True)
        ]
        variants: dict[str, dict[str, str]] = {}  # value -> number of a variant -> label
        for (value, number), source in zip(keys, sources, strict=True):
            label = str(first_value(source, [label_path]) or "")
            variants.setdefault(value, {}).setdefault(number, label)
        if all(len(numbers) < 2 for numbers in variants.values()):
            continue
        title = number_path.rpartition(".")[2].removesuffix("Idx")
        names = {value: _variant_names(labels, title) for value, labels in variants.items()}
        for record, (value, number) in zip(records, keys, strict=True):
            parts = [value] * (len(variants) > 1) + [names[value][number]]
            record[column] = " ".join(filter(None, parts))


def _variant_names(labels: Mapping[str, str], title: str) -> dict[str, str]:
    """Return names of variants by number: short labels that differ, else `prompt 1` and so on."""
    texts = [label.strip() for label in labels.values()]
    has_names = all(0 < len(text) <= _LONGEST_LABEL and "\n" not in text for text in texts)
    if has_names and len({*texts}) == len(texts):
        return dict(zip(labels, texts, strict=True))
    return {number: f"{title} {i}" for i, number in enumerate(labels, 1)}


def _clean(
    records: Sequence[dict[str, Any]], column: str, pattern: re.Pattern[str], outputs: str | None
) -> None:
    for record in records:
        for name, value in record.items():
            is_chosen = name == column or (
                column == "outputs" and outputs is not None and re.fullmatch(outputs, name)
            )
            if is_chosen and isinstance(value, str) and (match := pattern.fullmatch(value.strip())):
                record[name] = match["text"]
