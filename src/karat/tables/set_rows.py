"""Sets from rows: rows of one or several tables as one `EvalSet`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from karat.errors import InputError, quoted, short
from karat.evalset.draft import Contexts, EvalSetDraft
from karat.evalset.judgements import MODEL, Dimension
from karat.evalset.reading import Location, Reading, output_columns
from karat.evalset.sets import EvalSet
from karat.tables.options import ReadingOptions
from karat.tables.roles import option, option_name
from karat.tables.rows import Rating, TableOutput, TableRows, TableScore
from karat.tables.scales import Scale

T = TypeVar("T")
REPEATS = ("answers", "first", "last")
_SHOWN = 3


@dataclass
class _ItemTexts:
    """The texts of one item, with the location of the row that had each first."""

    references: tuple[str, ...] = ()
    source: str | None = None
    question: str | None = None
    contexts: tuple[str, ...] = ()
    unit: str | None = None
    locations: dict[str, Location] = field(default_factory=dict)


_TEXTS = ("references", "source", "question", "contexts", "unit")
_OF_SYSTEMS = {
    "contexts": "contexts differ between systems: each has its own",
    "unit": "unit differ between rows of one id and are left out",
}
"""Texts that may be those of a system, not of the item; the remark if they are."""
_SINGULAR = {"references": "reference", "contexts": "contexts", "unit": "unit"}


def build_set(
    tables: Sequence[TableRows], options: ReadingOptions, name: str, remark: str = ""
) -> EvalSet:
    """Return the rows of all tables as one set."""
    if options.repeats not in (None, *REPEATS):
        raise InputError(
            f"{option_name('repeats')} {options.repeats}: expected one of {', '.join(REPEATS)}"
        )
    remarks = [rows.summary for rows in tables]
    remarks += [text for rows in tables for text in rows.remarks]
    remarks += [remark] if remark else []
    _check_same_items(tables, options)
    outputs, ratings, scores, groups, more = _repeated(tables, options)
    remarks += more
    items, differing = _items(outputs)
    remarks += differing
    cells = {(row.system, row.id): row.candidate for row in outputs}
    segments = list(items)
    for row in ratings:
        if row.id not in items:
            items[row.id] = _ItemTexts()
            segments.append(row.id)
    has_texts = any(text is not None for text in cells.values())
    if options.skip_missing:
        segments, skipped = _without_missing(segments, items, cells, has_texts)
        remarks += skipped
        ratings = [row for row in ratings if row.id in set(segments)]
        scores = [row for row in scores if row.id in set(segments)]
    elif has_texts:
        remarks += _count_missing(segments, items, cells)
    selected_rows = {*segments}
    cells = {key: text for key, text in cells.items() if key[1] in selected_rows}
    rated = {(row.system, row.id): None for row in ratings}
    rated |= {(row.compared_with, row.id): None for row in ratings if row.compared_with}
    rated |= {(row.system, row.id): None for row in scores}
    path: Any = tables[0].table.name
    draft = EvalSetDraft(
        name,
        segments,
        output_columns(path, {**rated, **cells}, segments),
        reading=Reading(lister=""),
        location=path,
        references=[items[s].references for s in segments],
        groups=_groups(segments, items, groups, "unit" in options.columns),
        sources=_sources(segments, items, remarks),
        contexts=_contexts(segments, items, outputs),
        dimensions=_dimensions(tables, ratings),
        remarks=remarks,
        without_texts=not has_texts,
    )
    models = {judge for rows in tables for judge in rows.model_judges}
    for rating in _merged_ratings(ratings, options):
        key = rating.system, rating.id, rating.judge, rating.dimension
        kind = MODEL if rating.judge in models else ""
        draft.judge(*key, rating.value, rating.location, kind, rating.compared_with)
    has_questions = any(item.question and not item.source for item in items.values())
    evalset = replace(draft.finish(), answers_questions=has_questions)
    return _with_scores(evalset, scores)


def _check_same_items(tables: Sequence[TableRows], options: ReadingOptions) -> None:
    """Refuse files with different items, unless those that they share are compared."""
    if len(tables) < 2 or options.skip_missing:
        return
    ids = [
        dict.fromkeys([*(row.id for row in rows.outputs), *(row.id for row in rows.ratings)])
        for rows in tables
    ]
    for rows, names in zip(tables[1:], ids[1:], strict=True):
        lost = [name for name in ids[0] if name not in names]
        more = [name for name in names if name not in ids[0]]
        if lost or more:
            first, second = tables[0].table.name, rows.table.name
            differences = [
                f"{len(part):,} only in {short(table)} ({', '.join(map(quoted, part[:_SHOWN]))})"
                for table, part in ((first, lost), (second, more))
                if part
            ]
            shared = len(ids[0]) - len(lost)
            advice = f"--skip-missing compares the {shared:,} that they share"
            if not shared:
                advice = "name the column of ids with --column id=NAME"
            raise InputError(
                f"{first} and {second} have different ids: {'; '.join(differences)}: {advice}"
            )


_Rows = tuple[list[TableOutput], list[Rating], list[TableScore], dict[str, str], list[str]]


def _repeated(tables: Sequence[TableRows], options: ReadingOptions) -> _Rows:
    """Return the rows with an id for each answer: `ID/N` if items have several.

    Rows of one output that several judges rated, or in several dimensions, are one answer.
    """
    outputs = [row for rows in tables for row in rows.outputs]
    ratings = [row for rows in tables for row in rows.ratings]
    scores = [row for rows in tables for row in rows.scores]
    if any(row.epoch is not None for row in outputs):
        return (*_with_epochs(outputs, ratings, scores), [])
    by_key: dict[tuple[str, str], list[TableOutput]] = {}
    for row in outputs:
        by_key.setdefault((row.system, row.id), []).append(row)
    is_long = any(
        rows.roles.judge or rows.roles.dimension or rows.table.compared for rows in tables
    )
    if all(len(rows) == 1 or (is_long and _are_equal(rows)) for rows in by_key.values()):
        return [rows[0] for rows in by_key.values()], ratings, scores, {}, []
    counts = {key: len(rows) for key, rows in by_key.items()}
    if options.repeats in ("first", "last"):
        at = 0 if options.repeats == "first" else -1
        selected_rows = [rows[at] for rows in by_key.values()]
        locations = {(row.location, row.system) for row in selected_rows}
        n_left_out = len(outputs) - len(selected_rows)
        return (
            selected_rows,
            [row for row in ratings if (row.location, row.system) in locations],
            [row for row in scores if (row.location, row.system) in locations],
            {},
            [
                f"{n_left_out:,} {'row' if n_left_out == 1 else 'rows'} with a repeated id "
                f"{'is' if n_left_out == 1 else 'are'} left out "
                f"({option_name('repeats')} {options.repeats})"
            ],
        )
    is_balanced = len({*counts.values()}) == 1 and min(counts.values()) > 1 and not is_long
    if options.repeats is None and not is_balanced:
        rows = next(rows for rows in by_key.values() if len(rows) > 1)
        other = next(
            (r for r in rows[1:] if not is_long or r.candidate != rows[0].candidate), rows[1]
        )
        choice = option_name("repeats")
        raise InputError(
            f"{other.location}: the id {quoted(rows[0].id)} of {short(rows[0].system)} again "
            f"(first in {rows[0].location}): {choice} answers if they are several answers, "
            f"{choice} first or last to take one, or name the ids with {option('id', 'NAME')}"
        )
    numbered: dict[tuple[Location, str, str], str] = {}
    for (system, item), rows in by_key.items():
        for i, row in enumerate(rows, 1):
            numbered[row.location, system, item] = str(i)
    epochs = [row._replace(epoch=numbered[row.location, row.system, row.id]) for row in outputs]
    parts = [
        [row._replace(epoch=numbered.get((row.location, row.system, row.id), "1")) for row in part]
        for part in (ratings, scores)
    ]
    n_answers = max(counts.values())
    remark = f"items have {n_answers} answers: segments are named ID/N, with the id as their group"
    return (*_with_epochs(epochs, parts[0], parts[1]), [remark])


def _are_equal(rows: Sequence[TableOutput]) -> bool:
    return all(row.candidate == rows[0].candidate for row in rows)


def _with_epochs(
    outputs: list[TableOutput], ratings: Sequence[Any], scores: Sequence[Any]
) -> tuple[list[TableOutput], list[Rating], list[TableScore], dict[str, str]]:
    """Return rows with the ids `ID/N`, and the id of each as its group."""
    groups: dict[str, str] = {}

    def numbered(row: Any) -> Any:
        name = f"{row.id}/{row.epoch or 1}"
        groups.setdefault(name, row.id)
        return row._replace(id=name)

    unique: dict[tuple[str, str], TableOutput] = {}
    for row in map(numbered, outputs):
        first = unique.setdefault((row.system, row.id), row)
        if first is not row and first.candidate != row.candidate:
            raise InputError(
                f"{row.location}: answer {quoted(row.id)} of {short(row.system)} again (first in "
                f"{first.location})"
            )
    return [*unique.values()], [*map(numbered, ratings)], [*map(numbered, scores)], groups


def _items(outputs: Iterable[TableOutput]) -> tuple[dict[str, _ItemTexts], list[str]]:
    """Return the texts of each item; refuse rows of one item whose texts differ."""
    items: dict[str, _ItemTexts] = {}
    differing: set[str] = set()
    for row in outputs:
        item = items.setdefault(row.id, _ItemTexts())
        for title in _TEXTS:
            value = getattr(row, title)
            if not value:
                continue
            if not getattr(item, title):
                setattr(item, title, value)
                item.locations[title] = row.location
            elif getattr(item, title) != value:
                if title in _OF_SYSTEMS:
                    differing.add(title)
                    continue
                texts = [_first_text(x) for x in (value, getattr(item, title))]
                raise InputError(
                    f"{row.location}: the {_SINGULAR.get(title, title)} {quoted(texts[0])} of id "
                    f"{quoted(row.id)} differs from {quoted(texts[1])} in {item.locations[title]}"
                )
    if "unit" in differing:
        for item in items.values():
            item.unit = None
    return items, [_OF_SYSTEMS[title] for title in _OF_SYSTEMS if title in differing]


def _first_text(value: Any) -> str:
    return value if isinstance(value, str) else " | ".join(value)


def _without_missing(
    segments: Sequence[str],
    items: dict[str, _ItemTexts],
    cells: dict[tuple[str, str], str | None],
    has_texts: bool,
) -> tuple[list[str], list[str]]:
    """Return the segments with all outputs and references, and a remark on others."""
    systems = dict.fromkeys(system for system, _ in cells)
    needs_references = any(items[s].references for s in segments)
    bare = [s for s in segments if needs_references and not items[s].references]
    lacking = [
        s for s in segments if has_texts and any(cells.get((name, s)) is None for name in systems)
    ]
    left_out = {*bare, *lacking}
    if left_out and len(left_out) == len(segments):
        raise InputError(
            f"--skip-missing: all {len(segments):,} segments lack an output or a reference"
        )
    parts = [f"{len(lacking):,} without an output of every system"] if lacking else []
    parts += [f"{len(bare):,} without a reference"] if bare else []
    noun = "segment is" if len(left_out) == 1 else "segments are"
    remarks = [f"{len(left_out):,} {noun} left out: {', '.join(parts)}"] if left_out else []
    return [s for s in segments if s not in left_out], remarks


def _count_missing(
    segments: Sequence[str], items: dict[str, _ItemTexts], cells: dict[tuple[str, str], str | None]
) -> list[str]:
    """Return remarks on missing outputs and references."""
    systems = dict.fromkeys(system for system, _ in cells)
    n_missing = sum(cells.get((name, s)) is None for name in systems for s in segments)
    n_bare = sum(not items[s].references for s in segments)
    remarks = []
    if n_missing:
        verb = "is" if n_missing == 1 else "are"
        remarks.append(f"{n_missing:,} of {len(systems) * len(segments):,} outputs {verb} missing")
    if 0 < n_bare < len(segments):
        verb = "has" if n_bare == 1 else "have"
        remarks.append(f"{n_bare:,} of {len(segments):,} segments {verb} no reference")
    return remarks


def _groups(
    segments: Sequence[str],
    items: dict[str, _ItemTexts],
    answers: dict[str, str],
    names_unit: bool,
) -> list[str] | None:
    """Return the group of each segment: its unit, or its item if items have several answers.

    With `names_unit`, the user named the column of units, which are then units of answers too.
    """
    if answers and not names_unit:
        return [answers.get(segment, segment) for segment in segments]
    units = [items[segment].unit for segment in segments]
    if all(unit is None for unit in units):
        return None
    return [
        segment if unit is None else unit for segment, unit in zip(segments, units, strict=True)
    ]


def _sources(
    segments: Sequence[str], items: dict[str, _ItemTexts], remarks: list[str]
) -> list[str] | None:
    """Return the source of each segment, or its question."""
    has_source = any(items[segment].source for segment in segments)
    has_question = any(items[segment].question for segment in segments)
    if has_source and has_question:
        remarks.append("the set has the sources, not the questions")
    if not (has_source or has_question):
        return None
    return [
        (items[segment].source if has_source else items[segment].question) or ""
        for segment in segments
    ]


def _contexts(
    segments: Sequence[str], items: dict[str, _ItemTexts], outputs: Iterable[TableOutput]
) -> Contexts | None:
    """Return the passages of all systems, or of each system if they differ."""
    contexts = {(row.system, row.id): row.contexts for row in outputs}
    if not any(contexts.values()):
        return None
    if all(texts in ((), items[id].contexts) for (_, id), texts in contexts.items()):
        return [items[segment].contexts for segment in segments]
    systems = dict.fromkeys(system for system, _ in contexts)
    return {name: [contexts.get((name, s), ()) for s in segments] for name in systems}


def _dimensions(tables: Sequence[TableRows], ratings: Sequence[Rating]) -> list[Dimension]:
    """Return the dimensions with the scale that holds the values of all tables."""
    scales: dict[str, Scale] = {}
    for rows in tables:
        for name, scale in rows.scales.items():
            first = scales.setdefault(name, scale)
            lows = [x.low for x in (first, scale) if x.low is not None]
            highs = [x.high for x in (first, scale) if x.high is not None]
            if lows and highs:
                scales[name] = Scale(min(lows), max(highs), first.better)
    names = dict.fromkeys(rating.dimension for rating in ratings)
    return [
        Dimension(name, scales[name].better, scales[name].low, scales[name].high) for name in names
    ]


def _merged_ratings(ratings: Sequence[Rating], options: ReadingOptions) -> list[Rating]:
    """Return one rating of each output by a judge; refuse two that differ, unless one counts."""
    unique: dict[tuple[str, ...], Rating] = {}
    for rating in ratings:
        key = rating.system, rating.id, rating.judge, rating.dimension, rating.compared_with
        first = unique.setdefault(key, rating)
        if first is rating or (first.value == rating.value and first.location != rating.location):
            continue
        if options.repeats == "last":
            unique[key] = rating
        elif options.repeats != "first":
            choice = option_name("repeats")
            raise InputError(
                f"{rating.location}: judge {quoted(rating.judge)} rates {short(rating.dimension)} "
                f"of {short(rating.system)} on {quoted(rating.id)} again (first in "
                f"{first.location}): {choice} first or last to take one, or name the column of "
                "judges with --column judge=NAME"
            )
    return list(unique.values())


def _with_scores(evalset: EvalSet, scores: Sequence[TableScore]) -> EvalSet:
    """Return the set with scores of metrics and measurements, which it offers."""
    by_metric: dict[str, dict[str, dict[str, float]]] = {}
    for row in scores:
        by_system = by_metric.setdefault(row.metric, {})
        system_scores = by_system.setdefault(row.system, {})
        first = system_scores.setdefault(row.id, row.value)
        if first != row.value:
            raise InputError(
                f"{row.location}: the score {row.metric} of {short(row.system)} on "
                f"{quoted(row.id)} again, with another value"
            )
    for metric, by_system in by_metric.items():
        evalset = evalset.with_scores(metric, by_system)
    return evalset
