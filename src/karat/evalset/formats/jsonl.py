"""JSON lines: an evaluation set in one file, with any text and any number of references.

    {"evalset": "NAME", "description": …, "licence": …, "systems": […], "dimensions": [{"name": …}],
     "kind": "translation"}
    {"id": "1", "group": "d1", "source": "…", "references": ["…"], "outputs": {"A": "…", "B": null}}
    {"system": "A", "segment": "1", "judge": "j1", "dimension": "fluency", "value": 4}
    {"draw": "1", "of": "segment", "probability": 0.1, "reason": "random", "round": 1}

The first kind of object is optional and comes in the first line; `"texts": false` in it is for
judgements of outputs whose texts are unknown. A segment needs `id` and
`outputs`; an output that is null or absent is missing. Judgements have separate lines,
anywhere, or are in a segment's `judgements`, then without `segment`. `systems` has their order.
A judgement may have the `kind` of its judge (person, model or adjudicated), `evidence`, a text that
is not kept, and `other`, a system with which the output is compared (see `JudgedPair`). Draws
are described in `evalset/draws.py`. A segment's `contexts` are the passages that systems had,
or an object with those of each system.

If references have dependency trees, all have them, in a segment's `trees`; without `references`,
the words of the trees are the references. Words are numbered from 1; the head of the root is 0.

    {"id": "1", …, "trees": [{"words": ["a", "cat", "sat"], "heads": [2, 3, 0], "id": "s1"}]}
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any

from karat.errors import InputError, quoted
from karat.evalset.draft import EvalSetDraft, contexts_by_system
from karat.evalset.draws import draw_record, parse_draws
from karat.evalset.judgements import Dimension, drop_shares, parse_judgement
from karat.evalset.reading import (
    FileLocation,
    Reading,
    check_filled,
    check_member,
    check_members,
    format_json_line,
    read_json_lines,
)
from karat.evalset.sets import EvalSet
from karat.text.trees import Tree

HEADER = ("evalset", "description", "licence", "systems", "dimensions", "texts", "kind")
SEGMENT = ("id", "group", "source", "references", "trees", "outputs", "judgements", "contexts")
DIMENSION = ("name", "better", "low", "high", "guideline")
TREE = ("words", "heads", "id")

_Record = dict[str, Any]


def read_jsonl(path: Path, reading: Reading) -> EvalSet:
    """Read the set from a file."""
    header: _Record = {}
    segments: list[tuple[FileLocation, _Record]] = []
    judgements: list[tuple[FileLocation, _Record]] = []
    draws: list[tuple[FileLocation, _Record]] = []
    for location, record in read_json_lines(path, reading):
        if "evalset" in record and location.line == 1:
            check_members(record, HEADER, location, reading)
            header = record
        elif isinstance(record.get("id"), str | int):
            check_members(record, SEGMENT, location, reading)
            segments.append((location, record))
        else:
            (draws if "draw" in record else judgements).append((location, record))
    header_location = FileLocation(str(path), 1)
    outputs = [check_member(record, "outputs", dict, at, reading) or {} for at, record in segments]
    listed = [str(name) for name in _array_member(header, "systems", header_location, reading)]
    names = list(dict.fromkeys([*listed, *chain.from_iterable(outputs)]))
    if listed and len(names) > len(listed):
        problem = f"system {quoted(names[len(listed)])} has outputs and is not listed"
        reading.problem(header_location, problem)
    reading.check_once((location, str(record["id"])) for location, record in segments)
    check_filled(path, sum(map(len, outputs)), len(names), len(segments))
    trees = None
    if any("trees" in record for _, record in segments):
        trees = [list(_parse_trees(record, location, reading)) for location, record in segments]
    bare = trees is not None and not any("references" in record for _, record in segments)
    references = [
        _array_member(record, "references", location, reading) for location, record in segments
    ]
    contexts = None
    if any("contexts" in record for _, record in segments):
        rows = ((location, record.get("contexts", [])) for location, record in segments)
        contexts = contexts_by_system(rows, reading)
    draft = EvalSetDraft(
        str(header.get("evalset", path.name.removesuffix(".jsonl"))),
        [str(record["id"]) for _, record in segments],
        {name: [segment_outputs.get(name) for segment_outputs in outputs] for name in names},
        reading=reading,
        location=path,
        references=None if bare else references,
        trees=trees,
        groups=_segment_column(segments, "group", reading),
        sources=_segment_column(segments, "source", reading),
        dimensions=json_dimensions(header, header_location, reading),
        description=str(header.get("description", "")),
        licence=str(header.get("licence", "")),
        contexts=contexts,
        without_texts=header.get("texts") is False,
        kind=str(header.get("kind", "")),
    )
    inner_judgements = (
        (location, {**(row if isinstance(row, dict) else {}), "segment": str(record["id"])})
        for location, record in segments
        for row in _array_member(record, "judgements", location, reading)
    )
    for location, record in chain(inner_judgements, judgements):
        if judgement := parse_judgement(record, location, reading):
            draft.judge(*judgement)
    draft.draws = [*parse_draws(draws, reading)] if draws else None
    return draft.finish()


def _array_member(record: _Record, key: str, location: FileLocation, reading: Reading) -> list[Any]:
    return (check_member(record, key, list, location, reading) or []) if key in record else []


def _parse_trees(record: _Record, location: FileLocation, reading: Reading) -> Iterator[Tree]:
    """Yield the trees of a segment; record invalid trees as problems."""
    for item in _array_member(record, "trees", location, reading):
        tree = item if isinstance(item, dict) else {}
        words: Any = tree.get("words")
        heads: Any = tree.get("heads")
        name = tree.get("id", "")
        lists = isinstance(words, list) and isinstance(heads, list)
        if not lists or not all(isinstance(text, str) for text in (*words, name)):
            reading.problem(location, f"found the tree {quoted(item)}, expected words and heads")
            continue
        check_members(tree, TREE, location, reading)
        try:
            yield Tree(tuple(words), tuple(heads), name)
        except InputError as error:
            reading.problem(location, str(error))


def _segment_column(
    segments: list[tuple[FileLocation, _Record]], key: str, reading: Reading
) -> list[str] | None:
    """Return a member of all segments; None if no segment has it."""
    if not any(key in record for _, record in segments):
        return None
    return [check_member(record, key, str, at, reading) or "" for at, record in segments]


def json_dimensions(
    header: _Record, location: FileLocation, reading: Reading
) -> Iterator[Dimension]:
    """Yield the dimensions declared in the header; record invalid ones as problems."""
    for item in _array_member(header, "dimensions", location, reading):
        dimension = {"name": item} if isinstance(item, str) else item
        if not isinstance(dimension, dict) or not isinstance(dimension.get("name"), str):
            problem = f"found the dimension {quoted(item)}, expected one with a name"
            reading.problem(location, problem)
            continue
        check_members(dimension, DIMENSION, location, reading)
        try:
            yield Dimension(**dimension)
        except (InputError, TypeError) as error:
            reading.problem(location, f"the dimension {quoted(item)}: {error}")


def format_jsonl(evalset: EvalSet) -> Iterator[str]:
    """Yield the lines of a file that reads back as the set."""
    header = evalset.name, evalset.description, evalset.licence, list(evalset.systems)
    dimensions = [
        {key: value for key, value in asdict(dimension).items() if value not in (None, "")}
        for dimension in evalset.dimensions.values()
    ]
    first_line = dict(zip(HEADER, (*header, dimensions), strict=False))
    without_texts = {} if evalset.has_texts else {"texts": False}
    task = {"kind": evalset.kind} if evalset.kind else {}
    yield format_json_line({**first_line, **without_texts, **task})
    for i, name in enumerate(evalset.segments):
        segment: _Record = {"id": name}
        if evalset.groups is not None:
            segment["group"] = evalset.groups[i]
        if evalset.sources is not None:
            segment["source"] = evalset.sources[i]
        segment["references"] = evalset.references[i]
        if evalset.trees is not None:
            segment["trees"] = [
                {"words": tree.words, "heads": tree.heads, **({"id": tree.id} if tree.id else {})}
                for tree in evalset.trees[i]
            ]
        if (contexts := evalset.segment_contexts(i)) is not None:
            segment["contexts"] = contexts
        segment["outputs"] = {name: outputs[i] for name, outputs in evalset.systems.items()}
        yield format_json_line(segment)
    kinds = evalset.judgements.judge_kinds
    for row in (*drop_shares(evalset.judgements, evalset.pairs), *evalset.pairs):
        kind = kinds.get(row.judge)
        yield format_json_line({**row._asdict(), "kind": kind} if kind else row._asdict())
    for draw in evalset.draws or ():
        yield format_json_line(draw_record(draw))
