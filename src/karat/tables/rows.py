"""Rows by role: outputs, ratings and scores of a table whose columns have roles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from karat.errors import InputError, quoted, short
from karat.evalset.reading import Location
from karat.tables.cells import (
    id_of,
    is_messages,
    is_missing,
    is_missing_mark,
    parse_choices,
    parse_list,
    parse_rating,
    text_of,
)
from karat.tables.comparisons import share_of, side_names, side_pairs, unknown_winner
from karat.tables.files import InputTable
from karat.tables.names import compact, scale_in_name
from karat.tables.options import ReadingOptions
from karat.tables.plausibility import RatedCell, check_ratings
from karat.tables.roles import RatingColumn, Roles, option, option_name, text_paths
from karat.tables.scales import (
    Scale,
    check_labels,
    declared_scale,
    find_word_scale,
    infer_scale,
    normal_label,
)

UNNAMED_JUDGE = "raters"
"""The judge of ratings without a name; one of `UNNAMED_RATERS`."""
DEFAULT_DIMENSION = "score"
PREFERENCE = "preference"
"""The dimension of comparisons of two systems."""
_MODEL_JUDGES = ("gpt", "chatgpt", "claude", "llama", "gemini", "mistral", "qwen", "deepseek")
_FIRST_CELLS = 1000  # a column without a list among them has texts
_TEXT_KEYS = ("text", "content", "value", "answer", "page_content")


class TableOutput(NamedTuple):
    """One output of one system, with the texts of its item."""

    location: Location
    system: str
    id: str
    candidate: str | None
    references: tuple[str, ...]
    source: str | None
    question: str | None
    contexts: tuple[str, ...]
    unit: str | None
    epoch: str | None


class Rating(NamedTuple):
    """The value that one judge gave to one output under one dimension."""

    location: Location
    system: str
    id: str
    epoch: str | None
    judge: str
    dimension: str
    value: float
    """A rating, or the share of the system in a comparison: 1 if it was better."""
    compared_with: str = ""
    """The second system of a comparison; "" for a rating."""


class TableScore(NamedTuple):
    """The value of a metric or measurement for one output."""

    location: Location
    system: str
    id: str
    epoch: str | None
    metric: str
    value: float


@dataclass(frozen=True)
class TableRows:
    """The rows of a table by role."""

    table: InputTable = field(repr=False)
    roles: Roles
    outputs: tuple[TableOutput, ...]
    ratings: tuple[Rating, ...] = ()
    scores: tuple[TableScore, ...] = ()
    scales: Mapping[str, Scale] = field(default_factory=dict)
    """Dimension -> its scale."""
    remarks: tuple[str, ...] = ()

    @property
    def systems(self) -> list[str]:
        """The names of the systems."""
        rows: tuple[Sequence[Any], ...] = (self.outputs, self.ratings, self.scores)
        return list(dict.fromkeys(row.system for part in rows for row in part))

    @property
    def judges(self) -> list[str]:
        """The names of the judges."""
        return list(dict.fromkeys(rating.judge for rating in self.ratings))

    @property
    def model_judges(self) -> list[str]:
        """The judges that are language models, by their names."""
        by_column = compact(self.roles.judge or "").endswith("model")
        return [
            judge for judge in self.judges if by_column or compact(judge).startswith(_MODEL_JUDGES)
        ]

    @property
    def summary(self) -> str:
        """One line with the roles of columns, judges and scales."""
        roles = self.roles
        n_rows = len(self.table.records) // (2 if self.table.compared else 1)
        parts = [f"{n_rows:,} {'row' if n_rows == 1 else 'rows'}"]
        if roles.schema:
            parts[0] += f" of {roles.schema}"
        columns = [("id", roles.id), ("system", roles.system), ("candidate", roles.candidate)]
        columns += [("reference", name) for name in roles.references]
        columns += [
            (role, getattr(roles, role))
            for role in ("source", "question", "contexts", "unit", "judge", "dimension", "score")
        ]
        columns += [("epoch", roles.epoch), ("winner", roles.winner)]
        if texts := [f"{role}={column}" for role, column in columns if column]:
            parts.append(", ".join(texts))
        if self.table.compared:
            parts.append(f"comparisons of two systems: {_listing(self.table.compared)}")
        if roles.outputs:
            parts.append(f"systems side by side: {_listing([*roles.outputs])}")
        if roles.answers:
            parts.append(f"repeated answers: {_listing(roles.answers)}")
        if roles.ratings:
            parts.append(f"ratings: {_listing([rating.column for rating in roles.ratings])}")
        if self.judges and self.judges != [UNNAMED_JUDGE]:
            parts.append(
                f"{'judge' if len(self.judges) == 1 else 'judges'} {_listing(self.judges)}"
            )
        for dimension, scale in self.scales.items():
            name = "scale" if len(self.scales) == 1 else f"scale of {short(dimension)}"
            inferred = " inferred" if scale.is_inferred else ""
            lower = ", lower is better" if scale.better == "lower" else ""
            words = f" ({scale.words})" if scale.words else ""
            if scale.low is not None:
                parts.append(f"{name} {scale}{inferred}{words}{lower}")
        if roles.scores:
            parts.append(f"scores: {_listing(roles.scores)}")
        if roles.unused:
            parts.append(f"not used: {_listing(roles.unused)}")
        return f"{self.table.name}: {'; '.join(parts)}"


def _listing(names: Sequence[str]) -> str:
    listed = ", ".join(map(short, names[:8]))
    return f"{listed} and {len(names) - 8:,} more" if len(names) > 8 else listed


class _RawRating(NamedTuple):
    location: Location
    column: str
    system: str
    id: str
    epoch: str | None
    judge: str
    dimension: str
    cell: Any


def make_rows(
    table: InputTable, roles: Roles, options: ReadingOptions, ids: Sequence[str] | None = None
) -> TableRows:
    """Return the outputs, ratings and scores of a table.

    `ids` are the ids of the items of all records; by default those of the id column, or numbers.
    """
    if ids is None:
        ids = record_ids(table, roles) or [str(i) for i in range(1, len(table.records) + 1)]
    list_columns = {
        column
        for column in (*roles.references, *filter(None, [roles.contexts]))
        if _has_lists([record.get(column) for record in table.records])
    }
    answer_lists = _answer_lists(table, roles)
    if not roles.schema:
        _check_candidates(table, roles, answer_lists)
    outputs: list[TableOutput] = []
    raw_ratings: list[_RawRating] = []
    scores: list[TableScore] = []
    for row, record in enumerate(table.records):
        location, item = table.location(row), ids[row]
        system = table.system or "candidate"
        if roles.system is not None:
            name = id_of(record.get(roles.system))
            if name is None:
                raise InputError(f"{location}: no system in column {quoted(roles.system)}")
            system = name
        epoch = id_of(record.get(roles.epoch)) if roles.epoch else None
        source, question = (
            text_of(record.get(column)) if column else None
            for column in (roles.source, roles.question)
        )
        contexts: list[str] = []
        if roles.contexts is not None:
            contexts = _list_texts(record.get(roles.contexts), roles.contexts in list_columns)
        output = TableOutput(
            location,
            system,
            item,
            None,
            tuple(_reference_texts(record, roles.references, list_columns)),
            source,
            question,
            tuple(contexts),
            id_of(record.get(roles.unit)) if roles.unit else None,
            None,
        )
        if not has_items_in_columns(roles):
            outputs += (
                output._replace(system=name, candidate=text, epoch=number)
                for name, text, number in _outputs_of(record, roles, system, epoch, answer_lists)
            )
        raw_ratings += _raw_ratings(record, roles, system, item, epoch, location)
        scores += _scores_of(record, roles, system, item, epoch, location, table.decimal)
    ratings, scales, remarks = _parse_ratings(table, raw_ratings, options)
    if roles.winner and (compared := list(_comparisons(table, roles, ids))):
        ratings += compared
        scales.update((rating.dimension, Scale(0.0, 1.0)) for rating in compared)
    rows = TableRows(table, roles, tuple(outputs), tuple(ratings), tuple(scores), scales)
    remarks = [*table.remarks, *roles.remarks, *remarks]
    if roles.scores and roles.outputs:
        columns = _listing(roles.scores)
        remarks.append(f"columns {columns} are of no system and are left out")
    if models := rows.model_judges:
        remarks.append(f"judges taken to be models: {_listing(models)}")
    return TableRows(table, roles, rows.outputs, rows.ratings, rows.scores, scales, tuple(remarks))


def _comparisons(table: InputTable, roles: Roles, ids: Sequence[str]) -> Iterator[Rating]:
    """Yield the comparisons of two systems in the rows of a table."""
    records = table.records
    if table.compared:
        for at, share in enumerate(table.shares):
            row = 2 * at
            names = [id_of(records[i].get(roles.system or "")) or "" for i in (row, row + 1)]
            if share is not None:
                yield _comparison(table, roles, row, ids[row], share, names)
        return
    systems = list(roles.outputs)
    names_of_sides = names_of_outputs(roles)
    for row, record in enumerate(records):
        cell = record.get(roles.winner or "")
        share = share_of(cell, names_of_sides)
        if share is not None:
            yield _comparison(table, roles, row, ids[row], share, systems)
        elif not is_missing(cell):
            raise unknown_winner(table.location(row), roles.winner or "", cell, systems)


def names_of_outputs(roles: Roles) -> dict[str, float]:
    """Return the share of the first of two systems side by side by the names of both."""
    (first, first_column), (second, second_column) = roles.outputs.items()
    names = side_names(first, second, None, side_pairs([first_column, second_column]))
    return {compact(first_column): 1.0, compact(second_column): 0.0, **names}


def _comparison(
    table: InputTable, roles: Roles, row: int, item: str, share: float, systems: Sequence[str]
) -> Rating:
    record = table.records[row]
    judge = id_of(record.get(roles.judge)) if roles.judge else UNNAMED_JUDGE
    if judge is None:
        raise InputError(f"{table.location(row)}: a comparison without a judge in {roles.judge}")
    dimension = id_of(record.get(roles.dimension)) if roles.dimension else None
    epoch = id_of(record.get(roles.epoch)) if roles.epoch else None
    labels = judge, dimension or PREFERENCE
    return Rating(table.location(row), systems[0], item, epoch, *labels, share, systems[1])


def has_items_in_columns(roles: Roles) -> bool:
    """Return whether columns are items and rows are judges."""
    return bool(roles.ratings) and all(rating.id for rating in roles.ratings)


def record_ids(table: InputTable, roles: Roles) -> list[str] | None:
    """Return the ids in the column of ids; None if the table has none."""
    if roles.id is None:
        return None
    ids = []
    for row, record in enumerate(table.records):
        name = id_of(record.get(roles.id))
        if name is None:
            raise InputError(f"{table.location(row)}: no id in column {quoted(roles.id)}")
        if roles.id_within is not None:
            name = f"{id_of(record.get(roles.id_within))}/{name}"
        ids.append(name)
    return ids


def _answer_lists(table: InputTable, roles: Roles) -> dict[str, int]:
    """Return the columns of outputs whose cells are lists of texts, with their longest length."""
    lengths = {}
    for column in (*roles.outputs.values(), *filter(None, [roles.candidate])):
        cells = [record.get(column) for record in table.records]
        if _has_lists(cells) and not any(map(is_messages, cells)):
            lists = [parse_list(cell) for cell in cells if not is_missing(cell)]
            if all(isinstance(item, str) for items in lists for item in items or ()):
                lengths[column] = max(len(items or ()) for items in lists) or 1
    return lengths


def _check_candidates(table: InputTable, roles: Roles, answer_lists: Mapping[str, int]) -> None:
    """Refuse outputs that are objects or lists, except messages and several answers."""
    columns = (*roles.outputs.values(), *roles.answers, *filter(None, [roles.candidate]))
    for column in dict.fromkeys(columns):
        for row, record in enumerate(table.records):
            cell = record.get(column)
            if cell is None or isinstance(cell, str) or is_missing(cell) or is_messages(cell):
                continue
            is_object = isinstance(cell, Mapping)
            if is_object or (isinstance(cell, list | tuple) and column not in answer_lists):
                kind = "an object" if is_object else "a list"
                members = [f"{column}.{key}" for key in cell] if is_object else []
                texts = [name for name in members if name in table.columns]
                texts = texts or list(text_paths(cell, column))
                advice = (
                    f"; {option('candidate', texts[0])} takes one of its texts" if texts else ""
                )
                raise InputError(
                    f"{table.location(row)}: found {kind} in column {quoted(column)}, expected the "
                    f"text of an output{advice}"
                )


def _outputs_of(
    record: Mapping[str, Any],
    roles: Roles,
    system: str,
    epoch: str | None,
    answer_lists: Mapping[str, int],
) -> Iterator[tuple[str, str | None, str | None]]:
    """Yield system, text and number of the answer of all outputs in a record."""
    if roles.outputs or roles.candidate in answer_lists:
        columns = roles.outputs or {system: roles.candidate or ""}
        for name, column in columns.items():
            texts = parse_list(record.get(column)) if column in answer_lists else None
            if texts is None or answer_lists[column] == 1:
                text = texts[0] if texts else None if texts == [] else record.get(column)
                yield name, text_of(text), epoch
                continue
            for number, text in enumerate(texts, 1):
                yield name, text_of(text), f"{epoch}.{number}" if epoch else str(number)
    elif roles.answers:
        for number, column in enumerate(roles.answers, 1):
            if (text := text_of(record.get(column))) is not None:
                yield system, text, str(number)
    elif roles.candidate is not None:
        yield system, text_of(record.get(roles.candidate)), epoch
    else:
        rated = [rating.system for rating in roles.ratings if rating.system]
        for name in dict.fromkeys(rated or [system]):
            yield name, None, epoch


def _has_lists(values: Sequence[Any]) -> bool:
    """Return whether most cells of a column are lists of texts."""
    present = [value for value in values if not is_missing(value)]
    n_lists = 0
    for at, value in enumerate(present):
        items = parse_list(value)
        is_text = isinstance(value, str)
        n_lists += items is not None and (not is_text or all(isinstance(x, str) for x in items))
        if at == _FIRST_CELLS and not n_lists:
            return False
    return 2 * n_lists > len(present)


def _reference_texts(
    record: Mapping[str, Any], columns: Sequence[str], list_columns: set[str]
) -> Iterator[str]:
    for column in columns:
        yield from _list_texts(record.get(column), column in list_columns)


def _list_texts(value: Any, is_list: bool) -> list[str]:
    """Return the texts in a cell: the items of a list without empty ones, or a single text."""
    if isinstance(value, str) and not is_list:
        return [value] if value.strip() else []
    items = parse_list(value) if is_list or not isinstance(value, str) else None
    texts = [_item_text(item) for item in ([value] if items is None else items)]
    return [text for text in texts if text is not None]


def _item_text(item: Any) -> str | None:
    """Return the text of an item of a list: a text, or an object with its text."""
    if isinstance(item, Mapping):
        text = next((item[key] for key in _TEXT_KEYS if isinstance(item.get(key), str)), None)
        return text_of(item if text is None else text)
    return text_of(item)


def _raw_ratings(
    record: Mapping[str, Any],
    roles: Roles,
    system: str,
    item: str,
    epoch: str | None,
    location: Location,
) -> Iterator[_RawRating]:
    """Yield the cells of ratings in a record, without empty ones."""
    if roles.kind != "ratings":
        return
    columns = roles.ratings
    if roles.score is not None:
        columns = (*columns, RatingColumn(roles.score))
    for rating in columns:
        cell = record.get(rating.column)
        if is_missing(cell):
            continue
        if roles.outputs and rating.system is None:
            raise InputError(
                f"{location}: column {quoted(rating.column)} has ratings, and the row has outputs "
                f"of {len(roles.outputs)} systems: {option('score', '{judge}_{system}')} says "
                f"which part of the name is the system; {option('ignore', rating.column)} leaves "
                "the column out"
            )
        judge, dimension = rating.judge, rating.dimension
        if judge is None and roles.judge is not None:
            judge = id_of(record.get(roles.judge))
            if judge is None:
                raise InputError(f"{location}: a rating without a judge in {quoted(roles.judge)}")
        if dimension is None and roles.dimension is not None:
            dimension = id_of(record.get(roles.dimension))
            if dimension is None:
                problem = f"a rating without a dimension in {quoted(roles.dimension)}"
                raise InputError(f"{location}: {problem}")
        if dimension is None:
            is_plain = rating.judge is None and rating.system is None
            name = scale_in_name(rating.column).name.strip()
            dimension = name if is_plain else DEFAULT_DIMENSION
        yield _RawRating(
            location,
            rating.column,
            rating.system or system,
            rating.id or item,
            epoch,
            judge or UNNAMED_JUDGE,
            dimension,
            cell,
        )


def _scores_of(
    record: Mapping[str, Any],
    roles: Roles,
    system: str,
    item: str,
    epoch: str | None,
    location: Location,
    decimal: str,
) -> Iterator[TableScore]:
    """Yield the scores in a record, without missing ones."""
    if roles.outputs or not (roles.scores or roles.kind == "scores"):
        return
    columns = [(scale_in_name(name).name.strip(), name) for name in roles.scores]
    if roles.kind == "scores" and roles.score is not None:
        metric = id_of(record.get(roles.dimension)) if roles.dimension else roles.score
        columns.append((metric or roles.score, roles.score))
    for metric, column in columns:
        cell = record.get(column)
        if not is_missing(cell) and not is_missing_mark(cell):
            value = parse_rating(cell, decimal)
            if value is None:
                problem = f"found {quoted(cell)} in column {quoted(column)}, expected a number"
                raise InputError(f"{location}: {problem}, or {option('ignore', column)}")
            yield TableScore(location, system, item, epoch, metric, value)


def _parse_ratings(
    table: InputTable, raw_ratings: Sequence[_RawRating], options: ReadingOptions
) -> tuple[list[Rating], dict[str, Scale], list[str]]:
    """Return ratings with their values, the scale of each dimension, and remarks."""
    by_dimension: dict[str, list[_RawRating]] = {}
    for raw in raw_ratings:
        by_dimension.setdefault(raw.dimension, []).append(raw)
    ratings: list[Rating] = []
    scales: dict[str, Scale] = {}
    remarks: list[str] = []
    n_marks = 0
    shared_scales = _shared_scales(table, by_dimension, options)
    for dimension, cells in by_dimension.items():
        marked = [raw for raw in cells if not is_missing_mark(raw.cell)]
        n_marks += len(cells) - len(marked)
        scale = declared_scale(dimension, options.scale) or shared_scales.get(dimension)
        values = _values(table, dimension, marked, scale)
        if isinstance(values, Scale):
            labels = values.words.values if values.words else {}
            numbers = [labels[normal_label(id_of(raw.cell) or "")] for raw in marked]
            scale = scale or values
        else:
            numbers = values
        if scale is None:
            scale = infer_scale(dimension, dict.fromkeys(raw.column for raw in cells), numbers)
            rated = [
                RatedCell(raw.location, raw.column, raw.judge, raw.cell, number)
                for raw, number in zip(marked, numbers, strict=True)
            ]
            check_ratings(dimension, rated, is_count=scale.better == "lower")
        for raw, number in zip(marked, numbers, strict=True):
            if scale.excludes(number):
                problem = f"found {number:g} in column {quoted(raw.column)}"
                expected = f"expected {scale} for {short(dimension)}"
                raise InputError(f"{raw.location}: {problem}, {expected}")
            key = raw.system, raw.id, raw.epoch, raw.judge, dimension
            ratings.append(Rating(raw.location, *key, number))
        if marked:
            scales[dimension] = scale
    if n_marks:
        noun = "rating is" if n_marks == 1 else "ratings are"
        remarks.append(f"{n_marks:,} {noun} marked as missing, such as N/A or -")
    unknown = [name for name in options.scale if compact(name) not in {"", *map(compact, scales)}]
    if raw_ratings and unknown:
        has = short(", ".join(scales)) or "no ratings"
        raise InputError(
            f"{option_name('scale')} {unknown[0]}: no such dimension in {table.name} (it has {has})"
        )
    return ratings, scales, remarks


def _shared_scales(
    table: InputTable, by_dimension: Mapping[str, Sequence[_RawRating]], options: ReadingOptions
) -> dict[str, Scale]:
    """Return the scale of words of dimensions that share labels: that of all their labels.

    Dimensions whose labels are together on no known scale are refused.
    """
    labels = {
        dimension: {
            normal_label(id_of(raw.cell) or "")
            for raw in cells
            if isinstance(raw.cell, str)
            and not raw.cell.isdecimal()
            and not is_missing_mark(raw.cell)
            and parse_rating(raw.cell, table.decimal) is None
        }
        for dimension, cells in by_dimension.items()
        if declared_scale(dimension, options.scale) is None
    }
    scales: dict[str, Scale] = {}
    for dimension, words in labels.items():
        union, before = set(words), 0
        while len(union) > before:
            before = len(union)
            union |= {w for other in labels.values() if other & union for w in other}
        n_sharing = sum(1 for other in labels.values() if other & union)
        if not words or n_sharing < 2:
            continue
        scale = find_word_scale(union)
        if scale is not None:
            ends = min(scale.values.values()), max(scale.values.values())
            scales[dimension] = Scale(*ends, words=scale, is_inferred=True)
        elif find_word_scale(words) is not None:
            listed = ",".join(sorted(union)[:8])
            raise InputError(
                f"{table.name}: dimensions share ratings such as {quoted(min(words))}, and no "
                f"known scale has {', '.join(map(quoted, sorted(union)[:8]))}: name the labels "
                f"from the lowest to the highest for each, as in {option_name('scale')} "
                f"{quoted(f'{dimension}={listed}')}"
            )
    return scales


def _values(
    table: InputTable, dimension: str, cells: Sequence[_RawRating], scale: Scale | None
) -> list[float] | Scale:
    """Return the ratings of a dimension as numbers, or the scale of words that they are on."""
    if scale is None or scale.words is None:
        known_numbers: dict[Any, float | None] = {}
        for raw in cells:
            if isinstance(raw.cell, str) and raw.cell not in known_numbers:
                known_numbers[raw.cell] = parse_rating(raw.cell, table.decimal)
        numbers = [
            known_numbers[raw.cell] if isinstance(raw.cell, str) else parse_rating(raw.cell)
            for raw in cells
        ]
        bad = next((i for i, number in enumerate(numbers) if number is None), None)
        if bad is None:
            return [number for number in numbers if number is not None]
        by_column: dict[str, list[Any]] = {}
        for raw in cells:
            by_column.setdefault(raw.column, []).append(raw.cell)
        by_choice = {
            (column, text): number
            for column, values in by_column.items()
            for text, number in parse_choices(values, table.decimal).items()
        }
        numbers = [
            by_choice.get((raw.column, str(raw.cell).strip()), number)
            for raw, number in zip(cells, numbers, strict=True)
        ]
        if None not in numbers:
            return [number for number in numbers if number is not None]
        bad = numbers.index(None)
        labels = {id_of(raw.cell) or "" for raw in cells}
        words = find_word_scale(labels)
        if words is not None and scale is None:
            ends = min(words.values.values()), max(words.values.values())
            return Scale(*ends, words=words, is_inferred=True)
        location, raw = cells[bad].location, cells[bad]
        if any(number is not None for number in numbers):
            raise InputError(
                f"{location}: found {quoted(raw.cell)} in column {quoted(raw.column)}, expected a "
                f"rating as a number, or nothing; {option('ignore', raw.column)} leaves the column "
                "out"
            )
        raise check_labels(str(location), dimension, labels)
    for raw in cells:
        if scale.words.parse(id_of(raw.cell) or "") is None:
            problem = f"found {quoted(raw.cell)} in column {quoted(raw.column)}"
            expected = f"expected one of {', '.join(scale.words.labels)} ({option_name('scale')})"
            raise InputError(f"{raw.location}: {problem}, {expected}")
    return scale
