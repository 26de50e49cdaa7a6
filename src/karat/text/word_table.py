"""Strings and vocabularies in arrays that can be stored in files and mapped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from karat import _kernel
from karat.arrays import Ints, NDArray, np
from karat.errors import quoted
from karat.storage.arrays import ArrayFile
from karat.text.segments import STRIDE, Segments

_PURPOSE = "lines of text are held there"


class StoredStrings(Segments):
    """Segments in temporary files; they may be any strings."""

    def __init__(self, strings: Iterable[str] = (), name: str = "texts") -> None:
        self.name = name
        self._bytes, self._ends = ArrayFile("uint8", _PURPOSE), ArrayFile("int64", _PURPOSE)
        self._ends.append(np.zeros(1, np.int64))
        self._sizes: list[int] = []  # characters of each stride
        self._held: list[str] = []
        for string in strings:
            self.append(string)

    def append(self, string: str) -> None:
        """Add a segment."""
        self._held.append(string)
        if len(self._held) == STRIDE:
            self._write()

    def _write(self) -> None:
        """Write the next stride, or the rest at the end."""
        data = [string.encode("utf-8", "surrogatepass") for string in self._held]
        self._ends.append(
            np.cumsum([len(encoded) for encoded in data], dtype=np.int64) + len(self._bytes)
        )
        self._bytes.append(np.frombuffer(b"".join(data), np.uint8))
        self._sizes.append(sum(map(len, self._held)))
        self._held = []

    def done(self) -> StoredStrings:
        """Write the rest and return the segments; none may be added afterwards."""
        if self._held:
            self._write()
        return self

    def __len__(self) -> int:
        return len(self._ends) - 1

    def sizes(self) -> Ints:
        return np.array(self._sizes, dtype=np.int64)

    def views(self, start: int, stop: int) -> _kernel.Views:
        ends = self._ends.read(start, stop + 1)
        data = self._bytes.read(int(ends[0]), int(ends[-1])).tobytes()
        cuts = (ends - ends[0]).tolist()
        strings = tuple(data[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(cuts))
        return _kernel.Views.from_strings(strings, 0, len(strings))


if TYPE_CHECKING:
    Arrays = Mapping[str, NDArray[Any]]

WordTable = _kernel.WordTable
"""`len`, `find(vocab, start)` -> ids here or -1, `words(ids)` -> strings."""

_PARTS = ("bytes", "offsets", "slots")


def word_arrays(vocab: _kernel.Vocab, name: str) -> dict[str, NDArray[Any]]:
    """Return the words of a vocabulary as arrays NAME_bytes, NAME_offsets and NAME_slots."""
    text, offsets = _kernel.vocab_bytes(vocab)
    parts: list[NDArray[Any]] = [text, offsets, _kernel.word_slots(text, offsets)]
    return {f"{name}_{part}": array for part, array in zip(_PARTS, parts, strict=True)}


def word_table(arrays: Arrays, name: str) -> WordTable:
    """Return the table in stored arrays; raise ValueError or KeyError if they are inconsistent."""
    parts = [arrays[f"{name}_{part}"] for part in _PARTS]
    try:
        return WordTable(*parts)
    except TypeError as error:
        raise ValueError(f"the words {quoted(name)} have arrays of a wrong type") from error
