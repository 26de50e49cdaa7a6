"""Files of texts that hold more than a segment a line: systems beside their references."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from karat.errors import InputError
from karat.evalset.catalogue import GivenPath
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
        named = names or {name: f"system {name}" for name in self.systems}
        return {
            name: Strings(texts, named[name], documents=self.documents)
            for name, texts in self.systems.items()
        }


TextFormat = Callable[[Mapping[str, GivenPath], Sequence[GivenPath]], AlignedTexts]
TEXT_FORMATS: Registry[TextFormat] = Registry(
    "text_formats", "format", {"gtm-sgml": "karat.evalset.formats.gtm_sgml:read_gtm_texts"}
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
