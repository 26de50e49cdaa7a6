"""CoNLL-U files: the columns of all sentences, one after the other, as views of the mapped file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from karat import _kernel
from karat.errors import InputError
from karat.text.segments import map_file

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Columns(NamedTuple):
    """Sentence i has the words `offsets[i]` to `offsets[i + 1]` of every column.

    `ids`, `documents` (which one it belongs to) and `lines` (where it begins) are by sentence.
    """

    words: _kernel.Views
    lemmas: _kernel.Views
    upos: _kernel.Views
    xpos: _kernel.Views
    relations: _kernel.Views
    heads: NDArray[np.int32]
    offsets: NDArray[np.int64]
    ids: _kernel.Views
    documents: NDArray[np.int32]
    lines: NDArray[np.int64]


def read_columns(path: str | os.PathLike[str]) -> Columns:
    """What a CoNLL-U file has (`.gz` too), checked: one root, no cycle, words numbered."""
    name = str(path)
    buffer = map_file(Path(path), name)
    found = _kernel.read_treebank(buffer, 3 if buffer[:3] == b"\xef\xbb\xbf" else 0)
    if len(found) == 3:
        problem, line, sentence = found
        where = f", sentence {sentence}" if sentence else ""
        raise InputError(f"{name}, line {line}{where}: {problem}")
    columns = Columns(*found)
    if len(columns.offsets) == 1:
        raise InputError(f"{name}: no sentences: expected CoNLL-U, one word a line")
    return columns
