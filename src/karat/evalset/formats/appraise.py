"""Campaigns of Appraise, exported by `ExportSystemScoresToCSV`: without header and texts.

    annotator, system, item, type, source language, target language, score, document#system,
    is a document score, [error spans as JSON,] start time, end time

Texts come from another evaluation set, `texts`, whose groups are the documents. Items are numbered
by annotator, so a segment is identified by its position in its document: the items of a document,
in order, are its segments. That requires that an annotator has judged the whole document; documents
that were judged in part are left out.

Also left out: items for quality control (types other than TGT, tutorials,
`#bad` and `#duplicate` documents) and scores of whole documents. Of two scores of an item by one
annotator, the later one counts.

Dimensions are `score` (0 to 100, higher is better) and, if there are spans, `penalty`: the sum
of the weights of the errors, lower is better: 5 for major ones, 1 for minor ones, 0.1 for any of
punctuation, 0 for undecided ones. A campaign whose errors have types is an MQM campaign
without scores: it has `penalty` alone.
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
from karat.evalset.reading import FileLocation, Reading, parse_number, read_rows
from karat.evalset.sets import EvalSet

SCORE = Dimension("score", "higher", 0.0, 100.0)
PENALTY = Dimension("penalty", "lower", 0.0, guideline="Sum of the weights of the marked errors.")
WEIGHTS = {"major": 5.0, "minor": 1.0, "undecided": 0.0}
PUNCTUATION = 0.1
_FIELDS = (11, 12)
_SEGMENT = "TGT"


class _Item(NamedTuple):
    """A score of an item by an annotator."""

    location: FileLocation
    judge: str
    system: str
    item: int
    kind: str
    score: float
    document: str
    is_document: bool
    spans: list[tuple[str, str]] | None
    """Severity and type of each error; None if the campaign has no spans."""
    end: float


_Key = tuple[str, str, str]
"""Annotator, system, document."""


def read_appraise(
    path: Path, reading: Reading, *, texts: str | None = None, name: str | None = None
) -> EvalSet:
    """Return the judgements of a file with the texts of another set."""
    if texts is None:
        problem = "an export of Appraise has no texts: name a set that has them"
        raise InputError(f"{path}: {problem}, with documents as groups (--option texts=SET)")
    from karat.evalset.loading import load_evalset

    base = load_evalset(texts)
    if base.groups is None:
        raise InputError(f"{path}: the set {texts} has no groups, expected documents")
    items = list(_read_items(path, reading))
    reading.check()
    typed = any(type for item in items for _, type in item.spans or ())
    spanned = any(item.spans is not None for item in items)
    dimensions = [*([] if typed else [SCORE]), *([PENALTY] if spanned else [])]
    places: dict[str, list[str]] = {}
    for segment, group in zip(base.segments, base.groups, strict=True):
        places.setdefault(group, []).append(segment)
    left = Counter[str]()
    judged = list(_locate_segments(items, base, places, left))
    rows = ", ".join(f"{count:,} {reason}" for reason, count in left.items())
    remarks = [f"{len(judged):,} items are read. Left out: {rows}."] if left else []
    draft = EvalSetDraft(
        name or path.name.split(".")[0],
        base.segments,
        base.systems,
        reading=reading,
        location=path,
        references=base.references,
        groups=base.groups,
        sources=base.sources,
        dimensions=dimensions,
        description=f"Appraise campaign; texts: {base.name}",
        remarks=[*base.remarks, *remarks],
        trees=base.trees,
    )
    for system, segment, item in judged:
        at = system, segment, item.judge
        if not typed:
            draft.judge(*at, SCORE.name, item.score, item.location)
        if item.spans is not None:
            penalty = sum(
                PUNCTUATION if type.endswith("punctuation") else WEIGHTS[severity]
                for severity, type in item.spans
            )
            draft.judge(*at, PENALTY.name, penalty, item.location)
    return draft.finish()


def _locate_segments(
    items: Sequence[_Item], base: EvalSet, places: Mapping[str, list[str]], skipped: Counter[str]
) -> Iterator[tuple[str, str, _Item]]:
    """Yield the system and segment of each usable item; count the others by reason."""
    documents: dict[_Key, dict[int, _Item]] = {}
    for item in items:
        # The export has `wmt23.NAME` and `DOCUMENT#NAME`.
        system = item.system if item.system in base.systems else item.system.partition(".")[2]
        document = item.document.removesuffix(f"#{system}")
        if item.kind != _SEGMENT or "#bad" in item.document or "#duplicate" in item.document:
            reason = "for quality control"
        elif item.is_document:
            reason = "scores of whole documents"
        elif document not in places:
            reason = "of documents that the set does not have"
        else:
            reason = "" if system in base.systems else "of systems that the set does not have"
        if reason:
            skipped[reason] += 1
            continue
        items_by_number = documents.setdefault((item.judge, system, document), {})
        before = items_by_number.get(item.item)
        if before is not None:
            skipped["judged again by the same annotator"] += 1
        if before is None or item.end > before.end:
            items_by_number[item.item] = item
    for (_, system, document), items_by_number in documents.items():
        if len(items_by_number) != len(places[document]):
            skipped["of documents judged in part"] += len(items_by_number)
            continue
        for segment, at in zip(places[document], sorted(items_by_number), strict=True):
            yield system, segment, items_by_number[at]


def _read_items(path: Path, reading: Reading) -> Iterator[_Item]:
    for location, row in read_rows(path, reading, commas=True):
        if not any(row):
            continue
        if len(row) not in _FIELDS:
            problem = f"found {len(row)} fields, expected 11, or 12 with error spans"
            reading.problem(location, problem)
            continue
        judge, system, item, kind, _, _, score, document, is_document = row[:9]
        value, end = parse_number(score), parse_number(row[-1])
        if (
            value is None
            or end is None
            or not re.fullmatch("[0-9]{1,18}", item)
            or is_document not in ("True", "False")
        ):
            problem = f"{quoted(','.join(row[:9]))}: expected annotator, system, item, type, two "
            reading.problem(location, f"found {problem}languages, score, document, True or False")
            continue
        spans = _parse_spans(row[9], location, reading) if len(row) == _FIELDS[-1] else None
        scored = value, document, is_document == "True", spans, end
        yield _Item(location, judge, system, int(item), kind, *scored)


def _parse_spans(field: str, location: FileLocation, reading: Reading) -> list[tuple[str, str]]:
    """Return severity and type (`category/type`, "" if it has none) of errors, in lower case."""
    spans = []
    try:
        for error in json.loads(field):
            types = error.get("error_type")
            parts = types if isinstance(types, list) else [types or ""]
            spans.append((error["severity"].lower(), "/".join(map(str, parts)).lower()))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        expected = 'expected [{"severity": …, "error_type": …}, …]'
        reading.problem(location, f"found {short(field)} as error spans, {expected}")
        return []
    unknown = next((severity for severity, _ in spans if severity not in WEIGHTS), None)
    if unknown is not None:
        expected = f"expected {', '.join(WEIGHTS)}"
        reading.problem(location, f"found the severity {quoted(unknown)}, {expected}")
        return []
    return spans
