"""The SGML-like files of the original GTM tool: documents of numbered segments.

    <doc docid="sampledoc-0" sysid="ref1">
    <seg id=1> Amru Mussa on a visit to Libya tomorrow </seg>
    </doc>

Names of tags and attributes are not case-sensitive, quotes may be left out, and a segment may run
over several lines. Other tags between segments (`<tstset>`, `<p>`) are passed over; inside a
segment everything up to `</seg>` is text, as it stands.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, NoReturn

from karat.errors import InputError, quoted, short
from karat.evalset.reading import read_text


class Segment(NamedTuple):
    """A text, what it is called and where it stands."""

    id: str
    text: str
    line: int


class Document(NamedTuple):
    """The segments of one document by one system."""

    docid: str
    sysid: str
    segments: tuple[Segment, ...]
    line: int


@dataclass(frozen=True)
class SgmlFile:
    """All documents of a file, in its order."""

    name: str
    documents: tuple[Document, ...]


class Span(NamedTuple):
    """A document as a run of aligned segments."""

    docid: str
    start: int
    stop: int


@dataclass(frozen=True)
class Aligned:
    """Candidates with their references, segment by segment, and where each document lies."""

    candidates: tuple[str, ...]
    references: tuple[tuple[str, ...], ...]
    documents: tuple[Span, ...]


_TAG = re.compile(r"<(/?)\s*(doc|seg)\b([^<>]*)>", re.IGNORECASE)
_NO_SPACE = re.compile(r"\S")
_OTHER = re.compile(r"<[^<>]*>")
_COMMENT = "<!--", "-->"
_ATTRIBUTE = re.compile(r"""(?<![\w:-])([\w:-]+)\s*=\s*("[^"]*"|'[^']*'|[^\s"'>]+)""")


def read_gtm_sgml(path: str | os.PathLike[str]) -> SgmlFile:
    """Return the documents of a file; whatever is wrong with it is an error that names the line."""
    name = str(path)
    documents = tuple(_Reader(name, read_text(Path(path))).documents())
    if not documents:
        raise InputError(f'{name}: no document; expected <doc docid="…"> with <seg id=…> in it')
    return SgmlFile(name, documents)


class _Tag(NamedTuple):
    """A tag of a document or segment and where it starts."""

    start: int
    text: str
    closing: bool
    kind: str
    attributes: dict[str, str]


def _tag(found: re.Match[str]) -> _Tag:
    pairs = _ATTRIBUTE.findall(found[3])
    attributes = {key.lower(): value.strip("\"'") for key, value in pairs}
    return _Tag(found.start(), found[0], bool(found[1]), found[2].lower(), attributes)


class _Reader:
    """Goes from tag to tag."""

    def __init__(self, name: str, text: str) -> None:
        self.name, self.text, self.at = name, text, 0
        self.newlines = [found.start() for found in re.finditer("\n", text)]

    def documents(self) -> Iterator[Document]:
        """Yield all documents, each name once."""
        seen: dict[str, int] = {}
        while tag := self._next():
            if tag.kind != "doc" or tag.closing:
                self._fail(tag.start, f"found {short(tag.text)}, expected <doc docid=…>")
            document = self._document(tag)
            if document.docid in seen:
                first = seen[document.docid]
                self._fail(tag.start, f"document {document.docid} again (first in line {first})")
            seen[document.docid] = document.line
            yield document

    def _document(self, opening: _Tag) -> Document:
        docid = self._attribute(opening, "docid")
        sysid = opening.attributes.get("sysid", "")
        segments: dict[str, Segment] = {}
        while True:
            tag = self._next()
            if not tag:
                self._fail(opening.start, f"document {short(docid)} has no </doc>")
            if tag.kind == "doc" and tag.closing:
                line = self._line(opening.start)
                return Document(docid, sysid, tuple(segments.values()), line)
            if tag.kind != "seg" or tag.closing:
                self._fail(tag.start, f"found {short(tag.text)}, expected <seg id=…> or </doc>")
            segment = self._segment(tag)
            if segment.id in segments:
                first = segments[segment.id].line
                self._fail(tag.start, f"segment {short(segment.id)} again (first in line {first})")
            segments[segment.id] = segment

    def _segment(self, opening: _Tag) -> Segment:
        number = self._attribute(opening, "id")
        start = self.at
        closing = _TAG.search(self.text, start)
        if not closing or closing[1] != "/" or closing[2].lower() != "seg":
            self._fail(opening.start, f"segment {short(number)} has no </seg>")
        self.at = closing.end()
        text = " ".join(self.text[start : closing.start()].split())
        return Segment(number, text, self._line(opening.start))

    def _next(self) -> _Tag | None:
        """Return the next tag; between tags only white space, other tags and comments may stand."""
        while (start := self._skip_space()) < len(self.text):
            if self.text.startswith(_COMMENT[0], start):
                self._skip_comment(start)
                continue
            found = _TAG.match(self.text, start)
            other = found or _OTHER.match(self.text, start)
            if not other:
                end = self.text.find("<", start + 1)
                stray = self.text[start : end if end > 0 else None].strip()
                self._fail(start, f"text outside a segment: {quoted(stray)}")
            self.at = other.end()
            if found:
                return _tag(found)
        return None

    def _skip_space(self) -> int:
        """Return the place of the next character that is no white space."""
        found = _NO_SPACE.search(self.text, self.at)
        return found.start() if found else len(self.text)

    def _skip_comment(self, start: int) -> None:
        end = self.text.find(_COMMENT[1], start + len(_COMMENT[0]))
        if end < 0:
            self._fail(start, "a comment <!-- has no end, expected -->")
        self.at = end + len(_COMMENT[1])

    def _attribute(self, tag: _Tag, key: str) -> str:
        found = tag.attributes.get(key, "")
        if not found:
            self._fail(tag.start, f"found {short(tag.text)}, which has no {key}")
        return found

    def _line(self, at: int) -> int:
        return bisect_left(self.newlines, at) + 1

    def _fail(self, at: int, problem: str) -> NoReturn:
        raise InputError(f"{self.name}, line {self._line(at)}: {problem}")


def align(system: SgmlFile, references: Sequence[SgmlFile]) -> Aligned:
    """Return a system's segments beside those of every reference, by document and segment id."""
    if not references:
        raise InputError("no reference was given: at least one is needed")
    candidates: list[str] = []
    groups: list[tuple[str, ...]] = []
    spans: list[Span] = []
    tables = [_table(reference) for reference in references]
    for reference, table in zip(references, tables, strict=True):
        _check_covered(reference, table, system)
    for document in system.documents:
        start = len(candidates)
        for segment in document.segments:
            candidates.append(segment.text)
            groups.append(tuple(table[document.docid, segment.id].text for table in tables))
        spans.append(Span(document.docid, start, len(candidates)))
    return Aligned(tuple(candidates), tuple(groups), tuple(spans))


_Table = dict[tuple[str, str], Segment]


def _table(file: SgmlFile) -> _Table:
    return {(d.docid, s.id): s for d in file.documents for s in d.segments}


def _check_covered(reference: SgmlFile, table: _Table, system: SgmlFile) -> None:
    """Both files must have the same segments."""
    mine = _table(system)
    for name, has, other, lacks in (
        (system.name, mine, reference.name, table),
        (reference.name, table, system.name, mine),
    ):
        for (docid, number), segment in has.items():
            if (docid, number) not in lacks:
                raise InputError(
                    f"{name}, line {segment.line}: segment {short(number)} of document "
                    f"{short(docid)} is not in {other}"
                )
