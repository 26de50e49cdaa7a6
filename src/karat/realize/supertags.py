"""The supertags of a model or a treebank, by frequency."""

from __future__ import annotations

from dataclasses import dataclass

from karat.realize.fergus.grammar import Supertag, extract_grammar, gold_frames
from karat.realize.input_trees import input_trees
from karat.realize.model import Path, RealizerResult, open_realizer
from karat.realize.treebank import read_treebank
from karat.storage.store import is_store

DRAWN = 12
"""Number of elementary trees that are drawn."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SupertagList(RealizerResult):
    """Supertags, the most frequent first; `drawn` has some of them, half with slots."""

    rows: tuple[Supertag, ...]
    drawn: tuple[Supertag, ...]


def list_supertags(source: Path, most: int = 30) -> SupertagList:
    """Return the supertags of the model or the treebank in a file, at most so many."""
    if is_store(source):
        grammar = open_realizer(source).the_fergus().chooser.grammar
    else:
        trees = input_trees(read_treebank(source), "all")
        grammar = extract_grammar(trees, gold_frames(trees))
    found = grammar.supertags()
    total, covered = (sum(one.times for one in some) for some in (found, found[:most]))
    note = (
        f"{len(found):,} supertags with {len(grammar.frames):,} frames; those listed cover "
        f"{covered / max(total, 1):.1%} of {total:,} words."
    )
    with_slots = [supertag for supertag in found if supertag.frame != "*"][: DRAWN // 2]
    drawn = dict.fromkeys([*found[: DRAWN - len(with_slots)], *with_slots])
    return SupertagList(
        name=str(source),
        rows=tuple(found[:most]),
        settings={"most": most},
        notes=(note,),
        drawn=tuple(drawn),
    )
