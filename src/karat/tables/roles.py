"""Roles of columns: which column is the candidate, the reference, the system, a judge.

Roles come from, in this order: the user's options, the known schema of a tool, names, and the
contents of columns. Where two readings are possible, the table is refused with the option for each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from karat.errors import InputError, quoted, short
from karat.evalset.reading import missing_column
from karat.settings import nearest
from karat.tables.cells import ColumnProfile, id_of, is_missing, profile_columns
from karat.tables.files import InputTable
from karat.tables.names import compact, is_in, role_rank, same_named, split_words
from karat.tables.options import ReadingOptions

if TYPE_CHECKING:
    from karat.tables.schemas import Schema

SINGLE = (
    *("id", "system", "source", "question", "contexts", "unit", "judge", "dimension", "epoch"),
    "winner",
)
"""Roles of one column."""
ROLES = (*SINGLE, "candidate", "reference", "score", "metric", "ignore")
"""Names of roles in `--column ROLE=NAME`; `score` is a rating, `metric` any other number."""
PATTERN = "pattern"
"""Key of a pattern of names of columns of ratings among the declared columns."""
RECORDS = "records"
"""The path of the records in a JSON document, which `read_table` uses."""
_ALIASES = {
    "rating": "score",
    "ratings": "score",
    "scores": "score",
    "references": "reference",
    "metrics": "metric",
    "group": "unit",
    "document": "unit",
    "context": "contexts",
    "segment": "id",
    "rater": "judge",
    "model": "system",
    "output": "candidate",
    "systems": "system",
    "judges": "judge",
    "dimensions": "dimension",
    "ignored": "ignore",
}
WEAK_UNITS = ("topic", "title", "category", "domain", "genre", "tag", "task", "subset", "testset")
_LONGEST_NAME = 60


@dataclass(frozen=True)
class RatingColumn:
    """A column of ratings, and what its name says; None for what other columns say."""

    column: str
    judge: str | None = None
    dimension: str | None = None
    system: str | None = None
    id: str | None = None


@dataclass(frozen=True)
class Roles:
    """The columns of a table by role."""

    schema: str = ""
    kind: str = "outputs"
    """outputs, ratings or scores."""
    id: str | None = None
    id_within: str | None = None
    """Column within whose values the ids are unique: the document of a segment number."""
    system: str | None = None
    candidate: str | None = None
    references: tuple[str, ...] = ()
    source: str | None = None
    question: str | None = None
    contexts: str | None = None
    unit: str | None = None
    judge: str | None = None
    dimension: str | None = None
    score: str | None = None
    winner: str | None = None
    """Column that says which of two systems was better."""
    epoch: str | None = None
    outputs: Mapping[str, str] = field(default_factory=dict)
    """System -> column, if each system has a column."""
    answers: tuple[str, ...] = ()
    """Columns of repeated answers of one system."""
    ratings: tuple[RatingColumn, ...] = ()
    scores: tuple[str, ...] = ()
    """Columns of numbers without another role, such as a metric or a cost."""
    unused: tuple[str, ...] = ()
    """Columns without a role."""
    remarks: tuple[str, ...] = ()

    @property
    def has_texts(self) -> bool:
        """Whether the table has outputs, not only ratings or scores of them."""
        return bool(self.candidate or self.outputs or self.answers)

    @property
    def has_ratings(self) -> bool:
        """Whether the table has ratings."""
        return self.kind != "scores" and bool(self.score or self.ratings or self.winner)


def with_role(roles: Roles, role: str, column: str) -> Roles:
    """Return roles with a column for a role of one column."""
    changes: dict[str, Any] = {role: column}
    return replace(roles, **changes)


@dataclass
class RoleSearch:
    """The state of the search for roles: columns without a role, and roles so far."""

    table: InputTable
    options: ReadingOptions
    profiles: dict[str, ColumnProfile]
    free: list[str]
    """Columns that have contents and no role yet."""
    roles: Roles
    declared: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Columns of each role by the user's options."""
    ignored: list[str] = field(default_factory=list)
    """Columns left out by their names, such as comments."""
    same_named: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    """Columns that have one name in the file -> that name, and a number."""
    level_kinds: tuple[str, ...] = ()
    """Kinds of the levels of a header of several rows, such as system and judge."""

    def take(self, role: str, column: str) -> None:
        """Give a column a role of one column."""
        self.free.remove(column)
        self.roles = with_role(self.roles, role, column)

    def take_references(self, columns: Sequence[str]) -> None:
        """Make columns references."""
        for column in columns:
            self.free.remove(column)
        self.roles = replace(self.roles, references=(*self.roles.references, *columns))

    def remark(self, sentence: str) -> None:
        """Add a remark on the choice of roles."""
        self.roles = replace(self.roles, remarks=(*self.roles.remarks, sentence))

    def columns_named(self, role: str) -> list[str]:
        """Return the free columns with a usual name of a role, the preferred one first."""
        ranks = {name: role_rank(role, name) for name in self.free}
        named_columns = [name for name in self.free if ranks[name] is not None]
        return sorted(named_columns, key=lambda name: ranks[name] or 0)

    def refuse(self, problem: str, *readings: str) -> InputError:
        """Return the error for a table with several readings, each with its option."""
        return InputError(f"{self.table.name}: {problem}: {' or '.join(readings)}")

    @property
    def rows(self) -> int:
        """The number of records."""
        return len(self.table.records)


def option(role: str, *columns: str) -> str:
    """Return the option that gives columns a role, for messages."""
    text = f"{role}={','.join(columns)}"
    is_plain = re.fullmatch(r"[\w=,./:+-]+", text)
    return f"{option_name('columns')} {text if is_plain else quoted(text)}"


def option_name(setting: str) -> str:
    """Return the option of commands for a setting of `ReadingOptions`."""
    option_of_setting: str = ReadingOptions.__dataclass_fields__[setting].metadata["option"]
    return option_of_setting.split(maxsplit=1)[0]


def infer_roles(table: InputTable, options: ReadingOptions, schema: Schema | None = None) -> Roles:
    """Return the roles of a table's columns; refuse a table with several readings."""
    from karat.tables.output_columns import find_texts, refuse_unknown_texts
    from karat.tables.rating_columns import find_ratings, take_scores
    from karat.tables.winner_columns import check_winner, find_winner

    if not table.records:
        raise InputError(f"{table.name}: no rows: expected at least one below the header")
    profiles = profile_columns(table.columns, table.records, table.decimal)
    free = [name for name in table.columns if not profiles[name].is_empty]
    search = RoleSearch(table, options, profiles, free, Roles(schema.label if schema else ""))
    search.declared = _declared_columns(table, options)
    search.same_named = same_named(table.columns)
    _take_declared(search, search.declared)
    _take_known_columns(search)
    computed = [name for name in search.free if name in table.computed]
    search.free = [name for name in search.free if name not in computed]
    search.ignored += computed
    other_columns = "infer"
    if schema is not None:
        _take_schema(search, schema)
        other_columns = schema.other_columns
    if other_columns in ("infer", "texts"):
        _drop_row_numbers(search)
        find_winner(search)
        _take_names(search)
        find_texts(search)
        _find_judge(search)
        _find_epoch(search)
        _find_id(search)
        _find_partial_unit(search)
        check_winner(search)
    if other_columns == "infer":
        find_ratings(search)
        refuse_unknown_texts(search)
    elif other_columns != "ignore":
        if PATTERN in search.declared:
            find_ratings(search)
        take_scores(search)
    _check_roles(search)
    _remark_on_units(search)
    unused = [
        name
        for name in table.columns
        if name in (*search.free, *search.ignored)
        and not (profiles[name].is_nested and f"{name}." in "\n".join(table.columns))
    ]
    return replace(search.roles, unused=tuple(unused))


def _take_known_columns(search: RoleSearch) -> None:
    """Give roles to columns that the reader of the table made or recognised."""
    table = search.table
    if table.index in search.free:
        search.free.remove(table.index)
    if table.compared and table.shares:
        search.roles = replace(search.roles, winner=table.winner or "winner")
    if table.system_column in search.free and "system" not in search.declared:
        search.take("system", table.system_column)
        rivals = [name for name in search.columns_named("system") if not table.compared]
        several = [n for n in rivals if len(search.profiles[n].distinct) > 1]
        names = [n for n in several if _has_names(search.profiles[n])]
        rival = next((n for n in names if not _is_function(search, table.system_column, n)), None)
        if rival is not None:
            raise search.refuse(
                f"columns {quoted(table.system_column)} and {quoted(rival)} may both be the system",
                option("system", table.system_column),
                option("system", rival),
            )


def _declared_columns(table: InputTable, options: ReadingOptions) -> dict[str, tuple[str, ...]]:
    """Return the columns of each role that the user names."""
    declared: dict[str, tuple[str, ...]] = {}
    names_of_roles: dict[str, str] = {}
    for name, text in options.columns.items():
        role = _ALIASES.get(name, name)
        if (first := names_of_roles.setdefault(role, name)) != name:
            raise InputError(
                f"--column {first}={options.columns[first]} and --column {name}={text} name one "
                f"role: give only one of them"
            )
        if role == RECORDS:
            continue
        if role not in ROLES:
            hint = nearest(name, ROLES) or f" (roles are {', '.join(ROLES)})"
            raise InputError(f"--column {name}={text}: no role {quoted(name)}{hint}")
        if role == "score" and "{" in text and text not in table.columns:
            declared[PATTERN] = (text,)
            continue
        columns = (text,) if text in table.columns else tuple(_split_columns(text, table))
        for column in columns:
            if column not in table.columns:
                raise missing_column(table.name, column, table.columns)
        declared[role] = (*declared.get(role, ()), *columns)
    named_columns = [c for role, columns in declared.items() if role != PATTERN for c in columns]
    if twice := next((column for column in named_columns if named_columns.count(column) > 1), None):
        roles = [role for role, columns in declared.items() if twice in columns]
        raise InputError(
            f"--column: {quoted(twice)} has the roles {' and '.join(roles)}, expected one role"
        )
    if "candidate" in declared and len(declared.get("system", ())) > 1:
        systems = ",".join(declared["system"])
        raise InputError(
            f"--column system={systems} names columns with the outputs of systems, and --column "
            f"candidate={','.join(declared['candidate'])} another column of outputs: name all of "
            "them with system, or one column of names with system"
        )
    _check_same_named(declared, table)
    return declared


def _check_same_named(declared: Mapping[str, tuple[str, ...]], table: InputTable) -> None:
    """Refuse a role for one of several columns that have one name in the file."""
    numbered = same_named(table.columns)
    named_columns = {c for role, columns in declared.items() if role != PATTERN for c in columns}
    for role in ("score", "judge", "dimension", "metric"):
        for column in declared.get(role, ()):
            family = [c for c in numbered if numbered[c][0] == numbered.get(column, ("", 0))[0]]
            rest = [c for c in family if c not in named_columns]
            if rest and PATTERN not in declared:
                family.sort(key=lambda name: numbered[name][1])
                raise InputError(
                    f"{table.name}: columns {', '.join(map(quoted, family))} have one name in the "
                    f"file: {option(role, *family)} for all of them or {option('ignore', *rest)} "
                    "to leave out the others"
                )


def _split_columns(text: str, table: InputTable) -> list[str]:
    """Return the columns of a comma-separated list; names may contain commas."""
    parts, columns = text.split(","), []
    while parts:
        ends = range(len(parts), 0, -1)
        names = (",".join(parts[:end]) for end in ends)
        size, name = next(
            ((end, name) for end, name in zip(ends, names, strict=True) if name in table.columns),
            (1, parts[0]),
        )
        stripped = name.strip()
        columns.append(name if name in table.columns else stripped)
        parts = parts[size:]
    return columns


def _take_declared(search: RoleSearch, declared: Mapping[str, tuple[str, ...]]) -> None:
    """Give columns the roles that the user names."""
    roles = search.roles
    for role, columns in declared.items():
        search.free = [name for name in search.free if name not in columns]
        if role in ("ignore", PATTERN):
            continue
        if role == "reference":
            roles = replace(roles, references=columns)
        elif role == "metric":
            roles = replace(roles, scores=columns)
        elif role == "system" and _has_outputs(search, columns, declared):
            roles = replace(roles, outputs={name: name for name in columns})
        elif len(columns) == 1:
            roles = with_role(roles, role, columns[0])
        elif role == "candidate":
            roles = replace(roles, answers=columns)
        elif role == "score":
            search.free += columns  # `find_ratings` reads their names
        else:
            roles = _side_by_side(search, roles, role, columns)
    search.roles = roles


def _has_outputs(
    search: RoleSearch, columns: Sequence[str], declared: Mapping[str, Sequence[str]]
) -> bool:
    """Return whether the only column of a system has its outputs, not names of systems."""
    profile = search.profiles[columns[0]]
    if len(columns) > 1 or "candidate" in declared or profile.is_numeric:
        return False
    return len(profile.present) > 1 and profile.is_unique and profile.mean_words > 2


def _side_by_side(search: RoleSearch, roles: Roles, role: str, columns: tuple[str, ...]) -> Roles:
    """Return roles with a column for each system, judge or dimension."""
    if role == "system" and not all(search.profiles[name].is_numeric for name in columns):
        return replace(roles, outputs={name: name for name in columns})
    if role not in ("judge", "dimension", "system"):
        text = f"{option_name('columns')} {role}={','.join(columns)}"
        raise InputError(f"{text}: found {len(columns)} columns, expected one")
    ratings = [RatingColumn(column, **{role: column.strip()}) for column in columns]
    return replace(roles, ratings=(*roles.ratings, *ratings))


def _take_schema(search: RoleSearch, schema: Schema) -> None:
    """Give columns the roles of a known schema, unless the user named other columns."""
    roles = search.roles
    if "grid" in schema.form and "judge" not in search.declared:
        people = [n for n in search.columns_named("judge") if n != "respondent"]
        people = [n for n in people if search.profiles[n].is_full]
        people = [n for n in people if len(search.profiles[n].distinct) == search.rows] or people
        if people:
            search.take("judge", people[0])
            roles = search.roles
    for role, patterns in schema.roles.items():
        if role == "judge" and roles.judge is not None:
            search.free = [n for n in search.free if n not in patterns or n != "respondent"]
            continue
        columns = [n for p in patterns for n in search.free if n == p or fnmatchcase(n, p)]
        if not columns or role in search.declared:
            continue
        if role in ("reference", "metric", "ignore"):
            if role == "reference":
                roles = replace(roles, references=tuple(columns))
            elif role == "metric":
                columns = [c for c in columns if _has_numbers(search.profiles[c])]
                roles = replace(roles, scores=(*roles.scores, *columns))
            search.free = [name for name in search.free if name not in columns]
            continue
        column = columns[0]
        if role == "system" and not search.profiles[column].is_full:
            continue
        if role != "candidate" or not roles.has_texts:
            roles = with_role(roles, role, column)
            search.free.remove(column)
    outputs = {system: name for system, name in schema.outputs.items() if name in search.free}
    ratings = tuple(rating for rating in schema.ratings if rating.column in search.free)
    assigned = {*outputs.values(), *(rating.column for rating in ratings)}
    search.free = [name for name in search.free if name not in assigned]
    search.roles = replace(roles, outputs=outputs, ratings=(*roles.ratings, *ratings))


def _has_numbers(profile: ColumnProfile) -> bool:
    return profile.is_numeric or profile.is_boolean


def _drop_row_numbers(search: RoleSearch) -> None:
    """Leave out a column without a name that only numbers the rows."""
    for name in [*search.free]:
        if not compact(name).startswith(("unnamed", "column")) and compact(name):
            continue
        numbers = search.profiles[name].numbers
        if len(numbers) == search.rows and numbers == [numbers[0] + i for i in range(len(numbers))]:
            search.free.remove(name)


def _take_names(search: RoleSearch) -> None:
    """Give roles to columns by their names, except texts, ids, judges and ratings."""
    for name in [*search.free]:
        is_measured = is_in("measures", name) or is_in("metrics", name)
        is_rating = role_rank("rating", name) is not None or _is_ranking(search, name)
        if is_in("ignored", name) and not is_measured and not is_rating:
            search.free.remove(name)
            search.ignored.append(name)
    if search.roles.system is None and not search.roles.outputs:
        _find_system(search)
    if search.roles.dimension is None:
        for name in search.columns_named("dimension"):
            profile = search.profiles[name]
            if not profile.is_numeric and not profile.is_text and not profile.is_list:
                search.take("dimension", name)
                break
    if search.roles.unit is None:
        _find_unit(search)


def _is_ranking(search: RoleSearch, name: str) -> bool:
    """Return whether ranks are the ratings: a judge ranks systems, and no column has ratings."""
    if not (is_in("ignored", name) and is_in("lower", name)):
        return False
    profile = search.profiles[name]
    if not profile.is_whole or not profile.numbers or min(profile.numbers) != 1:
        return False
    systems = search.columns_named("system")
    n_systems = max((len(search.profiles[system].distinct) for system in systems), default=0)
    has_ratings = any(search.columns_named(role) for role in ("rating", "score", "dimension"))
    is_judged = bool(search.columns_named("judge") or search.roles.judge)
    return is_judged and not has_ratings and 1 < max(profile.numbers) <= n_systems


def _find_system(search: RoleSearch) -> None:
    """Choose the column of systems: names or numbers that repeat, or a constant."""
    named_columns = [
        name for name in search.columns_named("system") if _has_names(search.profiles[name])
    ]
    rows = search.rows
    repeats = [
        name for name in named_columns if len(search.profiles[name].distinct) < rows or rows == 1
    ]
    full = [name for name in repeats if search.profiles[name].is_full]
    several = [name for name in full if len(search.profiles[name].distinct) > 1]
    chosen = several or full
    if not chosen:
        for name in repeats:
            profile = search.profiles[name]
            row = next(i for i, value in enumerate(profile.values) if is_missing(value))
            raise InputError(
                f"{search.table.location(row)}: no system in column {quoted(name)}: expected a "
                f"name in every row, or {option('ignore', name)} if all rows are of one system"
            )
        return
    first, *other_columns = chosen
    pairs = [name for name in other_columns if not _is_function(search, first, name) and several]
    if pairs:
        raise search.refuse(
            f"columns {quoted(first)} and {quoted(pairs[0])} may both be the system",
            option("system", first),
            option("system", pairs[0]),
        )
    search.take("system", first)


def _is_function(search: RoleSearch, column: str, other: str) -> bool:
    """Return whether each value of a column has one value of another column."""
    first_values: dict[str | None, str | None] = {}
    values = zip(search.profiles[column].values, search.profiles[other].values, strict=True)
    return all(first_values.setdefault(id_of(a), id_of(b)) == id_of(b) for a, b in values)


def _has_names(profile: ColumnProfile) -> bool:
    """Return whether cells are short enough to be names."""
    if profile.is_list or profile.is_nested or profile.is_boolean:
        return False
    if profile.is_numeric and not profile.is_whole:
        return False
    return profile.mean_length <= _LONGEST_NAME and profile.mean_words <= 6


def _find_unit(search: RoleSearch) -> None:
    for name in search.columns_named("unit"):
        profile = search.profiles[name]
        n_groups, n_rows = len(profile.distinct), search.rows
        is_mostly_full = 2 * len(profile.present) > n_rows
        if not _has_names(profile) or not is_mostly_full or not 1 < n_groups < n_rows:
            continue
        if role_rank("id", name) is not None:
            continue  # `_find_id` decides
        if compact(name) in WEAK_UNITS and not 8 <= n_groups <= n_rows // 2:
            continue
        search.take("unit", name)
        return


def _find_partial_unit(search: RoleSearch) -> None:
    """Use the id of a document that some rows lack as the unit, beside the id of a segment."""
    for name in search.columns_named("unit") if search.roles.id and not search.roles.unit else []:
        profile = search.profiles[name]
        is_mostly_full = len(profile.values) > len(profile.present) > len(profile.values) / 2
        is_strong = compact(name) not in WEAK_UNITS and _has_names(profile)
        if is_strong and is_mostly_full and 1 < len(profile.distinct) < len(profile.present):
            search.take("unit", name)
            return


def _remark_on_units(search: RoleSearch) -> None:
    """Remark on rows without a unit."""
    unit = search.roles.unit
    n_empty = 0 if unit is None else sum(map(is_missing, search.profiles[unit].values))
    if n_empty:
        rows = "1 row, which is a unit" if n_empty == 1 else f"{n_empty:,} rows, which are units"
        possessive = "its" if n_empty == 1 else "their"
        search.remark(f"column {quoted(unit)} has no unit in {rows} of {possessive} own")


def _find_judge(search: RoleSearch) -> None:
    """Choose the column of judges, which has names or numbers that may repeat."""
    if search.roles.judge is not None or any(r.judge for r in search.roles.ratings):
        return
    named_columns = [
        name for name in search.columns_named("judge") if _has_names(search.profiles[name])
    ]
    several = [name for name in named_columns if len(search.profiles[name].distinct) > 1]
    if chosen := several or named_columns:
        search.take("judge", chosen[0])


def _find_epoch(search: RoleSearch) -> None:
    if search.roles.epoch is None:
        for name in search.columns_named("epoch"):
            profile = search.profiles[name]
            if profile.is_full and profile.is_whole and 1 < len(profile.distinct) < search.rows:
                search.take("epoch", name)
                return


def _find_id(search: RoleSearch) -> None:
    """Choose the column that identifies an item, with the same id for every system."""
    if search.roles.id is not None:
        return
    usable = [name for name in _id_columns(search) if _may_identify(search, name)]
    if _take_identifying(search, usable):
        return
    if not usable and _take_other_id(search):
        return
    for name in usable:
        for outer in (*usable, *([search.roles.unit] if search.roles.unit else [])):
            if outer != name and _id_grade(search, name, outer) == "shared":
                search.take("id", name)
                if outer in search.free:
                    search.take("unit", outer)
                search.roles = replace(search.roles, id_within=outer)
                return
    if _take_id_within(search, usable):
        return
    repeated = [name for name in usable if role_rank("unit", name) is None]
    if repeated:
        search.take("id", repeated[0])
    elif usable and search.roles.unit is None:
        search.take("unit", usable[0])


def _take_other_id(search: RoleSearch) -> bool:
    """Use a document, an index without a name or codes as the id if they differ between rows."""
    roles, table = search.roles, search.table
    unit = None if "unit" in search.declared else roles.unit
    is_strong = unit is not None and compact(unit) not in WEAK_UNITS
    if unit is not None and is_strong and _id_grade(search, unit) == "shared":
        search.roles = replace(roles, id=unit, unit=None)
        return True
    documents = [
        name
        for name in search.columns_named("unit")
        if compact(name) not in WEAK_UNITS and _may_identify(search, name)
    ]
    codes = [name for name in search.free if search.profiles[name].is_code]
    for name in (*documents, *(codes if len(codes) == 1 else [])):
        if len(search.profiles[name].distinct) < 2 or not search.profiles[name].is_full:
            continue
        if _id_grade(search, name) != "shared":
            continue
        if name in codes and not (roles.judge or roles.system or roles.has_texts):
            raise search.refuse(
                f"column {quoted(name)} has codes of the items or of the judges",
                option("id", name),
                option("judge", name),
            )
        search.take("id", name)
        return True
    if table.index and table.index not in {c for cs in search.declared.values() for c in cs}:
        profile = search.profiles[table.index]
        is_usable = profile.is_full and _has_names(profile) and len(profile.distinct) > 1
        if is_usable and _id_grade(search, table.index) == "shared":
            search.roles = replace(search.roles, id=table.index)
            return True
    return False


def _take_id_within(search: RoleSearch, usable: Sequence[str]) -> bool:
    """Use ids within documents if equal ids of two documents have different texts."""
    roles = search.roles
    outer_columns = [*usable, *([roles.unit] if roles.unit else [])]
    outer_columns = [name for name in outer_columns if role_rank("unit", name) is not None]
    for name in usable:
        for outer in outer_columns:
            if outer == name or _have_one_text(search, [name]):
                continue
            if _have_one_text(search, [outer, name]):
                search.take("id", name)
                if outer in search.free:
                    search.take("unit", outer)
                search.roles = replace(search.roles, id_within=outer)
                return True
    return False


def _have_one_text(search: RoleSearch, columns: Sequence[str]) -> bool:
    """Return whether rows with the same ids have the same inputs, or else outputs of a system."""
    roles = search.roles
    texts = [c for c in (roles.source, roles.question, *roles.references) if c]
    keys = [*columns]
    if not texts:
        texts = [c for c in (roles.candidate,) if c]
        keys += [c for c in (roles.system, roles.epoch) if c]
    first_texts: dict[tuple[str | None, ...], tuple[str | None, ...]] = {}
    for record in search.table.records:
        key = tuple(id_of(record.get(column)) for column in keys)
        values = tuple(id_of(record.get(column)) for column in texts)
        if first_texts.setdefault(key, values) != values:
            return False
    return bool(texts)


def _id_columns(search: RoleSearch) -> list[str]:
    """Return the free columns that are named like ids, the preferred one first."""
    names = search.columns_named("id")
    for name in search.free:
        last_word = [*map(str.lower, split_words(name))][-1:]
        is_number = search.profiles[name].is_whole and any(
            role_rank(role, name) is not None for role in ("question", "source", "text")
        )
        is_id = last_word in (["id"], ["nr"], ["no"]) and role_rank("judge", name) is None
        if name not in names and (is_id or is_number):
            names.append(name)
    return names


def _may_identify(search: RoleSearch, name: str) -> bool:
    """Return whether a column has an id for each row; remark on one that does not."""
    profile = search.profiles[name]
    if not _has_names(profile):
        return False
    reason = ""
    if not profile.is_full:
        n_empty = len(profile.values) - len(profile.present)
        reason = "1 cell is empty" if n_empty == 1 else f"{n_empty:,} cells are empty"
    elif len(profile.distinct) == 1 and search.rows > 1 and not _is_one_item(search):
        reason = "all cells are equal"
    if reason:
        search.remark(f"column {quoted(name)} is not used as the id: {reason}")
    return not reason


def _take_identifying(search: RoleSearch, usable: Sequence[str]) -> bool:
    """Take the first column whose ids differ between rows of a system, if there is one."""
    grades = {name: _id_grade(search, name) for name in usable}
    shared = next((name for name in usable if grades[name] == "shared"), None)
    apart = next((name for name in usable if grades[name] == "apart"), None)
    if shared is None and apart is not None and _texts_identify(search):
        reason = "no id occurs in two systems"
        search.remark(f"column {quoted(apart)} is not used as the id: {reason}")
        return True
    column = apart if shared is None else shared
    if column is not None:
        search.take("id", column)
        _take_unit_id(search, usable)
    return column is not None


def _take_unit_id(search: RoleSearch, usable: Sequence[str]) -> None:
    """Use the id of a document beside that of a segment as the unit."""
    if search.roles.unit is None:
        for name in usable:
            profile = search.profiles[name]
            is_unit = name in search.free and role_rank("unit", name) is not None
            if is_unit and len(profile.distinct) > 1 and _is_function_of_id(search, name):
                search.take("unit", name)
                return


def _is_function_of_id(search: RoleSearch, column: str) -> bool:
    column_of_ids = search.roles.id
    return column_of_ids is not None and (
        len(search.profiles[column].distinct) < len(search.profiles[column_of_ids].distinct)
        and _is_function(search, column_of_ids, column)
    )


def _is_one_item(search: RoleSearch) -> bool:
    """Return whether each row is of another system or judge, so that one id may be right."""
    roles = search.roles
    keys = [c for c in (roles.system, roles.judge, roles.dimension, roles.epoch) if c]
    columns = [search.profiles[key].keys for key in keys]
    return len({*zip(*columns, strict=True)}) == search.rows


def _id_grade(search: RoleSearch, name: str, outer: str | None = None) -> str:
    """Return whether ids are `shared` by systems, `apart` (each of one system) or `repeated`.

    Rows of an id must differ in system, judge, dimension or number of the answer.
    """
    roles = search.roles
    keys = [c for c in (roles.system, roles.judge, roles.dimension, roles.epoch) if c]
    columns = [search.profiles[key].keys for key in (outer or name, name, *keys)]
    if len({*zip(*columns, strict=True)}) < search.rows:
        return "repeated"
    if roles.system is None:
        return "shared"
    items = {*zip(columns[0], columns[1], strict=True)}
    systems = search.profiles[roles.system]
    n_pairs = len({*zip(columns[0], columns[1], systems.keys, strict=True)})
    return "shared" if len({*systems.keys}) < 2 or n_pairs > len(items) else "apart"


def _texts_identify(search: RoleSearch) -> bool:
    """Return whether question, source or reference occur for more than one system."""
    roles = search.roles
    columns = [c for c in (roles.question, roles.source, *roles.references) if c]
    systems: dict[tuple[str | None, ...], set[str | None]] = {}
    for record in search.table.records:
        item = tuple(id_of(record.get(column)) for column in columns)
        systems.setdefault(item, set()).add(id_of(record.get(roles.system or "")))
    return bool(columns) and any(len(names) > 1 for names in systems.values())


def _check_roles(search: RoleSearch) -> None:
    """Refuse a table without outputs, ratings and scores; set the kind."""
    _drop_epoch(search)
    _refuse_unknown_systems(search)
    _refuse_unknown_judges(search)
    _refuse_unknown_ratings(search)
    _refuse_unread_texts(search)
    roles = search.roles
    if roles.kind == "scores" or (not roles.has_texts and not roles.has_ratings and roles.scores):
        if not (roles.system or roles.id):
            raise _no_roles(search)
        search.roles = replace(roles, kind="scores", judge=None)
    elif roles.has_ratings:
        search.roles = replace(roles, kind="ratings")
    elif roles.has_texts:
        unused_columns = [c for c in (roles.judge, roles.dimension) if c]
        search.free += [
            column for column in unused_columns if (*search.declared.get("judge", ()),) != (column,)
        ]
        search.roles = replace(roles, kind="outputs", judge=None, dimension=None)
    else:
        raise _no_roles(search)


def _drop_epoch(search: RoleSearch) -> None:
    """Leave out a number of the answer if no item has several answers."""
    roles = search.roles
    if roles.epoch and roles.id and "epoch" not in search.declared:
        search.roles = replace(roles, epoch=None)
        if _id_grade(search, roles.id, roles.id_within) == "repeated":
            search.roles = roles
        else:
            search.free.append(roles.epoch)


def _refuse_unknown_systems(search: RoleSearch) -> None:
    """Refuse a column of labels that distinguishes the rows of one item, as systems would."""
    roles = search.roles
    if roles.system or roles.outputs or roles.epoch or roles.has_ratings or search.options.repeats:
        return
    columns = [roles.id] if roles.id else [c for c in (roles.question, roles.source) if c]
    if roles.id_within:
        columns.append(roles.id_within)
    items = [*zip(*(search.profiles[c].keys for c in columns), strict=True)]
    if not columns or len({*items}) == len(items):
        return
    for name in (*search.free, *search.ignored):
        profile = search.profiles[name]
        if profile.is_numeric or profile.is_boolean or not profile.is_label or not profile.is_full:
            continue
        labels = map(id_of, profile.values)
        if len({*zip(labels, items, strict=True)}) == len(items) and len(profile.distinct) > 1:
            raise search.refuse(
                f"rows repeat {quoted(columns[0])}, and column {quoted(name)} may be the system",
                option("system", name),
                f"{option_name('repeats')} answers if rows are several answers of one system",
            )


def _refuse_unknown_judges(search: RoleSearch) -> None:
    """Refuse rows that rate one output several times without a column of judges."""
    roles = search.roles
    is_long = roles.score or any(not rating.judge for rating in roles.ratings)
    if not roles.has_ratings or roles.judge or not is_long or search.options.repeats:
        return
    if roles.outputs or roles.answers or search.table.compared:
        return
    keys = [c for c in (roles.id, roles.id_within) if c]
    keys = keys or [c for c in (roles.source, roles.question) if c]
    if not keys or (not roles.id and not roles.system):
        return
    keys += [c for c in (roles.system, roles.dimension, roles.epoch) if c]
    rows: dict[tuple[str | None, ...], int] = {}
    items = [*zip(*(search.profiles[c].keys for c in keys), strict=True)]
    if len({*items}) == len(items):
        return
    for row, item in enumerate(items):
        first = rows.setdefault(item, row)
        records = search.table.records[first], search.table.records[row]
        texts = {id_of(record.get(roles.candidate or "")) for record in records}
        if first == row or len(texts) > 1:
            continue
        labels = [
            name
            for name in (*search.free, *search.ignored)
            if _has_names(search.profiles[name])
            and search.profiles[name].is_full
            and len({*zip(map(id_of, search.profiles[name].values), items, strict=True)})
            == len(items)
        ]
        locations = " and ".join(str(search.table.location(r)) for r in (first, row))
        raise InputError(
            f"{locations} rate one output, and no column is known to have judges: "
            + " or ".join(
                [
                    *(option("judge", name) for name in labels[:3]),
                    f"{option_name('repeats')} answers if they are several answers",
                    f"{option_name('repeats')} first to take one",
                ]
            )
        )


_ACCOUNTS = frozenset(
    [
        "userid",
        "username",
        "login",
        "email",
        "emailaddress",
        "participant",
        "participantid",
        "person",
        "user",
        "student",
        "tester",
        "studentid",
    ]
)
"""Names of columns of judges, in their compact form, that logs without ratings have too."""


def _refuse_unknown_ratings(search: RoleSearch) -> None:
    """Refuse a table with a column of judges whose ratings are not known."""
    roles = search.roles
    if roles.judge is None or roles.has_ratings or roles.kind == "scores":
        return
    is_account = compact(roles.judge) in _ACCOUNTS
    if is_account or "judge" in search.declared or "metric" in search.declared:
        return
    numbers = [
        name
        for name in roles.scores
        if not is_in("metrics", name) and not is_in("measures", name) and not _is_flag(search, name)
    ]
    labels = [name for name in search.free if search.profiles[name].is_label]
    labels += [n for n in search.free if n not in labels and len(search.profiles[n].distinct) < 8]
    labels = [] if roles.scores else labels
    if numbers or labels:
        raise search.refuse(
            f"column {quoted(roles.judge)} has judges, and no column is known to have ratings",
            option("score", *numbers) if numbers else option("score", labels[0]),
            f"{option('ignore', roles.judge)} if they rated nothing",
        )


def _is_flag(search: RoleSearch, name: str) -> bool:
    return search.profiles[name].is_boolean or is_in("flags", name)


def _refuse_unread_texts(search: RoleSearch) -> None:
    """Refuse numbers beside lists or objects that hold texts, which may be the outputs."""
    roles = search.roles
    if roles.has_texts or roles.has_ratings or {"metric", "ignore"} & {*search.declared}:
        return
    for name in (*search.free, *search.ignored):
        profile = search.profiles[name]
        if role_rank("contexts", name) is not None or not (profile.is_list or profile.is_nested):
            continue
        paths = list(dict.fromkeys(text_paths(profile.present[0], name)))
        if paths:
            raise search.refuse(
                f"column {quoted(name)} has texts in lists or objects that may be the outputs",
                *(option("candidate", path) for path in paths[:4]),
                f"{option('ignore', name)} if not",
            )


def text_paths(value: Any, path: str) -> Iterator[str]:
    """Yield the paths of texts of several words in a value; of a list, the first and last item."""
    if isinstance(value, str):
        if " " in value.strip():
            yield path
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from text_paths(item, f"{path}.{key}")
    elif isinstance(value, list) and value:
        yield from text_paths(value[0], f"{path}.0")
        if len(value) > 1:
            yield from text_paths(value[-1], f"{path}.-1")


def _no_roles(search: RoleSearch) -> InputError:
    for name in search.table.columns:
        if search.profiles[name].is_empty and role_rank("candidate", name) is not None:
            raise InputError(
                f"{search.table.name}: no outputs: all cells of column {quoted(name)} are empty"
            )
    names = [str(name) for name in search.table.columns if name]
    columns = short(", ".join(names[:12])) if names else "no column with a name"
    example = next(filter(None, (*search.free, *names)), "NAME")
    return InputError(
        f"{search.table.name}: no column is known to have outputs or ratings (it has {columns}): "
        f"name it, as in {option('candidate', example)} or {option('score', example)}"
    )
