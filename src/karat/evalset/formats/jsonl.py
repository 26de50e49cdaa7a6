"""JSON lines: an evaluation set in one file, which holds any text and any number of references.

    {"evalset": "NAME", "description": …, "licence": …, "systems": […], "dimensions": [{"name": …}]}
    {"id": "1", "group": "d1", "source": "…", "references": ["…"], "outputs": {"A": "…", "B": null}}
    {"system": "A", "segment": "1", "judge": "j1", "dimension": "fluency", "value": 4}
    {"draw": "1", "of": "segment", "probability": 0.1, "reason": "random", "round": 1}

The first kind of object, if there is one, stands in the first line. A segment needs `id` and
`outputs`; an output that is null or not there is missing. Judgements stand in lines of their own,
anywhere, or in a segment's `judgements`, then without `segment`. `systems` gives their order.
A judgement may have the `kind` of its judge (person, model or adjudicated), `evidence`, a text that
is not kept, and `other`, a system that it compares the output with (see `judged_pairs`). `draws`
says what a draw is.

Where references have dependency trees, all have them, in a segment's `trees`; without
`references`, these are the words of the trees. A head is the number of a word from 1, 0 the root's.

    {"id": "1", …, "trees": [{"words": ["a", "cat", "sat"], "heads": [2, 3, 0], "id": "s1"}]}
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from karat.errors import InputError, quoted, short
from karat.evalset.draft import EvalSetDraft
from karat.evalset.draws import draw_object, json_draws
from karat.evalset.judgements import Dimension, without_shares
from karat.evalset.reading import Place, Reading, check_filled, json_line, json_rows, member
from karat.evalset.sets import EvalSet
from karat.text.trees import Tree

HEADER = ("evalset", "description", "licence", "systems", "dimensions")
SEGMENT = ("id", "group", "source", "references", "trees", "outputs", "judgements")
JUDGEMENT = ("system", "segment", "judge", "dimension", "value")
OF_JUDGEMENT = ("kind", "evidence", "other")
"""Members that a judgement may have, too."""
DIMENSION = ("name", "better", "low", "high", "guideline")
TREE = ("words", "heads", "id")

_Found = dict[str, Any]


def read_jsonl(path: Path, reading: Reading) -> EvalSet:
    """Return the set in a file."""
    header: _Found = {}
    segments: list[tuple[Place, _Found]] = []
    judgements: list[tuple[Place, _Found]] = []
    draws: list[tuple[Place, _Found]] = []
    for place, found in json_rows(path, reading):
        if "evalset" in found and place.line == 1:
            header = checked(found, HEADER, place, reading)
        elif isinstance(found.get("id"), str | int):
            segments.append((place, checked(found, SEGMENT, place, reading)))
        else:
            (draws if "draw" in found else judgements).append((place, found))
    draft = _draft(path, header, segments, reading)
    for place, found in segments:
        for row in _array(found, "judgements", place, reading):
            inner = row if isinstance(row, dict) else {}
            _judge(draft, {**inner, "segment": str(found["id"])}, place, reading)
    for place, found in judgements:
        _judge(draft, found, place, reading)
    draft.draws = [*json_draws(draws, reading)] if draws else None
    return draft.finish()


def checked(found: _Found, keys: tuple[str, ...], place: Place, reading: Reading) -> _Found:
    """Return an object; a member that is none of the names is noted."""
    if unknown := [key for key in found if key not in keys]:
        reading.problem(place, f"found the name {quoted(unknown[0])}, expected {', '.join(keys)}")
    return found


def _array(found: _Found, key: str, place: Place, reading: Reading) -> list[Any]:
    return (member(found, key, list, place, reading) or []) if key in found else []


def _judge(draft: EvalSetDraft, found: _Found, place: Place, reading: Reading) -> None:
    if problem := no_judgement(found):
        reading.problem(place, problem)
    else:
        system, segment, judge, dimension, value = (found[key] for key in JUDGEMENT)
        more = (found.get(name, "") for name in ("kind", "other"))
        draft.judge(system, segment, judge, dimension, value, place, *more)


def no_judgement(found: _Found) -> str:
    """Return why an object is no judgement; "" if it is one."""
    if {*found} - {*OF_JUDGEMENT} != {*JUDGEMENT}:
        given = f"found an object with {short(', '.join(found) or 'nothing')}"
        return f"{given}, expected {', '.join(JUDGEMENT)}"
    if not all(isinstance(found[key], str) for key in JUDGEMENT[:-1]):
        return "system, segment, judge and dimension must be strings"
    if isinstance(found["value"], str):
        return f"found the value {quoted(found['value'])}, expected a number"
    bad = next((key for key in OF_JUDGEMENT if not isinstance(found.get(key, ""), str)), None)
    return f"found {quoted(found[bad])} for {quoted(bad)}, expected a string" if bad else ""


def _draft(
    path: Path, header: _Found, segments: list[tuple[Place, _Found]], reading: Reading
) -> EvalSetDraft:
    place = Place(str(path), 1)
    outputs = [member(found, "outputs", dict, where, reading) or {} for where, found in segments]
    named = [str(name) for name in _array(header, "systems", place, reading)]
    names = list(dict.fromkeys([*named, *(name for each in outputs for name in each)]))
    if named and len(names) > len(named):
        reading.problem(place, f"system {quoted(names[len(named)])} has outputs and is not listed")
    reading.check_once((place, str(found["id"])) for place, found in segments)
    check_filled(path, sum(map(len, outputs)), len(names), len(segments))
    trees = None
    if any("trees" in found for _, found in segments):
        trees = [list(_trees(found, where, reading)) for where, found in segments]
    bare = trees is not None and not any("references" in found for _, found in segments)
    references = [_array(found, "references", where, reading) for where, found in segments]
    return EvalSetDraft(
        str(header.get("evalset", path.name.removesuffix(".jsonl"))),
        [str(found["id"]) for _, found in segments],
        {name: [each.get(name) for each in outputs] for name in names},
        reading=reading,
        where=path,
        references=None if bare else references,
        trees=trees,
        groups=_column(segments, "group", reading),
        sources=_column(segments, "source", reading),
        dimensions=json_dimensions(header, place, reading),
        description=str(header.get("description", "")),
        licence=str(header.get("licence", "")),
    )


def _trees(found: _Found, place: Place, reading: Reading) -> Iterator[Tree]:
    """Yield the trees of a segment; what is none is noted."""
    for item in _array(found, "trees", place, reading):
        given = item if isinstance(item, dict) else {}
        words: Any = given.get("words")
        heads: Any = given.get("heads")
        name = given.get("id", "")
        lists = isinstance(words, list) and isinstance(heads, list)
        if not lists or not all(isinstance(text, str) for text in (*words, name)):
            reading.problem(place, f"found the tree {quoted(item)}, expected words and heads")
            continue
        try:
            checked(given, TREE, place, reading)
            yield Tree(tuple(words), tuple(heads), name)
        except InputError as error:
            reading.problem(place, str(error))


def _column(segments: list[tuple[Place, _Found]], key: str, reading: Reading) -> list[str] | None:
    """Return a member that all segments have, or none has."""
    if not any(key in found for _, found in segments):
        return None
    return [member(found, key, str, place, reading) or "" for place, found in segments]


def json_dimensions(header: _Found, place: Place, reading: Reading) -> Iterator[Dimension]:
    """Yield the dimensions that a first line has; what is none is noted."""
    for item in _array(header, "dimensions", place, reading):
        given = {"name": item} if isinstance(item, str) else item
        if not isinstance(given, dict) or not isinstance(given.get("name"), str):
            reading.problem(place, f"found the dimension {quoted(item)}, expected one with a name")
            continue
        try:
            yield Dimension(**checked(given, DIMENSION, place, reading))
        except (InputError, TypeError) as error:
            reading.problem(place, f"the dimension {quoted(item)}: {error}")


def jsonl_lines(evalset: EvalSet) -> Iterator[str]:
    """Yield the lines of a file that reads back as the set."""
    header = evalset.name, evalset.description, evalset.licence, list(evalset.systems)
    dimensions = [
        {key: value for key, value in asdict(dimension).items() if value not in (None, "")}
        for dimension in evalset.dimensions.values()
    ]
    yield json_line(dict(zip(HEADER, (*header, dimensions), strict=True)))
    for i, name in enumerate(evalset.segments):
        segment: _Found = {"id": name}
        if evalset.groups is not None:
            segment["group"] = evalset.groups[i]
        if evalset.sources is not None:
            segment["source"] = evalset.sources[i]
        segment["references"] = list(evalset.references[i])
        if evalset.trees is not None:
            segment["trees"] = [_tree(tree) for tree in evalset.trees[i]]
        segment["outputs"] = {name: outputs[i] for name, outputs in evalset.systems.items()}
        yield json_line(segment)
    kinds = evalset.judgements.judge_kinds
    for row in (*without_shares(evalset.judgements, evalset.pairs), *evalset.pairs):
        kind = kinds.get(row.judge)
        yield json_line({**row._asdict(), "kind": kind} if kind else row._asdict())
    for draw in evalset.draws or ():
        yield json_line(draw_object(draw))


def _tree(tree: Tree) -> _Found:
    """A tree as an object; its id only if it has one."""
    found: _Found = {"words": list(tree.words), "heads": list(tree.heads)}
    return {**found, "id": tree.id} if tree.id else found
