"""CoNLL-U: a treebank file as trees, one a sentence.

Comments are read for `sent_id` alone; multiword ranges (3-4) and empty nodes (5.1) are passed over,
and of the ten columns ID, FORM and HEAD count, so enhanced dependencies and all other annotation
may be anything. A tree's words are the syntactic words: `do n't`, not `don't`.
"""

from __future__ import annotations

import os
from pathlib import Path

from karat import _kernel
from karat.errors import InputError
from karat.text.segments import map_file
from karat.text.trees import TreeRun, Trees


def read_conllu(path: str | os.PathLike[str]) -> Trees:
    """The trees of a CoNLL-U file (`.gz` too), checked: one root, no cycle, words numbered."""
    name = str(path)
    buffer = map_file(Path(path), name)
    found = _kernel.read_conllu(buffer, 3 if buffer[:3] == b"\xef\xbb\xbf" else 0)
    if len(found) == 3:
        problem, line, sentence = found
        where = f", sentence {sentence}" if sentence else ""
        raise InputError(f"{name}, line {line}{where}: {problem}")
    words, heads, offsets, ids, lines = found
    if len(offsets) == 1:
        raise InputError(f"{name}: no sentences: expected CoNLL-U, one word a line")
    return Trees.flat(name, TreeRun(words, heads, offsets), ids.strings(), lines.tolist())
