"""Texts of systems and references in other formats than one segment per line."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

from karat.errors import InputError, quoted, short
from karat.evalset.catalogue import GivenPath
from karat.evalset.reading import read_text
from karat.registry import Registry
from karat.text.segments import Segments, Strings


class AlignedTexts(NamedTuple):
    """Aligned segments of systems and references, for `score` and `compare`."""

    systems: Mapping[str, tuple[str, ...]]
    references: Sequence[tuple[str, ...]]
    documents: tuple[str, ...]
    """The document of each segment."""

    def segments(self, names: Mapping[str, str] | None = None) -> dict[str, Segments]:
        """Return the segments of each system, with their documents.

        Args:
            names: names for messages, by system; by default the names of the systems.
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
"""Format -> function that reads systems (by name) and references, and aligns them."""


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
    """A segment of a document, and the line where it begins."""

    document: str
    id: str
    text: str
    line: int


SgmlSegments = dict[tuple[str, str], SgmlSegment]
"""The segments of a file in order, by document and segment id."""

_TAG = re.compile(r"<(/?)\s*(doc|seg)\b([^<>]*)>", re.IGNORECASE)
_NO_SPACE = re.compile(r"\S")
_OTHER = re.compile(r"<!--.*?-->|<(?!!--)[^<>]*>", re.DOTALL)
_ATTRIBUTE = re.compile(r"""(?<![\w:-])([\w:-]+)\s*=\s*("[^"]*"|'[^']*'|[^\s"'>]+)""")


def read_gtm_sgml(path: GivenPath) -> SgmlSegments:
    """Return the segments of a file; errors have the line."""
    return _SgmlReader(str(path), read_text(Path(path))).segments()


class _SgmlReader:
    """Parser of an SGML file."""

    def __init__(self, name: str, text: str) -> None:
        self.name, self.text, self.at = name, text, 0
        self.newlines = [match.start() for match in re.finditer("\n", text)]

    def segments(self) -> SgmlSegments:
        """Return all segments; require unique documents, and unique segments in a document."""
        segments: SgmlSegments = {}
        first_lines: dict[str, int] = {}
        while tag := self._next_tag():
            if _tag_name(tag) != "doc":
                self._fail(tag, f"found {short(tag[0])}, expected <doc docid=…>")
            document = self._attribute(tag, "docid")
            segments |= {(document, s.id): s for s in self._document_segments(tag, document)}
            if first := first_lines.get(document):
                self._fail(tag, f"document {document} again (first in line {first})")
            first_lines[document] = self._line_number(tag)
        if not first_lines:
            expected = 'expected <doc docid="…"> with <seg id=…> in it'
            raise InputError(f"{self.name}: no document; {expected}")
        return segments

    def _document_segments(self, opening: re.Match[str], document: str) -> Iterable[SgmlSegment]:
        segments: dict[str, SgmlSegment] = {}
        while not (tag := self._next_tag()) or _tag_name(tag) != "/doc":
            if not tag:
                self._fail(opening, f"document {short(document)} has no </doc>")
            if _tag_name(tag) != "seg":
                self._fail(tag, f"found {short(tag[0])}, expected <seg id=…> or </doc>")
            id = self._attribute(tag, "id")
            closing = _TAG.search(self.text, self.at)
            if not closing or _tag_name(closing) != "/seg":
                self._fail(tag, f"segment {short(id)} has no </seg>")
            if id in segments:
                self._fail(tag, f"segment {short(id)} again (first in line {segments[id].line})")
            text = " ".join(self.text[self.at : closing.start()].split())
            segments[id] = SgmlSegment(document, id, text, self._line_number(tag))
            self.at = closing.end()
        return segments.values()

    def _next_tag(self) -> re.Match[str] | None:
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

    def _attribute(self, tag: re.Match[str], key: str) -> str:
        attributes: dict[str, str] = {
            name.lower(): text.strip("\"'") for name, text in _ATTRIBUTE.findall(tag[3])
        }
        if not attributes.get(key):
            self._fail(tag, f"found {short(tag[0])}, which has no {key}")
        return attributes[key]

    def _line_number(self, at: re.Match[str]) -> int:
        return bisect_left(self.newlines, at.start()) + 1

    def _fail(self, at: re.Match[str], problem: str) -> NoReturn:
        raise InputError(f"{self.name}, line {self._line_number(at)}: {problem}")


def _tag_name(tag: re.Match[str]) -> str:
    return f"{tag[1]}{tag[2]}".lower()


def read_gtm_texts(
    systems: Mapping[str, GivenPath], references: Sequence[GivenPath]
) -> AlignedTexts:
    """Read systems and references from files, aligned by document and segment id.

    Segments are in the order of the first system.
    """
    paths = [*systems.values(), *references]
    first, *other_files = map(read_gtm_sgml, paths)
    for path, segments in zip(paths[1:], other_files, strict=True):
        _check_covered(paths[0], first, path, segments)
        _check_covered(path, segments, paths[0], first)
    if not first:
        raise InputError(f"{paths[0]}: no segment; expected <seg id=…> in its documents")
    columns = [tuple(file[key].text for key in first) for file in (first, *other_files)]
    texts = dict(zip(systems, columns, strict=False))
    groups = list(zip(*columns[len(systems) :], strict=True))
    return AlignedTexts(texts, groups, tuple(segment.document for segment in first.values()))


def _check_covered(
    path: GivenPath, segments: SgmlSegments, other_path: GivenPath, other_segments: SgmlSegments
) -> None:
    """Require every segment of one file in the other."""
    for key, segment in segments.items():
        if key not in other_segments:
            name = f"segment {short(segment.id)} of document {short(segment.document)}"
            raise InputError(f"{path}, line {segment.line}: {name} is not in {other_path}")
