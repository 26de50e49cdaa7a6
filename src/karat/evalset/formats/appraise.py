"""Campaigns of Appraise as `ExportSystemScoresToCSV` writes them: no header, no texts.

    annotator, system, item, type, source language, target language, score, document#system,
    is a document score, [error spans as JSON,] start time, end time

Texts come from another evaluation set, named with `texts`, whose groups are the documents. Items
are numbered by annotator, so a segment is known by its place in its document: the items of a
document, in their order, are its segments. That holds where an annotator has judged all of a
document; where an annotator has judged a part, nothing says which part, and it is left out.

Left out too: what is not an item of the campaign proper (types other than TGT, tutorials,
`#bad` and `#duplicate` documents, scores of whole documents). Of two scores of an item by one
annotator the later is taken.

Dimensions are `score` (0 to 100, higher is better) and, where there are spans, `penalty`: the sum
of the weights of the errors, lower is better: 5 for major ones, 1 for minor ones, 0.1 for any of
punctuation, 0 for undecided ones. A campaign whose errors have types is one of MQM, in which nobody
gives scores: it has `penalty` alone.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from karat.errors import InputError, quoted, short
from karat.evalset.draft import EvalSetDraft
from karat.evalset.judgements import Dimension
from karat.evalset.reading import Place, Reading, csv_records, number
from karat.evalset.sets import EvalSet

SCORE = Dimension("score", "higher", 0.0, 100.0)
PENALTY = Dimension("penalty", "lower", 0.0, guideline="Sum of the weights of the marked errors.")
WEIGHTS = {"major": 5.0, "minor": 1.0, "undecided": 0.0}
PUNCTUATION = 0.1
_FIELDS = (11, 12)
_SEGMENT = "TGT"


class _Item(NamedTuple):
    """A score of an item by an annotator."""

    place: Place
    judge: str
    system: str
    item: int
    kind: str
    score: float
    document: str
    whole: bool
    spans: list[tuple[str, str]] | None
    """Severity and type of each error; None if the campaign has no spans."""
    end: float


_Key = tuple[str, str, str]
"""Annotator, system, document."""


def read_appraise(
    path: Path, reading: Reading, *, texts: str | None = None, name: str | None = None
) -> EvalSet:
    """Return the judgements of a file together with the texts of another set."""
    if texts is None:
        told = "an export of Appraise has no texts: name a set that has them"
        raise InputError(f"{path}: {told}, with documents as groups (--option texts=SET)")
    from karat.evalset.loading import load_evalset

    base = load_evalset(texts)
    if base.groups is None:
        raise InputError(f"{path}: the set {texts} has no groups, expected documents")
    items = list(_items(path, reading))
    reading.check()
    typed = any(type for item in items for _, type in item.spans or ())
    spanned = any(item.spans is not None for item in items)
    dimensions = [*([] if typed else [SCORE]), *([PENALTY] if spanned else [])]
    places: dict[str, list[str]] = {}
    for segment, group in zip(base.segments, base.groups, strict=True):
        places.setdefault(group, []).append(segment)
    left = Counter[str]()
    judged = list(_judged(items, base, places, left))
    draft = EvalSetDraft(
        name or path.name.split(".")[0],
        base.segments,
        base.systems,
        reading=reading,
        where=path,
        references=base.references,
        groups=base.groups,
        sources=base.sources,
        dimensions=dimensions,
        description=f"Appraise campaign; texts: {base.name}",
        remarks=[*base.remarks, *_remarks(left, len(judged))],
        trees=base.trees,
    )
    for system, segment, item in judged:
        at = system, segment, item.judge
        if not typed:
            draft.judge(*at, SCORE.name, item.score, item.place)
        if item.spans is not None:
            draft.judge(*at, PENALTY.name, sum(map(_weight, item.spans)), item.place)
    return draft.finish()


def _remarks(left: Counter[str], taken: int) -> list[str]:
    rows = ", ".join(f"{count:,} {why}" for why, count in left.items())
    return [f"{taken:,} items are read. Left out: {rows}."] if left else []


def _weight(span: tuple[str, str]) -> float:
    severity, type = span
    return PUNCTUATION if type.endswith("punctuation") else WEIGHTS[severity]


def _judged(
    items: Sequence[_Item], base: EvalSet, places: Mapping[str, list[str]], left: Counter[str]
) -> Iterator[tuple[str, str, _Item]]:
    """Yield the system and segment of each item that has them; count the others."""
    documents: dict[_Key, dict[int, _Item]] = {}
    for item in items:
        system, document = _names(item, base)
        why = _left_out(item, system, document, base, places)
        if why:
            left[why] += 1
            continue
        own = documents.setdefault((item.judge, system, document), {})
        before = own.get(item.item)
        if before is not None:
            left["judged again by the same annotator"] += 1
        if before is None or item.end > before.end:
            own[item.item] = item
    for (_, system, document), own in documents.items():
        if len(own) != len(places[document]):
            left["of documents judged in part"] += len(own)
            continue
        for segment, at in zip(places[document], sorted(own), strict=True):
            yield system, segment, own[at]


def _names(item: _Item, base: EvalSet) -> tuple[str, str]:
    """Return the names of system and document in the set: `wmt23.NAME`, `DOCUMENT#NAME`."""
    system = item.system if item.system in base.systems else item.system.partition(".")[2]
    return system, item.document.removesuffix(f"#{system}")


def _left_out(
    item: _Item, system: str, document: str, base: EvalSet, places: Mapping[str, list[str]]
) -> str:
    """Say why an item is not read; "" if it is."""
    if item.kind != _SEGMENT or "#bad" in item.document or "#duplicate" in item.document:
        return "for quality control"
    if item.whole:
        return "scores of whole documents"
    if document not in places:
        return "of documents that the set does not have"
    return "" if system in base.systems else "of systems that the set does not have"


def _items(path: Path, reading: Reading) -> Iterator[_Item]:
    for place, row in csv_records(path, reading):
        if not any(row):
            continue
        if len(row) not in _FIELDS:
            told = f"found {len(row)} fields, expected 11, or 12 with error spans"
            reading.problem(place, told)
            continue
        judge, system, item, kind, _, _, score, document, whole = row[:9]
        value, end = number(score), number(row[-1])
        if (
            value is None
            or end is None
            or not re.fullmatch("[0-9]{1,18}", item)
            or whole not in ("True", "False")
        ):
            told = f"{quoted(','.join(row[:9]))}: expected annotator, system, item, type, two "
            reading.problem(place, f"found {told}languages, score, document, True or False")
            continue
        spans = _spans(row[9], place, reading) if len(row) == _FIELDS[-1] else None
        whole_document = whole == "True"
        yield _Item(
            place, judge, system, int(item), kind, value, document, whole_document, spans, end
        )


def _spans(field: str, place: Place, reading: Reading) -> list[tuple[str, str]]:
    try:
        found = [(error["severity"].lower(), _type(error)) for error in json.loads(field)]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        told = 'expected [{"severity": …, "error_type": …}, …]'
        reading.problem(place, f"found {short(field)} as error spans, {told}")
        return []
    for severity, _ in found:
        if severity not in WEIGHTS:
            known = ", ".join(WEIGHTS)
            reading.problem(place, f"found the severity {quoted(severity)}, expected {known}")
            return []
    return found


def _type(error: Mapping[str, object]) -> str:
    """Return the type of an error in lower case, `category/type`; "" if it has none."""
    given = error.get("error_type")
    return "/".join(map(str, given if isinstance(given, list) else [given or ""])).lower()
