"""Files of texts that hold more than a segment a line: systems beside their references."""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, NoReturn

from karat.errors import InputError, quoted, short
from karat.evalset.catalogue import GivenPath
from karat.evalset.reading import read_text
from karat.registry import Registry
from karat.text.segments import Segments, Strings


class AlignedTexts(NamedTuple):
    """Systems and their references, segment by segment, as `score` and `compare` take them."""

    systems: Mapping[str, tuple[str, ...]]
    references: Sequence[tuple[str, ...]]
    documents: tuple[str, ...]
    """The document that each segment belongs to."""

    def segments(self, names: Mapping[str, str] | None = None) -> dict[str, Segments]:
        """Return the segments of each system, with their documents.

        Args:
            names: names of the systems' files, for messages; by default the names of the systems.
        """
        titles = names or {name: f"system {name}" for name in self.systems}
        return {
            name: Strings(texts, titles[name], documents=self.documents)
            for name, texts in self.systems.items()
        }


TextFormat = Callable[[Mapping[str, GivenPath], Sequence[GivenPath]], AlignedTexts]
TEXT_FORMATS: Registry[TextFormat] = Registry(
    "text_formats", "format", {"gtm-sgml": "karat.evalset.aligned_texts:read_gtm_texts"}
)
"""Format of files -> the function that reads systems (by name) and references, and aligns them."""


def load_texts(
    systems: Mapping[str, GivenPath], references: Sequence[GivenPath], format: str = "gtm-sgml"
) -> AlignedTexts:
    """Load texts of systems and references from files that are not one segment per line.

    `kt.score(texts)` scores them.

    Args:
        systems: file of each system, by its name.
        references: files of references.
        format: format of the files.
    """
    if not systems:
        raise InputError("no system was given: at least one is needed")
    if not references:
        raise InputError("no reference was given: at least one is needed")
    for path in (*systems.values(), *references):
        if str(path) == "-":
            raise InputError(f"standard input (-) is not read as {format}: name a file")
    return TEXT_FORMATS[format](systems, references)


class SgmlSegment(NamedTuple):
    """A segment: its id, text and line."""

    id: str
    text: str
    line: int


class SgmlDocument(NamedTuple):
    """The segments of one document by one system."""

    docid: str
    sysid: str
    segments: tuple[SgmlSegment, ...]
    line: int


@dataclass(frozen=True)
class SgmlFile:
    """All documents of a file, in its order."""

    name: str
    documents: tuple[SgmlDocument, ...]


class Span(NamedTuple):
    """A document as a run of aligned segments."""

    docid: str
    start: int
    stop: int


@dataclass(frozen=True)
class AlignedSgml:
    """Candidates with their references, segment by segment, and where each document lies."""

    candidates: tuple[str, ...]
    references: tuple[tuple[str, ...], ...]
    documents: tuple[Span, ...]


_TAG = re.compile(r"<(/?)\s*(doc|seg)\b([^<>]*)>", re.IGNORECASE)
_NO_SPACE = re.compile(r"\S")
_OTHER = re.compile(r"<!--.*?-->|<(?!!--)[^<>]*>", re.DOTALL)
_ATTRIBUTE = re.compile(r"""(?<![\w:-])([\w:-]+)\s*=\s*("[^"]*"|'[^']*'|[^\s"'>]+)""")

_Tag = re.Match[str]


def read_gtm_sgml(path: str | os.PathLike[str]) -> SgmlFile:
    """Return the documents of a file; whatever is wrong with it is an error that names the line."""
    name = str(path)
    documents = tuple(_Reader(name, read_text(Path(path))).documents())
    if not documents:
        raise InputError(f'{name}: no document; expected <doc docid="…"> with <seg id=…> in it')
    return SgmlFile(name, documents)


class _Reader:
    """Goes from tag to tag."""

    def __init__(self, name: str, text: str) -> None:
        self.name, self.text, self.at = name, text, 0
        self.newlines = [match.start() for match in re.finditer("\n", text)]

    def documents(self) -> Iterator[SgmlDocument]:
        """Yield all documents, each name once."""
        first_lines: dict[str, int] = {}
        while tag := self._next():
            if _kind(tag) != "doc":
                self._fail(tag, f"found {short(tag[0])}, expected <doc docid=…>")
            document = self._document(tag)
            if first := first_lines.get(document.docid):
                self._fail(tag, f"document {document.docid} again (first in line {first})")
            first_lines[document.docid] = document.line
            yield document

    def _document(self, opening: _Tag) -> SgmlDocument:
        docid, sysid = self._attribute(opening, "docid"), _attributes(opening).get("sysid", "")
        segments: dict[str, SgmlSegment] = {}
        while not (tag := self._next()) or _kind(tag) != "/doc":
            if not tag:
                self._fail(opening, f"document {short(docid)} has no </doc>")
            if _kind(tag) != "seg":
                self._fail(tag, f"found {short(tag[0])}, expected <seg id=…> or </doc>")
            segment = self._segment(tag)
            if segment.id in segments:
                first = segments[segment.id].line
                self._fail(tag, f"segment {short(segment.id)} again (first in line {first})")
            segments[segment.id] = segment
        return SgmlDocument(docid, sysid, tuple(segments.values()), self._line(opening.start()))

    def _segment(self, opening: _Tag) -> SgmlSegment:
        number = self._attribute(opening, "id")
        closing = _TAG.search(self.text, self.at)
        if not closing or _kind(closing) != "/seg":
            self._fail(opening, f"segment {short(number)} has no </seg>")
        text = " ".join(self.text[self.at : closing.start()].split())
        self.at = closing.end()
        return SgmlSegment(number, text, self._line(opening.start()))

    def _next(self) -> _Tag | None:
        """Return the next tag; allow only white space, other tags and comments before it."""
        while match := _NO_SPACE.search(self.text, self.at):
            tag = _TAG.match(self.text, match.start())
            skipped = tag or _OTHER.match(self.text, match.start())
            if not skipped:
                if self.text.startswith("<!--", match.start()):
                    self._fail(match, "a comment <!-- has no end, expected -->")
                stray = self.text[match.start()] + self.text[match.end() :].partition("<")[0]
                self._fail(match, f"text outside a segment: {quoted(stray.strip())}")
            self.at = skipped.end()
            if tag:
                return tag
        return None

    def _attribute(self, tag: _Tag, key: str) -> str:
        value = _attributes(tag).get(key, "")
        if not value:
            self._fail(tag, f"found {short(tag[0])}, which has no {key}")
        return value

    def _line(self, at: int) -> int:
        return bisect_left(self.newlines, at) + 1

    def _fail(self, at: _Tag, problem: str) -> NoReturn:
        raise InputError(f"{self.name}, line {self._line(at.start())}: {problem}")


def _kind(tag: _Tag) -> str:
    return f"{tag[1]}{tag[2]}".lower()


def _attributes(tag: _Tag) -> dict[str, str]:
    return {key.lower(): value.strip("\"'") for key, value in _ATTRIBUTE.findall(tag[3])}


def align(system: SgmlFile, references: Sequence[SgmlFile]) -> AlignedSgml:
    """Align the segments of a system and its references by document and segment id."""
    if not references:
        raise InputError("no reference was given: at least one is needed")
    system_segments, *tables = (
        {(d.docid, s.id): s for d in file.documents for s in d.segments}
        for file in (system, *references)
    )
    for reference, table in zip(references, tables, strict=True):
        _check_covered(system.name, system_segments, reference.name, table)
        _check_covered(reference.name, table, system.name, system_segments)
    groups = tuple(tuple(table[key].text for table in tables) for key in system_segments)
    spans: list[Span] = []
    for document in system.documents:
        start = spans[-1].stop if spans else 0
        spans.append(Span(document.docid, start, start + len(document.segments)))
    return AlignedSgml(
        tuple(segment.text for segment in system_segments.values()), groups, tuple(spans)
    )


def read_gtm_texts(
    systems: Mapping[str, GivenPath], references: Sequence[GivenPath]
) -> AlignedTexts:
    """Return systems and references of files, aligned by document and segment id.

    Segments are in the order of the first system.
    """
    first, *other_systems = map(read_gtm_sgml, systems.values())
    aligned = align(first, [*other_systems, *map(read_gtm_sgml, references)])
    if not aligned.candidates:
        raise InputError(f"{first.name}: no segment; expected <seg id=…> in its documents")
    columns = [aligned.candidates, *zip(*aligned.references, strict=True)]
    texts = dict(zip(systems, columns[: len(systems)], strict=True))
    documents = (d.docid for d in aligned.documents for _ in range(d.start, d.stop))
    groups = [group[len(other_systems) :] for group in aligned.references]
    return AlignedTexts(texts, groups, tuple(documents))


_Table = dict[tuple[str, str], SgmlSegment]


def _check_covered(name: str, covered: _Table, other_name: str, other_segments: _Table) -> None:
    """Require every segment of one file in the other."""
    for (docid, number), segment in covered.items():
        if (docid, number) not in other_segments:
            segment_name = f"segment {short(number)} of document {short(docid)}"
            raise InputError(f"{name}, line {segment.line}: {segment_name} is not in {other_name}")
