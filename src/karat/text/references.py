"""References of segments: one or several for each.

`references[i]` holds the references of segment i: one string or several. Never the other way
round: one list per reference set is rejected, with advice on how to transpose it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from karat import _kernel
from karat.arrays import Ints, np
from karat.errors import InputError
from karat.text.segments import STRIDE, Segments, Strings, as_segments, has_no_order

if TYPE_CHECKING:
    from karat.text.trees import Tree, TreeBatch


class References:
    """References from line-aligned sources, one or several, each with a line for every segment.

    With `optional`, an empty line means that the source has no reference for that segment.
    """

    sources: Sequence[Segments] = ()
    """The line-aligned sources; empty if references are stored in another way."""

    def __init__(self, sources: Sequence[Segments], optional: bool = False) -> None:
        if not sources:
            raise InputError("no reference was given: at least one is needed")
        check_aligned(sources)
        self.sources = list(sources)
        self._optional = optional

    def __len__(self) -> int:
        return len(self.sources[0])

    @property
    def name(self) -> str:
        """Name in messages."""
        return self.sources[0].name

    @property
    def number(self) -> int | None:
        """Number of references of every segment, or None if that varies."""
        return None if self._optional else len(self.sources)

    def counts(self) -> Ints:
        """Return the number of references of every segment."""
        return np.full(len(self), len(self.sources), np.int64)

    def place(self, segment: int) -> str:
        """Return the location of a segment, for messages."""
        return f"segment {segment + 1:,}"

    def sizes(self) -> Ints:
        """Return the number of bytes in each stride of segments."""
        first, *rest = (source.sizes() for source in self.sources)
        return sum(rest, start=first)

    def views(self, start: int, stop: int) -> tuple[_kernel.Views, Ints]:
        """Return the references of a batch, and the index of each segment's first reference."""
        parts = [source.views(start, stop) for source in self.sources]
        if len(parts) == 1 and not self._optional:
            return parts[0], np.arange(stop - start + 1, dtype=np.int64)
        views, starts = _kernel.Views.interleave(parts, self._optional)
        missing = np.flatnonzero(starts[1:] == starts[:-1])
        if len(missing):
            raise self._missing(start + int(missing[0]))
        return views, starts

    def _missing(self, segment: int) -> InputError:
        names = " and ".join(source.name for source in self.sources)
        return InputError(f"segment {segment + 1:,} has no reference: its line is empty in {names}")

    def trees(self, start: int, stop: int) -> TreeBatch | None:
        """Return the dependency trees of a batch of segments; None without trees."""
        return None

    def strings(self, indices: Sequence[int]) -> list[list[str]]:
        """Return the references of a few segments."""
        columns = [source.strings(indices) for source in self.sources]
        rows = zip(*columns, strict=True)
        groups = [[text for text in row if text or not self._optional] for row in rows]
        if [] in groups:
            raise self._missing(indices[groups.index([])])
        return groups


class GroupedReferences(References):
    """One or more references per segment, stored one after the other."""

    def __init__(self, name: str, counts: Sequence[int] | Ints) -> None:
        self._name, self._starts = name, starts_of(counts)

    def __len__(self) -> int:
        return len(self._starts) - 1

    @property
    def name(self) -> str:
        return self._name

    @property
    def number(self) -> int | None:
        numbers = np.unique(np.diff(self._starts))
        return int(numbers[0]) if len(numbers) == 1 else None

    def counts(self) -> Ints:
        counts: Ints = np.diff(self._starts)
        return counts

    def _cuts(self) -> Ints:
        """Return the offsets of the references of each stride."""
        cuts: Ints = self._starts[np.append(np.arange(0, len(self), STRIDE), len(self))]
        return cuts


def starts_of(sizes: Sequence[int] | Ints) -> Ints:
    """Return the offsets of groups with these sizes; the last is the total."""
    return np.concatenate(([0], np.cumsum(np.asarray(sizes, dtype=np.int64))))


class VaryingReferences(GroupedReferences):
    """References from Python strings, at least one for each segment."""

    def __init__(self, references: Sequence[Sequence[str]]) -> None:
        counts = [len(group) for group in references]
        if 0 in counts:
            empty = f"references[{counts.index(0)}] is empty"
            raise InputError(f"{empty}: every segment needs at least one reference")
        super().__init__("references", counts)
        texts = [text for group in references for text in group]
        bad = _kernel.first_not_str(texts)
        if bad >= 0:
            i = int(np.searchsorted(self._starts, bad, side="right")) - 1
            kind = type(texts[bad]).__name__
            raise InputError(f"references[{i}] holds a {kind}, expected strings only")
        self._flat = Strings(texts, "references")

    def sizes(self) -> Ints:
        lengths = _kernel.string_sizes(self._flat.strings(range(len(self._flat))), 1)
        sizes: Ints = np.diff(starts_of(lengths)[self._cuts()])
        return sizes

    def views(self, start: int, stop: int) -> tuple[_kernel.Views, Ints]:
        first, last = int(self._starts[start]), int(self._starts[stop])
        return self._flat.views(first, last), self._starts[start : stop + 1] - first

    def strings(self, indices: Sequence[int]) -> list[list[str]]:
        return [
            self._flat.strings(range(int(self._starts[i]), int(self._starts[i + 1])))
            for i in indices
        ]


class NoReferences(GroupedReferences):
    """No references, for metrics that do not read texts."""

    def __init__(self, segments: int) -> None:
        super().__init__("references", np.zeros(segments, np.int64))

    def sizes(self) -> Ints:
        return np.diff(self._cuts())

    def views(self, start: int, stop: int) -> tuple[_kernel.Views, Ints]:
        return _kernel.Views.from_strings([], 0, 0), np.zeros(stop - start + 1, np.int64)

    def strings(self, indices: Sequence[int]) -> list[list[str]]:
        return [[] for _ in indices]


GivenReferences: TypeAlias = (
    "References | Segments | os.PathLike[str] | Iterable[str] | Iterable[Sequence[str]]"
    " | Iterable[Tree] | Iterable[Sequence[Tree]]"
)
"""Forms in which references are given: `references[i]` is a string or a sequence of strings; or the
paths of files with a line for every segment; for tree metrics a `Tree` or a sequence of trees."""


def as_references(
    references: GivenReferences, segments: int, candidates: str = "candidates"
) -> References:
    """Return `references` as `References`, checked against the number of candidates."""
    from karat.text.trees import Trees, has_trees

    listed = references if isinstance(references, list | tuple) else None
    if isinstance(references, References):
        checked = references
    elif has_trees(references):
        checked = Trees(references)  # type: ignore[arg-type]
    elif listed and all(isinstance(item, Segments | os.PathLike) for item in listed):
        checked = References([as_segments(path, "references") for path in listed])
    elif not isinstance(references, Iterable | Segments | os.PathLike) or has_no_order(references):
        kind = f"references is {type(references).__name__}"
        raise InputError(f"{kind}, expected a list with the references of each segment")
    elif isinstance(references, str | bytes | Segments | os.PathLike) or (
        listed is not None and _kernel.first_not_str(listed) < 0
    ):  # one reference a segment
        checked = References([as_segments(references, "references")])  # type: ignore[arg-type]
    else:
        groups: list[Any] = [[g] if isinstance(g, str) else g for g in references]
        groups = [g.tolist() if isinstance(g, np.ndarray) else g for g in groups]
        is_group = [isinstance(g, Sequence) and not isinstance(g, bytes) for g in groups]
        bad = is_group.index(False) if False in is_group else None
        if bad is not None:
            kind = type(groups[bad]).__name__
            raise InputError(f"references[{bad}] is {kind}, expected a str or a list of str")
        if len(groups) != segments and groups and all(len(g) == segments for g in groups):
            raise InputError(
                f"references holds {len(groups)} lists of {segments}: references[i] must hold the "
                f"references of segment i; transpose them with list(zip(*references))"
            )
        checked = VaryingReferences(groups)
    if len(checked) != segments:
        longer = checked if len(checked) > segments else None
        raise InputError(_unequal(candidates, segments, checked.name, len(checked), longer))
    return checked


def one_or_several(references: str | Sequence[str]) -> list[str]:
    """Return the references of one segment as a list."""
    if not isinstance(references, Iterable):
        kind = type(references).__name__
        raise InputError(f"references is {kind}, expected a str or a list of str")
    texts = [references] if isinstance(references, str) else list(references)
    bad = _kernel.first_not_str(texts)
    if bad >= 0:
        kind = type(texts[bad]).__name__
        raise InputError(f"references[{bad}] is {kind}, expected str")
    if not texts:
        raise InputError("no reference was given: at least one is needed")
    return texts


def check_aligned(sources: Sequence[Segments | References]) -> None:
    """Require the same number of segments from all sources."""
    first = sources[0]
    for source in sources[1:]:
        if len(source) != len(first):
            longer = max(first, source, key=len)
            raise InputError(_unequal(first.name, len(first), source.name, len(source), longer))


def _unequal(a: str, n: int, b: str, m: int, longer: Segments | References | None) -> str:
    """Return the message for sources of different lengths; `longer` locates its segments."""
    most, least, end = (a, b, m) if n > m else (b, a, n)
    place = longer.place(end) if isinstance(longer, References) else f"segment {end + 1:,}"
    return (
        f"{a} has {_count(n)} and {b} has {_count(m)}: they must be equal; {place} of {most} is "
        f"the first without a partner in {least}"
    )


def _count(n: int) -> str:
    return f"{n:,} segment" if n == 1 else f"{n:,} segments"
