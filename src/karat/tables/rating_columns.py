"""Columns of ratings and scores: long (judge, dimension, value) or a column per judge or dimension.

Names of columns such as `fluency_alice`, `Rater 2` or `bart/alice` say which judge, dimension or
system a column is of. A name that does not is refused where two readings are possible; a pattern
such as `--column 'score={dimension}_{judge}'` settles it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import NamedTuple

from karat.errors import InputError, quoted, short
from karat.evalset.reading import list_columns
from karat.tables.cells import ColumnProfile, is_missing, is_missing_mark, parse_rating
from karat.tables.names import (
    compact,
    find_phrase,
    is_in,
    is_model,
    is_rater,
    role_rank,
    scale_in_name,
    split_words,
)
from karat.tables.output_columns import is_on_scale, is_textual
from karat.tables.roles import PATTERN, RatingColumn, RoleSearch, option, option_name
from karat.tables.scales import declared_scale, find_word_scale

_PATTERN = re.compile(r"\{(judge|dimension|system|id)\}")


def find_ratings(search: RoleSearch) -> None:
    """Find the columns of ratings and of scores."""
    roles = search.roles
    search.level_kinds = find_level_kinds(search)
    if PATTERN in search.declared:
        _take_pattern(search, search.declared[PATTERN][0])
    elif "score" in search.declared and roles.score is None:
        _take_declared_scores(search)
    elif roles.score is None and not roles.ratings:
        _leave_out_measures(search)
        if not (search.roles.dimension and _find_tidy(search)):
            _find_wide(search)
    else:
        _leave_out_measures(search)
    take_scores(search)
    _check_judges(search)
    _check_scores(search)


def _check_scores(search: RoleSearch) -> None:
    """Refuse a wrong cell in a column that is named like scores and has numbers otherwise."""
    for name in search.free:
        profile = search.profiles[name]
        is_named = (
            is_in("metrics", name)
            or is_in("measures", name)
            or role_rank("rating", name) is not None
            or role_rank("score", name) is not None
        )
        if is_named and not profile.is_numeric and profile.number_share >= 0.5:
            raise _person_or_program(search, name)


def _check_judges(search: RoleSearch) -> None:
    """Refuse a column named like a judge, among columns of judges, that is not one of ratings."""
    judges = [rating.column for rating in search.roles.ratings if rating.judge]
    declared = {column for columns in search.declared.values() for column in columns}
    for name in (*search.free, *search.roles.scores):
        is_judge = judges and is_rater(name) and name not in declared
        profile = search.profiles[name]
        if not is_judge or profile.is_text or all(map(is_missing_mark, profile.present)):
            continue
        row = next(
            row
            for row, value in enumerate(profile.values)
            if not is_missing(value) and not is_missing_mark(value)
        )
        raise InputError(
            f"{search.table.location(row)}: found {quoted(profile.values[row])} in column "
            f"{quoted(name)}, expected ratings as in column {quoted(judges[0])}; "
            f"{option('ignore', name)} leaves the column out"
        )


def take_scores(search: RoleSearch) -> None:
    """Make all other columns of numbers scores."""
    is_declared = bool({"score", "judge", "dimension"} & {*search.declared})
    labels = ("id", "unit", "epoch", "judge", "system", "question", "source", "text")
    scores = [
        name
        for name in search.free
        if _is_number(search.profiles[name])
        and not any(role_rank(role, name) is not None for role in labels)
        and not (is_declared and _is_rating_name(name, search))
    ]
    search.free = [name for name in search.free if name not in scores]
    search.roles = replace(search.roles, scores=(*search.roles.scores, *scores))


def _is_rating_name(name: str, search: RoleSearch) -> bool:
    """Return whether a name is of a judge or a dimension, so that its numbers are no metric."""
    parts = read_name(name, search)
    return any(parts[:2]) and not parts.rest and not is_in("metrics", name)


def match_pattern(pattern: str, columns: Sequence[str]) -> list[RatingColumn]:
    """Return the columns that match a pattern such as `{dimension}_{judge}`."""
    parts = _PATTERN.split(pattern)
    text = "".join(f"(?P<{part}>.+?)" if i % 2 else re.escape(part) for i, part in enumerate(parts))
    try:
        expression = re.compile(text)
    except re.error as error:
        raise InputError(f"--column score={pattern}: {error}") from error
    matches = [(name, expression.fullmatch(name)) for name in columns]
    return [RatingColumn(name, **match.groupdict()) for name, match in matches if match]


def _take_pattern(search: RoleSearch, pattern: str) -> None:
    """Make the columns that match a pattern ratings."""
    ratings = [r for r in match_pattern(pattern, search.table.columns) if r.column in search.free]
    if not ratings or not _PATTERN.search(pattern):
        columns = list_columns(search.table.columns)
        raise InputError(
            f"{option_name('columns')} score={pattern}: no column of {search.table.name} matches "
            f"(it has {columns}); a pattern has {{judge}}, {{dimension}}, {{system}} or {{id}}"
        )
    rated = {rating.column for rating in ratings}
    search.free = [name for name in search.free if name not in rated]
    search.roles = replace(search.roles, ratings=tuple(ratings))
    _leave_out_measures(search)


def _take_declared_scores(search: RoleSearch) -> None:
    """Make the named columns ratings; their names say judge and dimension if they can."""
    columns = search.declared["score"]
    parts = {name: read_name(name, search) for name in columns}
    ratings = [_rating_column(name, parts[name]) for name in columns]
    if any(rating is None for rating in ratings):
        ratings = [
            RatingColumn(name, dimension=scale_in_name(name).name.strip()) for name in columns
        ]
    search.free = [name for name in search.free if name not in columns]
    search.roles = replace(search.roles, ratings=tuple(r for r in ratings if r is not None))


def _is_number(profile: ColumnProfile) -> bool:
    return profile.is_numeric or profile.is_boolean


def _leave_out_measures(search: RoleSearch) -> None:
    """Make columns of measurements and of metrics scores."""
    scores = []
    for name in search.free:
        profile = search.profiles[name]
        if not _is_number(profile) or role_rank("rating", name) is not None:
            continue
        bare = _member_of_object(name, search) or name
        is_metric = is_in("metrics", bare) and not (
            is_in("dimensions", bare) and _is_rated(profile)
        )
        is_outcome = profile.is_boolean and is_flag(bare)
        if is_in("measures", bare) or is_metric or is_outcome:
            scores.append(name)
    search.free = [name for name in search.free if name not in scores]
    search.roles = replace(search.roles, scores=(*search.roles.scores, *scores))


def is_flag(name: str) -> bool:
    """Return whether a name is of a truth value that no person gave: `passed`, `has_error`."""
    words = split_words(name)
    return is_in("flags", name) or (len(words) > 1 and compact(words[0]) in ("has", "was"))


def _member_of_object(name: str, search: RoleSearch) -> str:
    """Return the key of a member of an object of ratings, such as `scores.fluency`; else ""."""
    parent, dot, key = name.rpartition(".")
    profile = search.profiles.get(parent)
    if not dot or profile is None or not profile.is_nested:
        return ""
    is_named = any(role_rank(role, parent) is not None for role in ("rating", "score"))
    return key if is_named else ""


def _is_rated(profile: ColumnProfile) -> bool:
    """Return whether numbers look like ratings of people: whole or half, beyond 0 to 1."""
    halves = all((2 * number).is_integer() for number in profile.numbers)
    return halves and max(profile.numbers) > 1 and profile.has_small_numbers


def has_ratings(name: str, search: RoleSearch) -> bool:
    """Return whether cells may be ratings: small numbers, or words of a known scale."""
    profile = search.profiles[name]
    if profile.is_list or profile.is_nested:
        return False
    if profile.is_numeric:
        is_judge = is_rater(name) and role_rank("id", name) is None
        return profile.has_small_numbers or is_judge  # a wrong number is refused later
    if profile.number_share >= 0.5 and not profile.is_boolean:  # a wrong cell is refused later
        parts = read_name(name, search)
        is_plain = role_rank("rating", name) is not None or role_rank("score", name) is not None
        return is_plain or (any(parts[:3]) and not parts.rest)
    return _has_words(name, search)


def _has_words(name: str, search: RoleSearch) -> bool:
    dimension = "score" if is_rater(name) else scale_in_name(name).name
    scale = declared_scale(dimension, search.options.scale)
    labels = [text for text in search.profiles[name].distinct if not is_missing_mark(text)]
    return bool(scale and scale.words) or find_word_scale(labels) is not None


def _find_tidy(search: RoleSearch) -> bool:
    """Find the value column of a table with a column of dimensions."""
    values = [*search.columns_named("rating"), *(n for n in search.columns_named("score"))]
    values = [n for n in dict.fromkeys(values) if not is_textual_rating(search.profiles[n])]
    if not values:
        values = [name for name in search.free if has_ratings(name, search)]
    dimension = search.roles.dimension or ""
    if not values:
        search.free.append(dimension)
        search.roles = replace(search.roles, dimension=None)
        return False
    if len(values) > 1:
        raise search.refuse(
            f"columns {quoted(values[0])} and {quoted(values[1])} may both be the ratings",
            option("score", values[0]),
            option("score", values[1]),
        )
    search.take("score", values[0])
    names = search.profiles[dimension].distinct
    are_metrics = all(is_in("metrics", n) and not is_in("dimensions", n) for n in names)
    if search.roles.judge is None and are_metrics:
        search.roles = replace(search.roles, kind="scores")
    return True


def is_textual_rating(profile: ColumnProfile) -> bool:
    """Return whether a column named like a rating has texts."""
    return is_textual(profile) and profile.is_text


class NameParts(NamedTuple):
    """Judge, dimension and system in the name of a column of ratings; "" if they are not in it."""

    judge: str = ""
    dimension: str = ""
    system: str = ""
    rest: str = ""
    """Words that are not known."""


def read_name(name: str, search: RoleSearch) -> NameParts:
    """Return the judge, dimension and system in the name of a column of ratings."""
    return _read_structure(name, search) or _read_words_of(name, search)


def _read_structure(name: str, search: RoleSearch) -> NameParts | None:
    """Read a name by its place: a member of an object, levels of a header, one of several."""
    if key := _member_of_object(scale_in_name(name).name.strip(), search):
        return NameParts(dimension=key)
    labels = name.split("/")
    if search.level_kinds and len(labels) == len(search.level_kinds):
        return NameParts(**dict(zip(search.level_kinds, labels, strict=True)))
    if name in search.same_named:
        common, number = search.same_named[name]
        parts = _read_words_of(common, search)
        if not parts.judge and not parts.rest:
            return parts._replace(judge=str(number))
    return None


def _read_words_of(name: str, search: RoleSearch) -> NameParts:
    bare = scale_in_name(name).name.strip()
    systems = {compact(system): system for system in search.roles.outputs}
    systems |= {compact(column): system for system, column in search.roles.outputs.items()}
    if (key := compact(bare)) in systems:
        return NameParts(system=systems[key])
    if is_in("dimensions", bare):
        return NameParts(dimension=bare)
    parts = _read_words(bare, systems, not search.roles.has_texts)
    if is_rater(bare) and not parts.system:
        return NameParts(judge=bare)
    is_known = any(map(_is_known_word, split_words(bare)))
    if is_model(bare) and not is_known and not search.roles.has_texts:
        return NameParts(system=bare)
    if parts.rest and scale_in_name(name).low is not None and not any(parts[:3]):
        return NameParts(dimension=bare)  # a name with a scale is of ratings
    return parts


def find_level_kinds(search: RoleSearch) -> tuple[str, ...]:
    """Return what the levels of a header of several rows are, such as system and judge.

    The names of levels decide, then their values; nothing if a level is unknown.
    """
    levels = search.table.levels
    columns = [name.split("/") for name in search.free if name.count("/") == len(levels) - 1]
    if len(levels) < 2 or len(columns) < 2:
        return ()
    kinds = []
    for at, level in enumerate(levels):
        values = {labels[at] for labels in columns}
        named_kinds = [
            kind for kind in ("judge", "dimension", "system") if role_rank(kind, level) is not None
        ]
        tests: dict[str, Callable[[str], bool]] = {
            "dimension": partial(is_in, "dimensions"),
            "judge": is_rater,
            "system": is_model,
        }
        kinds_of_values = [kind for kind, test in tests.items() if all(map(test, values))]
        kind = next(iter(named_kinds or kinds_of_values), "")
        kinds.append(kind)
    return tuple(kinds) if all(kinds) and len({*kinds}) == len(kinds) else ()


def _is_known_word(word: str) -> bool:
    return is_in("dimensions", word) or is_in("people", word)


def _read_words(name: str, systems: Mapping[str, str], allow_models: bool) -> NameParts:
    """Read the longest known parts of a name first; the words between them are the rest."""
    words = split_words(name)
    labels: list[str] = [""] * len(words)
    parts: dict[str, str] = {}

    def claim(kind: str, start: int, end: int, text: str) -> None:
        labels[start:end] = [kind] * (end - start)
        parts.setdefault(kind, text)

    spans = [
        (start, start + size)
        for size in range(len(words), 0, -1)
        for start in range(len(words) - size + 1)
    ]
    for start, end in spans:
        key = compact(_span(name, words, start, end))
        if key in systems and "system" not in parts:
            claim("system", start, end, systems[key])
    for start, end in spans:
        if not any(labels[start:end]):
            text = _span(name, words, start, end)
            if is_in("dimensions", text) and "dimension" not in parts:
                claim("dimension", start, end, text)
            elif is_rater(text) and "judge" not in parts:
                claim("judge", start, end, text)
    for i, word in enumerate(words):
        if not labels[i] and is_in("generic", word):
            labels[i] = "generic"
    free = [i for i, label in enumerate(labels) if not label]
    if allow_models and free and "system" not in parts and free[-1] - free[0] == len(free) - 1:
        text = _span(name, words, free[0], free[-1] + 1)
        if is_model(text):
            claim("system", free[0], free[-1] + 1, text)
            free = []
    rest = _span(name, words, free[0], free[-1] + 1) if free else ""
    return NameParts(
        parts.get("judge", ""), parts.get("dimension", ""), parts.get("system", ""), rest
    )


def _span(name: str, words: Sequence[str], start: int, end: int) -> str:
    """Return the part of a name from one word to another, with its separators."""
    at = 0
    first = 0
    for i, word in enumerate(words[:end]):
        at = name.index(word, at)
        first = at if i == start else first
        at += len(word)
    return name[first:at]


def _rating_column(name: str, parts: NameParts) -> RatingColumn | None:
    """Return a column of ratings if its name is known; None if words of it are not."""
    if parts.rest:
        return None
    return RatingColumn(name, parts.judge or None, parts.dimension or None, parts.system or None)


def _find_wide(search: RoleSearch) -> None:
    """Find ratings in columns per judge, dimension or system, or in one column."""
    rated = _leave_out_aggregates(search)
    _refuse_unknown_words(search)
    _refuse_same_named(search, rated)
    parts = {name: read_name(name, search) for name in rated}
    plain = [n for n in rated if _is_plain(n, parts[n])]
    known_columns = [n for n in rated if n not in plain and not parts[n].rest]
    unknown = [n for n in rated if n not in plain and parts[n].rest]
    unknown = [
        n for n in unknown if any(parts[n][:3]) or _is_rated_scale(search.profiles[n], n, search)
    ]
    partly = [n for n in unknown if any(parts[n][:3])]
    if not known_columns and not partly and not plain and not unknown:
        return
    if partly:
        _refuse_results(search, partly)
        _read_rest(search, parts, partly)
        known_columns += partly
        unknown = [n for n in unknown if n not in partly]
    known_columns = _check_fractions(search, known_columns, parts)
    if not known_columns and len(plain) == 1 and not (search.roles.judge and unknown):
        _take_plain(search, plain[0])
        return
    if known_columns:
        unknown = _take_unknown(search, parts, known_columns, unknown)
        _take_ratings(
            search, parts, [*known_columns, *_plain_dimensions(search, plain, parts, known_columns)]
        )
    elif plain and len(plain) > 1:
        raise search.refuse(
            f"columns {short(', '.join(map(quoted, plain)))} may all be the ratings",
            *(option("score", name) for name in plain[:2]),
            f"{option('dimension', *plain)} for dimensions",
        )
    else:
        _read_unknown(search, [*plain, *unknown], parts)


def _refuse_results(search: RoleSearch, columns: Sequence[str]) -> None:
    """Refuse numbers such as `feedback.fluency` and `outputs.f1`, which tools write and people.

    The part before the dot is no judge.
    """
    declared = {column for names in search.declared.values() for column in names}
    results = [
        name
        for name in columns
        if name not in declared and "." in name and is_in("results", name.split(".")[0])
    ]
    if results and search.roles.judge is None:
        raise search.refuse(
            f"columns {short(', '.join(map(quoted, results)))} may be ratings by people or scores "
            "by a program",
            f"{option('score', *results)} for ratings",
            f"{option('metric', *results)} for scores",
        )


def _refuse_same_named(search: RoleSearch, rated: Sequence[str]) -> None:
    """Refuse columns such as `score`, `score (2)`, which may be of judges or of dimensions."""
    for name in rated:
        if name not in search.same_named or read_name(name, search).dimension:
            continue
        common = search.same_named[name][0]
        family = [n for n in rated if search.same_named.get(n, ("",))[0] == common]
        if len(family) > 1:
            raise search.refuse(
                f"columns {', '.join(map(quoted, family))} have one name in the file",
                f"{option('score', *family)} for ratings of several judges",
                f"{option('dimension', *family)} for dimensions",
                f"{option('metric', *family)} for scores by a program",
            )


def _leave_out_aggregates(search: RoleSearch) -> list[str]:
    """Return the columns of ratings, without means and sums of others."""
    rated = [name for name in search.free if has_ratings(name, search)]
    aggregates = [
        name for name in rated if any(is_in("aggregates", word) for word in split_words(name))
    ]
    if len(aggregates) == len(rated):
        return rated
    search.free = [name for name in search.free if name not in aggregates]
    search.ignored += aggregates
    return [name for name in rated if name not in aggregates]


def _is_plain(name: str, parts: NameParts) -> bool:
    """Return whether a name is that of any rating: `score`, `rating`."""
    is_named = role_rank("rating", name) is not None or role_rank("score", name) is not None
    return (is_named and not any(parts[:3])) or parts == NameParts()


def _is_rated_scale(profile: ColumnProfile, name: str, search: RoleSearch) -> bool:
    """Return whether cells look like ratings, though the name does not say so."""
    is_named = any(role_rank(role, name) is not None for role in ("judge", "system", "dimension"))
    if is_named or is_flag(name) or _is_count(name):
        return False
    if not profile.is_numeric:
        return is_on_scale(profile)
    is_id = role_rank("id", name) is not None or role_rank("unit", name) is not None
    if is_id or name == search.roles.id or profile.is_boolean:
        return profile.is_boolean and not is_id
    halves = all((2 * number).is_integer() for number in profile.numbers)
    return halves and min(profile.numbers) >= -10 and len(profile.distinct) > 1


def _is_count(name: str) -> bool:
    """Return whether a name is of a number of things: `n_turns`, `num docs`, `docs count`."""
    words = [compact(word) for word in split_words(name)]
    starts = ("n", "num", "number", "count", "nb", "anzahl", "nombre", "numero", "k")
    return len(words) > 1 and (words[0] in starts or words[-1] in ("count", "number", "index"))


def _values_of(name: str, search: RoleSearch) -> list[float]:
    """Return the cells of a column of ratings as numbers; those of words by their scale."""
    profile = search.profiles[name]
    if profile.is_numeric:
        return profile.numbers
    labels = [text for text in profile.distinct if not is_missing_mark(text)]
    scale = find_word_scale(labels)
    return [] if scale is None else [scale.parse(label) or 0.0 for label in labels]


def _refuse_unknown_words(search: RoleSearch) -> None:
    """Refuse labels of an unknown order in a column that is named like ratings."""
    for name in search.free:
        profile = search.profiles[name]
        parts = read_name(name, search)
        is_named = role_rank("rating", name) is not None or (
            any((parts.judge, parts.dimension)) and not parts.rest
        )
        if not is_named or profile.is_numeric or not profile.is_label or profile.is_boolean:
            continue
        if role_rank("judge", name) is not None or role_rank("system", name) is not None:
            continue
        if not has_ratings(name, search):
            labels = [text for text in profile.distinct if not is_missing_mark(text)]
            numbers = [text for text in labels if any(c.isdigit() for c in text)]
            if numbers:
                continue  # a wrong number: refused with its line
            dimension = parts.dimension or ("score" if parts.judge else scale_in_name(name).name)
            raise search.refuse(
                f"column {quoted(name)} has the ratings {short(', '.join(map(quoted, labels)))}, "
                "whose order is not known",
                f"name the labels from the lowest to the highest, as in {option_name('scale')} "
                f"{quoted(dimension + '=' + ','.join(labels[:6]))}",
                f"{option('ignore', name)} to leave it out",
            )


def _read_rest(search: RoleSearch, parts: dict[str, NameParts], columns: Sequence[str]) -> None:
    """Decide whether unknown words beside known ones are judges, dimensions or systems."""
    roles = search.roles
    has_system = bool(roles.system or roles.has_texts)
    for name in columns:
        judge, dimension, system, rest = parts[name]
        if dimension and not judge and roles.judge is None:
            is_settled = bool(system) or has_system
            role = "judge"
        elif judge and not dimension:
            is_settled = bool(system) or has_system
            role = "dimension"
        elif system and not judge and not dimension:
            is_settled, role = False, "judge"
        else:
            is_settled, role = True, "dimension" if not dimension else "system"
        if judge and dimension:
            role, is_settled = "system", not has_system
        if role == "judge" and rest.isdigit():
            is_settled = True
        if not is_settled:
            pattern = name.replace(rest, "{judge}")
            pattern = pattern.replace(dimension, "{dimension}") if dimension else pattern
            pattern = pattern.replace(judge, "{judge}") if judge else pattern
            first = name.replace(dimension or judge or system, "{X}").replace(rest, "{Y}")
            known_role = "dimension" if dimension else "judge" if judge else "system"
            readings = [r for r in ("judge", "dimension", "system") if r != known_role][:2]
            patterns = [
                first.replace("{X}", f"{{{known_role}}}").replace("{Y}", f"{{{r}}}")
                for r in readings
            ]
            raise search.refuse(
                f"column {quoted(name)}: {quoted(rest)} may be a {readings[0]} or a {readings[1]}",
                *(f"--column 'score={text}'" for text in patterns),
            )
        parts[name] = parts[name]._replace(**{role: rest, "rest": ""})


def _check_fractions(
    search: RoleSearch, known_columns: list[str], parts: Mapping[str, NameParts]
) -> list[str]:
    """Refuse fractions within 0 to 1 that a program or a person may have given."""
    if search.roles.judge or any(parts[n].judge for n in known_columns):
        return known_columns
    for name in known_columns:
        profile = search.profiles[name]
        if profile.is_numeric and min(profile.numbers) >= 0 and max(profile.numbers) <= 1:
            raise _person_or_program(search, name)
    return known_columns


def _person_or_program(search: RoleSearch, name: str) -> InputError:
    profile = search.profiles[name]
    if not profile.is_numeric and profile.number_share > 0:
        row = next(
            i
            for i, value in enumerate(profile.values)
            if not is_missing(value)
            and not is_missing_mark(value)
            and parse_rating(value, search.table.decimal) is None
        )
        return InputError(
            f"{search.table.location(row)}: found {quoted(profile.values[row])} in column "
            f"{quoted(name)}, expected a number, or nothing; {option('ignore', name)} leaves the "
            "column out"
        )
    return search.refuse(
        f"column {quoted(name)} may be ratings by people or scores by a program",
        f"{option('score', name)} for ratings",
        f"{option('metric', name)} for scores",
    )


def _take_plain(search: RoleSearch, name: str) -> None:
    """Take the only column of ratings; refuse a `score` that may be of a program."""
    has_judge = search.roles.judge is not None or search.roles.ratings
    if not has_judge and role_rank("rating", name) is None:
        phrase = find_phrase(name, ("rating",))
        if phrase is None:
            raise _person_or_program(search, name)
    search.take("score", name)


def _take_unknown(
    search: RoleSearch, parts: dict[str, NameParts], known_columns: list[str], unknown: list[str]
) -> list[str]:
    """Read unknown names like the known ones beside them, where their scales agree."""
    numbers = [n for name in known_columns for n in _values_of(name, search)]
    low, high = min(numbers, default=0), max(numbers, default=0)
    have_words = {not search.profiles[name].is_numeric for name in known_columns}
    values = {name: _values_of(name, search) for name in unknown}
    similar = [
        name
        for name in unknown
        if {not search.profiles[name].is_numeric} == have_words
        and (have_words == {True} or (low <= min(values[name]) and max(values[name]) <= high))
    ]
    if not similar:
        return unknown
    kinds = {tuple(bool(part) for part in parts[name][:3]) for name in known_columns}
    only_judges = kinds == {(True, False, False)}
    if only_judges and len(known_columns) >= 2 and len(known_columns) >= len(similar):
        for name in similar:
            parts[name] = NameParts(judge=scale_in_name(name).name.strip())
            known_columns.append(name)
        return [name for name in unknown if name not in similar]
    only_dimensions = kinds == {(False, True, False)}
    if only_dimensions and have_words == {True} and _share_words(search, known_columns, similar):
        for name in similar:
            parts[name] = NameParts(dimension=scale_in_name(name).name.strip())
            known_columns.append(name)
        return [name for name in unknown if name not in similar]
    role = "judge" if only_judges else "dimension"
    raise search.refuse(
        f"column {quoted(similar[0])} may be a {role} like {quoted(known_columns[0])}, or scores",
        option(role, *known_columns, *similar)
        if len(kinds) == 1 and kinds <= {(True, False, False), (False, True, False)}
        else option("score", *known_columns, *similar),
        f"{option('metric', *similar)} for scores",
    )


def _share_words(search: RoleSearch, known_columns: Sequence[str], columns: Sequence[str]) -> bool:
    """Return whether the words of all columns are on one scale."""
    labels = {
        text
        for name in (*known_columns, *columns)
        for text in search.profiles[name].distinct
        if not is_missing_mark(text)
    }
    return len(labels) > 2 and find_word_scale(labels) is not None


def _plain_dimensions(
    search: RoleSearch,
    plain: Sequence[str],
    parts: dict[str, NameParts],
    known_columns: Sequence[str],
) -> list[str]:
    """Return the columns such as `rating` that are dimensions beside `fluency`."""
    by_dimension = all(parts[name].dimension for name in known_columns)
    chosen = []
    for name in plain:
        if by_dimension and (role_rank("rating", name) is not None or search.roles.judge):
            parts[name] = NameParts(dimension=scale_in_name(name).name.strip())
            chosen.append(name)
        elif search.profiles[name].is_numeric and not _is_mean(search, name, known_columns):
            raise _person_or_program(search, name)
    return chosen


def _is_mean(search: RoleSearch, name: str, columns: Sequence[str]) -> bool:
    """Return whether a column is the mean or sum of others, and so no further ratings."""
    column_values, decimal = search.profiles[name].values, search.table.decimal
    for row, cell in enumerate(column_values):
        record = search.table.records[row]
        numbers = [parse_rating(record.get(column), decimal) for column in columns]
        present = [n for n in numbers if n is not None]
        value = parse_rating(cell, decimal)
        if value is None or not present:
            continue
        total = sum(present)
        if min(abs(value - total), abs(value - total / len(present))) > 0.06:
            return False
    return True


def _take_ratings(
    search: RoleSearch, parts: Mapping[str, NameParts], columns: Sequence[str]
) -> None:
    """Make columns ratings with the judge, dimension and system of their names."""
    ratings = []
    for name in columns:
        judge, dimension, system, _ = parts[name]
        ratings.append(RatingColumn(name, judge or None, dimension or None, system or None))
    by_system = {bool(rating.system) for rating in ratings}
    if len(by_system) > 1 or (by_system == {True} and search.roles.system):
        raise search.refuse(
            f"columns {short(', '.join(map(quoted, columns)))}: only some names have a system",
            f"{option('judge', *columns)} for judges",
            f"{option('dimension', *columns)} for dimensions",
        )
    labels = [(r.judge, r.dimension, r.system) for r in ratings]
    if twice := next((x for x in labels if labels.count(x) > 1), None):
        first, second = [r.column for r, x in zip(ratings, labels, strict=True) if x == twice][:2]
        raise search.refuse(
            f"columns {quoted(first)} and {quoted(second)} have ratings of the same kind",
            option("score", first),
            option("score", second),
        )
    structures = {(bool(r.judge), bool(r.dimension)) for r in ratings}
    if {(True, False), (False, True)} <= structures:
        first = next(r.column for r in ratings if r.judge)
        second = next(r.column for r in ratings if not r.judge)
        raise search.refuse(
            f"columns {quoted(first)} and {quoted(second)} look like a judge and a dimension",
            f"{option('score', first)} {option('metric', second)}",
            f"{option('score', second)} {option('metric', first)}",
            f"{option('score', first, second)} for ratings of two kinds",
        )
    search.free = [name for name in search.free if name not in columns]
    order = {name: i for i, name in enumerate(search.table.columns)}
    ratings.sort(key=lambda rating: order[rating.column])
    search.roles = replace(search.roles, ratings=(*search.roles.ratings, *ratings))


def _read_unknown(
    search: RoleSearch, columns: Sequence[str], parts: Mapping[str, NameParts]
) -> None:
    """Read columns of numbers whose names are not known; refuse several on one scale."""
    roles = search.roles
    if roles.judge is not None and not roles.has_ratings:
        if len(columns) == 1:
            if (
                not search.profiles[columns[0]].is_numeric
                and len(_values_of(columns[0], search)) < 3
            ):
                raise search.refuse(
                    f"column {quoted(columns[0])} may be ratings by the judges or another label",
                    f"{option('score', columns[0])} for ratings",
                    f"{option('ignore', columns[0])} to leave it out",
                )
            search.take("score", columns[0])
        elif columns:
            ratings = tuple(
                RatingColumn(name, dimension=scale_in_name(name).name.strip()) for name in columns
            )
            search.free = [name for name in search.free if name not in columns]
            search.roles = replace(roles, ratings=ratings)
        return
    if len(columns) == 1 and roles.has_texts and not _looks_rated(search, columns[0]):
        return
    if len(columns) == 1:
        raise _person_or_program(search, columns[0])
    if columns:
        products = _products(columns, bool(roles.system or roles.has_texts))
        person = _respondents(search)
        if products and person:
            separator = products[0].strip("{}").partition("}")[2].partition("{")[0]
            products = [f"{{id}}{separator}{{dimension}}", f"{{id}}{separator}{{system}}"]
        readings = [
            f"{option('judge', *columns)} for judges",
            f"{option('dimension', *columns)} for dimensions",
            f"{option('metric', *columns)} for scores",
        ]
        if products:
            judge = f"{option('judge', person)} " if person and not roles.judge else ""
            readings = [f"{judge}--column 'score={text}'" for text in products]
        raise search.refuse(
            f"columns {short(', '.join(map(quoted, columns)))} may be judges or dimensions",
            *readings,
        )


def _respondents(search: RoleSearch) -> str:
    """Return the column of people if each row is of another one, so that columns have the items."""
    names = [*filter(None, [search.roles.judge, search.roles.id]), *search.free]
    for name in dict.fromkeys(names):
        first_word = next(iter(map(compact, split_words(name))), "")
        is_person = first_word in ("response", "respondent") or role_rank("judge", name) is not None
        profile = search.profiles[name]
        if is_person and profile.is_unique and profile.is_full and not profile.is_text:
            return name
    return ""


def _looks_rated(search: RoleSearch, name: str) -> bool:
    """Return whether cells of an unknown name look like ratings: words, or 1 to 5 and such."""
    profile = search.profiles[name]
    if not profile.is_numeric or profile.is_boolean:
        return True
    if any(is_in("generic", word) or is_in("metrics", word) for word in split_words(name)):
        return False
    numbers = profile.numbers
    return profile.is_whole and min(numbers) >= 0 and 1 < max(numbers) <= 10


def _products(columns: Sequence[str], has_systems: bool) -> list[str]:
    """Return patterns of names that are all combinations of two lists of words."""
    for separator in ("_", "/", " - ", "-", ".", " "):
        pairs = [name.split(separator) for name in columns]
        if all(len(pair) == 2 for pair in pairs):
            firsts, lasts = ({*side} for side in zip(*pairs, strict=True))
            if len(firsts) > 1 and {*product(firsts, lasts)} == {tuple(p) for p in pairs}:
                kinds = [("judge", "dimension"), ("dimension", "judge")]
                if not has_systems:
                    kinds = [("system", "judge"), ("judge", "system"), *kinds]
                return [f"{{{first}}}{separator}{{{last}}}" for first, last in kinds]
    return []
