"""CoNLL-U: a treebank file as trees, one a sentence.

Comments are read for `sent_id` alone; multiword ranges (3-4) and empty nodes (5.1) are passed over,
and of the ten columns ID, FORM and HEAD count, so enhanced dependencies and all other annotation
may be anything. A tree's words are the syntactic words: `do n't`, not `don't`.
"""

from __future__ import annotations

import os

from karat.text.conllu import read_columns
from karat.text.trees import TreeBatch, Trees


def read_conllu(path: str | os.PathLike[str]) -> Trees:
    """The trees of a CoNLL-U file (`.gz` too), checked: one root, no cycle, words numbered."""
    found = read_columns(path)
    run = TreeBatch(found.words, found.heads, found.offsets)
    return Trees.flat(str(path), run, found.ids.strings(), found.lines.tolist())
